"""Backward passes that run unreported and again when the recording is used: nobody can tell, but by the time taken."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import random
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.events import observing
from tests.benchmarks.probes.programs import graph, net, neuron

Program = Callable[[], Any]


def of_leaves(body: Callable[..., Any], **options: Any) -> Program:
    def program() -> Any:
        draw = np.random.default_rng(0)
        x, y = (lab.Variable(draw.random((3, 4)).astype(np.float32) + 0.5, name=name) for name in "xy")
        with lab.GradientTape(**options) as tape:
            targets, sources = body(x, y)
        return tape.gradient(targets, sources)

    return program


def read_often() -> Any:
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.GradientTape() as tape:
        y = x * 2.0
        x.assign_add([1.0, 1.0])
        z = lab.reduce_sum(x * y)
    return tape.gradient(z, x)


def given_seed() -> Any:
    x, seed = lab.Variable([1.0, 2.0], name="x"), lab.constant([3.0, 4.0], name="seed")
    with lab.GradientTape() as tape:
        y = x + 1.0
    grad = tape.gradient(y, x, output_gradients=seed)
    return lab.reduce_sum(grad * seed)


def used_afterwards() -> Any:
    x = lab.Variable([[1.0, -2.0], [0.5, 3.0]], name="x")
    for _ in range(3):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean(lab.square(lab.matmul(x, x) - 1.0))
        grad = tape.gradient(loss, x)
        with lab.name_scope("update"):
            x.assign_sub(0.1 * grad)
    return x.read()


def optimized() -> Any:
    step, given = net()
    with lab.name_scope("training"):
        return step(*given)


def before_the_block() -> Any:
    """The tape is open before the block: its ops are not all known, so nothing may wait."""
    x = lab.Variable(2.0, name="x")
    with lab.GradientTape() as tape:
        y = x * x
        with lab.record():
            z = y * x
    return tape.gradient(z, x)


PROGRAMS = {
    "neuron": neuron(),
    "graph": graph(),
    "training": optimized,
    "one array for two": of_leaves(lambda x, y: (x + y, [x, y])),
    "two targets": of_leaves(lambda x, y: ([x * y, lab.sin(x)], {"x": x, "y": y})),
    "one target twice": of_leaves(lambda x, y: ([x, x], [x, y])),
    "unconnected": of_leaves(lambda x, y: (x * 2.0, [x, y])),
    "untracked": of_leaves(lambda x, y: (lab.constant(1.0), [x, y])),
    "the target itself": of_leaves(lambda x, y: (x.read(), [x])),
    "several outputs": of_leaves(lambda x, y: (lab.split(x * y, 2, axis=1)[0] * y[:, 1:3], [x, y])),
    "persistent": of_leaves(lambda x, y: (lab.reduce_max(x @ lab.transpose(y)), [x, y]), persistent=True),
    "rows": of_leaves(lambda x, y: (lab.gather(x, [0, 0, 2]), [x, y])),
    "read often": read_often,
    "a given seed": given_seed,
    "used afterwards": used_afterwards,
    "before the block": before_the_block,
}


def numbers_of(results: Any) -> list[bytes]:
    return [b"" if g is None else lab.convert_to_tensor(g).numpy().tobytes() for g in lab.nest.flatten(results)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_postponed_pass_is_recorded_as_one_that_is_reported_at_once(name: str) -> None:
    program = PROGRAMS[name]
    with lab.record() as waited:
        results = program()
    with lab.record() as told, observing(lambda event: None):  # which cannot wait
        at_once = program()
    assert numbers_of(results) == numbers_of(at_once)
    assert str(waited) == str(told)
    for one, other in zip(waited.sweeps, told.sweeps, strict=True):
        assert (one.place, len(one.steps)) == (other.place, len(other.steps))
    assert [t.snapshot for t in waited.tensors.values()] == [t.snapshot for t in told.tensors.values()]
    assert [(a.op, a.place, a.scope, a.cause) for a in waited.applications] == [
        (a.op, a.place, a.scope, a.cause) for a in told.applications
    ]


def test_a_rule_of_the_users_runs_once() -> None:
    runs = []

    @lab.custom_gradient
    def twice(x: Any) -> Any:
        def rule(g: Any) -> Any:
            runs.append(1)
            return g * 2.0

        return x * 2.0, rule

    x = lab.Variable(3.0)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = twice(x) * x
        tape.gradient(y, x)
    assert len(recording.sweeps) == len(runs) == 1


def test_a_rule_that_takes_the_place_of_ours_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although passes through the same op have waited before."""
    program, runs = neuron(), []

    def rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
        runs.append(1)
        return g * 2.0

    for rules, times in ((None, 0), ((rule,), 1)):
        if rules:
            monkeypatch.setattr(REGISTRY["sin"], "rules", rules)
        with lab.record() as recording:
            program()
        assert len(runs) == times
        made = [a.op for a in recording.applications if a.cause is not None]
        assert ("cos" in made) is (rules is None)


def test_a_list_of_gradients_belongs_to_the_user() -> None:
    """Who may change it before the pass runs again."""
    x, y = lab.Variable(2.0, name="x"), lab.Variable(3.0, name="y")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            z = x * y
        grads = tape.gradient(z, [x, y])
        ids = [g._id for g in grads]
        grads.clear()
    assert list(recording.sweeps[0].results) == ids


def test_a_pass_keeps_the_values_it_began_with() -> None:
    """Variables that are assigned before the recording is used, and again in the block."""
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(x * x)
        grad = tape.gradient(y, x)
        x.assign([5.0, 5.0])
    x.assign([7.0, 7.0])
    assert recording.tensors[grad._id].snapshot.array.tolist() == [2.0, 4.0]
    assert [a.op for a in recording.applications if a.cause is not None]
    assert copy.deepcopy(recording).to_text() == recording.to_text() == pickle.loads(pickle.dumps(recording)).to_text()  # noqa: S301


def test_a_block_that_raises_after_a_pass_keeps_it() -> None:
    program = neuron()
    with contextlib.suppress(ZeroDivisionError), lab.record() as recording:
        program()
        raise ZeroDivisionError
    assert (len(recording.sweeps), recording.error) == (1, "ZeroDivisionError")


def test_the_pass_runs_again_whatever_is_going_on_then() -> None:
    """Inside another recording, tape and scope, of which none notices it."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.sin(x) * x
        grad = tape.gradient(y, x)
    with lab.record() as other, lab.GradientTape(persistent=True) as outer, lab.name_scope("elsewhere"):
        assert len(recording.sweeps[0].steps) == 2
    assert (outer.operations, other.applications) == ((), ())
    assert recording.tensors[grad._id].snapshot.array == grad.numpy()
    assert not any("elsewhere" in application.scope for application in recording.applications)


def test_what_a_recording_holds_goes_with_it() -> None:
    """Without waiting for the garbage collector: the values may be large."""

    def held() -> Any:
        x = lab.Variable(np.ones(100, np.float32))
        with lab.record() as recording:
            with lab.GradientTape() as tape:
                y = lab.exp(x)
            tape.gradient(y, x)
        assert recording._recorder._items
        return weakref.ref(y._held)

    gc.disable()
    try:
        assert held()() is None
    finally:
        gc.enable()


def test_gradients_that_the_program_lets_go_of_are_not_held() -> None:
    """They are as large as the variables, and computed again when somebody asks."""
    x = lab.Variable(np.ones(100, np.float32), name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.exp(x)
        grad = tape.gradient(y, x)
        held, key = weakref.ref(grad._held), grad._id
        del grad
        assert held() is None
    assert recording.sweeps[0].results == (key,)
    assert recording.tensors[key].name == "grad"


def test_lines_are_those_of_the_program_in_a_long_function() -> None:
    """Positions become lines late; every call of a statement over several lines has its own."""
    length, draw = 200, random.Random(0)
    statements = ["    x = lab.sin(x)", "    x = lab.sin(\n        lab.cos(x))", "", "    # nothing"]
    lines = ["def program(x):", *draw.choices(statements, k=length), "    return x"]
    scope: dict[str, Any] = {"lab": lab}
    exec(compile("\n".join(lines), "<long>", "exec"), scope)
    with lab.record() as waited:
        scope["program"](lab.constant(1.0))
    with lab.record(budget=-1) as at_once:  # beyond its budget nothing waits
        scope["program"](lab.constant(1.0))
    places = [a.place for a in waited.applications]
    assert places == [a.place for a in at_once.applications]
    assert len(set(places)) > length / 3
