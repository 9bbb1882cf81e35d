"""Curves: marks are found in the right places only, and pictures and text agree with the samples."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_lab.draw.curves import Curves, Mark, account, find_marks, svg
from autodiff_lab.draw.curves.axes import heights, tick_text, ticks
from autodiff_lab.draw.curves.resolution import unresolved
from autodiff_lab.recording.numbers import short

TABLE = json.loads((Path(__file__).parent.parent / "data" / "curve_axes.json").read_text(encoding="utf-8"))
Rows = tuple[np.ndarray, ...]


def marks_of(function: Callable[[np.ndarray], Rows], lo: float, hi: float, n: int = 401) -> tuple[Mark, ...]:
    x = np.linspace(lo, hi, n)
    with np.errstate(all="ignore"):
        return find_marks(x, function(x), function)


@pytest.mark.parametrize(
    ("function", "fast"),
    [
        (lambda x: (np.sin(1000 * x), 1000 * np.cos(1000 * x)), True),
        (lambda x: (np.sin(40 * x), 40 * np.cos(40 * x)), True),
        (lambda x: (np.sin(10 * x), 10 * np.cos(10 * x)), False),
        (lambda x: (np.floor(x), 0 * x), False),
        (lambda x: (np.tan(x), 1 + np.tan(x) ** 2), False),
        (lambda x: (np.abs(x), np.sign(x)), False),
        (lambda x: (np.tanh(500 * x), 500 * (1 - np.tanh(500 * x) ** 2)), False),
        (lambda x: (np.exp(3 * x), 3 * np.exp(3 * x)), False),
        (lambda x: (x, np.nan * x), False),
        (lambda x: (np.nan * x, np.nan * x), False),
    ],
)
def test_curves_between_whose_samples_f_goes_up_and_down_are_told(function: Callable[..., Rows], fast: bool) -> None:
    """Jumps, kinks, poles and steps are not: they spoil an interval or two each."""
    x = np.linspace(-10.0, 10.0, 401)
    assert (unresolved(x, function(x)) is not None) == fast


def picture_of(curves: Curves, **options: float) -> ElementTree.Element:
    return ElementTree.fromstring(svg(curves, **options))


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


@given(st.floats(-3, 3), st.floats(0.2, 5))
def test_a_kink_is_found_wherever_it_is(place: float, slope: float) -> None:
    (mark,) = marks_of(lambda x: (slope * abs(x - place), slope * np.sign(x - place)), -4, 4)
    assert mark.kind == "kink"
    assert mark.x == pytest.approx(place, abs=1e-6)
    assert mark.limits[1] == (pytest.approx(-slope), pytest.approx(slope))


@pytest.mark.parametrize("level", range(1, 9))
def test_a_break_is_found_where_a_sample_of_any_level_lies_on_it(level: int) -> None:
    """The sample halves the change, also in the last two levels, which are compared."""
    rng = np.random.default_rng(level)
    for _ in range(5):
        first = int(rng.integers(50, 350))
        left, right = np.linspace(-4, 4, 401)[first : first + 2]
        for _ in range(level):
            points = np.linspace(left, right, 9)
            part = int(rng.integers(8))
            left, right = points[part : part + 2]
        place = points[int(rng.integers(1, 8))]
        for kind, rows in (
            ("kink", lambda x, at=place: (abs(x - at), np.sign(x - at))),
            ("kink", lambda x, at=place: (np.maximum(x - at, 0), (x > at) * 1.0)),
            ("jump", lambda x, at=place: (np.where(x == at, 0.5, (x > at) * 1.0), 0 * x)),
            ("jump", lambda x, at=place: ((x >= at) * 1.0, 0 * x)),
        ):
            (mark,) = marks_of(rows, -4, 4)
            assert (mark.kind, mark.x) == (kind, pytest.approx(place, abs=1e-6))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (np.sin(9 * x), 9 * np.cos(9 * x)),
        lambda x: (np.exp(x), np.exp(x)),
        lambda x: (x**9, 9 * x**8),
        lambda x: (np.exp(-400 * x * x), -800 * x * np.exp(-400 * x * x)),
        lambda x: (np.exp(-1e5 * (x - 0.01) ** 2), -2e5 * (x - 0.01) * np.exp(-1e5 * (x - 0.01) ** 2)),
        lambda x: (np.tanh(20 * x), 20 / np.cosh(20 * x) ** 2),
        lambda x: (0 * x, 0 * x),
        lambda x: (np.log(x - 0.003), np.where(x > 0.003, 1 / (x - 0.003), np.nan)),
    ],
    ids=["sin", "exp", "power", "narrow bell", "bell between samples", "steep tanh", "constant", "log"],
)
def test_smooth_functions_have_no_marks(function: Callable[[np.ndarray], Rows]) -> None:
    assert marks_of(function, -5, 5) == ()


def test_jumps_are_found_with_the_values_on_both_sides() -> None:
    marks = marks_of(lambda x: (np.floor(x), 0 * x), -2.5, 2.5)
    assert [(mark.kind, mark.x, mark.limits[0]) for mark in marks] == [
        ("jump", float(k), (k - 1.0, float(k))) for k in (-2, -1, 0, 1, 2)
    ]


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("place", [0.0, 0.01234, 0.025 - 2.2e-16])
def test_poles_are_found_on_a_sample_and_between_samples(power: int, place: float) -> None:
    (mark,) = marks_of(lambda x: ((x - place) ** -power, -power * (x - place) ** (-power - 1.0)), -5, 5)
    assert mark.kind == "pole"
    assert mark.x == pytest.approx(place, abs=1e-6)


def test_a_slope_that_is_nan_on_the_kink_does_not_hide_it() -> None:
    (mark,) = marks_of(lambda x: (np.sqrt(x * x), x / np.sqrt(x * x)), -1, 1)
    assert (mark.x, mark.limits[1]) == (0.0, (-1.0, 1.0))


def test_many_kinks_are_all_found() -> None:
    marks = marks_of(lambda x: (abs(np.sin(3 * x)), np.sign(np.sin(3 * x)) * 3 * np.cos(3 * x)), -5, 5)
    assert [mark.x for mark in marks] == pytest.approx([k * np.pi / 3 for k in range(-4, 5)], abs=1e-6)


def test_single_precision_finds_the_kink_and_no_noise() -> None:
    def single(x: np.ndarray) -> Rows:
        x = x.astype(np.float32)
        return abs(x - np.float32(0.3)).astype(float), np.sign(x - np.float32(0.3)).astype(float)

    x = np.linspace(-2, 2, 401)
    (mark,) = find_marks(x, single(x), single, resolution=1.2e-7)
    assert mark.x == pytest.approx(0.3, abs=1e-3)


def test_ticks_are_those_of_the_page() -> None:
    for case in TABLE["ticks"]:
        step, values = ticks(case["lo"], case["hi"], case["count"])
        assert (step, values) == (case["step"], case["values"])
        assert [tick_text(value, step) for value in values] == case["texts"]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 12))
def test_ticks_are_inside_and_evenly_spaced(lo: float, width: float, count: int) -> None:
    step, values = ticks(lo, lo + width, count)
    slack = 1e-6 * step + 1e-9 * abs(lo)
    assert len(values) <= 1.4 * count + 1
    assert all(lo - slack <= value <= lo + width + slack for value in values)
    assert np.diff(values) == pytest.approx(step, rel=1e-6, abs=slack)


def test_ranges_and_numbers_are_those_of_the_page() -> None:
    for case in TABLE["heights"]:
        values = np.array([float(value) for value in case["values"]])
        assert heights(values, case["zero"], case["clip"]) == pytest.approx(tuple(case["range"]))
    for value, text in TABLE["short"]:
        assert short(value, minus="−") == text


def sine() -> Curves:
    x = np.linspace(-5, 5, 401)
    return Curves(x, (np.sin(x), np.cos(x), -np.sin(x)), name="sin")


def test_the_picture_draws_the_samples_where_the_axes_say() -> None:
    root = picture_of(sine(), at=1.0)
    curve, slope = classed(root, "lab-curve")
    points = [tuple(map(float, pair.split(","))) for pair in re.split("[ML]", curve.get("d", ""))[1:]]
    xs, ys = np.array(points).T
    assert np.corrcoef(xs, np.linspace(-5, 5, 401))[0, 1] == pytest.approx(1)
    assert np.corrcoef(ys, np.sin(np.linspace(-5, 5, 401)))[0, 1] == pytest.approx(-1, abs=1e-6)
    assert slope.get("d") != curve.get("d")


def test_the_tangent_of_the_picture_has_the_slope_of_the_curve() -> None:
    root = picture_of(sine(), at=1.0)
    (tangent,) = classed(root, "lab-tangent")
    x1, y1, x2, y2 = (float(tangent.get(name, "nan")) for name in ("x1", "y1", "x2", "y2"))
    ticked = [line for line in classed(root, "lab-grid") if line.get("y1") == line.get("y2")]
    assert ticked
    pixels_per_x, pixels_per_y = (x2 - x1) / 10, 260 / (2 * 1.16)
    assert -(y2 - y1) / pixels_per_y / ((x2 - x1) / pixels_per_x) == pytest.approx(np.cos(1.0), abs=1e-3)


def test_the_order_says_how_many_panels_there_are() -> None:
    assert len(classed(picture_of(sine(), order=2), "lab-curve")) == 3
    assert len(classed(picture_of(sine(), order=0), "lab-curve")) == 1


def test_open_circles_stand_on_the_kink_and_on_both_slopes() -> None:
    x = np.linspace(-1, 1, 5)
    mark = Mark(0.0, "kink", ((0.0, 0.0), (-1.0, 1.0)))
    root = picture_of(Curves(x, (abs(x), np.sign(x)), marks=(mark,)))
    assert len(classed(root, "lab-mark")) == 3
    f, slope = (path.get("d", "") for path in classed(root, "lab-curve"))
    assert (f.count("M"), slope.count("M")) == (1, 2)


def test_a_gap_breaks_the_line() -> None:
    x = np.linspace(-1, 1, 9)
    y = np.where(abs(x) < 0.3, np.nan, x)
    assert classed(picture_of(Curves(x, (y, 0 * x))), "lab-curve")[0].get("d", "").count("M") == 2


def test_names_are_escaped_and_there_are_no_ids() -> None:
    x = np.linspace(0, 1, 3)
    text = svg(Curves(x, (x, x), name="<script>alert(1)</script>"))
    assert "<script" not in text
    assert " id=" not in text
    ElementTree.fromstring(text)


def test_the_picture_has_a_title_and_says_in_words_what_it_shows() -> None:
    root = picture_of(sine(), at=0.0)
    texts = {element.tag.rpartition("}")[2]: element.text or "" for element in root}
    assert texts["title"] == "sin(x) and its derivative"
    assert "sin′(x) = 1" in texts["desc"]


def test_the_account_tells_ranges_gaps_marks_and_notes() -> None:
    x = np.linspace(-1, 1, 5)
    curves = Curves(
        x,
        (np.array([np.nan, 1, 2, 3, np.nan]), np.full(5, np.nan)),
        marks=(Mark(0.0, "jump", ((1.0, 2.0), (0.0, 0.0))), Mark(0.5, "pole", ((None, None), (None, None)))),
        notes=("something is missing",),
    )
    assert account(curves, at=0.0).splitlines() == [
        "f(x) and its derivatives for x from -1 to 1, 5 samples",
        "  f(x): from 1 to 3, undefined at 2 samples",
        "  f′(x): nowhere defined",
        "  jump at x = 0: value 1 on its left, 2 on its right",
        "  pole at x = 0.5",
        "  note: something is missing",
        "  at x = 0: f(x) = 2, f′(x) = nan",
    ]
