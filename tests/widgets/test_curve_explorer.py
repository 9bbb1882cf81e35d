"""The function explorer on the Python side: its data, its responses, and what it shows where no script runs."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

from autodiff_lab.draw.curves import Curves, Mark
from autodiff_lab.widgets.curve_explorer import MOST_SAMPLES, CurveExplorer, facts, packed


def square(x: np.ndarray) -> list[np.ndarray]:
    return [x * x, 2 * x, 0 * x + 2]


def curves(name: str = "f", **more: Any) -> Curves:
    x = np.linspace(-2.0, 2.0, 5)
    return Curves(x, tuple(square(x)), name=name, **more)


class Listening(CurveExplorer):
    """An explorer whose responses are stored instead of sent."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sent: list[tuple[Any, Any]] = []
        super().__init__(*arguments, **options)

    def send(self, content: Any, buffers: Any = None) -> None:
        self.sent.append((content, buffers))

    def ask(self, **content: Any) -> tuple[dict[str, Any], Any]:
        """Put a question as the page does, and return the answer."""
        self._answer(self, {"kind": "sample", **content}, [])
        return self.sent.pop()


def unpacked(data: bytes, rows: int) -> np.ndarray:
    return np.frombuffer(data, dtype="<f8").reshape(rows + 1, -1)


def test_the_samples_travel_as_numbers_in_order() -> None:
    x, *rows = unpacked(CurveExplorer(curves()).samples, 3)
    assert np.array_equal(x, np.linspace(-2, 2, 5))
    assert np.array_equal(rows, square(x))


def test_nan_travels_too() -> None:
    x = np.array([0.0, 1.0])
    assert np.isnan(unpacked(packed(x, [np.array([np.nan, 1.0])]), 1)[1, 0])


def test_what_travels_beside_the_samples_is_json_without_nan() -> None:
    mark = Mark(0.5, "pole", ((None, None), (None, None), (None, None)))
    told = facts(curves(marks=(mark,), notes=("a note",)), live=True)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["clip"] is True
    assert told["marks"] == [{"x": 0.5, "kind": "pole", "limits": [[None, None]] * 3}]


def test_a_question_is_answered_by_the_function_with_its_number() -> None:
    content, buffers = Listening(curves(), square).ask(id=7, lo=0.5, hi=1.0, n=3)
    assert content == {"kind": "samples", "id": 7}
    x, f, slope, _ = unpacked(buffers[0], 3)
    assert (x.tolist(), f.tolist(), slope.tolist()) == ([0.5, 0.75, 1.0], [0.25, 0.5625, 1.0], [1.0, 1.5, 2.0])


@pytest.mark.parametrize(
    "question",
    [
        {"lo": 1.0, "hi": 0.0, "n": 3},
        {"lo": float("nan"), "hi": 1.0, "n": 3},
        {"lo": "0", "hi": 1.0, "n": 3},
        {"lo": 0.0, "hi": 1.0, "n": 1},
        {"lo": 0.0, "hi": 1.0, "n": 10**9},
        {"lo": 0.0, "hi": 1.0, "n": 2.5},
        {},
    ],
)
def test_a_senseless_question_gets_a_sentence(question: dict[str, Any]) -> None:
    content, buffers = Listening(curves(), square).ask(id=1, **question)
    assert content["id"] == 1
    assert "requested" in content["error"]
    assert buffers is None


def test_the_most_samples_can_be_had() -> None:
    _, buffers = Listening(curves(), square).ask(id=1, lo=0.0, hi=1.0, n=MOST_SAMPLES)
    assert unpacked(buffers[0], 3).shape == (4, MOST_SAMPLES)


def test_a_function_that_raises_is_named_in_the_answer() -> None:
    def fails(_: np.ndarray) -> list[np.ndarray]:
        raise ZeroDivisionError("by nothing")

    content, _ = Listening(curves(), fails).ask(id=3, lo=0.0, hi=1.0, n=3)
    assert content == {"kind": "samples", "id": 3, "error": "ZeroDivisionError: by nothing"}


def test_other_messages_are_left_alone() -> None:
    widget = Listening(curves(), square)
    widget._answer(widget, "hello", [])
    widget._answer(widget, {"kind": "other"}, [])
    assert widget.sent == []


def test_points_stay_on_the_axis() -> None:
    widget = CurveExplorer(curves(), x=1.0)
    widget.x = 99.0
    assert widget.x == 2.0
    with pytest.raises(traitlets.TraitError, match="finite"):
        widget.x = float("nan")
    assert widget.x == 2.0


def test_the_point_begins_where_there_is_a_slope() -> None:
    x = np.linspace(-2.0, 2.0, 41)
    slope = np.where(x > 0.05, 1.0, np.nan)
    widget = CurveExplorer(Curves(x, (x, slope)))
    assert widget.x == pytest.approx(0.1)
    assert widget.other == pytest.approx(1.0)


def test_picture_and_words_stand_beside_the_widget() -> None:
    bundle = CurveExplorer(curves(), x=1.0)._repr_mimebundle_()
    assert bundle is not None
    data, _ = bundle
    assert data["text/plain"].endswith("at x = 1: f(x) = 1, f′(x) = 2, f″(x) = 2")
    assert data["image/svg+xml"].startswith("<svg")
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_page_carries_everything_and_asks_for_nothing(tmp_path: Path) -> None:
    text = CurveExplorer(curves(), square, x=1.0).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    state = json.loads(re.search(r'id="state">(.*?)</script>', text, re.DOTALL).group(1))
    assert np.array_equal(unpacked(base64.b64decode(state["samples"]), 3)[1], np.linspace(-2, 2, 5) ** 2)
    assert state["facts"]["live"] is False
    assert state["x"] == 1.0
    addresses = set(re.findall(r"https?://[^\s\"'`]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bimport\b\s*[({\"']|<link|src=", text.replace('import("', ""))


def test_a_hostile_name_does_not_leave_its_place(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    widget = CurveExplorer(curves(name=hostile, notes=(hostile,)))
    text = widget.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<script>alert" not in widget.picture()
