"""The public way in: a framework of forty lines records through `Emitter`, and everything reads the recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.adapters import Emitter, HeldSum, HeldValue, OpTable
from autodiff_lab.errors import NotInRecording, StillRecording
from autodiff_lab.recording import Recording
from autodiff_lab.recording.snapshot import NOT_SEEN, keep
from autodiff_lab.recording.wire import load_recording


class Number:
    """A number of a tiny framework of its own."""

    def __init__(
        self, value: float, key: int, parents: tuple[Number, ...] = (), slopes: tuple[float, ...] = ()
    ) -> None:
        self.value, self.key, self.parents, self.slopes = np.float32(value), key, parents, slopes


class Tiny:
    """A framework with two ops."""

    def __init__(self) -> None:
        like = {"mul": "multiply", "plus": "add", "cut": "stop_gradient"}
        self.emitter = Emitter("tiny", table=OpTable(like, calls={"plus": ("add",)}), find=self.find, title="tiny")
        self.made: list[Number] = []

    def find(self, value: object) -> int | None:
        return value.key if isinstance(value, Number) else None

    def source(self, value: float, name: str) -> Number:
        array = np.float32(value)
        return Number(value, self.emitter.add_source(HeldValue(lambda: array, 4), name=name, kind="variable"))

    def apply(self, op: str, value: float, slopes: tuple[float, ...], *parents: Number) -> Number:
        (key,) = self.emitter.emit_op(op, [p.key for p in parents], [np.float32(value)], place=self.emitter.place_now())
        self.made.append(Number(value, key, parents, slopes))
        return self.made[-1]

    def mul(self, a: Number, b: Number) -> Number:
        return self.apply("mul", a.value * b.value, (b.value, a.value), a, b)

    def plus(self, a: Number, b: Number) -> Number:
        return self.apply("plus", a.value + b.value, (1.0, 1.0), a, b)

    def backward(self, target: Number, *sources: Number) -> dict[int, np.float32]:
        sweep = self.emitter.start_backward([target.key], [np.float32(1.0)], [s.key for s in sources])
        adjoints = {target.key: np.float32(1.0)}
        for number in reversed(self.made):
            for position, (parent, slope) in enumerate(zip(number.parents, number.slopes, strict=False)):
                if number.key in adjoints:
                    share = np.float32(adjoints[number.key] * slope)
                    self.emitter.emit_contribution(sweep, number.key, position, share, local=np.float32(slope))
                    adjoints[parent.key] = np.float32(adjoints.get(parent.key, 0) + share)
        self.emitter.end_backward(sweep)
        return adjoints


def program() -> tuple[Recording, dict[str, Number], dict[int, np.float32]]:
    tiny = Tiny()
    recording = tiny.emitter.start()
    x, w = tiny.source(3.0, "x"), tiny.source(2.0, "w")
    y = tiny.plus(tiny.mul(x, x), tiny.mul(x, w))
    grads = tiny.backward(y, x, w)
    tiny.emitter.finish(names=tiny.emitter.names_around(0))
    return recording, {"x": x, "w": w, "y": y}, grads


def test_a_recording_of_another_framework_prints_and_explains() -> None:
    recording, numbers, grads = program()
    assert grads[numbers["x"].key] == 8.0
    assert recording.framework == "tiny"
    assert "plus(" in recording.to_text()
    assert "total 8" in recording.to_text()
    told = recording.explain(numbers["y"], numbers["x"])
    assert (told.cause, told.result) == ("connected", "a number")
    assert "8 = 3 + 3 + 2" in str(recording.ledger(numbers["x"], numbers["y"]))
    assert recording.first_nonfinite() is None


def test_it_draws_saves_and_loads(tmp_path: Path) -> None:
    recording, _, _ = program()
    recording.save(tmp_path / "tiny.json")
    loaded = load_recording(tmp_path / "tiny.json")
    assert loaded == recording
    assert loaded.framework == "tiny"
    assert loaded.ops["plus"].like == "add"
    assert loaded.ops["plus"].calls == ("add",)
    recording.to_html(tmp_path / "tiny.html")
    assert "tiny" in (tmp_path / "tiny.html").read_text(encoding="utf-8")
    assert recording.to_svg().startswith("<svg")


def test_an_op_that_is_like_another_cuts_like_it() -> None:
    tiny = Tiny()
    recording = tiny.emitter.start()
    x = tiny.source(3.0, "x")
    h = tiny.apply("cut", 3.0, (), x)
    y = tiny.mul(h, h)
    tiny.backward(y, x)
    tiny.emitter.finish()
    told = recording.explain(y, x)
    assert (told.cause, told.op) == ("stop_gradient", "cut")


def test_an_op_is_described_again_when_a_call_says_more_of_it(tmp_path: Path) -> None:
    """Whether an op has a derivative may show only where an input needs a gradient."""
    tiny = Tiny()
    recording = tiny.emitter.start()
    x = tiny.source(3.0, "x")
    for says, known in ((None, True), (False, False), (None, False), (True, True)):
        tiny.emitter.emit_op("less", [x.key], [np.float32(0.0)], differentiable=says)
        assert recording.so_far().ops["less"].differentiable is known
    tiny.emitter.finish()
    assert recording.ops["less"].differentiable
    recording.save(tmp_path / "tiny.json")
    assert load_recording(tmp_path / "tiny.json").ops["less"].differentiable


def test_exits_assignments_failures_and_turns() -> None:
    tiny = Tiny()
    emitter = tiny.emitter
    recording = emitter.start()
    x = tiny.source(3.0, "x")
    y = tiny.mul(x, x)
    emitter.emit_exit(y.key, "float", emitter.place_now())
    emitter.emit_assignment(x.key, "x", np.float32(1.0), y.key)
    emitter.emit_failure("mul", [x.key], ValueError("no"))
    emitter.start_turn(None)
    emitter.switch(False)
    emitter.finish(ValueError("no"))
    text = recording.to_text()
    assert "left the tape by float" in text
    assert "assigned x" in text
    assert "FAILED mul" in text
    assert recording.error == "ValueError: no"


def test_a_live_recording_says_so_and_objects_are_found_again() -> None:
    tiny = Tiny()
    recording = tiny.emitter.start()
    x = tiny.source(3.0, "x")
    with pytest.raises(StillRecording):
        _ = recording.forward
    tiny.emitter.finish()
    assert recording.explain(x, x) is not None
    with pytest.raises(NotInRecording):
        recording.explain("nobody", "x")
    stranger = Number(1.0, 10**9)
    assert "the source" in recording.explain(x, stranger).title


def test_held_values_are_read_late_and_may_be_lost() -> None:
    lost = HeldValue(None)
    assert lost.array() is None
    assert lost.to_snapshot(keep, True) is NOT_SEEN
    total = HeldSum(HeldValue(lambda: np.float32(1.0)), lost)
    assert total.to_snapshot(keep, False) is NOT_SEEN
    gone = HeldValue(lambda: None, 4)
    assert gone.to_snapshot(keep, True) is NOT_SEEN


def test_python_floats_are_values_of_float64() -> None:
    emitter = Emitter("mine", table=OpTable({"mul": "multiply"}))
    recording = emitter.start()
    x = emitter.add_source(3.0, name="x", kind="variable")
    (y,) = emitter.emit_op("mul", [x, x], [9.0])
    sweep = emitter.start_backward([y], [1.0], [x])
    for position in (0, 1):
        emitter.emit_contribution(sweep, y, position, 3.0, local=3.0)
    emitter.end_backward(sweep)
    emitter.finish()
    assert {tensor.snapshot.dtype for tensor in recording.tensors.values()} == {"float64"}
    assert str(recording.ledger("x")).startswith("d(x * x)/dx = 6 = 3 + 3")


def test_values_beyond_the_budget_are_summarised_at_once() -> None:
    read: list[int] = []

    def value(i: int) -> HeldValue:
        def array() -> np.ndarray:
            read.append(i)
            return np.full(1000, float(i))

        return HeldValue(array, 8000)

    emitter = Emitter("tiny", budget=10_000)
    emitter.start()
    keys = [emitter.add_source(value(i)) for i in range(3)]
    assert read == [1, 2]
    emitter.emit_op("sum", keys, [np.float32(0)])
    emitter.finish()


def test_what_is_emitted_after_the_end_is_refused() -> None:
    emitter = Emitter("tiny")
    recording = emitter.start()
    emitter.finish()
    with pytest.raises(RuntimeError, match="TensorMet was emitted after finish"):
        emitter.add_source(np.float32(1))
    assert len(recording) == 0


def test_recordings_of_our_own_programs_have_no_framework() -> None:
    with lab.record() as recording:
        lab.sin(lab.constant(1.0))
    assert recording.framework == ""


@pytest.mark.parametrize("module", ["autodiff_lab", "autodiff_lab.adapters"])
def test_importing_imports_no_adapter_and_no_framework(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "found = [m for m in sys.modules if m.split('.')[0] in ('torch', 'jax')]\n"
        "ours = ('autodiff_lab.adapters.torch', 'autodiff_lab.adapters.jax')\n"
        "found += [m for m in sys.modules if m.startswith(ours)]\n"
        "print(found)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
