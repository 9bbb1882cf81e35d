"""Tapes as frames: how they are nested, as text and as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import autodiff_lab as lab
from autodiff_lab.draw import frames

SVG = "{http://www.w3.org/2000/svg}"


def recorded(inside: bool) -> lab.Recording:
    """The second derivative of a cube, the first one taken inside the outer block or after it."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = x * x * x
            dy = inner.gradient(y, x) if inside else None
        dy = dy if inside else inner.gradient(y, x)
        outer.gradient(dy, x)
    return recording


def shape(recording: lab.Recording) -> list[tuple[str, int]]:
    return [(line.kind, line.depth) for line in frames.lines(recording)]


def test_a_gradient_inside_the_outer_block_stands_inside_its_frame() -> None:
    assert shape(recorded(inside=True)) == [
        ("open", 0), ("open", 1), ("op", 2), ("op", 2), ("close", 1), ("pass", 1), ("close", 0), ("pass", 0),
    ]  # fmt: skip
    first, second = (line.text for line in frames.lines(recorded(inside=True)) if line.kind == "pass")
    assert first.endswith("tape 1 records 6 ops")
    assert "= 12;" in second


def test_a_gradient_after_both_blocks_stands_outside_and_the_second_is_none() -> None:
    assert shape(recorded(inside=False)) == [
        ("open", 0), ("open", 1), ("op", 2), ("op", 2), ("close", 1), ("close", 0), ("pass", 0), ("pass", 0),
    ]  # fmt: skip
    first, second = (line.text for line in frames.lines(recorded(inside=False)) if line.kind == "pass")
    assert first.endswith("no tape records it")
    assert second.endswith("= None")


def test_tapes_have_the_names_they_are_given() -> None:
    text = frames.text(recorded(inside=True), ["outer"])
    assert "┌ outer" in text
    assert "from tape 2 = 12; " in text


def test_the_picture_has_a_frame_for_each_tape_and_a_dashed_one_for_each_backward_pass() -> None:
    root = ElementTree.fromstring(frames.svg(recorded(inside=True), ["<outer>"]))
    classes = [rect.get("class") for rect in root.iter(f"{SVG}rect")]
    assert classes.count("lab-frame") == 2
    assert classes.count("lab-pass") == 2
    inner, outer = (rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "lab-frame")
    for side, length in (("x", "width"), ("y", "height")):
        assert float(outer.get(side, 0)) < float(inner.get(side, 0))
        end = [float(rect.get(side, 0)) + float(rect.get(length, 0)) for rect in (inner, outer)]
        assert end[0] < end[1]


def test_a_program_without_tapes_has_no_frames() -> None:
    with lab.record() as recording:
        lab.exp(lab.constant(0.0))
    assert shape(recording) == [("op", 0)]
