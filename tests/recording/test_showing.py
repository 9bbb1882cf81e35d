"""How a recording is displayed: in a notebook, as a picture, as DOT, as a page."""

import copy
import dataclasses
import pickle
import sys
from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.events.listener import SINKS
from autodiff_lab.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot
from tests.recording.programs import square_plus_sine


def data_of(recording: Recording) -> dict[str, str]:
    """The display data by type, whatever form the bundle has."""
    bundle = recording._repr_mimebundle_()
    return bundle[0] if isinstance(bundle, tuple) else bundle


def test_with_widgets_a_recording_shows_the_explorer_and_always_a_text() -> None:
    """The living widget, and what GitHub or a screen reader can use in its place."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    data = data_of(square_plus_sine())
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"]


def test_without_widgets_it_shows_a_picture_and_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """An install without the notebook extra is not a dead end."""
    monkeypatch.setitem(sys.modules, "autodiff_lab.widgets.explorer", None)
    data = data_of(square_plus_sine())
    assert data["text/plain"] == "<Recording: 3 ops, 1 backward pass>"
    assert data["image/svg+xml"].startswith("<svg")


def test_a_picture_that_cannot_be_made_says_how_often_each_op_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """A display never fails."""
    monkeypatch.setitem(sys.modules, "autodiff_lab.widgets.explorer", None)

    def fail(*arguments: object, **options: object) -> None:
        raise LayoutFailed("too large")

    monkeypatch.setattr("autodiff_lab.draw.layout.layout", fail)
    assert "3 ops, 1 backward pass; those that ran most often" in data_of(square_plus_sine())["image/svg+xml"]


def test_an_empty_recording_can_be_shown_in_every_form(tmp_path: Path) -> None:
    """Nothing happened, and nothing breaks."""
    with lab.record() as recording:
        pass
    assert recording.to_text() == "no op ran"
    assert recording.to_svg().startswith("<svg")
    assert "digraph" in recording.to_dot().source
    recording.to_html(tmp_path / "empty.html")
    recording.save(tmp_path / "empty.json")
    assert lab.load_recording(tmp_path / "empty.json") == recording
    assert data_of(recording)["text/plain"]


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the heading asked for, and a failure leaves the old file alone."""
    page = tmp_path / "page.html"
    square_plus_sine().to_html(page, title="My <own> title")
    text = page.read_text(encoding="utf-8")
    assert "My &lt;own&gt; title" in text
    assert "My <own> title" not in text

    def full(self: Path, other: Path) -> Path:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        square_plus_sine().to_html(page)
    assert page.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [page]


def test_options_of_the_picture_reach_it() -> None:
    """A moment before the backward pass shows no gradient; a scope shows its inside."""
    recording = square_plus_sine()
    everything, at_first = recording.to_svg(), recording.to_svg(moment=0)
    assert everything != at_first
    assert recording.to_svg(theme="dark") != recording.to_svg(theme="light")
    assert recording.to_svg(show=[]) != everything


def test_a_recording_can_be_copied_changed_and_pickled_before_it_was_looked_at() -> None:
    """It is an ordinary value: `replace` gives one with another title, copies are equal."""
    assert dataclasses.replace(square_plus_sine(), title="other").title == "other"
    recording = square_plus_sine()
    assert copy.copy(recording) == recording
    looked_at = square_plus_sine()
    looked_at.to_text()
    assert pickle.loads(pickle.dumps(looked_at)) == looked_at  # noqa: S301
    assert {"ops", "tensors", "sweeps", "to_html", "save"} <= set(dir(square_plus_sine()))


def test_a_policy_that_raises_does_not_disturb_the_program() -> None:
    """While the program runs the recording stops early and says so; the result of the program is the same."""

    def broken(array: object, leaf: bool) -> Snapshot:
        raise ZeroDivisionError("no snapshot today")

    before = SINKS.get()
    words = "stopped early: ZeroDivisionError: no snapshot today"
    with pytest.warns(RuntimeWarning, match=words), lab.record(policy=broken, budget=0):
        y = lab.sin(lab.constant(1.0))
    assert float(y) == pytest.approx(0.84147, rel=1e-4)
    assert SINKS.get() == before
