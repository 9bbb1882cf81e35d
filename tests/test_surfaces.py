"""`plot_2d`: contours, arrows and paths are those of the function, and bad input gets a way out."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import BadInterval, ConversionError, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.exploring.surfaces import surface

pytest.importorskip("matplotlib").use("Agg")


def valley(p: Any) -> Any:
    return 0.5 * (p[0] ** 2 + 10.0 * p[1] ** 2)


def test_contours_lie_on_one_height_and_arrows_point_downhill() -> None:
    plot = surface(valley, (-12, -4), (12, 4), None, {}, 1, field=True)
    contours = [layer for layer in plot.layers if layer.kind == "line"]
    assert len(contours) >= 12
    for contour in contours:
        heights = 0.5 * (contour.x**2 + 10 * contour.y**2)
        assert np.ptp(heights) < 0.02 * 152
    (field,) = [layer for layer in plot.layers if layer.kind == "arrows"]
    starts, ends = (np.stack([field.x[k::2], field.y[k::2]], axis=1) for k in (0, 1))
    downhill = -(starts * [1, 10]) * [24**2, 8**2]  # in the units of the picture, as the arrows are
    moved = ends - starts
    crossed = moved[:, 0] / 24 * (downhill[:, 1] / 8) - moved[:, 1] / 8 * (downhill[:, 0] / 24)
    assert np.abs(crossed).max() < 1e-6 * np.abs(downhill).max()
    assert (np.sum(moved * downhill, axis=1) > 0).all()


@pytest.mark.parametrize("step", [0.05, 2 / 11, 0.2])
def test_the_path_of_gradient_descent_is_that_of_its_factors(step: float) -> None:
    plot = surface(valley, (-12, -4), (12, 4), (10, 1), {"SGD": lab.optimizers.SGD(step)}, 20, field=False)
    path = next(layer for layer in plot.layers if layer.kind == "points")
    turns = np.arange(21)
    np.testing.assert_allclose(path.x, 10 * (1 - step) ** turns, atol=1e-6)
    np.testing.assert_allclose(path.y, (1 - 10 * step) ** turns, atol=1e-6)


def test_optimizers_are_copied_named_and_end_where_nothing_is_finite() -> None:
    mine = lab.optimizers.SGD(0.5, momentum=0.9)
    axes = lab.plot_2d(
        valley, (-2, -2), (2, 2), start=(1, 1), optimizers={"far": mine, "Adam": lab.optimizers.Adam(0.1)}
    )
    assert int(mine.iterations) == 0
    assert [text.get_text() for text in axes.texts] == ["far", "Adam"]
    assert axes.get_legend() is None
    assert all(np.isfinite(line.get_xydata()).all() for line in axes.get_lines())


def half_defined(p: Any) -> Any:
    if float(p[0]) < 0:
        raise ZeroDivisionError("no")
    return p[0] * p[1]


@pytest.mark.parametrize(
    "f",
    [lambda p: 2.0, lambda p: p[0] * 0.0 + 1.0, half_defined, lambda p: lab.math.log(p[0]), lambda p: float(p[0])],
    ids=["constant", "level", "half", "log", "a plain number"],
)
def test_gaps_constants_and_values_off_the_tape_still_have_a_picture(f: Any) -> None:
    plot = surface(f, (-1, -1), (1, 1), (0.5, 0.5), {"SGD": lab.optimizers.SGD(0.1)}, 5, field=True)
    assert all(np.isfinite(layer.x).all() and np.isfinite(layer.y).all() for layer in plot.layers)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((3.0, (0, 0), (1, 1)), NotCallable, "expected a function"),
        ((valley, (1, 0), (0, 1)), BadInterval, "lo below hi"),
        ((valley, (0, 0), (np.inf, 1)), BadInterval, "two finite numbers"),
        ((valley, 0, 1), BadInterval, "two finite numbers"),
        ((valley, "a", (1, 1)), ConversionError, "expected two numbers"),
        ((lambda p: p, (0, 0), (1, 1)), ShapeMismatch, "Try lab.reduce_sum"),
        ((lambda p: None, (0, 0), (1, 1)), InvalidArgumentError, "returned None"),
        ((lambda p: "seven", (0, 0), (1, 1)), InvalidArgumentError, "no value at any"),
        ((lambda p: 1 / 0, (0, 0), (1, 1)), InvalidArgumentError, "division by zero"),
    ],
)
def test_bad_input_is_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        lab.plot_2d(*arguments)
