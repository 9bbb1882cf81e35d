"""Kernels that run along an axis against their references: axes, directions, layouts, nan and infinities."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import use_kernels
from tests.kernels.agreement import DTYPES, agree, declined, layouts
from tests.ops.samples import samples
from tests.ops.test_derivatives import first_order

pytest.importorskip("numba", reason="overrides need Numba")
lab.cumsum([0.0])  # the families of these kernels load
SHAPES = [((1,), -1), ((9,), -1), ((20, 7), -1), ((20, 7), -2), ((3, 5, 4), -2), ((3, 1, 4), -2), ((2, 3, 2, 2), -3)]
BOTH = (False, True)


def calls(x: np.ndarray, axis: int) -> list[tuple[str, list[Any], dict[str, Any]]]:
    """Calls of all four kernels on an array."""
    weight = np.random.default_rng(9).normal(size=x.shape).astype(x.dtype)
    made: list[tuple[str, list[Any], dict[str, Any]]] = []
    for reverse in BOTH:
        made += [
            (name, [x], {"axis": axis, "exclusive": exclusive, "reverse": reverse})
            for name in ("cumsum", "cumprod")
            for exclusive in BOTH
        ]
        made.append(("recurrence", [x, weight], {"axis": axis, "reverse": reverse}))
        if axis != -1 or x.size // x.shape[-1] >= 8:
            made.append(("cumulative_logsumexp", [x], {"axis": axis, "reverse": reverse}))
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_axes_and_directions_agree_with_the_reference(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    for name, arrays, params in calls(x, axis):
        exact = name != "cumulative_logsumexp"
        agree(name, *arrays, tolerance=0 if exact else 2e-6 if dtype == "float32" else 1e-14, **params)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -0.0, 1e-40, 80.0, -200.0])
def test_nan_and_infinities_agree_with_the_reference(special: float) -> None:
    for shape, axis in (((12, 5), -1), ((12, 5), -2)):
        for fill in (0.5, special):
            x = np.full(shape, fill, "f")
            x[2, 3] = special
            x[4, 1] = -special
            for name, arrays, params in calls(x, axis):
                agree(name, *arrays, **params)


def test_layouts_agree_with_the_reference() -> None:
    for _, x in layouts(np.random.default_rng(2).normal(size=(9, 4)).astype("f")):
        for axis in (-1, -2):
            for name, arrays, params in calls(x, axis):
                agree(name, *arrays, **params)


def test_a_stack_of_cotangents_shares_the_weights() -> None:
    rng = np.random.default_rng(3)
    for axis in (-1, -2):
        for reverse in BOTH:
            b, a = rng.normal(size=(3, 2, 6, 4)).astype("f"), rng.normal(size=(2, 6, 4)).astype("f")
            agree("recurrence", b, a, axis=axis, reverse=reverse)


def test_empty_arrays_and_lines_alone_are_left_to_the_reference() -> None:
    empty = np.ones((0, 3), "f")
    assert declined("cumsum", empty, axis=-1, exclusive=False, reverse=False)
    assert declined("recurrence", empty, empty, axis=-2, reverse=False)
    assert declined("cumulative_logsumexp", np.ones(5, "f"), axis=-1, reverse=False)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "recurrence", "cumulative_logsumexp"])
def test_rules_pass_their_checks_on_the_overrides(name: str) -> None:
    with use_kernels("numba"):
        assert [sentence for sample in samples(name) for sentence in first_order(sample)] == []


def test_lines_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "3")
    x = np.random.default_rng(4).normal(size=(3000, 130)).astype("f")
    for name, arrays, params in calls(x, -1):
        agree(name, *arrays, **params)
