"""Events: reported in order, with causes and the user's line; observers cannot influence the computation."""

import inspect
import threading
from typing import Any, get_args

import pytest

import autodiff_lab as lab
from autodiff_lab import events
from autodiff_lab.events import observing
from autodiff_lab.events.listener import SINKS


def kinds(seen: list[Any]) -> list[str]:
    return [type(event).__name__ for event in seen]


def line() -> int:
    """Return the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_forward_and_backward_ops_are_told_with_their_causes() -> None:
    seen: list[Any] = []
    x = lab.constant(2.0)
    with observing(seen.append):
        with lab.GradientTape() as tape:
            tape.watch(x)
            s = lab.sin(x)
            y = s * x
        tape.gradient(y, x)
    applied = [e for e in seen if isinstance(e, events.OpApplied)]
    assert [(e.op, e.cause) for e in applied] == [
        ("sin", None),
        ("multiply", None),
        ("multiply", y.id),
        ("multiply", y.id),
        ("cos", s.id),
        ("multiply", s.id),
        ("add", s.id),
    ]
    flowed = [e for e in seen if isinstance(e, events.GradientFlowed)]
    assert [(e.application, e.position, e.input) for e in flowed] == [(y.id, 0, s.id), (y.id, 1, x.id), (s.id, 0, x.id)]
    assert kinds(seen)[0] == "TapeOpened"
    assert kinds(seen)[-1] == "SweepEnded"


def test_an_op_is_told_at_the_users_line() -> None:
    seen: list[Any] = []
    x = lab.constant(2.0)
    with observing(seen.append):
        here = line() + 1
        lab.sin(x)
    (applied,) = [e for e in seen if isinstance(e, events.OpApplied)]
    assert applied.place == (__file__, here)


def test_scopes_nest_in_paths() -> None:
    seen: list[Any] = []
    x = lab.constant(2.0)
    with observing(seen.append), lab.name_scope("encoder"):
        lab.sin(x)
        with lab.name_scope("layer1"):
            lab.cos(x)
    lab.tan(x)
    assert [e.scope for e in seen if isinstance(e, events.OpApplied)] == ["encoder", "encoder/layer1"]


def test_leaving_and_entering_are_told_and_looking_is_not() -> None:
    seen: list[Any] = []
    x = lab.constant([2.0])
    with observing(seen.append):
        y = x * x
        seen.clear()
        assert all([repr(y), str(y), f"{y}"])
        assert seen == []
        assert [len(y.numpy()), float(y[0]), bool(y[0]), len(y.__array__())] == [1, 4.0, True, 1]
        lab.constant([1.0])
    left = [e.how for e in seen if isinstance(e, events.TensorLeft)]
    assert left == ["numpy", "float", "bool", "__array__"]
    assert kinds(seen)[-1] == "TensorMet"


def test_a_failed_op_is_told_and_the_error_goes_on() -> None:
    seen: list[Any] = []
    with observing(seen.append), pytest.raises(lab.errors.ShapeMismatch):
        _ = lab.ones(2) + lab.ones(3)
    assert kinds(seen)[-1] == "OpFailed"
    assert (seen[-1].op, seen[-1].error) == ("add", "ShapeMismatch")


def test_an_observer_that_raises_is_dropped_and_reported_once() -> None:
    calls: list[Any] = []

    def broken(event: Any) -> None:
        calls.append(event)
        raise ZeroDivisionError("observer trouble")

    healthy: list[Any] = []
    x = lab.constant(2.0)
    words = r"ZeroDivisionError: observer trouble.*dropped"
    with pytest.warns(RuntimeWarning, match=words) as caught, observing(broken), observing(healthy.append):
        y = x * x + x
    assert float(y) == 6.0
    assert len(calls) == 1
    assert len(caught) == 1
    assert kinds(healthy).count("OpApplied") == 2


def test_a_rule_that_raises_leaves_no_cause_behind() -> None:
    @lab.custom_gradient
    def broken(t: Any) -> Any:
        def back(upstream: Any) -> Any:
            raise ArithmeticError

        return lab.identity(t), back

    seen: list[Any] = []
    x = lab.Variable(2.0)
    with observing(seen.append):
        with lab.GradientTape() as tape:
            y = broken(x)
        with pytest.raises(ArithmeticError):
            tape.gradient(y, x)
        seen.clear()
        lab.sin(x)
    assert [e.cause for e in seen if isinstance(e, events.OpApplied)] == [None]


def test_an_observer_hears_its_own_thread_only() -> None:
    seen: list[Any] = []
    x = lab.constant(2.0)
    with observing(seen.append):
        thread = threading.Thread(target=lambda: lab.sin(x))
        thread.start()
        thread.join()
    assert seen == []


def test_listening_does_not_change_a_gradient_and_leaves_nothing_on() -> None:
    x = lab.constant([0.5, 1.5])

    def run() -> list[float]:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(lab.tanh(x) * x / (1.0 + x))
        return tape.gradient(y, x).numpy().tolist()

    plain = run()
    with observing(lambda event: None):
        heard = run()
    assert plain == heard
    assert SINKS.get() == ()


def test_events_are_frozen_and_hold_no_tensor() -> None:
    seen: list[Any] = []
    x = lab.Variable(2.0)
    with observing(seen.append):
        with lab.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        x.assign(3.0)
    for event in seen:
        with pytest.raises(AttributeError):
            setattr(event, event._fields[0], None)
        assert not any(isinstance(value, lab.Tensor | lab.Variable) for value in event)
    assert "VariableAssigned" in kinds(seen)


def test_what_is_exported_is_public_and_nothing_else_is() -> None:
    modules = {"listener", "postponed", "values"}
    found = {name for name in dir(lab.events) if not name.startswith("_")} - modules
    assert found == set(lab.events.__all__)
    kinds = {name for name in found if hasattr(getattr(lab.events, name), "_fields")}
    assert kinds == {kind.__name__ for kind in get_args(lab.events.Event)}
    assert found - kinds == {"Event", "Observer", "Place", "observing"}
