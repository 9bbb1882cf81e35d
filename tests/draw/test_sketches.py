"""Sketches of derivatives: the page judges by the same table, and noisy sketches are told apart as measured."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from autodiff_lab.draw.curves import Curves, Mark
from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.sketches import (
    COLUMNS,
    HANDLES,
    drawn,
    extent,
    in_words,
    judge,
    plot,
    reach,
    signs_of,
    through,
    zeros,
)
from autodiff_lab.lessons.sketching import FUNCTIONS, SKETCHED, sketch_pad
from tests.tree import ROOT

TABLE = json.loads((ROOT / "tests" / "data" / "sketches.json").read_text(encoding="utf-8"))
STRIDE = (COLUMNS - 1) // (HANDLES - 1)
Row = dict[str, object]


def curves_of(name: str) -> Curves:
    """Return the functions of the table, and those that were measured first."""
    lo, hi = {"cubic": (-2.2, 2.2), "sin": (-3.5, 3.5), "bell": (-3, 3), "quartic": (-1.2, 4.2), "bump": (-0.5, 5),
              "line": (-1, 1), "pole": (-1, 1)}[name]  # fmt: skip
    t = np.linspace(lo, hi, COLUMNS)
    bell, fall = np.exp(-t * t / 2), np.exp(-t)
    with np.errstate(divide="ignore"):
        rows = {
            "cubic": (t**3 - 3 * t, 3 * t * t - 3, 6 * t, 0 * t + 6),
            "sin": (np.sin(t), np.cos(t), -np.sin(t)),
            "bell": (bell, -t * bell, (t * t - 1) * bell),
            "quartic": (t**4 - 4 * t**3, 4 * t**3 - 12 * t * t, 12 * t * t - 24 * t),
            "bump": (t * fall, (1 - t) * fall, (t - 2) * fall),
            "line": (2 * t, 0 * t + 2, 0 * t),
            "pole": (1 / t, -1 / t**2, 2 / t**3),
        }[name]
    kept = [np.array([float(f"{value:.4g}") if np.isfinite(value) else np.nan for value in row]) for row in rows]
    return Curves(t, tuple(kept), marks=(Mark(0.0, "pole", ()),) if name == "pole" else ())


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['function']} {row['what']}")
def test_a_sketch_is_judged_as_in_the_page(row: Row) -> None:
    curves = curves_of(str(row["function"]))
    sketch = drawn(curves, row["handles"], int(str(row["row"])))
    found = judge(curves, sketch, int(str(row["row"])))
    assert (found.code, found.score, found.signs) == (row["code"], row["score"], row["signs"])
    assert found.passed == row["passed"]
    assert in_words(curves.x, sketch).replace("-", "−") == row["words"]


def test_the_table_has_every_idea() -> None:
    assert {row["code"] for row in TABLE} >= {"", "OTHER", *SKETCHED}


def wobble(rng: np.random.Generator, size: float) -> np.ndarray:
    """Return what an unsteady hand adds: a few slow waves."""
    along = np.linspace(0, np.pi, COLUMNS)
    waves = np.stack([rng.normal() * np.sin(k * along + rng.uniform(0, 6)) for k in range(1, 5)])
    return size * waves.sum(axis=0) / 2**0.5


def kinds(curves: Curves) -> dict[str, np.ndarray]:
    """Return what each idea draws."""
    f, slope, bend = curves.rows[:3]
    area = np.cumsum(f) * (curves.x[1] - curves.x[0])
    return {"": slope, "COPIED_F": f, "FLIPPED_SLOPE": -slope, "ABSOLUTE": np.abs(slope), "AREA": area,
            "SHIFTED_UP": slope + 0.3 * np.ptp(slope), "SECOND_FOR_FIRST": bend,
            "SIGNS_ONLY": np.sign(slope)}  # fmt: skip


@pytest.mark.slow
def test_noisy_sketches_of_five_functions_are_told_apart(figure: Callable[[str, str], None]) -> None:
    """Five functions, eight kinds, 20 sketches each: by pen, and taken at nine handles."""
    told: list[str] = []
    for handles, least in ((False, 0.96), (True, 0.93)):
        for size in (0.05, 0.10, 0.15):
            rng = np.random.default_rng(1)
            named = accepted = right = passed = 0
            for name in ("sin", "cubic", "bell", "quartic", "bump"):
                curves = curves_of(name)
                for kind, heights in kinds(curves).items():
                    for _ in range(20):
                        sketch = heights * rng.uniform(0.75, 1.25) + wobble(rng, size * np.ptp(heights) / 2)
                        found = judge(curves, through(sketch[::STRIDE]) if handles else sketch)
                        named += found.code == kind
                        accepted += bool(kind) and found.passed
                        right += not kind and not found.code
                        passed += not kind and found.passed
            tool = "nine handles" if handles else "pen"
            told.append(f"{tool}, wobble {size:.0%}: {named / 800:.1%} named, {right} of 100 right ones seen as right, "
                        f"{passed} in the band, {accepted} of 700 wrong ones pass")  # fmt: skip
            assert named >= least * 800, told[-1]
            assert accepted <= 3, told[-1]
    figure("sketches told apart", "; ".join(told))


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_nine_handles_are_enough_for_every_function_that_is_dealt(number: int) -> None:
    pad = sketch_pad(*FUNCTIONS[number])
    (curves,) = pad.curves
    rng = np.random.default_rng(number)
    for _ in range(20):
        sketch = curves.rows[1] * rng.uniform(0.8, 1.2) + wobble(rng, 0.05 * np.ptp(curves.rows[1]) / 2)
        assert judge(curves, through(sketch[::STRIDE])).passed
    for code, heights in kinds(curves).items():
        if code and not np.allclose(heights, curves.rows[1]):  # where f only climbs, its slope and its size are one
            assert not judge(curves, heights).passed, code


def test_a_scribble_is_seldom_given_an_idea(figure: Callable[[str, str], None]) -> None:
    rng = np.random.default_rng(3)
    codes = [
        judge(curves, wobble(rng, reach(curves, 1) / 2)).code
        for curves in map(curves_of, ("sin", "cubic", "bell", "quartic", "bump"))
        for _ in range(100)
    ]
    named = 1 - codes.count("OTHER") / len(codes)
    figure("scribbles given an idea", f"{named:.1%} of {len(codes)}")
    assert named <= 0.1


def test_a_pole_leaves_the_panel_and_its_column_counts_for_nothing() -> None:
    pole = curves_of("pole")
    top = reach(pole, 1)
    right = np.clip(np.where(np.isfinite(pole.rows[1]), pole.rows[1], -top), -top, top)
    assert judge(pole, right).passed
    assert not judge(pole, -right).passed
    assert np.isfinite(pole.rows[1]).sum() == COLUMNS - 1


def test_a_constant_derivative_is_right_at_any_height_of_its_sign() -> None:
    line = curves_of("line")
    for height in (1.0, 2.0, 3.0):
        assert judge(line, np.full(COLUMNS, height)).passed
    assert judge(line, np.full(COLUMNS, -2.0)).code == "FLIPPED_SLOPE"
    assert judge(line, 2 * line.x).code == "COPIED_F"
    assert judge(line, np.zeros(COLUMNS), 1).code != ""


def test_what_is_not_drawn_is_not_in_the_band() -> None:
    cubic = curves_of("cubic")
    half = np.where(cubic.x < 0, cubic.rows[1], np.nan)
    assert judge(cubic, half).score == 50
    assert judge(cubic, np.full(COLUMNS, np.nan)).code == "OTHER"


def test_extents_signs_and_zeros() -> None:
    assert extent(np.array([np.nan, -1.0, 3.0])) == 4
    assert (extent(np.zeros(3)), extent(np.full(3, -2.0))) == (1, 2)
    assert signs_of(np.array([np.nan, 0.0, 2.0, -0.01, -2.0])).tolist() == [1, 1, 1, 1, -1]
    assert zeros(np.arange(5.0), np.array([1.0, 1.0, 0.0, 0.0, -1.0])) == pytest.approx([3.0], abs=2)


def test_the_picture_has_the_score_and_shows_the_derivative_only_when_it_is_judged() -> None:
    cubic = curves_of("cubic")
    sketch = drawn(cubic, [9, 4, 1, -1, -2, -1, 1, 4, 9], 1)
    closed, opened = plot(cubic, sketch, 1, None), plot(cubic, sketch, 1, judge(cubic, sketch))
    assert not any(np.array_equal(layer.y, cubic.rows[1]) for layer in closed.layers)
    assert any(np.array_equal(layer.y, cubic.rows[1]) for layer in opened.layers)
    assert "100 of 100" in svg(opened)
    assert "until" not in plot(cubic, np.full(COLUMNS, np.nan), 1, None).account
