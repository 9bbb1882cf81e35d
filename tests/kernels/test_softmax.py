"""Kernels of softmax and cross entropy against their references: layouts, lengths, nan, infinities, huge logits."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import CHOSEN, use_kernels
from tests.kernels.agreement import DTYPES, agree, declined, layouts
from tests.ops.samples import samples
from tests.ops.test_derivatives import first_order

pytest.importorskip("numba", reason="overrides need Numba")
lab.nn.softmax([0.0])  # the families of these kernels load
LENGTHS = (1, 2, 7, 10, 64, 149, 150, 1000, 5000)
ROWS = ("softmax", "log_softmax")
SLOPES = ("softmax_grad", "log_softmax_grad")
ENTROPIES = (
    "softmax_cross_entropy", "softmax_cross_entropy_grad", "sparse_softmax_cross_entropy",
    "sparse_softmax_cross_entropy_grad",
)  # fmt: skip


def calls(name: str, x: np.ndarray, seed: int = 0) -> list[Any]:
    """Arrays of a call about logits x, and its parameters."""
    rng = np.random.default_rng(seed)
    count = x.shape[-1]
    g = np.asarray(rng.normal(size=x.shape[:-1])).astype(x.dtype)
    if name in ROWS:
        return [x]
    if name in SLOPES:
        return [rng.normal(size=x.shape).astype(x.dtype), CHOSEN[name.removesuffix("_grad")].reference(x, axis=-1)]
    sparse = name.startswith("sparse")
    labels: Any = rng.integers(0, count, x.shape[:-1]) if sparse else rng.dirichlet(np.ones(count), x.shape[:-1])
    labels = np.asarray(labels) if sparse else labels.astype(x.dtype)
    return [g, x, labels] if name.endswith("grad") else [x, labels]


def check(name: str, x: np.ndarray) -> None:
    """Compare the two kernels on logits."""
    with np.errstate(all="ignore"):
        arrays = calls(name, x)
    length = x.shape[-1]
    loose = (4e-6 if x.dtype == np.float32 else 4e-14) * max(1, length / 100)
    agree(name, *arrays, tolerance=loose, **({"axis": -1} if name in ROWS + SLOPES else {}))


ALL = ROWS + SLOPES + ENTROPIES


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30, 7), (600, 3), (5, 40, 1), (3, 70, 65), (2, 3, 4, 5), (2, 2000, 4)])
def test_other_axes_agree_with_the_reference(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(3)
    tolerance = 4e-6 if dtype == "float32" else 4e-14
    for axis in range(-len(shape), -1):
        x, g = (rng.normal(scale=3, size=shape).astype(dtype) for _ in range(2))
        for fill in (None, np.inf, -np.inf, np.nan):
            if fill is not None:
                x[..., 0] = fill
            with np.errstate(all="ignore"):
                y = CHOSEN["softmax"].reference(x, axis=axis)
                agree("softmax", x, axis=axis, tolerance=tolerance)
                agree("softmax", np.asfortranarray(x), axis=axis, tolerance=tolerance)
                agree("softmax_grad", g, y, axis=axis, tolerance=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_rows_of_every_length_agree_with_the_reference(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for length in LENGTHS:
        for lead in ((), (1,), (33,), (2, 3)):
            check(name, rng.normal(scale=3, size=(*lead, length)).astype(dtype))


@pytest.mark.parametrize("name", ALL)
def test_layouts_agree_with_the_reference(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(5, 9)).astype("f")
    for arrays in zip(*(list(layouts(array)) for array in calls(name, x)), strict=True):
        agree(name, *(array for _, array in arrays), **({"axis": -1} if name in ROWS + SLOPES else {}))


def hard_rows(dtype: str, length: int) -> Iterator[np.ndarray]:
    """Yield rows at the edges of the arithmetic."""
    inf, nan = np.inf, np.nan
    largest = np.finfo(dtype).max
    for special in (inf, -inf, nan, -nan, largest, -largest, 1e4, -1e4, 0.0, -0.0, 1e-40):
        row = np.linspace(-2, 2, length)
        row[length // 2] = special
        yield row.astype(dtype)
        yield np.full(length, special, dtype)
    yield np.array([inf, -inf, nan] * length)[:length].astype(dtype)
    yield np.array([-inf, 3.0] * length)[:length].astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_nan_infinities_and_huge_logits_agree_with_the_reference(name: str, dtype: str) -> None:
    for length in (3, 20, 400):
        for row in hard_rows(dtype, length):
            check(name, np.stack([row, np.zeros(length, dtype)]))


@pytest.mark.parametrize("name", ALL)
def test_empty_arrays_and_other_axes_are_left_to_the_reference(name: str) -> None:
    for shape in ((0, 3), (3, 0)):
        if shape[-1] or name in ROWS + SLOPES:
            x = np.zeros(shape, "f")
            arrays = [x, x] if name in SLOPES else [x] if name in ROWS else calls(name, x)
            assert declined(name, *arrays, **({"axis": -1} if name in ROWS + SLOPES else {}))
    if name.startswith("log_softmax"):
        assert declined(name, *calls(name, np.zeros((2, 3), "f")), axis=-2)


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0], [2**40, 0]])
def test_labels_that_are_no_class_are_refused_as_the_reference_does(labels: list[int]) -> None:
    x = lab.constant(np.zeros((2, 3), "f"))
    for mode in ("numpy", "numba"):
        with use_kernels(mode), pytest.raises(lab.errors.InvalidArgumentError, match=r"a label is not in \[0, 3\)"):
            lab.nn.sparse_softmax_cross_entropy_with_logits(lab.constant(labels, lab.int64), x)


@pytest.mark.parametrize("kind", ["int32", "uint8", "int64", "uint64"])
def test_labels_of_any_whole_dtype(kind: str) -> None:
    x = np.random.default_rng(3).normal(size=(6, 4)).astype("f")
    agree("sparse_softmax_cross_entropy", x, np.arange(6).astype(kind) % 4)


@pytest.mark.parametrize("name", ALL)
def test_rules_pass_their_checks_on_the_overrides(name: str) -> None:
    with use_kernels("numba"):
        assert [sentence for sample in samples(name) for sentence in first_order(sample)] == []


def test_many_rows_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "3")
    for shape in ((3001, 100), (70_000, 5)):
        for name in ALL:
            check(name, np.random.default_rng(4).normal(size=shape).astype("f"))


def test_eight_threads_may_call_one_kernel() -> None:
    x = np.random.default_rng(5).normal(size=(4000, 60)).astype("f")
    kernel = CHOSEN["softmax"]
    assert kernel.compile(x.dtype), kernel.failures
    alone = kernel.override()(x, axis=-1)
    with ThreadPoolExecutor(8) as pool:
        for made in pool.map(lambda _: kernel.override()(x, axis=-1), range(40)):
            np.testing.assert_array_equal(made, alone)


@pytest.mark.parametrize("name", SLOPES)
def test_stacks_of_cotangents_share_one_result(name: str) -> None:
    rng = np.random.default_rng(4)
    y = rng.uniform(0.1, 0.9, (30, 4)).astype("f")
    agree(name, rng.normal(size=(5, 30, 4)).astype("f"), y, axis=-1, tolerance=4e-6)
    agree(name, rng.normal(size=(1, 30, 4)).astype("f"), np.stack([y, y]), axis=-1, tolerance=4e-6)
