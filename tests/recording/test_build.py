"""What a recording says about a program, compared with what is known about the program."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.events import GradientFlowed, OpApplied, SweepEnded, SweepStarted, TensorMet
from autodiff_lab.recording import Recorder, Recording
from tests.recording.programs import higher_order, square_plus_sine


def test_a_value_used_twice_is_an_input_twice_and_gets_two_contributions() -> None:
    """``x * x`` has x at both positions, and the adjoint of x is the third of three shares."""
    recording = square_plus_sine()
    multiply = recording.applications[0]
    assert multiply.inputs[0] == multiply.inputs[1]
    (sweep,) = recording.sweeps
    into_x = [flow for step in sweep.steps for flow in step.flows if flow.input == multiply.inputs[0]]
    assert [(flow.arrived, flow.expected) for flow in into_x] == [(1, 3), (2, 3), (3, 3)]
    shares = [float(recording.tensors[flow.outgoing].snapshot.array) for flow in into_x]
    totals = [float(recording.tensors[flow.total].snapshot.array) for flow in into_x]
    np.testing.assert_allclose(totals, np.cumsum(shares), rtol=1e-6)
    assert totals[-1] == pytest.approx(6 + np.cos(3), rel=1e-6)
    assert sweep.results == (into_x[-1].total,)
    assert sweep.adjoints()[multiply.inputs[0]] == into_x[-1].total


def test_incoming_times_local_is_outgoing_at_every_step() -> None:
    """The three numbers that the stepper shows agree for every elementwise op."""
    recording = square_plus_sine()
    for step in recording.sweeps[0].steps:
        (incoming,) = step.incoming
        for flow in step.flows:
            g = recording.tensors[incoming].snapshot.array
            assert flow.local is not None
            assert flow.local.array is not None
            np.testing.assert_allclose(
                np.multiply(flow.local.array, g), recording.tensors[flow.outgoing].snapshot.array, rtol=1e-6
            )


def test_ops_of_a_backward_pass_have_a_cause_and_are_not_forward() -> None:
    """`forward` has the user's ops alone; every other one names the application whose rule ran it."""
    recording = square_plus_sine()
    assert [a.op for a in recording.forward] == ["multiply", "sin", "add"]
    assert len(recording) == 3
    causes = {recording.applications[a.cause].op for a in recording.applications if a.cause is not None}
    assert causes == {"multiply", "sin"}


def test_order_is_forward_then_backward() -> None:
    """A stepper first sees the ops run, then the sweep visit them in reverse."""
    recording = square_plus_sine()
    assert [(m.phase, m.application) for m in recording.order] == [
        ("forward", 0),
        ("forward", 1),
        ("forward", 2),
        ("backward", 2),
        ("backward", 1),
        ("backward", 0),
    ]


def test_ops_of_an_inner_backward_pass_are_forward_moments_of_an_outer_one() -> None:
    """The second derivative visits the ops that the first derivative ran, so the stepper shows them run."""
    recording = higher_order()
    inner, outer = recording.sweeps
    visited = [recording.applications[step.application] for step in outer.steps]
    assert any(a.cause is not None for a in visited)
    forward = {m.application for m in recording.order if m.phase == "forward"}
    assert {a.index for a in visited} <= forward
    for step in outer.steps:
        ran = recording.order.index(
            next(m for m in recording.order if m.phase == "forward" and m.application == step.application)
        )
        swept = recording.order.index(
            next(m for m in recording.order if m.sweep == outer.index and m.step == step.index)
        )
        assert ran < swept
    assert float(recording.tensors[inner.results[0]].snapshot.array) == 12.0
    assert float(recording.tensors[outer.results[0]].snapshot.array) == 12.0


def test_backward_passes_are_kept_apart() -> None:
    """Two gradients of a persistent tape are two sweeps, each with its own contributions."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape(persistent=True) as tape:
            y = x * x
            z = y * y
        tape.gradient(z, x)
        tape.gradient(y, x)
    assert [len(sweep.steps) for sweep in recording.sweeps] == [2, 1]
    results = [float(recording.tensors[sweep.results[0]].snapshot.array) for sweep in recording.sweeps]
    assert results == [32.0, 4.0]
    assert [flow.expected for flow in recording.sweeps[1].steps[0].flows] == [2, 2]


def test_no_path_is_no_result() -> None:
    """A source that the target does not depend on has the result None, which is not zero."""
    x, z = lab.Variable(2.0, name="x"), lab.Variable(5.0, name="z")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x
        assert tape.gradient(y, [x, z])[1] is None
    (sweep,) = recording.sweeps
    assert [result is None for result in sweep.results] == [False, True]


def test_places_scopes_and_source_lines_are_the_users() -> None:
    """Every forward op names this file and the line it stands on."""
    with lab.record() as recording, lab.name_scope("encoder"):
        y = lab.sin(lab.constant(1.0))
        with lab.name_scope("layer1"):
            _ = y * y
    sin, multiply = recording.applications
    assert (sin.scope, multiply.scope) == ("encoder", "encoder/layer1")
    assert sin.place is not None
    assert multiply.place is not None
    assert sin.place[0] == __file__
    assert recording.line(sin.place) == "y = lab.sin(lab.constant(1.0))"
    assert recording.line(multiply.place) == "_ = y * y"
    assert recording.where(multiply.place) == f"test_build.py, line {multiply.place[1]}"


def test_what_left_the_tape_is_noted_with_its_place() -> None:
    """``float(y)`` and ``.numpy()`` are notes, and say which op came next."""
    with lab.record() as recording:
        y = lab.sin(lab.constant(1.0))
        float(y)
        y.numpy()
        _ = y * y
    left = [note for note in recording.notes if note.kind == "left"]
    assert [(note.detail, note.before) for note in left] == [("float", 1), ("numpy", 1)]
    assert all(note.place is not None and note.place[0] == __file__ for note in left)


def test_an_assignment_is_noted_and_later_reads_are_new_leaves() -> None:
    """A training step reads the variable before and after; both values are in the recording."""
    w = lab.Variable(3.0, name="w")
    with lab.record() as recording:
        _ = w * 2.0
        w.assign(5.0)
        _ = w * 2.0
    assert [(n.detail, n.before) for n in recording.notes if n.kind == "assigned"] == [("w", 1)]
    reads = [t for t in recording.tensors.values() if t.kind == "variable"]
    assert [float(t.snapshot.array) for t in reads] == [3.0, 5.0]
    assert {t.variable for t in reads} == {w._id}


def test_adding_up_the_reads_of_a_variable_is_no_op_of_the_users() -> None:
    """A variable that was assigned inside the tape was read as two tensors; their gradients are added at the end."""
    w = lab.Variable(2.0, name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = w * w
            w.assign(3.0)
            z = y * w
        slope = tape.gradient(z, w)
        _ = slope + 1.0
    assert [a.op for a in recording.forward] == ["multiply", "multiply", "add"]
    (sweep,) = recording.sweeps
    assert sweep.results[0] is not None
    assert recording.tensors[sweep.results[0]].snapshot.array == 16.0


def swept(*events: object) -> Recording:
    recorder = Recorder()
    for event in (
        TensorMet(1, "constant", None, np.float32(3), None, False, None, ""),
        OpApplied("twice", (1,), (2,), None, (np.float32(6),), None, None, ""),
        TensorMet(3, "constant", None, np.float32(1), None, False, None, ""),
        *events,
    ):
        recorder(event)
    return recorder.recording()


def test_a_backward_pass_that_broke_off_says_so() -> None:
    """Its results are unknown, and that is not the same as no path."""
    recording = swept(SweepStarted(9, 8, (2,), (3,), (1,), None))
    assert recording.sweeps[0].finished is False
    assert "did not finish" in recording.to_text()


def test_a_local_derivative_that_cannot_be_worked_out_is_left_out() -> None:
    """A rule of the user's that raises at a unit cotangent costs the number, not the recording."""

    def rule(ops: Any, g: Any, z: Any, x: Any) -> Any:
        if ops.raw:
            raise ZeroDivisionError
        return g * 2.0

    x = lab.constant(3.0)
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.sin(x)
        tape.gradient(y, x, engine=lab.Engine(rules={"sin": (rule,)}))
    assert recording.sweeps[0].steps[0].flows[0].local is None
    started, ended = SweepStarted(9, 8, (2,), (3,), (1,), None), SweepEnded(9, (3,))
    for value, expected in [(np.float32(2), 2.0), (2.0, 2.0), (None, None)]:
        built = swept(started, GradientFlowed(9, 2, 0, 1, (3,), 3, 3, value), ended)
        local = built.sweeps[0].steps[0].flows[0].local
        assert (None if local is None else float(local.array)) == expected


def test_a_local_derivative_is_a_value_when_it_is_told() -> None:
    """Nothing of the engine stays in the event: no tensor and no rule."""
    told: list[Any] = []
    x = lab.constant([1.0, 2.0])
    with lab.events.observing(told.append), lab.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with lab.events.observing(told.append):
        tape.gradient(y, x)
    flowed = [event.local for event in told if isinstance(event, GradientFlowed)]
    assert [(type(local), local.tolist()) for local in flowed] == [(np.ndarray, [1.0, 2.0])] * 2


def test_ids_that_nobody_told_of_get_a_record_that_says_so() -> None:
    """A tensor from before the recording that entered no op cannot break what reads the recording."""
    recording = swept(SweepStarted(9, 8, (77,), (78,), (1,), None), SweepEnded(9, (79,)))
    assert recording.tensors[77].snapshot.dtype == "unknown"
    assert recording.sweeps[0].results == (79,)
    recording.to_text()


@pytest.mark.slow
def test_a_very_long_chain_is_recorded_without_recursion() -> None:
    """20,000 chained scalar ops, differentiated: every step is there and the derivative is right."""
    n = 20_000
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * 1.0
            for _ in range(n - 1):
                y = y + 0.0
        assert float(tape.gradient(y, x)) == 1.0
    assert len(recording) == len(recording.sweeps[0].steps) == n
    assert len(recording.order) == 2 * n


def test_numbers_count_what_a_reader_meets() -> None:
    """Inputs and outputs of the forward pass come first, without gaps, whatever else was converted or computed."""
    with lab.record() as recording:
        unused = lab.constant([9.0, 9.0])
        x = lab.Variable([1.0, 2.0], name="x")
        with lab.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        _ = y + y
    met = [t for a in recording.forward for t in (*a.inputs, *a.outputs)]
    assert [recording.numbers[t] for t in dict.fromkeys(met)] == [0, 1, 2]
    assert unused._id not in recording.tensors
    assert sorted(recording.numbers.values()) == list(range(len(recording.tensors)))
