"""Plots: axes and labels agree with the page's, contours lie on the surface, pictures hold what the plot holds."""

import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_lab.draw.plots import Axis, Label, Plot, arrows, band, contour_lines, levels_of, line, points, svg
from autodiff_lab.draw.plots.labels import crossings, place_label, text_box
from tests.tree import ROOT

TABLE = json.loads((ROOT / "tests" / "data" / "plot_axes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", TABLE["ticks"], ids=lambda row: f"{row['axis']}")
def test_ticks_are_those_of_the_page(row: dict[str, object]) -> None:
    axis = Axis(**row["axis"])  # type: ignore[arg-type]
    found = axis.ticks(row["count"])  # type: ignore[arg-type]
    assert [[value, text] for value, text in found] == row["ticks"]


@pytest.mark.parametrize("row", TABLE["shares"], ids=lambda row: f"{row['axis']} {row['value']}")
def test_shares_are_those_of_the_page(row: dict[str, object]) -> None:
    assert float(Axis(**row["axis"]).share(row["value"])) == pytest.approx(row["share"])  # type: ignore[arg-type]


@pytest.mark.parametrize("row", TABLE["contours"], ids=lambda row: f"level {row['level']}")
def test_contours_of_small_grids_are_those_drawn_by_hand(row: dict[str, object]) -> None:
    heights = np.array(row["heights"], dtype=float)
    found = contour_lines(np.array(row["x"]), np.array(row["y"]), heights, row["level"])  # type: ignore[arg-type]
    assert [[list(spot) for spot in chain] for chain in found] == row["lines"]


@pytest.mark.parametrize("row", TABLE["labels"], ids=lambda row: row["text"])
def test_labels_go_where_the_page_puts_them(row: dict[str, object]) -> None:
    lines = [np.array(each) for each in row["lines"]]  # type: ignore[attr-defined]
    x, y, anchor, _ = place_label(tuple(row["point"]), row["text"], lines, [], 200.0, 100.0)  # type: ignore[arg-type]
    assert [x, y, anchor] == row["place"]


@given(st.floats(1e-300, 1e300), st.floats(1.01, 1e5))
def test_ticks_of_any_logarithmic_axis_lie_inside_and_rise(lo: float, factor: float) -> None:
    axis = Axis(lo, lo * factor, log=True)
    values = [value for value, _ in axis.ticks(6.0)]
    assert values == sorted(set(values))
    assert all(-1e-6 <= float(axis.share(value)) <= 1 + 1e-6 for value in values)
    assert len(values) <= 14


@given(st.integers(0, 2**32 - 1))
def test_every_point_of_a_contour_lies_where_the_grid_has_that_height(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.uniform(-3, 3, 7)), np.sort(rng.uniform(0, 1, 5))
    heights = rng.normal(size=(5, 7))
    heights[rng.integers(5), rng.integers(7)] = np.nan
    for chain in contour_lines(x, y, heights, 0.1):
        for px, py in chain.tolist():
            column, row = np.searchsorted(x, px), np.searchsorted(y, py)
            if px in x and row:  # up an edge: linear between its ends
                part = (py - y[row - 1]) / (y[row] - y[row - 1])
                ends = heights[row - 1, column], heights[row, column]
            else:
                part = (px - x[column - 1]) / (x[column] - x[column - 1])
                ends = heights[row, column - 1], heights[row, column]
            assert ends[0] + part * (ends[1] - ends[0]) == pytest.approx(0.1, abs=1e-9)


def test_contours_of_a_bowl_are_closed_and_of_a_slope_reach_the_edges() -> None:
    across = np.linspace(-2.0, 2.0, 41)
    bowl = across**2 + across[:, None] ** 2
    (ring,) = contour_lines(across, across, bowl, 1.0)
    assert np.array_equal(ring[0], ring[-1])
    assert np.allclose(np.hypot(*ring.T), 1.0, atol=2e-3)
    (ramp,) = contour_lines(across, across, np.broadcast_to(across, (41, 41)), 0.05)
    assert sorted(ramp[[0, -1], 1].tolist()) == [-2.0, 2.0]
    assert len(contour_lines(across, across, np.cos(3 * across) + np.cos(3 * across[:, None]), 1.0)) == 9


@pytest.mark.parametrize("heights", [np.full((4, 4), np.nan), np.ones((4, 4)), np.full((4, 4), np.inf)])
def test_a_surface_without_shape_has_no_contours(heights: np.ndarray) -> None:
    assert levels_of(heights) == []
    assert contour_lines(np.arange(4.0), np.arange(4.0), heights, 1.0) == []


def drawn(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(svg(plot))


def test_a_picture_holds_every_layer_and_no_id() -> None:
    h = np.logspace(-8, -1, 8)
    layers = (
        band(h, h / 3, h * 3), line(h, h, dashed=True), points(h, h**2, "backward", 3.0, hollow=True),
        arrows(np.array([[1e-7, 1e-7]]), np.array([[1e-3, 1e-3]])), line(h, np.where(h > 1e-4, h, np.nan), "cut"),
    )  # fmt: skip
    labels = Label("slope 1", 1e-3, 1e-3), Label("<b>", 1e-5, 1e-5, "forward")
    axes = Axis(1e-8, 0.1, "step h", log=True), Axis(1e-16, 1.0, "error", log=True)
    plot = Plot(*axes, layers, labels, "Error & step", "words")
    root = drawn(plot)
    text = svg(plot)
    assert " id=" not in text
    assert "10⁻⁸" in text
    assert "&lt;b&gt;" in text
    kinds = [each.get("class", "").split()[0] for each in root.iter() if "lab-" in each.get("class", "")]
    assert kinds.count("lab-points") == 8
    assert {"lab-band", "lab-line", "lab-arrows", "lab-grid", "lab-axis"} <= set(kinds)
    assert "nan" not in text
    assert math.isclose(float(next(each for each in root.iter() if each.get("r")).get("cx", "0")), 0.0)


@pytest.mark.parametrize("hi", [1.0, 3.0, 4.0, 7.0, 1000.0])
def test_a_high_plot_does_not_have_a_tick_at_every_line_of_text(hi: float) -> None:
    words = drawn(Plot(Axis(0.0, hi), Axis(-1.0, hi), (), (), "high", "")).itertext()
    assert 4 <= sum(bool(re.fullmatch(r"−?[\d.]+", word)) for word in words) <= 18, "of both axes together"


def test_a_label_keeps_away_from_a_line_through_its_point() -> None:
    steep = np.array([[100.0, 0.0], [100.0, 100.0]])
    flat = np.array([[0.0, 50.0], [200.0, 50.0]])
    _, _, _, box = place_label((100.0, 50.0), "0.5403", [steep, flat], [], 200.0, 100.0)
    assert crossings(box, steep) == crossings(box, flat) == 0
    assert text_box(0, 0, "ab", "middle", 10.0).left == -6.0
