"""The loss of connectionist temporal classification, against all alignments one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.ops.alignments import labelling, losses_and_occupancies, softmax_minus_occupancy

pytestmark = pytest.mark.extras
MODES = ("numpy", "numba")
Arrays = tuple[Any, ...]


def drawn(seed: int, blank: int) -> Arrays:
    """Draw logits (4, 3, 3), labels with -1 beyond their lengths, and lengths."""
    rng = np.random.default_rng(seed)
    of_labels, of_logits = rng.integers(0, 4, 3), rng.integers(0, 5, 3)
    labels = rng.choice([c for c in range(3) if c != blank], (3, 3))
    return rng.normal(size=(4, 3, 3)), np.where(np.arange(3) < of_labels[:, None], labels, -1), of_labels, of_logits


def loss_and_gradient(logits: Any, *how: Any, **more: Any) -> tuple[np.ndarray, np.ndarray]:
    x = lab.constant(logits)
    with lab.GradientTape() as tape:
        tape.watch(x)
        loss = lab.nn.ctc_loss(how[0], x, *how[1:], **more)
    return loss.numpy(), tape.gradient(loss, x).numpy()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("blank", [0, 1, 2, -1])
def test_losses_and_gradients_are_sums_over_all_alignments(mode: str, blank: int) -> None:
    for seed in range(12):
        logits, *how = drawn(seed, blank % 3)
        losses, _ = losses_and_occupancies(logits, *how, blank % 3)
        with lab.use_kernels(mode):
            found, gradient = loss_and_gradient(logits, *how, blank_index=blank)
        np.testing.assert_allclose(found, losses, 1e-12, 1e-13)
        np.testing.assert_allclose(gradient, softmax_minus_occupancy(logits, *how, blank % 3), 1e-11, 1e-13)


def test_the_labelling_of_an_alignment_merges_runs_and_leaves_blanks_out() -> None:
    """The references rest on this."""
    assert labelling((1, 1, 0, 1, 2, 2), 0) == [1, 1, 2]
    assert labelling((0, 0), 0) == []


def test_it_is_the_loss_that_other_libraries_give() -> None:
    """PyTorch 2's torch.nn.functional.ctc_loss, on its log_softmax, reduction='none'."""
    logits = np.sin(np.arange(5 * 2 * 4, dtype=np.float64)).reshape(5, 2, 4)
    loss = lab.nn.ctc_loss([[1, 1, 3], [2, 3, 0]], logits, [3, 2], [5, 4])
    np.testing.assert_allclose(loss, TORCH, 1e-12)


TORCH = [5.234697590744476, 3.1734432518328153]


@pytest.mark.parametrize("mode", MODES)
def test_where_no_alignment_fits_the_loss_is_infinite_and_the_gradient_zero(mode: str) -> None:
    """Too many labels; a label twice without room for a blank between; no step at all; and one that fits."""
    labels, of_labels, of_logits = [[1, 2, 1], [1, 1, 0], [1, 0, 0], [2, 2, 0]], [3, 2, 1, 2], [2, 2, 0, 3]
    with lab.use_kernels(mode):
        loss, gradient = loss_and_gradient(np.ones((3, 4, 3)), labels, of_labels, of_logits)
    assert np.isinf(loss).tolist() == [True, True, True, False]
    assert loss[3] == pytest.approx(3 * np.log(3))
    assert not gradient[:, :3].any()
    assert gradient[:, 3].any()


def test_an_impossible_labelling_has_second_derivatives_of_zero() -> None:
    x = lab.constant(np.ones((2, 1, 3)))
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            loss = lab.nn.ctc_loss([[1, 1]], x, [2], [2])
        gradient = inner.gradient(loss, x)
    assert not outer.gradient(gradient, x, lab.ones((2, 1, 3), lab.float64)).numpy().any()


def test_an_empty_labelling_is_all_blanks_and_of_no_step_certain() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 2, 3))
    loss, gradient = loss_and_gradient(logits, np.zeros((2, 0), int), [0, 0], [3, 0])
    np.testing.assert_allclose(loss[0], -np.log(np.exp(logits[:, 0, 0]) / np.exp(logits[:, 0]).sum(-1)).sum())
    assert (loss[1], str(loss[1])) == (0.0, "0.0")
    assert not gradient[:, 1].any()


@pytest.mark.parametrize("mode", MODES)
def test_steps_beyond_a_sequence_and_labels_beyond_a_labelling_do_not_count(mode: str) -> None:
    logits, labels, of_labels, of_logits = drawn(3, 0)
    wild, others = logits.copy(), labels.copy()
    wild[np.arange(4)[:, None] >= of_logits] = np.nan
    others[np.arange(3) >= of_labels[:, None]] = 77
    with lab.use_kernels(mode):
        for plain, odd in zip(
            loss_and_gradient(logits, labels, of_labels, of_logits),
            loss_and_gradient(wild, others, of_labels, of_logits),
            strict=True,
        ):
            np.testing.assert_array_equal(plain, odd)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinite_and_undefined_logits_stay_in_their_example(mode: str, dtype: str) -> None:
    logits = np.zeros((3, 4, 3), dtype)
    logits[1, 1, 2], logits[:, 2, 1], logits[1, 3, 0] = -np.inf, -np.inf, np.nan
    with lab.use_kernels(mode):
        loss, gradient = loss_and_gradient(logits, [[1], [1], [1], [1]], [1] * 4, [3] * 4)
    assert np.isfinite(loss[:2]).all()
    assert np.isinf(loss[2])
    assert np.isnan(loss[3])
    assert np.isfinite(gradient[:, :3]).all()
    assert gradient[1, 1, 2] == 0


def test_batch_major_logits_give_the_same() -> None:
    logits, *how = drawn(5, 0)
    loss, gradient = loss_and_gradient(logits, *how)
    again, turned = loss_and_gradient(np.swapaxes(logits, 0, 1).copy(), *how, logits_time_major=False)
    np.testing.assert_allclose(again, loss, 1e-14)
    np.testing.assert_allclose(np.swapaxes(turned, 0, 1), gradient, 1e-14)


def test_sparse_labels_are_the_values_of_each_row_in_order() -> None:
    """Columns may have gaps, rows may be empty, and coordinates may come in any order; lengths are not asked for."""
    logits = np.random.default_rng(1).normal(size=(5, 3, 4))
    dense, _ = loss_and_gradient(logits, [[1, 3], [0, 0], [2, 2]], [2, 0, 2], [5, 3, 4])
    labels = lab.SparseTensor([[2, 3], [0, 1], [2, 0], [0, 2]], [2, 1, 2, 3], [3, 9])
    sparse, _ = loss_and_gradient(logits, labels, None, [5, 3, 4], blank_index=0)
    np.testing.assert_array_equal(sparse, dense)
    nothing = lab.SparseTensor(np.zeros((0, 2), int), np.zeros(0, int), [3, 2])
    np.testing.assert_allclose(
        lab.nn.ctc_loss(nothing, logits, None, [0, 0, 0], blank_index=-1), [0, 0, 0], atol=1e-14
    )  # fmt: skip


def test_integers_of_any_width_and_unique_are_accepted() -> None:
    logits = np.zeros((3, 1, 3), np.float32)
    plain = lab.nn.ctc_loss([[1, 2]], logits, [2], [3])
    for dtype in ("uint8", "int16", "int64"):
        labels, of_labels, of_logits = np.array([[1, 2]], dtype), np.array([2], dtype), np.array([3], dtype)
        again = lab.nn.ctc_loss(labels, logits, of_labels, of_logits, True, (labels, labels))
        np.testing.assert_array_equal(again, plain)
    assert plain.dtype == lab.float32


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_agree_with_differences(order: int) -> None:
    logits, *how = drawn(8, 2)
    how[2] = np.array([4, 4, 3])
    assert check_gradient(lambda x: lab.nn.ctc_loss(how[0], x, *how[1:], blank_index=2), logits, order=order)


@pytest.mark.parametrize("order", [1, 2])
def test_a_compiled_function_takes_other_lengths_without_running_eagerly(order: int) -> None:
    def gradient(logits: Any, labels: Any, of_labels: Any, of_logits: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(logits)
            with lab.GradientTape() as tape:
                tape.watch(logits)
                loss = lab.nn.ctc_loss(labels, logits, of_labels, of_logits)
            found = tape.gradient(loss, logits)
        return (loss, found) if order == 1 else (loss, outer.gradient(found, logits, lab.sin(logits)))

    compiled = lab.function(gradient)
    compiled.compile(*map(lab.constant, drawn(0, 0)))
    for seed in range(4):
        arrays = [lab.constant(a) for a in drawn(seed, 0)]
        found = compiled(*arrays)
        for ours, eager in zip(found, gradient(*arrays), strict=True):
            np.testing.assert_allclose(ours, eager, 1e-11, 1e-12)
    assert compiled.compiled
    assert compiled.fallbacks == 0, compiled.why()


def test_descent_makes_the_labelling_the_likeliest() -> None:
    logits = lab.Variable(np.random.default_rng(0).normal(size=(8, 2, 4)).astype(np.float32))
    labels, lengths = [[1, 1, 2], [3, 2, 0]], [3, 2]
    for _ in range(60):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean(lab.nn.ctc_loss(labels, logits, lengths, [8, 7]))
        logits.assign_sub(3.0 * tape.gradient(loss, logits))
    loss = lab.reduce_mean(lab.nn.ctc_loss(labels, logits, lengths, [8, 7]))
    best = logits.numpy().argmax(-1)
    assert float(loss) < 0.1
    assert [labelling(tuple(best[:n, b]), 0) for b, n in ((0, 8), (1, 7))] == [[1, 1, 2], [3, 2]]


X = np.zeros((3, 2, 4), np.float32)
L = [[1, 2], [3, 0]]


def sparse() -> Any:
    return lab.SparseTensor([[0, 0]], [1], [2, 2])


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "logits of rank 2": (
        lambda: lab.nn.ctc_loss(L, X[0], [2, 1], [3, 3]), lab.errors.ShapeMismatch,
        r"\(steps, batch, classes\).*\(2, 4\)"),
    "logits of integers": (
        lambda: lab.nn.ctc_loss(L, X.astype(int), [2, 1], [3, 3]), lab.errors.DtypeMismatch, "lab.cast"),
    "labels of floats": (
        lambda: lab.nn.ctc_loss([[1.0], [2.0]], X, [1, 1], [3, 3]), lab.errors.DtypeMismatch,
        "labels must be integers"),
    "labels of another batch": (
        lambda: lab.nn.ctc_loss(L, np.zeros((2, 3, 4)), [2, 1], [3, 3]), lab.errors.ShapeMismatch,
        r"labels of shape \(3, n\).*logits_time_major=False"),
    "labels in a row": (lambda: lab.nn.ctc_loss([1, 2], X, [2, 1], [3, 3]), lab.errors.ShapeMismatch, "one row"),
    "lengths of floats": (
        lambda: lab.nn.ctc_loss(L, X, [2.0, 1.0], [3, 3]), lab.errors.DtypeMismatch, "label_length must be integers"),
    "lengths of another batch": (
        lambda: lab.nn.ctc_loss(L, X, [2, 1], [3]), lab.errors.ShapeMismatch, r"logit_length of shape \(2,\).*\(1,\)"),
    "no lengths of dense labels": (
        lambda: lab.nn.ctc_loss(L, X, None, [3, 3]), lab.errors.InvalidArgumentError, "label_length is missing"),
    "a blank that is not a class": (
        lambda: lab.nn.ctc_loss(L, X, [2, 1], [3, 3], blank_index=4), lab.errors.InvalidArgumentError, r"\[-4, 4\)"),
    "sparse labels without a blank": (
        lambda: lab.nn.ctc_loss(sparse(), X, None, [3, 3]), lab.errors.InvalidArgumentError, "need a blank_index"),
    "sparse labels of another batch": (
        lambda: lab.nn.ctc_loss(sparse(), X[:, :1], None, [3], blank_index=0), lab.errors.ShapeMismatch, r"\(1, n\)"),
    "more labels than there are": (
        lambda: lab.nn.ctc_loss(L, X, [2, 3], [3, 3]), lab.errors.InvalidArgumentError,
        r"label_length\[1\] is 3.*0 to 2"),
    "more steps than there are": (
        lambda: lab.nn.ctc_loss(L, X, [2, 1], [4, 3]), lab.errors.InvalidArgumentError,
        r"logit_length\[0\] is 4.*0 to 3"),
    "a negative length": (
        lambda: lab.nn.ctc_loss(L, X, [2, 1], [3, -1]), lab.errors.InvalidArgumentError, r"logit_length\[1\] is -1"),
    "a label that is not a class": (
        lambda: lab.nn.ctc_loss([[1, 4], [3, 0]], X, [2, 1], [3, 3]), lab.errors.InvalidArgumentError,
        r"labels\[0, 1\] = 4 is not a class: there are 4"),
    "a label that is the blank": (
        lambda: lab.nn.ctc_loss(L, X, [2, 2], [3, 3]), lab.errors.InvalidArgumentError,
        r"labels\[1, 1\] = 0 is the blank.*label_length"),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named_and_mended(what: str, mode: str) -> None:
    call, error, words = BAD[what]
    with lab.use_kernels(mode), pytest.raises(error, match=f"(?s)ctc_loss.*{words}"):
        call()
