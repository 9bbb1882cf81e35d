"""Cross entropy on a GPU, with class numbers and with distributions, and its gradients, against NumPy's."""

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.loops import pairs
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.softmax import cuda_cross_entropy as cross_entropy
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.nn.softmax_cross_entropy  # noqa: B018 - loads the family, and with it the kernels
pairs.loss_and_grad  # noqa: B018 - and the kernel for both

LENGTHS = (1, 2, 9, 33, 128, 129, 257, 290)
"""For a few lanes of a warp, a warp, a block of two warps; all of a row kept, and part of it."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_class_numbers(length: int, dtype: str) -> None:
    """Losses, gradients and both at once, with rows of any length; the first and the last class among the labels."""
    random = np.random.default_rng(length)
    x, g = (random.normal(size=(5, length)) * 3).astype(dtype), random.normal(size=5).astype(dtype)
    labels = random.integers(0, length, 5)
    labels[:2] = 0, length - 1
    agree("sparse_softmax_cross_entropy", x, labels)
    agree("sparse_softmax_cross_entropy_grad", g, x, labels)
    agree("sparse_softmax_cross_entropy_and_grad", g, x, labels)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_distributions(length: int, dtype: str) -> None:
    """Labels that are distributions, which need not add up to 1."""
    random = np.random.default_rng(length)
    x, g = (random.normal(size=(3, length)) * 3).astype(dtype), random.normal(size=3).astype(dtype)
    labels = (random.random((3, length)) / length).astype(dtype)
    agree("softmax_cross_entropy", x, labels)
    agree("softmax_cross_entropy_grad", g, x, labels)


@pytest.mark.parametrize("whole", ["uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_labels_of_any_integer_dtype(whole: str) -> None:
    """They are brought to 32 or 64 bits where they are."""
    x, labels = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32), np.array([0, 4, 2], whole)
    agree("sparse_softmax_cross_entropy", x, labels)
    agree("sparse_softmax_cross_entropy_grad", x[:, 0], x, labels)


def test_batches_of_any_rank() -> None:
    """Rows lie along the last axis, whatever stands before it: two axes, one turned round, or none."""
    x = np.random.default_rng(0).normal(size=(5, 3, 4)).astype(np.float32).T
    labels, g = np.arange(12, dtype=np.int32).reshape(3, 4).T % 5, np.ones((3, 4), np.float32).T * 2
    agree("sparse_softmax_cross_entropy", x, labels)
    agree("sparse_softmax_cross_entropy_and_grad", g, x, labels)
    agree("softmax_cross_entropy", x, x)
    agree("softmax_cross_entropy_grad", g, x, x)
    one = on_gpu(x[0, 0])
    ours = CudaKernels.sparse_softmax_cross_entropy(one, on_gpu(np.array(3)))
    assert ours.shape == ()
    np.testing.assert_allclose(ours.to_host(), np.log(np.exp(x[0, 0]).sum()) - x[0, 0, 3], rtol=1e-6)


def test_no_rows() -> None:
    """Without rows nothing is launched."""
    x, none = np.zeros((0, 5), np.float32), np.zeros(0, np.int32)
    agree("sparse_softmax_cross_entropy", x, none)
    agree("sparse_softmax_cross_entropy_and_grad", none.astype(np.float32), x, none)
    agree("softmax_cross_entropy", x, x)
    agree("softmax_cross_entropy_grad", none.astype(np.float32), x, x)


@pytest.mark.parametrize("length", [3, 290])
def test_logits_that_are_not_finite(length: int) -> None:
    """A nan or inf reaches its own row alone; classes ruled out by -inf have probability 0, and a loss of inf."""
    x = np.random.default_rng(0).normal(size=(5, length)).astype(np.float32)
    x[0, 1], x[1, -1], x[2, 0], x[3, 0], x[4] = np.nan, np.inf, -np.inf, -np.inf, -np.inf
    labels, g = np.array([0, 0, 0, 1, 0], np.int32), np.ones(5, np.float32)
    agree("sparse_softmax_cross_entropy", x, labels)
    agree("sparse_softmax_cross_entropy_and_grad", g, x, labels)
    labels = np.zeros_like(x)
    labels[:, 1] = 1
    agree("softmax_cross_entropy", x, labels)
    agree("softmax_cross_entropy_grad", g, x, labels)


@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1, -(2**31), 2**40])
def test_a_label_that_is_no_class(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loss and its row are nan, those of others are not, and whoever reads a result is told."""
    x, g = (on_gpu(a) for a in (np.random.default_rng(0).normal(size=(3, 4)), np.ones(3)))
    labels = on_gpu(np.array([1, wrong, 3], np.int64 if wrong > 2**31 else np.int32))
    with pytest.raises(InvalidArgumentError, match=r"a label is not in \[0, 4\)"):  # late, on a GPU
        CudaKernels.sparse_softmax_cross_entropy(x, labels).to_host()
    with pytest.raises(InvalidArgumentError, match=r"a label is not in \[0, 4\)"):
        CudaKernels.sparse_softmax_cross_entropy_grad(g, x, labels).to_host()
    monkeypatch.setattr(cross_entropy, "promise", lambda holds, error: None)
    both = CudaKernels.sparse_softmax_cross_entropy_and_grad(g, x, labels)
    for made in (*both, CudaKernels.sparse_softmax_cross_entropy(x, labels)):
        assert np.isnan(made.to_host()).reshape(3, -1).all(1).tolist() == [False, True, False]
        assert np.isfinite(made.to_host()[[0, 2]]).all()


def test_what_is_left_to_the_reference() -> None:
    """Other dtypes, cotangents with further axes, and rows without classes."""
    x, labels = np.zeros((2, 3), np.float32), np.zeros(2, np.int32)
    assert declined("sparse_softmax_cross_entropy", x.astype(np.float16), labels)
    assert declined("sparse_softmax_cross_entropy_grad", np.zeros((4, 2), np.float32), x, labels)
    assert declined("softmax_cross_entropy_grad", np.zeros((4, 2), np.float32), x, x)
    assert declined("softmax_cross_entropy", np.zeros((2, 0), np.float32), np.zeros((2, 0), np.float32))
