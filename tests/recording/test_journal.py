"""Recordings written while the program runs: as those in memory, in little memory, readable when cut short."""

import contextlib
import gc
import json
import tracemalloc
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError, RecordingError
from autodiff_lab.events.listener import fresh_id
from autodiff_lab.recording.journal import Ids
from tests.mutations import COUNT, FIRST, bounds, changed, damaged
from tests.recording.generated import asked, recorded


def neuron(**options: Any) -> lab.Recording:
    x = lab.Variable(0.5, name="x")
    with lab.record(title="neuron", **options) as recording:
        with lab.GradientTape() as tape:
            with lab.name_scope("inner"):
                h = lab.tanh(x)
            y = lab.sin(h) * x
        tape.gradient(y, x)
    return recording


@pytest.mark.parametrize("seed", range(15))
def test_it_says_the_same_as_a_recording_in_memory(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(recording: lab.Recording) -> list[str]:
        numbers = {key: f"#{number}" for key, number in recording.numbers.items()}
        texts = [answer for _, answer in asked(recording)]
        return [" ".join(numbers.get(int(word), word) if word.isdigit() else word for word in t.split()) for t in texts]

    kept = recorded(seed)
    monkeypatch.setattr(lab, "record", partial(lab.record, to=tmp_path / "run.jsonl"))
    written = recorded(seed)
    assert answers(lab.load_recording(tmp_path / "run.jsonl")) == answers(written)
    assert len(written) == len(kept)
    assert written.to_text(lines=False).splitlines()[:3] == kept.to_text(lines=False).splitlines()[:3]


def test_a_program_is_read_back_with_names_lines_and_pictures(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recording = neuron(to=path)
    assert recording.to_text() == neuron().to_text() == lab.load_recording(path).to_text()
    lab.load_recording(path).to_html(tmp_path / "page.html")
    assert "lab.tanh(x)" in lab.load_recording(path).to_text()
    assert recording.replayable


def test_lines_are_those_of_the_program_that_ran_also_if_it_changed_since(tmp_path: Path) -> None:
    program, path = tmp_path / "program.py", tmp_path / "run.jsonl"
    program.write_text("y = lab.exp(lab.constant(1.0))\n", encoding="utf-8")
    with lab.record(to=path):
        exec(compile(program.read_text(encoding="utf-8"), str(program), "exec"), {"lab": lab})
    program.write_text("z = 3\n", encoding="utf-8")
    assert "lab.exp(lab.constant(1.0))" in lab.load_recording(path).to_text()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_program(tmp_path: Path) -> None:
    def peak(steps: int, **options: Any) -> int:
        gc.collect()
        tracemalloc.start()
        with lab.record(**options):
            x = lab.ones([256])
            for _ in range(steps):
                x = lab.sin(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10, to=tmp_path / "run.jsonl")
    short, long = (peak(steps, to=tmp_path / "run.jsonl") for steps in (100, 1500))
    assert long < short + 100_000  # 1,500 results take 1.5 MB
    assert peak(1500) > long + 1_000_000
    assert len(lab.load_recording(tmp_path / "run.jsonl")) == 1500


def test_a_file_cut_anywhere_says_how_much_can_be_read(tmp_path: Path) -> None:
    path, cut = tmp_path / "run.jsonl", tmp_path / "cut.jsonl"
    neuron(to=path)
    content = path.read_bytes()
    ops: set[int] = set()
    for end in (*range(0, 100, 7), *range(100, len(content) - 1, 701), len(content) - 2):
        cut.write_bytes(content[:end])
        with pytest.raises(RecordingError, match=r"cut\.jsonl"):
            lab.load_recording(cut)
    ends = [end for end, byte in enumerate(content) if byte == ord("\n")]
    for end in (*ends[:-1], *(end - 7 for end in ends[1:])):
        cut.write_bytes(content[:end])
        try:
            recording = lab.load_recording(cut, partial=True)
        except RecordingError:  # not one event is whole
            continue
        assert recording.error is not None
        assert recording.error.startswith("RecordingError")
        if len(recording) not in ops:
            recording.to_svg()
        ops.add(len(recording))
    assert {1, 2, 3} <= ops


def test_a_program_that_is_stopped_leaves_what_ran(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with contextlib.suppress(LabError), lab.record(to=path) as failed:
        a = lab.ones([2]) * 2.0
        _ = a @ lab.ones([3, 4])
    assert str(failed.error).startswith("ShapeMismatch")
    assert lab.load_recording(path).error == failed.error
    with lab.record(to=path) as recording:
        lab.sin(lab.constant(0.0))
        sofar = recording.so_far()
        assert len(sofar) == 1
        with pytest.raises(RecordingError, match=r"1 op among them.*partial=True"):
            lab.load_recording(path)
        assert len(lab.load_recording(path, partial=True)) == 1


def test_a_disk_that_is_full_disturbs_nothing(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")

    def program() -> float:
        y = lab.constant(0.0)
        with lab.record(to="/dev/full"):
            for _ in range(3000):
                y = lab.sin(y)
        return float(y)

    with pytest.warns(RuntimeWarning, match="The recording stopped early"):
        assert program() == 0.0


@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, 50))
def test_a_damaged_journal_is_refused_or_shown(start: int, tmp_path: Path) -> None:
    path, hostile = tmp_path / "run.jsonl", tmp_path / "hostile.jsonl"
    neuron(to=path)
    lines = path.read_bytes().splitlines(keepends=True)
    for seed in range(start, min(start + 50, FIRST + COUNT)):
        random = Random(seed)
        at = random.randrange(len(lines))
        if random.random() < 0.3:
            content = damaged(b"".join(lines), random)
        else:
            row = json.dumps(changed(json.loads(lines[at]), random)).encode() + b"\n"
            content = b"".join([*lines[:at], row, *lines[at + 1 :]])
        hostile.write_bytes(content)
        for partly in (False, True):
            try:
                with bounds(len(content)):
                    recording = lab.load_recording(hostile, partial=partly)
            except RecordingError:
                continue
            assert dict(asked(recording)), f"seed {seed}"


def test_ids_are_a_set() -> None:
    ids, same = Ids(), set[int]()
    random = Random(0)
    for _ in range(3000):
        key = random.choice((random.randrange(1, 50), fresh_id(), fresh_id() + random.randrange(100_000)))
        ids.update([key])
        same.add(key)
        other = random.choice((random.randrange(1, 50), fresh_id() - random.randrange(1000)))
        assert (other in ids) == (other in same)
    assert all(key in ids for key in same)


@pytest.mark.parametrize(
    ("options", "ops"),
    [
        ({"skip": "tanh"}, ["sin", "multiply"]),
        ({"only": "inner"}, ["tanh"]),
        ({"only": ["s*", "inn?r"]}, ["tanh", "sin"]),
        ({"only": "inner", "skip": "tanh"}, []),
        ({"skip": ["inner", "multiply"]}, ["sin"]),
        ({"only": "y"}, ["multiply"]),
        ({"skip": "nothing of this name"}, ["tanh", "sin", "multiply"]),
    ],
)
def test_only_and_skip_say_which_ops_are_kept(options: dict[str, Any], ops: list[str], tmp_path: Path) -> None:
    x = lab.Variable(0.5, name="x")
    with lab.record(**options) as recording, lab.GradientTape() as tape:
        with lab.name_scope("inner"):
            h = lab.tanh(x)
        y = lab.sin(h) * x
        slope = tape.gradient(y, x)
    whole = neuron()
    assert [application.op for application in recording.forward] == ops
    written = neuron(to=tmp_path / "run.jsonl", **options)
    assert [application.op for application in written.forward] == ops  # there `y` is a name inside a function
    for application in recording.forward:  # every value is the one that the whole program computed
        (out,) = application.outputs
        same = [a for a in whole.forward if a.op == application.op]
        assert recording.tensors[out].snapshot == whole.tensors[same[0].outputs[0]].snapshot
        for tensor in application.inputs:
            assert recording.tensors[tensor].snapshot.array is not None
    steps = [recording.applications[step.application].op for step in recording.sweeps[0].steps]
    assert sorted(steps) == sorted(ops)
    for step in recording.sweeps[0].steps:
        assert all(key is not None and recording.tensors[key].snapshot.array is not None for key in step.incoming)
    assert slope is not None
    recording.to_svg()
    gone = 3 - len(ops)
    assert ("left out" in recording.to_text()) == bool(gone)
    assert recording.replayable == (not gone)
    if gone:
        for ask in (lambda: recording.explain(y, x), lambda: recording.ledger(x)):
            with pytest.raises(LabError, match="left out"):
                ask()


@pytest.mark.parametrize("wrong", [3, "", ["a", 1], [""], None, lab])
@pytest.mark.parametrize("name", ["only", "skip"])
def test_patterns_are_texts(name: str, wrong: object) -> None:
    with pytest.raises(LabError, match=f"record: {name} takes"):
        lab.record(**{name: wrong})


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"), lab.record(to=tmp_path / "nowhere" / "run.jsonl"):
        pass
