"""Copies in the order of the axes, and sums of arrays that lie in different orders."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import CHOSEN, use_kernels
from autodiff_lab.kernels.base.order import FEW, aligned, in_order, reshaped
from autodiff_lab.kernels.layouts.numba import turned

pytest.importorskip("numba", reason="the extra 'jit' is not installed, so there is nothing to compare")


def copied(x: np.ndarray) -> Any:
    """What the override gives, `NotImplemented` where it declines."""
    assert CHOSEN["in_order"].compile(x.dtype)
    return CHOSEN["in_order"].override()(x)


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(30))
def test_arrays_with_any_order_of_axes_are_copied(seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 6))
    x = numbers(*rng.choice([1, 2, 3, 7, 8, 9, 16, 25], rank), dtype=dtype).transpose(rng.permutation(rank))
    made = copied(x)
    if made is NotImplemented:
        assert x.strides[-1] == x.itemsize or x.shape[-1] == 1 or turned(x.shape, x.strides) is None
    else:
        assert made.flags.carray
        np.testing.assert_array_equal(made, x)


def test_most_orders_are_transposed_by_the_override() -> None:
    x = numbers(3, 9, 10, 8)
    for order in ((1, 0, 3, 2), (0, 3, 1, 2), (3, 0, 1, 2), (3, 2, 1, 0), (2, 0, 3, 1)):
        np.testing.assert_array_equal(copied(x.transpose(order)), x.transpose(order))


@pytest.mark.parametrize(
    "x",
    [
        numbers(20, 30), numbers(20, 30)[:, 1:].T, numbers(20, 30).T[::2], numbers(20, 30).T[::-1],
        np.broadcast_to(numbers(20, 1), (20, 30)), np.broadcast_to(numbers(20), (30, 20)).T, numbers(0, 3).T,
        numbers(1, 20).T,
    ],
    ids=["in order", "some columns", "every other row", "reversed", "repeated", "repeated rows", "empty", "column"],
)  # fmt: skip
def test_other_arrays_are_left_to_numpy(x: np.ndarray) -> None:
    assert copied(x) is NotImplemented
    made = in_order(x)
    assert made.flags.carray
    assert made.shape == x.shape
    np.testing.assert_array_equal(made, x)


def test_an_array_that_nobody_may_write_to_is_copied() -> None:
    x = numbers(200, 200)
    x.flags.writeable = False
    assert copied(x.T) is NotImplemented
    made = in_order(x.T)
    assert made.flags.carray
    np.testing.assert_array_equal(made, x.T)


def test_of_two_arrays_the_one_that_does_not_lie_in_order_is_copied() -> None:
    x, y = numbers(200, 200), numbers(200, 200)
    assert all(a is b for a, b in zip(aligned(x, y), (x, y), strict=True))
    for pair in ((x, y.T), (x.T, y)):
        made = aligned(*pair)
        assert all(one.flags.c_contiguous for one in made)
        assert all((one == own).all() for one, own in zip(made, pair, strict=True))
    both = aligned(x.T, y.T)
    assert both[0].base is x
    assert both[1].base is y
    others = [x[:, ::-1], np.broadcast_to(y[:, :1], x.shape), numbers(200, 400)[:, ::2], numbers(201, 200)[1:]]
    for other in others:
        assert aligned(x, other)[1] is other
    small = numbers(20, 20)
    assert aligned(small, small.T)[1].base is small


@pytest.mark.parametrize("mode", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ops_on_a_matrix_and_its_transpose_give_what_numpy_gives(mode: str, dtype: str) -> None:
    a = numbers(130, 130, dtype=dtype)
    assert a.size >= FEW
    x = lab.Variable(a)
    with use_kernels(mode), lab.GradientTape() as tape:
        y = lab.transpose(x)
        made = [x + y, y - x, x * y, lab.maximum(x, y)]
        loss = lab.reduce_sum(x * lab.sin(y) + y)
    for one, wanted in zip(made, [a + a.T, a.T - a, a * a.T, np.maximum(a, a.T)], strict=True):
        np.testing.assert_array_equal(one.numpy(), wanted)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), np.sin(a.T) + (a * np.cos(a.T)).T + 1, atol=tolerance)


@pytest.mark.parametrize("turned_first", [False, True])
def test_contributions_that_lie_in_different_orders_are_added_up(turned_first: bool) -> None:
    a = numbers(700, 700, dtype="float64")  # large enough to be added in place
    x = lab.Variable(a)
    with lab.GradientTape() as tape:
        plain, turned_round = lab.exp(x) * a, lab.sin(lab.transpose(x)) * a
        parts = [turned_round, plain] if turned_first else [plain, turned_round]
        loss = lab.reduce_sum(parts[0]) + lab.reduce_sum(parts[1])
    wanted = np.exp(a) * a + np.cos(a) * a.T
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("order", [(0, 3, 1, 2), (3, 2, 1, 0), (2, 3, 0, 1), (1, 0, 2, 3)])
def test_elementwise_ops_keep_the_order_in_which_their_inputs_lie(order: tuple[int, ...]) -> None:
    a, b = numbers(6, 13, 20, 12), numbers(6, 13, 20, 12, dtype="float32") + 1
    x, y = (lab.constant(one.transpose(order)) for one in (a, b))
    with use_kernels("numba"):
        made = [lab.sigmoid(x), lab.nn.silu(x), lab.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)]
    with use_kernels("numpy"):
        wanted = [lab.sigmoid(x), lab.nn.silu(x), lab.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)]
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-6, atol=1e-6)
    assert made[0].numpy().strides == x.numpy().strides


@pytest.mark.parametrize("shape", [(-1,), (60, 40, 10), (100, 240), (240, 50, 2), (10, 2, 12, 100)])
@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (2, 1, 0), (0, 1, 2)])
def test_arrays_in_any_order_are_reshaped(order: tuple[int, ...], shape: tuple[int, ...]) -> None:
    a = numbers(10, 24, 100).transpose(order)
    for mode in ("numpy", "numba"):
        with use_kernels(mode):
            np.testing.assert_array_equal(lab.reshape(lab.constant(a), shape).numpy(), a.reshape(shape))
    view = reshaped(numbers(200, 200).T, (20, 10, 200))
    assert view.base is not None
