"""The payload of the explorer has the contents of the recording, once, as plain JSON."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.values import INFINITE, NAN, ZERO, Values, full_text, mark
from autodiff_lab.recording.snapshot import snapshot
from tests.draw import handmade


def numbers_of(payload: dict[str, Any], position: int) -> str:
    return payload["values"][position][0]


def test_the_payload_is_json_without_loss() -> None:
    payload = scene(handmade.two_layers())
    again = json.loads(json.dumps(payload, allow_nan=False))
    assert json.dumps(again, sort_keys=True) == json.dumps(payload, sort_keys=True)


def test_steps_are_those_of_the_recording_in_order() -> None:
    recording = handmade.sine()
    payload = scene(recording)
    assert [row[0] for row in payload["steps"]] == [moment.application for moment in recording.order]
    assert [len(row) for row in payload["steps"]] == [1, 1, 1, 4, 4, 4]
    assert payload["start"] == 3, "the explorer opens where the forward pass ends"


def test_a_backward_step_has_incoming_local_outgoing_and_total() -> None:
    payload = scene(handmade.sine())
    _, sweep, incoming, flows = payload["steps"][-1]
    assert sweep == 0
    assert [numbers_of(payload, at) for at in incoming] == ["1"]
    shown = [
        (position, tensor, *(numbers_of(payload, at) for at in numbers), *counts)
        for position, tensor, *rest in flows
        for numbers, counts in [(rest[:3], rest[3:])]
    ]
    assert shown == [(0, 0, "3", "3", "2.01", 2, 3), (1, 0, "3", "3", "5.01", 3, 3)]


def test_every_value_is_written_once() -> None:
    payload = scene(handmade.many(200))
    rows = [json.dumps(row) for row in payload["values"]]
    assert len(rows) == len(set(rows))
    assert len(payload["places"]) == 1, "all ops ran on one line"


def test_there_is_a_view_for_every_scope_and_each_has_its_own_layout() -> None:
    payload = scene(handmade.two_layers())
    assert set(payload["views"]) == {"", "net", "net/layer1", "net/layer2"}
    keys = {path: [node[0] for node in view["nodes"]] for path, view in payload["views"].items()}
    assert "snet" in keys[""]
    assert {"a0", "a1", "a2", "snet/layer2"} <= set(keys["net/layer1"])
    for view in payload["views"].values():
        width, height = view["size"]
        for *_, x, y, wide, high in view["nodes"]:
            assert 0 <= x <= x + wide <= width + 1
            assert 0 <= y <= y + high <= height + 1


def test_a_square_has_two_edges() -> None:
    view = scene(handmade.sine())["views"][""]
    keys = [node[0] for node in view["nodes"]]
    into_square = [edge for edge in view["edges"] if keys[edge[1]] == "a0"]
    assert [edge[3] for edge in into_square] == [0, 1]
    assert len({edge[4] for edge in into_square}) == 2, "they do not lie on each other"


def test_sweeps_are_kept_apart_and_no_path_is_nothing() -> None:
    payload = scene(handmade.two_sweeps())
    first, second = payload["sweeps"]
    assert first[3][1] == -1, "w has no path"
    assert numbers_of(payload, second[3][0]) == "0", "a zero is a value"


def test_a_source_that_nothing_read_does_not_matter() -> None:
    recording = handmade.sine()
    sweep = replace(recording.sweeps[0], sources=(1, 9_999), results=(recording.sweeps[0].results[0], None))
    payload = scene(replace(recording, sweeps=(sweep,)))
    assert payload["sweeps"][0][2] == [0]


def test_without_a_title_the_line_of_the_result_is_the_heading() -> None:
    assert scene(replace(handmade.sine(), title=""))["title"] == "y = x * x + lab.sin(x)"
    assert scene(replace(handmade.many(5), title="", sources={}))["title"] == ""


def test_an_empty_recording_has_an_empty_scene() -> None:
    payload = scene(handmade.Pencil().done())
    assert payload["steps"] == []
    assert payload["views"][""]["nodes"] == []


def test_a_view_that_cannot_be_laid_out_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_lab.draw import views
    from autodiff_lab.errors import LayoutFailed

    monkeypatch.setattr(
        views, "arrangements", lambda graphs, *_: [LayoutFailed("too large for this test") for _ in graphs]
    )
    payload = scene(handmade.sine())
    assert payload["views"] == {"": {"why": "too large for this test"}}
    assert len(payload["steps"]) == 6, "the table can still be stepped through"


def test_500_ops_with_all_values_are_below_a_megabyte() -> None:
    payload = scene(handmade.many(500))
    assert len(json.dumps(payload)) < 1_000_000


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (np.float32(0.0), ZERO),
        (np.zeros((40, 40)), ZERO),
        (np.array([0.0, np.nan]), NAN),
        (np.full(5000, np.nan), NAN),
        (np.array([1.0, -np.inf]), INFINITE),
        (np.array([0.0, 1.0]), 0),
        (np.array([False, False]), 0),
        (np.zeros(0), 0),
    ],
)
def test_zero_nan_and_infinity_are_marked(array: Any, wanted: int) -> None:
    assert mark(snapshot(array)) == wanted


def test_the_full_text_has_every_digit_and_can_be_read_back() -> None:
    array = np.array([[0.1, -2.5e-7], [3.0, 1e20]], dtype=np.float32)
    text = full_text(snapshot(array))
    assert np.array_equal(np.array(json.loads(text), dtype=np.float32), array)


def test_the_full_text_of_a_large_value_is_what_is_known_of_it() -> None:
    text = full_text(snapshot(np.append(np.arange(1000.0), np.nan)))
    assert "min 0.0" in text
    assert "max 999.0" in text
    assert "1 nan" in text


def test_equal_values_share_a_row_and_different_dtypes_do_not() -> None:
    values = Values()
    first = values.position(snapshot(np.float32(1.0)))
    assert values.position(snapshot(np.float32(1.0))) == first
    assert values.position(snapshot(np.float64(1.0))) != first
