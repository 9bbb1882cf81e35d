"""Curves: the line of a gradient keeps its distance, arrowheads point the right way."""

import math
import re

import pytest

from autodiff_lab.draw.geometry import BESIDE, HEAD_LENGTH, arrowhead, backward, path, shortened

LEVEL = ((0.0, 0.0), (50.0, 0.0), (100.0, 0.0))
STEEP = ((0.0, 0.0), (30.0, 0.0), (30.0, 80.0), (60.0, 80.0))
RISING = ((0.0, 80.0), (30.0, 80.0), (30.0, 0.0), (60.0, 0.0))


def along(curve: tuple[tuple[float, float], ...], t: float) -> tuple[float, float]:
    """A point of one cubic piece."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    return sum(w * x for w, (x, _) in zip(weights, curve, strict=True)), sum(
        w * y for w, (_, y) in zip(weights, curve, strict=True)
    )


@pytest.mark.parametrize("curve", [STEEP, RISING])
def test_the_line_of_a_gradient_keeps_its_distance(curve: tuple[tuple[float, float], ...]) -> None:
    beside = backward(curve)
    there = [along(curve, t / 200) for t in range(201)]
    for t in range(21):
        x, y = along(beside, t / 20)
        nearest = min(math.hypot(x - a, y - b) for a, b in there)
        assert 0.6 * BESIDE < nearest < 1.6 * BESIDE


@pytest.mark.parametrize("curve", [STEEP, RISING])
def test_it_runs_the_other_way_with_level_ends_below(curve: tuple[tuple[float, float], ...]) -> None:
    beside = backward(curve)
    assert beside[0] == pytest.approx((curve[-1][0], curve[-1][1] + BESIDE))
    assert beside[-1] == pytest.approx((curve[0][0], curve[0][1] + BESIDE))
    assert beside[1][1] == pytest.approx(beside[0][1])
    assert beside[-2][1] == pytest.approx(beside[-1][1])


def test_an_arrowhead_has_its_tip_at_the_end_of_the_line() -> None:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", arrowhead(STEEP))]
    tip, left, right = numbers[:2], numbers[2:4], numbers[4:]
    assert tip == [60, 80]
    assert left[0] == right[0] == pytest.approx(60 - HEAD_LENGTH)
    assert (left[1] + right[1]) / 2 == pytest.approx(80, abs=0.1)


def test_a_line_stops_under_its_arrowhead() -> None:
    assert shortened(STEEP, 7)[-1] == pytest.approx((53, 80))
    assert shortened(STEEP, 7)[:-1] == STEEP[:-1]


def test_a_curve_without_length_is_no_error() -> None:
    point = ((1.0, 1.0),) * 4
    assert arrowhead(point).startswith("M1,1")
    assert len(backward(point)) == 4
    assert path(()) == ""
