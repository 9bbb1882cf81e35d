"""Tensors as pictures: cells and histograms agree with the page's by one table, and nodes keep room for them."""

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw import cells
from autodiff_lab.draw.values import Values
from autodiff_lab.recording.snapshot import snapshot
from tests.tree import ROOT

TABLE = json.loads((ROOT / "tests" / "data" / "cells.json").read_text(encoding="utf-8"))


def test_grids_levels_cells_and_bars_are_those_of_the_table() -> None:
    for shape, wanted in TABLE["grids"]:
        found = cells.grid(shape)
        assert (None if found is None else [*found, cells.cell_size(*found)]) == wanted, shape
    for number, largest, wanted in TABLE["levels"]:
        assert cells.level(math.nan if number == "nan" else number, largest) == wanted
    for case in TABLE["paths"]:
        found = cells.paths(case["numbers"], case["columns"], case["size"])
        assert {str(degree): path for degree, path in found.items()} == case["paths"]
    for heights, room, wanted in TABLE["bars"]:
        assert cells.bars_path(heights, tuple(room)) == wanted


@pytest.mark.parametrize(
    "array",
    [
        np.full(200, np.nan),
        np.zeros((20, 20)),
        np.array([1e308, -1e308] * 100),
        np.array([np.inf, -np.inf, 1.0, 2.0] * 50),
        np.arange(1000),
        np.full(300, 1e300),
        np.ones((0, 300)),
    ],
    ids=["nan", "zeros", "huge", "inf", "int", "alike", "empty"],
)
def test_a_histogram_of_anything_has_sixteen_bars(array: np.ndarray) -> None:
    heights = cells.histogram(array)
    assert len(heights) == cells.BARS
    assert all(0 <= height <= 100 for height in heights)
    assert max(heights) == (100 if np.isfinite(array).any() else 0)


def test_what_the_page_gets_beyond_the_full_text() -> None:
    """Few elements are in the text, many are cells where it was cut, still more a histogram, and others nothing."""
    random = np.random.default_rng(0)

    def extras(array: np.ndarray) -> list[object]:
        values = Values()
        values.position(snapshot(array, 10_000))
        return values.tables()[1][0][5:]

    assert extras(np.ones(8, np.float32)) == []
    (found,) = extras(random.standard_normal((8, 8)))
    assert len(found) == 64  # type: ignore[arg-type]
    assert extras(np.array([np.nan] * 64 + [1 / 3] * 64).reshape(8, 16))[0][:1] == ("nan",)  # type: ignore[index]
    assert len(extras(random.standard_normal((40, 40)))[1]) == cells.BARS  # type: ignore[arg-type]
    assert extras(np.array([1j] * 100)) == []
    assert extras(np.array(["x"] * 100, object)) == []


def test_a_static_picture_shows_tensors_as_cells_inside_their_boxes() -> None:
    x = lab.Variable(np.linspace(-1, 1, 40).reshape(5, 8), name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(lab.sin(x))
        tape.gradient(y, x)
    drawn = ET.fromstring(recording.to_svg())
    groups = [g for g in drawn.iter("{http://www.w3.org/2000/svg}g") if "lab-cells" in g.get("class", "")]
    assert [g.get("class") for g in groups] == ["lab-cells lab-value", "lab-cells lab-gradient"] * 2
    for node in drawn.iter("{http://www.w3.org/2000/svg}g"):
        box = node.find("{http://www.w3.org/2000/svg}rect[@class='lab-box']")
        if "lab-node" not in node.get("class", "") or box is None:
            continue
        for group in node.findall("{http://www.w3.org/2000/svg}g"):
            if "lab-cells" not in group.get("class", ""):
                continue
            left = float(group.get("transform", "")[10:].split(",")[0])
            width = float(group[0].get("width", "0"))
            assert float(box.get("x", "0")) <= left
            assert left + width <= float(box.get("x", "0")) + float(box.get("width", "0"))
    description = drawn.find("{http://www.w3.org/2000/svg}desc")
    assert description is not None
    assert "value mean 0, spread 0.59" in (description.text or "")


def test_a_flow_says_over_which_axes_the_sweep_summed(tmp_path: Path) -> None:
    wide = lab.Variable(np.ones((3, 4)), name="wide")
    tall = lab.Variable(np.ones((3, 1)), name="tall")
    row = lab.Variable(np.ones(4), name="row")
    one = lab.Variable(2.0, name="one", dtype=lab.float64)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(wide * tall + row) * 1.0 + lab.reduce_sum(wide * one)
        tape.gradient(y, [wide, tall, row, one])
    names = {key: record.name for key, record in recording.tensors.items()}
    found = {
        names[flow.input]: flow.summed
        for step in recording.sweeps[0].steps
        for flow in step.flows
        if names[flow.input] in {"tall", "row", "one"}
    }
    assert found == {"tall": (1,), "row": (0,), "one": (0, 1)}
    recording.save(tmp_path / "recording.json")
    again = lab.load_recording(tmp_path / "recording.json")
    assert [[f.summed for f in s.flows] for s in again.sweeps[0].steps] == [
        [f.summed for f in s.flows] for s in recording.sweeps[0].steps
    ]
