"""`lab.breakpoint_when`: a backward pass stops where it should, can be edited there, and ends as `gradient` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotCallable, ShapeMismatch, TapeMisused, TapeSpent

AT = np.array([0.5, 2.0])


def program(x: Any) -> Any:
    grown = lab.exp(x)
    product = grown * x
    return lab.reduce_sum(product + lab.math.log(x))


def taped(persistent: bool = False, value: Any = AT) -> tuple[lab.GradientTape, Any, lab.Variable]:
    x = lab.Variable(value, name="x")
    with lab.GradientTape(persistent=persistent) as tape:
        y = program(x)
    return tape, y, x


def recorded() -> tuple[lab.GradientTape, Any, lab.Variable, Any]:
    x = lab.Variable(AT, name="x")
    with lab.record() as recording, lab.GradientTape(persistent=True) as tape:
        grown = lab.exp(x)
        product = grown * x
        y = lab.reduce_sum(product)
    return tape, y, x, recording


def test_without_conditions_it_stops_at_every_op_and_source_and_the_gradient_is_the_same() -> None:
    tape, y, x = taped(persistent=True)
    stops = lab.breakpoint_when(tape, y, x)
    seen = [(stop.op, stop.index) for stop in stops]
    ops = tape.operations
    assert sorted(seen[:-1], key=lambda row: row[1] or 0) == [(op, k) for k, op in enumerate(ops)]
    assert [row[1] for row in seen] == [*reversed(range(len(ops))), None]
    assert seen[-1] == ("source", None)
    assert stops.ops == ops
    want = tape.gradient(y, x)
    assert np.array_equal(stops.gradient().numpy(), want.numpy())
    assert stops.gradient() is stops.gradient()


def test_it_stops_by_op_and_shows_what_the_op_read_and_made() -> None:
    tape, y, x = taped()
    (stop,) = list(lab.breakpoint_when(tape, y, x, op="log"))
    assert (stop.op, stop.name, stop.line, stop.where) == ("log", "", None, "")
    assert np.allclose(stop.value.numpy(), np.log(AT))
    assert np.allclose(stop.inputs[0].numpy(), AT)
    assert np.array_equal(stop.adjoint.numpy(), [1.0, 1.0])


def test_it_stops_by_name_and_by_line() -> None:
    tape, y, x, _recording = recorded()
    by_name = [stop.op for stop in lab.breakpoint_when(tape, y, x, name="product")]
    by_text = [stop.op for stop in lab.breakpoint_when(tape, y, x, line="grown * x")]
    assert by_name == by_text == ["multiply"]
    (stop,) = list(lab.breakpoint_when(tape, y, x, name="grown"))
    assert "grown = lab.exp(x)" in stop.where
    assert [each.name for each in lab.breakpoint_when(tape, y, x, line=stop.line)] == ["grown"]
    assert [each.op for each in lab.breakpoint_when(tape, y, x, name="x")] == ["source"]
    assert list(lab.breakpoint_when(tape, y, x, name="grown", op="multiply")) == []
    assert "exp grown (" in repr(stop)


def test_it_stops_where_a_condition_holds_and_all_conditions_have_to() -> None:
    tape, y, x = taped(persistent=True)
    small = lambda stop: float(lab.reduce_max(stop.adjoint)) < 1.5  # noqa: E731
    every = [stop.op for stop in lab.breakpoint_when(tape, y, x, condition=small)]
    assert every == ["sum", "add", "log", "multiply"]
    assert [s.op for s in lab.breakpoint_when(tape, y, x, op="log", condition=small)] == ["log"]
    assert [s.op for s in lab.breakpoint_when(tape, y, x, op="exp", condition=small)] == []


def test_a_nan_that_a_rule_makes_is_met_at_the_next_stop() -> None:
    x = lab.Variable([0.0, 4.0])
    with lab.GradientTape() as tape:
        inner = x * 1.0
        y = lab.reduce_sum(lab.where(inner > 1.0, lab.sqrt(inner), inner))
    bad = lambda stop: not np.isfinite(stop.adjoint.numpy()).all()  # noqa: E731
    assert [stop.op for stop in lab.breakpoint_when(tape, y, x, condition=bad)] == ["multiply", "source"]


@pytest.mark.parametrize("value", [[10.0, 20.0], np.array([10.0, 20.0]), lab.constant([10.0, 20.0], lab.float64)])
def test_an_adjoint_that_is_set_is_what_moves_on(value: Any) -> None:
    tape, y, x = taped()
    stops = lab.breakpoint_when(tape, y, x, op="log")
    for stop in stops:
        stop.adjoint = value
        assert np.array_equal(stop.adjoint.numpy(), [10.0, 20.0])
    assert np.allclose(stops.gradient().numpy(), np.exp(AT) * (1 + AT) + np.array([10.0, 20.0]) / AT)


def test_none_ends_the_path_and_leaves_the_others() -> None:
    tape, y, x = taped()
    stops = lab.breakpoint_when(tape, y, x, op="log")
    next(stops).adjoint = None
    assert np.allclose(stops.gradient().numpy(), np.exp(AT) * (1 + AT))
    tape, y, x = taped()
    stops = lab.breakpoint_when(tape, y, x, op="sum")
    next(stops).adjoint = None
    assert list(stops) == []
    assert stops.gradient() is None


def test_a_variable_that_was_read_twice_is_one_source() -> None:
    x = lab.Variable(3.0, name="x")
    with lab.GradientTape() as tape:
        y = x * 2.0
        x.assign_add(0.0)
        z = y + x * 5.0
    stops = lab.breakpoint_when(tape, z, x, op="source")
    for stop in stops:
        assert float(stop.adjoint) == 7.0
        stop.adjoint = stop.adjoint * 2.0
    assert float(stops.gradient()) == 14.0


def test_each_calls_a_function_whose_result_replaces_the_adjoint() -> None:
    tape, y, x = taped(persistent=True)
    seen: list[str] = []
    kept = lab.breakpoint_when(tape, y, x).each(lambda stop: seen.append(stop.op))
    assert np.array_equal(kept.numpy(), tape.gradient(y, x).numpy())
    assert seen[-1] == "source"
    halved = lab.breakpoint_when(tape, y, x, op="source").each(lambda stop: stop.adjoint / 2.0)
    assert np.allclose(2.0 * halved.numpy(), kept.numpy())


def test_sources_are_given_back_as_they_came_and_intermediate_ones_stop_once() -> None:
    x, free = lab.Variable(2.0, name="x"), lab.Variable(1.0)
    with lab.GradientTape() as tape:
        middle = x * x
        y = lab.exp(middle)
    stops = lab.breakpoint_when(tape, y, {"x": x, "rest": (middle, free)})
    assert [(stop.op, stop.name) for stop in stops] == [("exp", ""), ("multiply", ""), ("source", "x")]
    found = stops.gradient()
    assert np.isclose(float(found["rest"][0]), np.exp(4.0))
    assert np.isclose(float(found["x"]), 4.0 * np.exp(4.0))
    assert found["rest"][1] is None


def test_an_outer_tape_differentiates_through_an_edit() -> None:
    x = lab.constant(3.0, lab.float64)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        stops = lab.breakpoint_when(inner, y, x, op="source")
        for stop in stops:
            stop.adjoint = stop.adjoint * x
        edited = stops.gradient()
    assert float(edited) == 81.0  # 3x² · x
    assert float(outer.gradient(edited, x)) == 81.0  # 9x²


def test_the_pass_of_an_outer_tape_stops_at_the_ops_of_the_inner_one() -> None:
    x = lab.constant(3.0, lab.float64)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = lab.sin(x)
        slope = inner.gradient(y, x)
    stops = lab.breakpoint_when(outer, slope, x, op="cos")
    for stop in stops:
        assert np.isclose(float(stop.adjoint), 1.0)
    assert np.isclose(float(stops.gradient()), -np.sin(3.0))


def test_a_recording_hears_the_pass_and_its_end() -> None:
    x = lab.Variable(AT, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = program(x)
        stops = lab.breakpoint_when(tape, y, x, op="log")
        for stop in stops:
            stop.adjoint = [0.0, 0.0]
        gradient = stops.gradient()
    (sweep,) = recording.sweeps
    assert len(sweep.steps) == 5
    assert np.array_equal(recording.tensors[sweep.results[0]].snapshot.array, gradient.numpy())
    assert "x" in recording.to_text()


def test_several_results_have_a_tuple_of_adjoints() -> None:
    x = lab.Variable([1.0, 2.0, 3.0, 4.0])
    with lab.GradientTape() as tape:
        _first, second = lab.split(x, 2)
        y = lab.reduce_sum(second * second)
    for stop in (stops := lab.breakpoint_when(tape, y, x)):
        if isinstance(stop.adjoint, tuple):
            assert stop.adjoint[0] is None
            with pytest.raises(ShapeMismatch, match="2 results"):
                stop.adjoint = 1.0
            stop.adjoint = ([5.0, 5.0], stop.adjoint[1])
    wanted = [0.0, 0.0, 6.0, 8.0]
    assert stops.gradient().numpy().tolist() in (wanted, [5.0, 5.0, 6.0, 8.0])


def test_complex_adjoints_are_read_and_set_as_gradients_are() -> None:
    z = lab.Variable(np.array(1.0 + 2.0j), name="z")
    with lab.GradientTape(persistent=True) as tape:
        y = lab.math.real(z * z)
    want = complex(tape.gradient(y, z).numpy())
    stops = lab.breakpoint_when(tape, y, z, op="source")
    for stop in stops:
        assert complex(stop.adjoint.numpy()) == want
        stop.adjoint = stop.adjoint * 1j
    assert complex(stops.gradient().numpy()) == want * 1j


@pytest.mark.parametrize("dtype", [lab.float16, lab.bfloat16])
def test_half_floats_give_the_gradient_of_the_tape(dtype: Any) -> None:
    x = lab.Variable(lab.cast(AT, dtype))
    with lab.GradientTape(persistent=True) as tape:
        y = lab.reduce_sum(x * x * x + x)
    stops = lab.breakpoint_when(tape, y, x)
    for stop in stops:
        stop.adjoint = stop.adjoint
    assert np.array_equal(stops.gradient().numpy(), tape.gradient(y, x).numpy())


def test_large_values_that_a_tape_lets_go_are_none() -> None:
    x = lab.Variable(np.ones(5000))
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(x + x)
    found = {stop.op: stop for stop in lab.breakpoint_when(tape, y, x)}
    assert found["add"].value is None
    assert found["add"].inputs == (None, None)


def test_a_condition_that_raises_can_be_gone_on_from_and_a_rule_that_raises_cannot() -> None:
    tape, y, x = taped(persistent=True)

    def fails_at_log(stop: Any) -> bool:
        if stop.op == "log":
            raise KeyError("mine")
        return False

    stops = lab.breakpoint_when(tape, y, x, condition=fails_at_log)
    with pytest.raises(KeyError, match="mine"):
        next(stops)
    assert np.array_equal(stops.gradient().numpy(), tape.gradient(y, x).numpy())

    @lab.custom_gradient
    def broken(x: Any) -> Any:
        def rule(upstream: Any) -> Any:
            raise ValueError("the rule")

        return x * 2.0, rule

    with lab.GradientTape() as tape:
        z = lab.reduce_sum(broken(x))
    stops = lab.breakpoint_when(tape, z, x)
    with pytest.raises(ValueError, match="the rule"):
        list(stops)
    with pytest.raises(TapeMisused, match="has raised an error"):
        stops.gradient()


def test_what_cannot_be_done_is_refused_in_words() -> None:
    tape, y, x = taped(persistent=True)
    with pytest.raises(InvalidArgumentError, match=r"no op 'lgo' is on this tape\. There are: add, exp, log"):
        lab.breakpoint_when(tape, y, x, op="lgo")
    with pytest.raises(TapeMisused, match="nothing recorded this program, so its names are not known"):
        lab.breakpoint_when(tape, y, x, name="grown")
    with pytest.raises(TapeMisused, match="its lines are not known"):
        lab.breakpoint_when(tape, y, x, line=3)
    with pytest.raises(InvalidArgumentError, match="expected a GradientTape"):
        lab.breakpoint_when(y, y, x)  # type: ignore[arg-type]
    for wrong in ({"op": 3}, {"name": b"x"}, {"line": 1.5}, {"line": True}):
        with pytest.raises(InvalidArgumentError, match="breakpoint_when"):
            lab.breakpoint_when(tape, y, x, **wrong)  # type: ignore[arg-type]
    with pytest.raises(NotCallable, match="condition"):
        lab.breakpoint_when(tape, y, x, condition=True)  # type: ignore[arg-type]
    with pytest.raises(NotCallable, match="each"):
        lab.breakpoint_when(tape, y, x).each(None)  # type: ignore[arg-type]
    stops = lab.breakpoint_when(tape, y, x, op="log")
    stop = next(stops)
    with pytest.raises(ShapeMismatch, match=r"shape \(2,\)"):
        stop.adjoint = 1.0
    with pytest.raises(DtypeMismatch, match="float64"):
        stop.adjoint = lab.constant([1.0, 1.0], lab.float32)
    stops.gradient()
    with pytest.raises(TapeMisused, match="has gone on since it stopped at log"):
        stop.adjoint = [1.0, 1.0]
    spent, y, x = taped()
    spent.gradient(y, x)
    with pytest.raises(TapeSpent):
        lab.breakpoint_when(spent, y, x, op="log")


def test_a_compiled_function_says_that_it_does_not_stop_and_stops_when_it_runs_as_python() -> None:
    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
        return lab.breakpoint_when(tape, y, x, op="log").each(lambda stop: 0.0 * stop.adjoint)

    compiled = lab.function(step)
    at = lab.constant(AT)
    with pytest.raises(TapeMisused, match="a compiled function does not stop"):
        compiled(at)
    assert np.allclose(compiled.python_function(at).numpy(), np.exp(AT) * (1 + AT))


def test_a_function_that_is_compiled_is_stopped_op_by_op() -> None:
    compiled = lab.function(program)
    x = lab.Variable(AT)
    for _ in range(3):
        with lab.GradientTape() as tape:
            y = compiled(x)
        assert "log" in [stop.op for stop in lab.breakpoint_when(tape, y, x)]
