"""Kernels of normalization against their references: axes, layouts, nan, infinities, rows of one value, threads."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base.choose import CHOSEN, use_kernels
from tests.kernels.agreement import DTYPES, agree, both, declined, layouts
from tests.ops.samples import samples
from tests.ops.test_derivatives import first_order

import_module("autodiff_lab.ops.nn.normalization")  # it registers the kernels of this family
pytest.importorskip("numba", reason="overrides need Numba")

ALL = ("moments", "plain_normalize", "plain_normalize_grad", "normalize", "normalize_grad")
PLAIN = ALL[:3]
# Rows, columns, planes of columns, narrow columns with rows left over, groups of columns, axes of length 1.
SHAPES = [
    ((7,), (-1,)), ((1, 1), (-1,)), ((5, 1), (-1,)), ((1, 5), (-2,)), ((33, 10), (-1,)), ((3, 5000), (-1,)),
    ((70, 65), (-1,)), ((2, 3, 4, 5), (-2, -1)), ((40, 100), (-2,)), ((4, 3), (-2,)), ((601, 5), (-2,)),
    ((9000, 3), (-2,)), ((7, 11, 6, 3), (-4, -3, -2)), ((3, 40, 7), (-2,)), ((3, 40, 70), (-2,)), ((300, 700), (-2,)),
]  # fmt: skip
GROUPS = [
    ((3, 4, 5), (-3, -1)),
    ((4, 6, 5, 12, 2), (-4, -3, -1)),
    ((2, 30, 4, 1), (-3, -1)),
    ((2, 90, 2, 40), (-3, -1)),
]


@pytest.fixture(autouse=True, params=["plane by plane", "in pieces"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Planes that fit the cache are normalized by another loop than the pieces of larger ones."""
    if request.param == "in pieces":
        monkeypatch.setattr("autodiff_lab.kernels.normalization.numba_planes.LARGEST", 0)
    return request.param


def scales(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """One number for each element of a row, or for each column."""
    rank = len(shape)
    over_rows = -1 in axes
    return tuple(n if (k - rank in axes) == over_rows else 1 for k, n in enumerate(shape))


def call(name: str, x: np.ndarray, axes: tuple[int, ...], seed: int = 0) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and parameters of a call about x."""
    rng = np.random.default_rng(seed)
    g = np.asarray(rng.normal(size=x.shape)).astype(x.dtype)
    scale, offset = (rng.normal(size=scales(x.shape, axes)).astype(x.dtype) for _ in range(2))
    arrays = {"plain_normalize_grad": [g, x], "normalize": [x, scale, offset], "normalize_grad": [g, x, scale]}
    how: dict[str, Any] = {} if name == "moments" else {"epsilon": 1e-3}
    return arrays.get(name, [x]), {"axes": axes, **how}


def check(name: str, x: np.ndarray, axes: tuple[int, ...], **more: Any) -> None:
    """Compare the two kernels on one array; the error of sums grows with their length, and gradients cancel."""
    arrays, params = call(name, x, axes)
    params |= more
    within = 1e-4 if x.dtype == np.float32 else 1e-12
    if name not in ("moments", "normalize_grad"):
        agree(name, *arrays, tolerance=within, **params)
        return
    for ours, reference in zip(*both(name, *arrays, **params), strict=True):
        assert (ours.shape, ours.dtype) == (reference.shape, reference.dtype)
        np.testing.assert_allclose(ours, reference, rtol=within, atol=within * max(1, np.sqrt(x.size) / 10))


def planes_that_lie_alone(x: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether a scale has one number for each column: planes of columns have a scale each, which is not taken."""
    return axes[-1] == -1 or -x.ndim in axes


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_shapes_and_axes_agree_with_the_reference(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape, axes in [*SHAPES, *(GROUPS if name in PLAIN else [])]:
        x = (rng.normal(size=shape) + 3).astype(dtype)
        if name in PLAIN or planes_that_lie_alone(x, axes):
            check(name, x, axes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["normalize", "normalize_grad"])
def test_planes_and_groups_may_have_a_scale_for_each_column(name: str, dtype: str, way: str) -> None:
    rng = np.random.default_rng(9)
    for shape, axes, of_scale in (
        ((3, 4, 5), (-3, -2), (5,)), ((8, 5, 6, 4, 3), (-4, -3, -1), (1, 4, 3)), ((2, 90, 2, 40), (-3, -1), (2, 40)),
        ((3, 40, 7), (-2,), (7,)), ((2, 30, 4, 1), (-3, -1), (4, 1)), ((5, 64, 3, 2), (-3, -1), (3, 2)),
    ):  # fmt: skip
        x, g = ((rng.normal(size=shape) + 3).astype(dtype) for _ in range(2))
        scale, offset = (rng.normal(size=of_scale).astype(dtype) for _ in range(2))
        arrays = [x, scale, offset] if name == "normalize" else [g, x, scale]
        if way == "in pieces":
            assert declined(name, *arrays, axes=axes, epsilon=1e-3) == (shape != (3, 4, 5))
            continue
        within = 1e-4 if dtype == "float32" else 1e-12
        made, reference = both(name, *arrays, axes=axes, epsilon=1e-3)
        for ours, theirs in zip(*(v if isinstance(v, tuple) else (v,) for v in (made, reference)), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=within, atol=within * np.sqrt(x.size), strict=True)


@pytest.mark.parametrize("name", ALL)
def test_what_an_override_does_not_do_is_left_to_the_reference(name: str) -> None:
    for shape, axes in (((2, 3), ()), ((0, 3), (-1,)), ((3, 0), (-1,)), ((3, 2, 2, 4, 3), (-5, -3, -1))):
        arrays, params = call(name, np.zeros(shape, "f"), axes)
        assert declined(name, *arrays, **params)
    if name not in PLAIN:
        arrays, params = call(name, np.zeros((3, 40, 7), "f"), (-2,))
        assert declined(name, *arrays, **params)  # each plane has a scale of its own


def test_a_stack_of_cotangents_is_left_to_the_reference() -> None:
    x, g = np.ones((4, 5), "f"), np.ones((2, 4, 5), "f")
    assert declined("plain_normalize_grad", g, x, axes=(-1,), epsilon=0.1)
    assert declined("normalize_grad", g, x, x[0], axes=(-1,), epsilon=0.1)


@pytest.mark.parametrize("name", ALL)
def test_layouts_agree_with_the_reference(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(6, 9)).astype("f")
    for axes in ((-1,), (-2,)):
        arrays, params = call(name, x, axes)
        for laid in zip(*(list(layouts(array)) for array in arrays), strict=True):
            made, reference = both(name, *(array for _, array in laid), **params)
            for ours, theirs in zip(*(v if isinstance(v, tuple) else (v,) for v in (made, reference)), strict=True):
                np.testing.assert_allclose(ours, theirs, 1e-5, 1e-5)


@pytest.mark.slow(keep=30)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("special", [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-40])
def test_nan_and_infinities_spread_as_in_the_reference(name: str, special: float, dtype: str) -> None:
    for shape in ((3, 5), (5, 80), (100, 3), (40, 70)):
        x = np.random.default_rng(3).normal(size=shape).astype(dtype)
        x[1, 2] = special
        for axes in ((-1,), (-2,)):
            check(name, x, axes)
            check(name, np.full(shape, special, dtype), axes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL[1:])
@pytest.mark.parametrize("axes", [(-1,), (-2,)])
def test_values_without_spread_become_zero_or_nan_where_epsilon_is_zero(
    name: str, axes: tuple[int, ...], dtype: str
) -> None:
    x = np.full((40, 70), 0.75, dtype)
    check(name, x, axes)
    check(name, x, axes, epsilon=0.0)


@pytest.mark.parametrize("axes", [(-1,), (-2,)])
def test_values_far_from_zero_keep_their_digits(axes: tuple[int, ...]) -> None:
    """The square of the mean is never taken from the mean of the squares."""
    x = (np.random.default_rng(4).normal(size=(500, 600)) + 1e4).astype("f")
    wide = x.astype("d")
    exact = (wide - wide.mean(axes, keepdims=True)) / wide.std(axes, keepdims=True)
    assert CHOSEN["plain_normalize"].compile(x.dtype)
    made = CHOSEN["plain_normalize"].override()(x, axes=axes, epsilon=0.0)
    np.testing.assert_allclose(made, exact, atol=0.01)  # one unit in the last place of x is 0.001


def test_statistics_of_pieces_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_lab.kernels.normalization import numba_columns as columns

    monkeypatch.setattr(columns, "_PIECE", 200)
    for name in ALL:
        for shape, axes in SHAPES[8:13]:
            check(name, np.random.default_rng(5).normal(size=shape).astype("f"), axes)


@pytest.mark.parametrize("name", ALL)
def test_rules_pass_their_checks_on_the_overrides(name: str) -> None:
    op = next(op.name for op in REGISTRY.values() if getattr(op.kernel, "prepare", None) == CHOSEN[name].prepare)
    with use_kernels("numba"):
        assert [sentence for sample in samples(op) for sentence in first_order(sample)] == []


def test_threads_share_rows_and_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "3")
    for name in ALL:
        for shape, axes in (((3001, 100), (-1,)), ((3001, 100), (-2,)), ((70_000, 5), (-2,))):
            check(name, np.random.default_rng(6).normal(size=shape).astype("f"), axes)


def test_layers_give_the_same_on_either_kernel() -> None:
    x = lab.constant(np.random.default_rng(7).normal(size=(20, 4, 6)).astype("f"))
    for layer in (lab.layers.LayerNormalization(), lab.layers.GroupNormalization(3)):
        found: list[Any] = []
        for mode in ("numpy", "numba"):
            with use_kernels(mode), lab.GradientTape() as tape:
                tape.watch(x)
                total = lab.reduce_sum(layer(x) ** 3)
                found.append([np.asarray(v) for v in tape.gradient(total, [x, *layer.trainable_variables])])
        for ours, reference in zip(*found, strict=True):
            np.testing.assert_allclose(ours, reference, 1e-3, 1e-4)
