"""Fused steps of optimizers are those of the formulas, one variable at a time, and nobody sees how they are stored."""

import copy
import pickle
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.buffers import Part, Private
from autodiff_lab.events import VariableAssigned, observing
from autodiff_lab.layers.fused import LARGE

optimizers = lab.optimizers
SHAPES = [(3, 4), (), (5,), (0, 2), (1, 1), (LARGE // 64, 70), (2, 3, 4)]
MAKERS: dict[str, Callable[..., Any]] = {
    "SGD": lambda **more: optimizers.SGD(0.1, **more),
    "momentum": lambda **more: optimizers.SGD(0.1, momentum=0.9, **more),
    "nesterov": lambda **more: optimizers.SGD(0.1, momentum=0.9, nesterov=True, **more),
    "Adam": lambda **more: optimizers.Adam(0.1, **more),
    "amsgrad": lambda **more: optimizers.Adam(0.1, amsgrad=True, **more),
    "AdamW": lambda **more: optimizers.AdamW(0.1, **({"weight_decay": 0.05} | more)),
    "RMSprop": lambda **more: optimizers.RMSprop(0.1, momentum=0.5, **more),
    "centered": lambda **more: optimizers.RMSprop(0.1, centered=True, **more),
    "Adagrad": lambda **more: optimizers.Adagrad(0.1, **more),
    "Nadam": lambda **more: optimizers.Nadam(0.1, **more),
    "Adamax": lambda **more: optimizers.Adamax(0.1, **more),
    "Adadelta": lambda **more: optimizers.Adadelta(0.5, **more),
    "schedule": lambda **more: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), **more),
}


def one_by_one(optimizer: Any) -> Any:
    """Return the optimizer with a formula of its own, the same one: its steps are not fused."""
    kind = type(optimizer)

    def change(self: Any, *given: Any) -> Any:
        return kind.change(self, *given)

    optimizer.__class__ = type(kind.__name__, (kind,), {"change": change})
    return optimizer


def variables(dtype: str = "float32") -> list[lab.Variable]:
    rng = np.random.default_rng(0)
    return [lab.Variable(np.asarray(rng.standard_normal(shape), dtype)) for shape in SHAPES]


def gradients(seed: int, dtype: str = "float32") -> list[lab.Tensor]:
    rng = np.random.default_rng(seed)
    return [lab.constant(np.asarray(rng.standard_normal(shape), dtype)) for shape in SHAPES]


def is_fused(v: lab.Variable, optimizer: Any) -> bool:
    return all(slot._own.__class__ in (Part, Private) for slot in optimizer._state[v].values())


def agree(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


@pytest.mark.slow(keep=15)
@pytest.mark.parametrize("mode", ["numpy", "numba"])
@pytest.mark.parametrize(
    "more", [{}, {"weight_decay": 0.1}, {"clipnorm": 1.0}, {"clipvalue": 0.3}, {"global_clipnorm": 2.0}], ids=str
)
@pytest.mark.parametrize("name", MAKERS)
def test_steps_and_slots_are_those_of_the_formula(name: str, more: dict[str, float], mode: str) -> None:
    for dtype in ("float32", "float64"):
        fused, plain = MAKERS[name](**more), one_by_one(MAKERS[name](**more))
        ours, theirs = variables(dtype), variables(dtype)
        with lab.use_kernels(mode):
            for seed in range(4):
                given = gradients(seed, dtype)
                before = [g.numpy() for g in given]
                fused.apply_gradients(zip(given, ours, strict=True))
                plain.apply_gradients(zip(given, theirs, strict=True))
                assert all(np.array_equal(g, old) for g, old in zip(given, before, strict=True))
        assert all(is_fused(v, fused) for v in ours)
        assert not any(is_fused(v, plain) for v in theirs if plain.slots)
        for v, w in zip(ours, theirs, strict=True):
            agree(v, w)
            assert v.numpy().dtype == dtype
            for slot, other in zip(fused._state[v].values(), plain._state[w].values(), strict=True):
                agree(slot, other)
                assert slot.shape == v.shape
        assert int(fused.iterations) == 4


def _look(optimizer: Any, v: list[lab.Variable]) -> None:
    for slot in optimizer.variables:
        slot.numpy()


def _assign_slots(optimizer: Any, v: list[lab.Variable]) -> None:
    for n, slot in enumerate(optimizer.variables[1:]):
        slot.assign(np.full(slot.shape, 0.1 * (n % 3 + 1), np.float32))


def _assign_variables(optimizer: Any, v: list[lab.Variable]) -> None:
    v[0].assign(v[0] * 2.0)
    v[1].assign_add(1.0)
    v[5].assign(v[5] * 0.5)


def _part_of_the_variables(optimizer: Any, v: list[lab.Variable]) -> None:
    optimizer.apply_gradients(zip(gradients(9)[:3], v[:3], strict=True))


def _backwards(optimizer: Any, v: list[lab.Variable]) -> None:
    optimizer.apply_gradients(zip(gradients(9)[::-1], v[::-1], strict=True))


def _recorded(optimizer: Any, v: list[lab.Variable]) -> None:
    with lab.record():
        optimizer.apply_gradients(zip(gradients(9), v, strict=True))


def _compiled(optimizer: Any, v: list[lab.Variable]) -> None:
    step = lab.function(lambda *given: optimizer.apply_gradients(zip(given, v, strict=True)) and None)
    for seed in (9, 10, 11):
        step(*gradients(seed))


def _some_missing(optimizer: Any, v: list[lab.Variable]) -> None:
    optimizer.apply_gradients([(None if n % 2 else g, w) for n, (g, w) in enumerate(zip(gradients(9), v, strict=True))])


def _of_another_dtype(optimizer: Any, v: list[lab.Variable]) -> None:
    optimizer.apply_gradients(zip(gradients(9, "float64"), v, strict=True))


def _with_slices(optimizer: Any, v: list[lab.Variable]) -> None:
    given: list[Any] = gradients(9)
    given[0] = lab.IndexedSlices(np.ones((3, 4), np.float32), [2, 0, 2], [3, 4])
    given[5] = lab.IndexedSlices(np.ones((2, 70), np.float32), [7, 7], SHAPES[5])
    optimizer.apply_gradients(zip(given, v, strict=True))


def _rate(optimizer: Any, v: list[lab.Variable]) -> None:
    optimizer.learning_rate = 0.01


@pytest.mark.parametrize("name", ["SGD", "Adam", "centered"])
def test_listeners_hear_of_fused_steps_as_of_others(name: str) -> None:
    told: list[list[Any]] = []
    names: list[list[Any]] = []
    for make in (MAKERS[name], lambda: one_by_one(MAKERS[name]())):
        v, optimizer, seen = variables(), make(), []
        optimizer.apply_gradients(zip(gradients(0), v, strict=True))  # makes the slots
        with observing(seen.append):
            optimizer.apply_gradients(zip(gradients(1), v, strict=True))
        assigned = [event for event in seen if isinstance(event, VariableAssigned)]
        assert all(event.place and event.place[0] == __file__ for event in assigned)
        told.append([type(event).__name__ for event in seen])
        names.append([(event.name.split("/")[-1], np.shape(event.value)) for event in assigned])
        values = [event.value.copy() for event in assigned]
        optimizer.apply_gradients(zip(gradients(2), v, strict=True))
        assert all(np.array_equal(event.value, value) for event, value in zip(assigned, values, strict=True))
    assert told[0] == told[1]
    assert names[0] == names[1]
    assert len(names[0]) == len(SHAPES) * (1 + len(optimizer._state[v[0]])) + 1  # the last is the number of steps


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_recorded_step_has_the_bits_of_a_plain_one(name: str) -> None:
    found = []
    for around in (nullcontext, lab.record):
        v, optimizer = variables(), MAKERS[name]()
        for seed in range(3):
            with around():
                optimizer.apply_gradients(zip(gradients(seed), v, strict=True))
        found.append([each.numpy() for each in v])
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


BETWEEN = [_look, _assign_slots, _assign_variables, _part_of_the_variables, _backwards, _recorded, _compiled,
           _some_missing, _of_another_dtype, _with_slices, _rate]  # fmt: skip


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("between", BETWEEN, ids=lambda f: f.__name__.strip("_"))
@pytest.mark.parametrize("name", ["SGD", "momentum", "Adam", "RMSprop", "Adagrad", "Nadam", "Adamax", "Adadelta"])
def test_what_happens_between_two_steps_is_taken_over(name: str, between: Callable[..., None]) -> None:
    fused, plain = MAKERS[name](), one_by_one(MAKERS[name]())
    ours, theirs = variables(), variables()
    for optimizer, found in ((fused, ours), (plain, theirs)):
        for seed in range(3):
            optimizer.apply_gradients(zip(gradients(seed), found, strict=True))
            between(optimizer, found)
    for v, w in zip(ours, theirs, strict=True):
        agree(v, w, 1e-4)
        for slot, other in zip(fused._state[v].values(), plain._state[w].values(), strict=True):
            agree(slot, other, 1e-4)
    assert int(fused.iterations) == int(plain.iterations)


def test_what_was_handed_out_keeps_its_numbers() -> None:
    optimizer, v = optimizers.Adam(0.1), variables()
    optimizer.apply_gradients(zip(gradients(0), v, strict=True))
    kept = [(x.read(), x.numpy()) for x in (*v, *optimizer.variables)]
    with lab.GradientTape(persistent=True) as tape:
        y = lab.add_n([lab.reduce_sum(w * w) for w in v])
    for seed in range(1, 4):
        optimizer.apply_gradients(zip(gradients(seed), v, strict=True))
    assert all(np.array_equal(tensor, numbers) for tensor, numbers in kept)
    for gradient, (_, numbers) in zip(tape.gradient(y, v), kept, strict=False):
        agree(gradient, 2 * numbers)


def test_copies_and_saved_states_go_on_alone(tmp_path: Path) -> None:
    optimizer, v = optimizers.Adam(0.1), variables()
    for seed in range(3):
        optimizer.apply_gradients(zip(gradients(seed), v, strict=True))
    (again, w), (other, u) = copy.deepcopy((optimizer, v)), pickle.loads(pickle.dumps((optimizer, v)))  # noqa: S301
    optimizer.save_state(tmp_path / "state.npz")
    fresh, x = optimizers.Adam(0.1), [lab.Variable(one) for one in v]
    fresh.build(x)
    fresh.load_state(tmp_path / "state.npz")
    for seed in range(3, 6):
        for one, its in ((optimizer, v), (again, w), (other, u), (fresh, x)):
            one.apply_gradients(zip(gradients(seed), its, strict=True))
    for its in (w, u, x):
        for a, b in zip(v, its, strict=True):
            agree(a, b)


def test_a_step_that_is_refused_changes_nothing() -> None:
    optimizer, v = optimizers.Adam(0.1), variables()
    for seed in range(2):
        optimizer.apply_gradients(zip(gradients(seed), v, strict=True))
    before = [x.numpy() for x in (*v, *optimizer.variables)]
    wrong = gradients(2)
    wrong[-1] = lab.zeros([2, 3, 5])
    with pytest.raises(lab.errors.ShapeMismatch):
        optimizer.apply_gradients(zip(wrong, v, strict=True))
    with pytest.raises(lab.errors.InvalidArgumentError, match="pairs"):
        optimizer.apply_gradients(zip(v, gradients(2), strict=True))
    assert all(np.array_equal(x, old) for x, old in zip((*v, *optimizer.variables), before, strict=True))


def test_constraints_and_repeated_variables() -> None:
    v, w = lab.Variable([1.0, -1.0], constraint=lab.nn.relu), lab.Variable([1.0, -1.0])
    optimizer = optimizers.SGD(0.1)
    for _ in range(3):
        optimizer.apply_gradients([(lab.constant([1.0, 1.0]), v), (lab.constant([1.0, 1.0]), w)])
    agree(v, [0.7, 0.0])
    agree(w, [0.7, -1.3])
    optimizer.apply_gradients([(lab.constant([1.0, 1.0]), w), (lab.constant([1.0, 1.0]), w)])
    agree(w, [0.5, -1.5])


def test_an_optimizer_of_ones_own_is_not_fused() -> None:
    class Half(optimizers.SGD):
        def change(self, gradient: Any, value: Any, state: dict[str, Any], step: Any) -> Any:
            return 0.5 * super().change(gradient, value, state, step)

    v = lab.Variable([1.0])
    for _ in range(3):
        Half(0.1).apply_gradients([(lab.constant([1.0]), v)])
    agree(v, [0.85])


def test_an_eager_step_makes_few_python_calls(figure: Callable[[str, str], None]) -> None:
    """Calls are counted, as time depends on the machine: one more variable must not cost as much as a step."""
    counts: list[int] = []
    for size in (6, 12):
        optimizer = optimizers.Adam(0.1)
        v = [lab.Variable(np.ones((4, 4), np.float32)) for _ in range(size)]
        g = [lab.constant(np.ones((4, 4), np.float32)) for _ in range(size)]
        for _ in range(3):
            optimizer.apply_gradients(zip(g, v, strict=True))
        calls = 0

        def count(frame: Any, event: str, argument: Any) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            optimizer.apply_gradients(zip(g, v, strict=True))
        finally:
            sys.setprofile(None)
        counts.append(calls)
    figure("Python calls of an Adam step of 6 and of 12 variables", f"{counts[0]} and {counts[1]}")
    assert counts[0] <= 40
    assert counts[1] - counts[0] <= 6
