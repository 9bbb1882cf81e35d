"""`record()`: what it keeps, when it releases it, and that it never disturbs the program."""

import contextlib
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError, StillRecording
from autodiff_lab.events import OpApplied, TensorMet, observing
from autodiff_lab.events.listener import SINKS
from autodiff_lab.recording import Recorder, Recording
from autodiff_lab.recording.snapshot import Snapshot, snapshot
from tests.recording.programs import failing, square_plus_sine


def test_inside_the_block_a_recording_says_that_it_is_not_ready() -> None:
    """Its repr and its display say so, and asking for anything raises an error of ours that says what to do."""
    with lab.record() as recording:
        lab.sin(lab.constant(1.0))
        assert "still recording" in repr(recording)
        assert "still recording" in recording._repr_mimebundle_()["text/plain"]
        with pytest.raises(StillRecording, match="after the `with"):
            _ = recording.applications
        with pytest.raises(StillRecording):
            len(recording)
    assert len(recording) == 1
    assert repr(recording) == "<Recording: 1 op>"


def test_an_unknown_attribute_is_an_ordinary_attribute_error() -> None:
    """A recording that has not been looked at yet does not pretend to have everything."""
    with lab.record() as recording:
        pass
    assert not hasattr(recording, "no_such_thing")
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = recording.no_such_thing


def test_looking_releases_the_events() -> None:
    """Once the views are built, large intermediate values are gone and only their summaries stay."""
    with lab.record() as recording:
        large = lab.constant(np.ones((100, 100), np.float32)) * 2.0
        held = weakref.ref(large._array)
        del large
    gc.collect()
    assert held() is not None
    assert recording.applications[0].op == "multiply"
    gc.collect()
    assert held() is None
    assert recording.tensors[recording.applications[0].outputs[0]].snapshot.summary is not None


def test_nothing_is_recorded_outside_the_block() -> None:
    """Ops before and after leave no trace, and the listeners are those of before."""
    before = SINKS.get()
    lab.sin(lab.constant(1.0))
    with lab.record() as recording:
        lab.cos(lab.constant(1.0))
    lab.sin(lab.constant(1.0))
    assert [a.op for a in recording.applications] == ["cos"]
    assert SINKS.get() is before or SINKS.get() == before


def test_two_recordings_of_one_program_are_equal_but_for_their_ids() -> None:
    """Nothing random or timed enters a recording."""
    first, second = square_plus_sine(), square_plus_sine()
    assert first.to_text() == second.to_text()


def test_nested_recordings_each_hear_their_block() -> None:
    """The outer one has everything, the inner one its part."""
    with lab.record() as outer:
        lab.sin(lab.constant(1.0))
        with lab.record() as inner:
            lab.cos(lab.constant(1.0))
    assert (len(outer), len(inner)) == (2, 1)


def test_a_program_that_raises_leaves_its_recording_with_the_failing_op_marked() -> None:
    """The exception goes on its way; the recording ends with the op that failed, its inputs and the message."""
    recording = failing()
    assert [a.op for a in recording.applications] == ["add", "multiply"]
    last = recording.applications[-1]
    assert last.outputs == ()
    assert str(last.error).startswith("ShapeMismatch: ")
    assert str(recording.error).startswith("ShapeMismatch: ")
    assert "ended by ShapeMismatch" in repr(recording)


def test_an_error_that_the_program_caught_ends_nothing() -> None:
    """The op is marked as failed; the recording as a whole has no error."""
    with lab.record() as recording:
        with contextlib.suppress(LabError):
            _ = lab.constant([1.0, 2.0]) + lab.constant([1.0, 2.0, 3.0])
        lab.sin(lab.constant(1.0))
    assert recording.error is None
    assert [a.error is None for a in recording.applications] == [False, True]


def test_the_users_own_exception_and_an_unprintable_one_are_kept_in_words() -> None:
    """Whatever ends a block passes through unchanged."""

    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    for error, words in [(KeyError("key"), "KeyError: 'key'"), (Unprintable(), "could not be printed")]:
        with pytest.raises(type(error)), lab.record() as recording:
            raise error
        assert words in str(recording.error)


def test_an_orderly_exit_is_no_error() -> None:
    """``sys.exit(0)`` inside a recorded script is not a failure; ``sys.exit(3)`` is."""
    for code, failed in [(0, False), (None, False), (3, True)]:
        with pytest.raises(SystemExit), lab.record() as recording:
            raise SystemExit(code)
        assert (recording.error is not None) == failed


def test_values_beyond_the_budget_are_summarised_at_once() -> None:
    """The recorder then holds no large array, and the recording is the same but for what was kept."""
    recorder = Recorder(budget=100_000)
    x = lab.constant(np.ones(10_000, np.float32))
    with observing(recorder):
        y = lab.sin(lab.sin(lab.sin(x)))
    held = [v for e in recorder.events if isinstance(e, OpApplied) for v in e.values]
    assert [isinstance(v, Snapshot) for v in held] == [False, True, True]
    recording = recorder.recording()
    last = recording.tensors[y._id].snapshot
    assert last.summary is not None
    assert last.summary.mean == pytest.approx(float(np.mean(y.numpy())))


def nested_tapes() -> None:
    x = lab.Variable(2.0, name="x")
    with lab.GradientTape() as outer:
        with lab.GradientTape() as inner:
            y = x * x * x + lab.constant(1.0)
        slope = inner.gradient(y, x)
    outer.gradient(slope, x)


def many_outputs() -> None:
    @lab.custom_gradient
    def doubled(x: Any) -> Any:
        return x * 2.0, lambda g: g * 2.0

    x = lab.Variable([[3.0, 1.0], [2.0, 4.0]], name="x")
    with lab.GradientTape() as tape:
        left, right = lab.split(x, 2, axis=1)
        s, u, _ = lab.linalg.svd(x)
        y = lab.reduce_sum(doubled(left) * right) + lab.reduce_sum(s) + lab.reduce_sum(u * u)
    tape.gradient(y, x)


def a_failure() -> None:
    with contextlib.suppress(LabError):
        _ = (lab.constant([1.0, 2.0]) + 1.0) * lab.constant([1.0, 2.0, 3.0])


@pytest.mark.parametrize("program", [nested_tapes, many_outputs, a_failure])
def test_what_a_block_keeps_becomes_the_events_that_an_observer_sees(program: Callable[[], None]) -> None:
    """A block keeps ops and contributions as they came; an observer gets their events at once."""
    seen: list[Any] = []
    with lab.record() as recording, observing(seen.append):
        program()
    recorder = recording.__dict__["_recorder"]
    kept = recorder.events
    assert any(item.__class__ is tuple for item in recorder._items), "nothing waits to be made"
    assert [type(event) for event in kept] == [type(event) for event in seen]
    for one, other in zip(kept, seen, strict=True):
        pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not b]
        assert all(a == b if isinstance(a, tuple) else np.array_equal(a, b) for a, b in pairs), one


def test_a_block_beyond_its_budget_summarises_at_once() -> None:
    """What it kept before stays; of what comes later no array is held."""
    with lab.record(budget=150_000) as recording:
        x = lab.constant(np.ones(10_000, np.float32))
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.sin(lab.sin(lab.sin(lab.sin(x))))
        tape.gradient(y, x)
    kept = recording.__dict__["_recorder"]._items
    late = [item for item in kept if item.__class__ is tuple]
    made = [event for event in kept if isinstance(event, OpApplied)]
    assert late, "what fits into the budget waits"
    assert made, "what does not is made"
    assert all(isinstance(value, Snapshot) for event in made for value in event.values)
    assert len(recording) == 4
    assert recording.sweeps[0].steps


def test_small_values_and_leaves_are_kept_whole_and_the_rest_is_summarised() -> None:
    """64 elements of a result, 10,000 of a leaf; beyond that the recording says that it cannot be replayed."""
    for size, replayable in [(10_000, True), (10_001, False)]:
        with lab.record() as recording:
            lab.sin(lab.constant(np.ones(size, np.float32)))
        leaf, output = (t.snapshot for t in recording.tensors.values())
        assert (leaf.array is not None) == replayable == recording.replayable
        assert output.array is None
        assert output.summary is not None
    with lab.record(whole=20_000) as recording:
        lab.sin(lab.constant(np.ones(size, np.float32)))
    assert all(t.snapshot.array is not None for t in recording.tensors.values())


def test_the_policy_is_swappable() -> None:
    """Any function of an array and of whether it is a leaf decides what is kept."""
    seen: list[bool] = []

    def nothing_but_shapes(array: np.ndarray, leaf: bool) -> Snapshot:
        seen.append(leaf)
        return snapshot(array, whole=0)

    with lab.record(policy=nothing_but_shapes) as recording:
        lab.sin(lab.constant([1.0, 2.0]))
    assert all(t.snapshot.array is None for t in recording.tensors.values())
    assert seen == [True, False]


def test_a_recording_made_while_a_value_was_later_overwritten_keeps_the_old_one() -> None:
    """Assigning to a variable after the block does not rewrite history."""
    v = lab.Variable([1.0, 2.0], name="v")
    with lab.record() as recording:
        _ = v + v
    v.assign([7.0, 7.0])
    v[0].assign(9.0)
    leaf = next(iter(recording.tensors.values()))
    np.testing.assert_array_equal(leaf.snapshot.array, [1.0, 2.0])
    assert leaf.snapshot.array.flags.writeable is False


def test_an_array_of_the_users_that_changes_later_does_not_change_the_recording() -> None:
    """NumPy values are copied when they enter."""
    array = np.ones(3, np.float32)
    with lab.record() as recording:
        _ = lab.constant([1.0, 2.0, 3.0]) * array
    array[:] = 5
    values = [t.snapshot.array.tolist() for t in recording.tensors.values() if t.application is None]
    assert [1.0, 1.0, 1.0] in values


def test_a_hand_written_recording_needs_three_views_only() -> None:
    """What the engine did not make can be shown all the same."""
    assert repr(Recording(ops={}, tensors={}, applications=())) == "<Recording: 0 ops>"
    assert Recording(ops={}, tensors={}, applications=()) == Recording(ops={}, tensors={}, applications=())


def test_a_recorder_is_an_ordinary_observer() -> None:
    """It can be called with events made by hand, without an engine."""
    recorder = Recorder(title="by hand")
    recorder(TensorMet(7, "constant", "a", np.float32(2), None, False, None, ""))
    recorder(OpApplied("twice", (7,), (8,), {"axis": [0, 1]}, (np.float32(4),), None, None, ""))
    recording = recorder.recording()
    assert recording.to_text() == ("%0: f32 = constant                # a = 2\n%1: f32 = twice(%0, axis=[0, 1])  # 4")
