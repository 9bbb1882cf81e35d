"""How the work of a page grows with its recording, counted in calls and in bytes, never in seconds."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from autodiff_lab.draw import folds, packing, page, still
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.markup import json_text
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.thinning import kept
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.recording import Recording
from tests.draw.handmade import many

DRAW = str(Path(folds.__file__).parent)


def views_of(recording: Recording) -> list[Any]:
    timeline = Timeline(recording)
    return [graph(recording, path, timeline=timeline) for path in ("", *timeline.scopes.members)]


def calls(recording: Recording) -> int:
    """Return how many functions are called, in the modules that draw, for the graphs of all scopes."""
    count = 0

    def seen(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(DRAW)

    sys.setprofile(seen)
    try:
        views_of(recording)
    finally:
        sys.setprofile(None)
    return count


def test_a_fold_is_found_once_however_many_views_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Counter[str] = Counter()
    begin = folds.Fold.__init__

    def counted(self: folds.Fold, timeline: Timeline, path: str, loop: Any = None) -> None:
        found[path] += 1
        begin(self, timeline, path, loop)

    monkeypatch.setattr(folds.Fold, "__init__", counted)
    drawn = views_of(many(2_000, reach=400))
    shown = Counter(node.key for one in drawn for node in one.nodes if node.members)
    assert max(shown.values()) > 5, "neighbours are shown in many views"
    assert set(found.values()) == {1}


@pytest.mark.slow
def test_the_work_for_all_views_grows_as_the_program_does() -> None:
    few, more = (calls(many(count, reach=count)) for count in (1_100, 4_400))
    assert more < 10 * few, f"{more / few:.1f} times the calls for 4 times the ops"


@pytest.mark.slow
def test_what_stays_of_a_scene_is_packed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = scene(many(1_200), layout_seconds=1.0)
    packed: list[int] = []
    make = packing.zlib.compressobj

    def counted(*options: Any, **more: Any) -> Any:
        packer = make(*options, **more)

        class Counted:
            flush = packer.flush

            def compress(self, data: bytes) -> bytes:
                packed.append(len(data))
                return packer.compress(data)

        return Counted()

    monkeypatch.setattr(packing.zlib, "compressobj", counted)
    found = kept(payload, 1_000)
    assert "inputs cannot be changed" in found.without, "every level was tried"
    found.packed_in({"step": 0})
    assert sum(packed) < 1.5 * len(json_text(payload))


def test_a_recording_is_read_once_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recording] = []
    begin = Timeline.__init__

    def counted(self: Timeline, recording: Recording, *options: Any, **more: Any) -> None:
        made.append(recording)
        begin(self, recording, *options, **more)

    monkeypatch.setattr(Timeline, "__init__", counted)
    page.page(many(300))
    assert len(made) == 1


def test_contributions_are_looked_up_once_an_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    find = Timeline.flow_moment_into

    def counted(self: Timeline, application: int, tensor: int, moment: int | None = None) -> int | None:
        looked.append(application)
        return find(self, application, tensor, moment)

    monkeypatch.setattr(Timeline, "flow_moment_into", counted)
    recording = many(2_000)
    assert "<svg" in still.still(recording)
    assert 0 < len(looked) <= sum(len(a.inputs) for a in recording.applications)
