"""`plot_2d` and `explore_2d`: contours, arrows and paths are those of the function, and bad input gets a way out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

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
@pytest.mark.parametrize("show", [lab.plot_2d, lab.explore_2d])
def test_bad_input_is_refused(show: Any, arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        show(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"optimizers": "SGD"}, InvalidArgumentError, "optimizers by name, got str"),
        ({"optimizers": {"SGD": 0.1}}, InvalidArgumentError, "got float for 'SGD'"),
        ({"optimizers": {3: lab.optimizers.SGD(0.1)}}, InvalidArgumentError, "for 3"),
        ({"steps": 0}, InvalidArgumentError, "from 1 to 1000, got 0"),
        ({"steps": "many"}, InvalidArgumentError, "got 'many'"),
        ({"start": (np.nan, 1)}, BadInterval, "start: expected two finite numbers"),
    ],
)
@pytest.mark.parametrize("show", [lab.plot_2d, lab.explore_2d])
def test_bad_options_are_refused(show: Any, options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        show(valley, (-1, -1), (1, 1), **options)


def test_the_explorer_knows_gradient_and_curvatures_at_every_step() -> None:
    shown = lab.explore_2d(valley, (-12, -4), (12, 4), start=(10, 1), optimizers={"SGD": lab.optimizers.SGD(0.15)})
    rows = np.array(shown.paths[0]["rows"])
    assert rows.shape == (51, 8)
    np.testing.assert_allclose(rows[:, 2], 0.5 * (rows[:, 0] ** 2 + 10 * rows[:, 1] ** 2))
    np.testing.assert_allclose(rows[:, 3:5], rows[:, :2] * [1, 10])
    np.testing.assert_allclose(rows[:, 5:], np.tile([1, 0, 10], (51, 1)))
    (field,) = [layer for layer in shown.facts["layers"] if layer["kind"] == "arrows"]
    x, y = (np.array(field[key]) for key in ("x", "y"))
    along = np.stack([x[1::2] - x[::2], y[1::2] - y[::2]])
    slope = np.stack([x[::2], 10 * y[::2]])
    assert np.abs(along[0] * slope[1] - along[1] * slope[0]).max() < 2e-3 * np.abs(slope).max()
    assert (np.sum(along * slope, axis=0) < 0).all()


def test_moving_the_start_lets_the_optimizers_run_again() -> None:
    shown = lab.explore_2d(valley, (-12, -4), (12, 4), optimizers={"SGD": lab.optimizers.SGD(0.1)}, steps=3)
    shown.start = [4, -1]
    assert [row[0] for row in shown.paths[0]["rows"]] == pytest.approx([4, 3.6, 3.24, 2.916])
    assert shown.account().startswith("valley from (4, -1): f = 13, gradient (4, -10), curvatures 1 and 10")
    for bad in ([1.0], [np.inf, 0.0]):
        with pytest.raises(TraitError, match="two finite numbers"):
            shown.start = bad
    assert shown.start == [4.0, -1.0]


@pytest.mark.parametrize("f", [half_defined, lambda p: float(p[0]), lambda p: p[0] * np.nan + 1.0 / p[1]])
def test_where_f_has_no_value_the_path_ends_and_the_page_is_still_written(f: Any, tmp_path: Path) -> None:
    shown = lab.explore_2d(f, (-1, -1), (1, 1), start=(-0.5, 0.0), name="<b>&</b>")
    assert len(shown.paths[0]["rows"]) == 1
    text = shown.to_html(tmp_path / "f.html").read_text(encoding="utf-8")
    assert "<b>&" not in text
    assert 20_000 < len(text) < 160_000
