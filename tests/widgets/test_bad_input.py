"""Names, values and functions that nobody planned for, in every widget, page, picture and text."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from tests.widgets.examples import EXAMPLES, NAMED, kinds, recorded, write

NAMES = {
    "markup": '</script><img src=x onerror="window.broken=1"><b>&amp;\'"',
    "right to left": "שלום \u202eabc مرحبا",
    "emoji": "👩\u200d🔬🇩🇪 x\u0302",
    "10,000 characters": "n" * 10_000,
    "control characters": "a\x00b\tc\r\nd\x1b[31m",
    "half a character": "x\ud800",
    "empty": "",
    "LaTeX and code": r"\frac{x}{y} ${x} {{x}} %s",
}


def test_every_widget_has_an_example() -> None:
    assert kinds() == set(EXAMPLES)


CASES = [(kind, name) for kind in EXAMPLES for name in (NAMES if kind in NAMED else ["empty"])]


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize(("kind", "which"), CASES)
def test_any_name_makes_a_page_a_picture_and_a_text(kind: str, which: str, tmp_path: Path) -> None:
    widget = EXAMPLES[kind](NAMES[which])
    text = write(widget, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert len(text) < 400_000
    widget.account().encode("utf-8")
    assert len(widget.account()) < 5_000
    picture = widget.picture()
    if picture is not None:
        ElementTree.fromstring(picture)  # refuses what XML forbids
        assert len(picture) < 200_000
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", picture), "it would turn what follows around"


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_stands_in_every_text_of_a_recording(name: str, tmp_path: Path) -> None:
    recording = recorded(name)
    told = [recording.to_text(), repr(recording), recording.explain("%2", "%0")]
    for text in map(str, [*told, recording.to_dot().source, recording.to_svg()]):
        text.encode("utf-8")
        assert len(text) < 60_000
        assert "\x1b" not in text, "it would colour a terminal"
    recording.save(tmp_path / "kept.json")
    assert lab.load_recording(tmp_path / "kept.json") == recording


def test_a_file_of_version_1_is_read_shown_and_written_as_it_was(tmp_path: Path) -> None:
    """The file is one that an earlier release wrote; it is never renewed."""
    kept = Path(__file__).parents[1] / "data" / "recording_version_1.json"
    recording = lab.load_recording(kept)
    assert [application.op for application in recording.forward] == ["multiply", "sin", "add", "identity", "multiply"]
    assert "d(total)" in recording.to_text() or "total" in recording.to_text()
    assert len(write(recording.explore(), tmp_path / "page.html").read_text()) < 200_000
    assert recording.explore().picture()
    recording.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(kept.read_text())


VALUES: dict[str, Any] = {
    "nan": [np.nan, 1.0], "inf": [np.inf, -np.inf], "minus zero": [-0.0, 0.0], "complex": [1 + 2j, complex("nan")],
    "bfloat16": lab.constant([1.0, 3.14159], lab.bfloat16), "empty": np.zeros((0, 3)), "scalar": 2.0,
    "large": np.full((40, 40), 1e150), "tiny": [5e-324], "bool": [True, False], "int64": [2**62, -(2**62)],
    "text": ["<b>", "\u202e"], "a cube": np.arange(24.0).reshape(2, 3, 4),
}  # fmt: skip


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_any_value_is_shown_and_kept(value: Any, tmp_path: Path) -> None:
    with lab.record(title="values") as recording:
        v = lab.constant(value)
        lab.identity(v)
    explorer = recording.explore()
    page = write(explorer, tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page) < 300_000
    ElementTree.fromstring(recording.to_svg())
    recording.to_text().encode("utf-8")
    recording.to_png(tmp_path / "page.png")
    recording.save(tmp_path / "kept.json")
    assert lab.load_recording(tmp_path / "kept.json") == recording
    card = v._repr_html_()
    assert "<b>&lt;b&gt;" not in card
    assert "<script" not in card


def test_a_ragged_value_is_shown() -> None:
    ragged = lab.ragged.constant([[1.0, 2.0], [], [3.0]])
    with lab.record() as recording:
        y = lab.reduce_sum(ragged.values * 2.0)
    assert float(y) == 12.0
    assert "12" in recording.to_text()
    assert recording.explore().picture()


def raising(x: Any) -> Any:
    raise RuntimeError(f"<b>{x}</b> \u202e is too much")


FUNCTIONS: dict[str, tuple[Any, str]] = {
    "raises": (raising, "too much"),
    "a vector": (lambda x: lab.stack([lab.reduce_sum(x), lab.reduce_sum(x)]), "one number"),
    "text": (lambda _: "seven", "number"),
    "None": (lambda _: None, "return"),
    "a dict": (lambda x: {"y": x}, "number"),
    "complex": (lambda x: lab.cast(lab.reduce_sum(x), lab.complex128), "real"),
}
CALLS: dict[str, Any] = {
    "explore": lambda f: lab.explore(f, -1.0, 1.0, n=21),
    "explore_2d": lambda f: lab.explore_2d(f, (-1, -1), (1, 1)),
    "explore_steps": lambda f: lab.explore_steps(f, 1.0),
    "plot_derivative": lambda f: lab.plot_derivative(f, -1.0, 1.0, n=21),
    "plot_2d": lambda f: lab.plot_2d(f, (-1, -1), (1, 1)),
    "plot_steps": lambda f: lab.plot_steps(f, 1.0),
    "sketch_pad": lambda f: lessons.sketch_pad(f, -1.0, 1.0),
}


@pytest.mark.parametrize(("function", "words"), FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_function_that_gives_no_number_is_told_as_such(call: Any, function: Any, words: str) -> None:
    with pytest.raises(lab.errors.LabError) as caught:
        call(function)
    assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize("call", [lessons.golf, lessons.swell, lambda f: lessons.jacobian_map(f, [0.5, 1.0])])
@pytest.mark.parametrize("what", ["raises", "text", "None", "a dict"])
def test_games_and_maps_refuse_a_function_that_gives_no_number(call: Any, what: str) -> None:
    with pytest.raises((lab.errors.LabError, RuntimeError), match=r"Try|too much"):
        call(FUNCTIONS[what][0])
