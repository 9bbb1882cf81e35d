"""Kernels of sums, means, extremes and log-sum-exps against their references."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import CHOSEN, use_kernels
from tests.kernels.agreement import DTYPES, agree, declined, layouts
from tests.ops.samples import samples
from tests.ops.test_derivatives import first_order

pytest.importorskip("numba", reason="overrides need Numba")
lab.reduce_logsumexp([0.0])  # the families of these kernels load
SUMS, EXTREMES = ("sum", "mean"), ("max", "min")
ALL = (*SUMS, *EXTREMES, "logsumexp")
SHAPES = [
    ((1,), (-1,)), ((7,), (-1,)), ((5000,), (-1,)), ((20_001,), (-1,)), ((4, 3), (-1,)), ((4, 3), (-2,)),
    ((4, 3), (-2, -1)), ((600, 2), (-2,)), ((600, 64), (-2,)), ((601, 5), (-2,)), ((9, 300), (-2,)), ((70, 65), (-1,)),
    ((3, 40, 7), (-2,)), ((3, 40, 7), (-3, -2)), ((3, 40, 7), (-2, -1)), ((3, 1, 70), (-2,)), ((2, 9000, 3), (-2,)),
    ((1, 1), (-2, -1)), ((300, 15), (-1,)), ((300, 16), (-1,)), ((12, 2000), (-1,)),
]  # fmt: skip


def taken(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether an override does this one: NumPy is as quick for large extremes."""
    if name in EXTREMES:
        return len(axes) < len(shape) and not (axes == (-1,) and shape[-1] > 1024)
    return True


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_shapes_and_axes_agree_with_the_reference(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape, axes in SHAPES:
        x = rng.normal(size=shape).astype(dtype)
        for keepdims in (False, True):
            if taken(name, shape, axes):
                loose = (1e-4 if dtype == "float32" else 1e-12) if name in SUMS else None
                agree(name, x, axes=axes, keepdims=keepdims, tolerance=loose)
            else:
                assert declined(name, x, axes=axes, keepdims=keepdims)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("special", [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-40, "largest"])
def test_nan_infinities_and_extremes_agree_with_the_reference(name: str, special: Any, dtype: str) -> None:
    # A mean that NumPy gives as infinite, since the sum is, may be finite in the override, which adds in float64.
    value = np.finfo(dtype).max / (2048 if name == "mean" else 1) if special == "largest" else special
    for shape in ((3, 5), (3, 80), (100, 3), (3, 1024)):
        for fill in (0.0, value, -value):
            x = np.full(shape, fill, dtype)
            x[1, 2] = value
            for axes in ((-1,), (-2,)):
                if taken(name, shape, axes):
                    agree(name, x, axes=axes, keepdims=False)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_extremes_agree_with_the_reference(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for shape, axes in (*SHAPES, ((100, 3), (-2,)), ((2, 70, 30), (-2,)), ((3, 200), (-1,))):
        for x in (rng.normal(size=shape), rng.integers(0, 3, shape), np.full(shape, np.nan), np.full(shape, -np.inf)):
            for _, values in layouts(x.astype(dtype)):
                best = values.max(axes, keepdims=True)
                agree("extreme_grad", rng.normal(size=best.shape).astype(dtype), best, values, axes=axes)
                agree("extreme_grad", np.full_like(best, np.inf), best, values, axes=axes)
    x = np.ones((2, 3, 2), dtype)
    assert declined("extreme_grad", x[:1, :, :1], x[:1, :, :1], x, axes=(-3, -1))
    x = np.ones((2, 3), dtype)
    assert declined("extreme_grad", x[None, :, :1], x[:, :1], x, axes=(-1,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_shares_agree_with_the_reference(dtype: str) -> None:
    rng = np.random.default_rng(6)
    for shape, axes in SHAPES:
        agree("logsumexp_shares", (20 * rng.normal(size=shape)).astype(dtype), axes=axes)
        agree("logsumexp_shares", np.full(shape, 1e8, dtype), axes=axes)
    for _, values in layouts(rng.normal(size=(6, 5)).astype(dtype)):
        agree("logsumexp_shares", values, axes=(-1,))
        agree("logsumexp_shares", values, axes=(-2,))
    x = rng.normal(size=(6, 5)).astype(dtype)
    x[1, 2], x[2, 1] = np.nan, -np.inf
    agree("logsumexp_shares", x, axes=(-1,))
    agree("logsumexp_shares", x, axes=(-2,))


@pytest.mark.parametrize("axes", [(-1,), (-2,)])
def test_shares_of_infinities_are_left_to_the_reference(axes: tuple[int, ...]) -> None:
    for value in (np.inf, -np.inf):
        x = np.zeros((6, 5), "f")
        x[:, 1] = value
        x[2] = value
        assert declined("logsumexp_shares", x, axes=axes)


def test_sums_err_less_than_their_own_precision_adds_up() -> None:
    x = np.full(3_000_000, 0.1, "f")
    ours = CHOSEN["sum"].override()(x, axes=(-1,), keepdims=False)
    assert abs(float(ours) / (3_000_000 * float(np.float32(0.1))) - 1) < 1e-6


@pytest.mark.parametrize("name", ALL)
def test_layouts_agree_with_the_reference(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(6, 5)).astype("f")
    for kind, array in layouts(x):
        if kind == "plain" or name == "logsumexp":
            agree(name, array, axes=(-1,), keepdims=False)
        else:
            assert declined(name, array, axes=(-1,), keepdims=False)


@pytest.mark.parametrize("name", ALL)
def test_empty_arrays_and_axes_apart_are_left_to_the_reference(name: str) -> None:
    for shape, axes in (((0, 3), (-2,)), ((3, 0), (-1,)), ((3, 0), (-2,)), ((2, 3, 4), (-3, -1)), ((2, 3), ())):
        assert declined(name, np.ones(shape, "f"), axes=axes, keepdims=False)


@pytest.mark.parametrize("name", ALL)
def test_rules_pass_their_checks_on_the_overrides(name: str) -> None:
    with use_kernels("numba"):
        assert [sentence for sample in samples(name) for sentence in first_order(sample)] == []


def test_rows_and_pieces_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "3")
    rng = np.random.default_rng(3)
    for shape, axes in (((1_000_003,), (-1,)), ((5000, 300), (-1,)), ((40, 300, 90), (-2,))):
        for name in ALL:
            if taken(name, shape, axes):
                agree(name, rng.normal(size=shape).astype("f"), axes=axes, keepdims=False, tolerance=2e-3)
