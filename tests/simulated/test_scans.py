"""Cumulative sums, products, log-sum-exps and recurrences on a GPU against the sequential reference."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.scans.cuda import TILE
from tests.simulated.agreement import agree, declined

lab.cumsum  # noqa: B018 - loads the family, and with it the kernels

LENGTHS = (1, 3, 9, 64, 65, TILE - 1, 2 * TILE + 3)
"""For one lane, some, a warp and two warps; one tile, and several."""
WITHIN = {"float32": 1e-5, "float64": 1e-13}


def _drawn(*shape: int, dtype: Any = "float32") -> Any:
    return np.random.default_rng(shape).normal(size=shape).astype(dtype)


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize(("dtype", "reverse"), [("float32", False), ("float64", True)])
@pytest.mark.parametrize("length", LENGTHS)
def test_lines_of_any_length(length: int, dtype: str, reverse: bool) -> None:
    """Each way of sharing a line among threads gives the reference's values, from either end."""
    lines = 5 if length < TILE else 2  # several a block, and a last block that is not full
    x, within = _drawn(lines, length, dtype=dtype), WITHIN[dtype]
    for exclusive in (False, True):
        agree("cumsum", x, axis=-1, exclusive=exclusive, reverse=reverse, tolerance=within)
        agree("cumprod", 1 + x / 9, axis=-1, exclusive=exclusive, reverse=reverse, tolerance=within)
    agree("cumulative_logsumexp", x * 5, axis=-1, reverse=reverse, tolerance=within)
    agree("recurrence", x, _drawn(lines, length, dtype=dtype) / 2, axis=-1, reverse=reverse, tolerance=within)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_line_is_cut_into_parts(reverse: bool) -> None:
    """Each part goes on from what those before it came to; the last one is shorter."""
    x, within = _drawn(3 * TILE + 7), WITHIN["float32"]
    for exclusive in (False, True):
        agree("cumsum", x, axis=-1, exclusive=exclusive, reverse=reverse, tolerance=within)
        agree("cumprod", 1 + x / 99, axis=-1, exclusive=exclusive, reverse=reverse, tolerance=within)
    agree("cumulative_logsumexp", x, axis=-1, reverse=reverse, tolerance=within)
    agree("recurrence", _drawn(2, *x.shape), x / 2, axis=-1, reverse=reverse, tolerance=within)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_along_any_axis(axis: int) -> None:
    """Of arrays that lie turned round in memory too."""
    x = _drawn(6, 5, 4).T
    agree("cumsum", x, axis=axis, exclusive=True, reverse=True)
    agree("cumprod", x, axis=axis, exclusive=False, reverse=False)
    agree("cumulative_logsumexp", x, axis=axis, reverse=True)
    agree("recurrence", x, -x[::-1], axis=axis, reverse=False, tolerance=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_many_lines_beside_each_other(reverse: bool) -> None:
    """Lines of an axis that is not the last, with an axis before it."""
    x = _drawn(2, 5, 64)
    for exclusive in (False, True):
        agree("cumsum", x, axis=-2, exclusive=exclusive, reverse=reverse)
        agree("cumprod", x, axis=-2, exclusive=exclusive, reverse=reverse)
    agree("cumulative_logsumexp", x, axis=-2, reverse=reverse)
    agree("recurrence", x, -x[0], axis=-2, reverse=reverse)


def test_factors_serve_a_stack_of_lines() -> None:
    """Leading axes that only b has: each of its lines meets the same factors."""
    agree("recurrence", _drawn(3, 2, 4, 5), _drawn(4, 5), axis=-1, reverse=True, tolerance=1e-5)
    agree("recurrence", _drawn(3, 2, 4, 5), _drawn(4, 5), axis=-2, reverse=False, tolerance=1e-5)


def test_zeros_amid_large_factors() -> None:
    """The product of a stretch may overflow; an exact 0 before it is still 0, and what follows a 0 starts over."""
    large = np.full((2, 40), 1e30, np.float32)
    large[:, 0], large[1, 20] = 0, 0
    agree("cumprod", large, axis=-1, exclusive=False, reverse=False)
    b = np.zeros((2, 40), np.float32)
    b[:, 39] = 5
    agree("recurrence", b, large, axis=-1, reverse=False)


def test_the_first_factor_is_not_used() -> None:
    """Before the first element nothing stands that it could multiply."""
    a = _drawn(2, 70)
    a[:, 0] = np.nan
    agree("recurrence", _drawn(2, 70), a / 2, axis=-1, reverse=False, tolerance=1e-5)
    agree("recurrence", _drawn(2, 70), a[:, ::-1] / 2, axis=-1, reverse=True, tolerance=1e-5)


def test_values_that_are_not_finite() -> None:
    """They reach what comes after them, and nothing else."""
    x = _drawn(4, 70)
    x[0, 40], x[1, 30], x[2, :20], x[3] = np.nan, np.inf, -np.inf, -np.inf
    agree("cumsum", x, axis=-1, exclusive=False, reverse=False, tolerance=1e-5)
    agree("cumulative_logsumexp", x, axis=-1, reverse=False)
    agree("cumulative_logsumexp", x, axis=-1, reverse=True)


def test_what_is_left_to_the_reference() -> None:
    """Integers, which CuPy adds up, nothing at all, and factors that do not fit."""
    assert declined("cumsum", np.zeros((2, 2), np.int32), axis=-1, exclusive=False, reverse=False)
    assert declined("cumprod", np.zeros((2, 0)), axis=-1, exclusive=False, reverse=False)
    assert declined("recurrence", np.zeros((2, 3)), np.zeros((2, 1)), axis=-1, reverse=False)
