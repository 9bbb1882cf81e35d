"""Bars are as long as their values and steps as high as the stored values; both have a text account."""

import re
import xml.etree.ElementTree as ET

import pytest

from autodiff_lab.draw.charts import HEIGHT, Steps, bars, steps

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_long_as_their_values() -> None:
    root = ET.fromstring(bars("Time", {"a": 4.0, "b": 1.0, "c": 0.0}, {"a": "4 s", "b": "1 s", "c": "0 s"}))
    long, short, least = [
        float(bar.get("width", "")) for bar in root.iter(f"{SVG}rect") if bar.get("class") == "lab-bar"
    ]
    assert long == pytest.approx(4 * short, abs=0.5)
    assert least == 2.0
    description = root.find(f"{SVG}desc")
    assert description is not None
    assert description.text == "a: 4 s; b: 1 s; c: 0 s"


def test_the_name_of_a_line_crosses_no_other_line_where_it_need_not() -> None:
    all_kept = Steps("all kept", (*range(1, 17), *range(15, -1, -1)), 16)
    pieces = Steps("four pieces", (*[2] * 8, *[4] * 9, 5, 6, 7, 7, 7, 6, 5, *[3] * 22, 0), 16)
    root = ET.fromstring(steps("Kept", [all_kept, pieces]))
    name = next(text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("four pieces"))
    assert name.get("text-anchor") != "start", "to the right it would cross the other line"


def test_steps_are_as_high_as_what_is_kept() -> None:
    line = Steps("all", (1, 2, 4, 2, 0), 3)
    root = ET.fromstring(steps("Kept", [line]))
    drawn = next(path.get("d", "") for path in root.iter(f"{SVG}path") if "lab-line-0" in path.get("class", ""))
    start = float(re.findall(r"M[\d.]+,([\d.]+)", drawn)[0])
    heights = [start - float(y) for y in re.findall(r"V([\d.]+)", drawn)]
    assert heights == pytest.approx([HEIGHT * kept / 4 for kept in line.kept], abs=0.1)
    across = [float(x) for x in re.findall(r"H([\d.]+)", drawn)]
    turn = next(path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "lab-turn")
    assert float(re.findall(r"M([\d.]+)", turn)[0]) == pytest.approx(across[line.turn - 1], abs=0.1)
    assert "all: at most 4 values kept" in steps("Kept", [line])


def test_lines_differ_in_dashes_and_names_are_text() -> None:
    text = steps("Kept", [Steps("<b>", (1, 0), 1), Steps("other", (1, 0), 1)])
    assert "<b>" not in text
    assert ".lab-line-1 { stroke: var(--lab-backward); stroke-dasharray" in text
