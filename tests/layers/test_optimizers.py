"""Optimizers and schedules against their formulas, step by step; their state is saved and loaded."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

optimizers, schedules = lab.optimizers, lab.optimizers.schedules
START = np.array([1.0, -2.0, 3.0])
GRADIENTS = [np.array([0.5, -1.0, 0.0]), np.array([-0.25, 2.0, 1.0]), np.array([1.0, 1.0, -3.0])]


def momentum(v: Any, g: Any, s: dict[str, Any], _: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) - 0.1 * g
    return v + s["m"]


def nesterov(v: Any, g: Any, s: dict[str, Any], _: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) - 0.1 * g
    return v + 0.9 * s["m"] - 0.1 * g


def adam(v: Any, g: Any, s: dict[str, Any], t: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return v - rate * s["m"] / (np.sqrt(s["v"]) + 1e-7)


def adamw(v: Any, g: Any, s: dict[str, Any], t: int) -> Any:
    return adam(v, g, s, t) - 0.1 * 0.01 * v


def rmsprop(v: Any, g: Any, s: dict[str, Any], _: int) -> Any:
    s["q"] = 0.9 * s.get("q", 0) + 0.1 * g * g
    return v - 0.1 * g / np.sqrt(s["q"] + 1e-7)


def adagrad(v: Any, g: Any, s: dict[str, Any], _: int) -> Any:
    s["q"] = s.get("q", 0.1) + g * g
    return v - 0.1 * g / np.sqrt(s["q"] + 1e-7)


def nadam(v: Any, g: Any, s: dict[str, Any], t: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    now, later = (0.9 * (1 - 0.5 * 0.96**n) for n in (t, t + 1))
    s["product"] = s.get("product", 1) * now
    mean = later * s["m"] / (1 - s["product"] * later) + (1 - now) * g / (1 - s["product"])
    return v - 0.1 * mean / (np.sqrt(s["v"] / (1 - 0.999**t)) + 1e-7)


def adamax(v: Any, g: Any, s: dict[str, Any], t: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["u"] = np.maximum(0.999 * s.get("u", 0), np.abs(g))
    return v - 0.1 * s["m"] / ((1 - 0.9**t) * (s["u"] + 1e-7))


def adadelta(v: Any, g: Any, s: dict[str, Any], _: int) -> Any:
    s["g"] = 0.95 * s.get("g", 0) + 0.05 * g * g
    moved = np.sqrt(s.get("d", 0) + 1e-3) / np.sqrt(s["g"] + 1e-3) * g
    s["d"] = 0.95 * s.get("d", 0) + 0.05 * moved * moved
    return v - 0.5 * moved


TABLE: dict[str, tuple[Callable[[], Any], Callable[..., Any]]] = {
    "plain": (lambda: optimizers.SGD(0.1), lambda v, g, s, t: v - 0.1 * g),
    "momentum": (lambda: optimizers.SGD(0.1, momentum=0.9), momentum),
    "nesterov": (lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True), nesterov),
    "adam": (lambda: optimizers.Adam(0.1), adam),
    "adamw": (lambda: optimizers.AdamW(0.1, weight_decay=0.01), adamw),
    "rmsprop": (lambda: optimizers.RMSprop(0.1), rmsprop),
    "adagrad": (lambda: optimizers.Adagrad(0.1), adagrad),
    "nadam": (lambda: optimizers.Nadam(0.1), nadam),
    "adamax": (lambda: optimizers.Adamax(0.1), adamax),
    "adadelta": (lambda: optimizers.Adadelta(0.5, epsilon=1e-3), adadelta),
}


@pytest.mark.parametrize("name", TABLE)
def test_three_steps_are_those_of_the_formula(name: str) -> None:
    make, formula = TABLE[name]
    optimizer, v = make(), lab.Variable(START)
    expected, state = START, {}
    for t, g in enumerate(GRADIENTS, start=1):
        optimizer.apply_gradients([(lab.constant(g), v)])
        expected = formula(expected, g, state, t)
        np.testing.assert_allclose(v, expected, 1e-12)
    assert int(optimizer.iterations) == 3


def test_momenta_of_nadam_go_on_for_thousands_of_steps() -> None:
    optimizer, v, expected, state = optimizers.Nadam(0.1), lab.Variable(START), START, {}
    step = lab.function(lambda g: optimizer.apply_gradients([(g, v)]) and None)
    for t in range(1, 1201):
        g = GRADIENTS[t % 3]
        (step if t % 2 else lambda g: optimizer.apply_gradients([(g, v)]))(lab.constant(g))
        expected = nadam(expected, g, state, t)
    np.testing.assert_allclose(v, expected, 1e-9)


@pytest.mark.parametrize("name", TABLE)
def test_it_finds_the_bottom_of_a_bowl(name: str) -> None:
    optimizer, v = TABLE[name][0](), lab.Variable([1.0, -1.5])
    losses = []
    for _ in range(300):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(v * v * [1.0, 3.0])
        losses.append(float(loss))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    assert losses[-1] < 0.05 * losses[0]


def test_every_public_optimizer_is_in_the_table() -> None:
    assert {type(make()).__name__ for make, _ in TABLE.values()} == set(optimizers.__all__) - {
        "Optimizer", "get", "schedules",
    }  # fmt: skip


def test_the_rate_has_a_default() -> None:
    v = lab.Variable([1.0, 2.0])
    optimizers.SGD().apply_gradients([(lab.constant([1.0, -5.0]), v)])
    np.testing.assert_allclose(v, [0.99, 2.05], 1e-6)


def test_variables_without_a_gradient_stay_and_none_at_all_is_an_error_that_helps() -> None:
    a, b = lab.Variable(1.0), lab.Variable(2.0)
    optimizers.SGD(0.5).apply_gradients([(lab.constant(1.0), a), (None, b)])
    assert (float(a), float(b)) == (0.5, 2.0)
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"all gradients are None.*explain"):
        optimizers.SGD(0.5).apply_gradients([(None, a)])


def test_a_gradient_of_another_shape_is_refused_and_nothing_moves() -> None:
    a, b = lab.Variable([1.0, 2.0]), lab.Variable([3.0, 4.0])
    with pytest.raises(lab.errors.ShapeMismatch, match=r"\(1,\), the variable \(2,\)"):
        optimizers.SGD(0.5).apply_gradients([(lab.constant([1.0, 1.0]), a), (lab.constant([1.0]), b)])
    np.testing.assert_array_equal(a, [1.0, 2.0])


def test_gradients_are_cut_short_element_by_element_one_by_one_or_all_together() -> None:
    def moved(**how: Any) -> list[Any]:
        a, b = lab.Variable([0.0, 0.0]), lab.Variable([0.0])
        optimizer = optimizers.SGD(1.0, **how)
        optimizer.apply_gradients([(lab.constant([3.0, -4.0]), a), (lab.constant([12.0]), b)])
        return [-a.numpy(), -b.numpy()]

    for how, expected in (
        ({"clipvalue": 3.5}, ([3.0, -3.5], [3.5])),
        ({"clipnorm": 1.0}, ([0.6, -0.8], [1.0])),
        ({"global_clipnorm": 6.5}, ([1.5, -2.0], [6.0])),
    ):
        for got, want in zip(moved(**how), expected, strict=True):
            np.testing.assert_allclose(got, want, 1e-6)


def test_a_sparse_gradient_moves_only_its_rows() -> None:
    table = lab.Variable(np.ones((4, 2), np.float32))
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(lab.nn.embedding_lookup(table, [1, 3, 1]))
    optimizers.SGD(0.5).apply_gradients([(tape.gradient(loss, table), table)])
    np.testing.assert_array_equal(table[:, 0], [1.0, 0.0, 1.0, 0.5])


@pytest.mark.parametrize("rows", [7, 4000])
@pytest.mark.parametrize("how", ["eager", "compiled", "recorded"])
@pytest.mark.parametrize("make", [optimizers.SGD, optimizers.Adagrad])
def test_slices_move_rows_as_the_dense_gradient_they_stand_for(make: Any, how: str, rows: int) -> None:
    draw = np.random.default_rng(0)
    start, updates = draw.normal(size=(rows, 6)).astype(np.float32), draw.normal(size=(9, 6)).astype(np.float32)
    for at in ([3, 1, 3, 0, 6, 3, 1, 5, 2], range(7, 16) if rows > 15 else [0] * 9, [6, 5, 4, 3, 2, 1, 0, 0, 0]):
        sparse, dense = (lab.Variable(start) for _ in range(2))
        whole = np.zeros_like(start)
        np.add.at(whole, list(at), updates)
        mine, theirs = make(0.1), make(0.1)
        step = lambda g, at: mine.apply_gradients([(lab.IndexedSlices(g, at, (rows, 6)), sparse)])  # noqa: B023, E731
        run: Any = lab.function(step) if how == "compiled" else step
        with lab.record() if how == "recorded" else nullcontext():
            for _ in range(4):
                run(lab.constant(updates), lab.constant(list(at)))
                theirs.apply_gradients([(lab.constant(whole), dense)])
        np.testing.assert_allclose(sparse.numpy(), dense.numpy(), rtol=1e-6, atol=1e-7)
        for a, b in zip(mine.variables, theirs.variables, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-7)
        if how == "compiled":
            assert run.fallbacks == 0, run.why()


def test_the_cost_of_sparse_steps_of_adagrad_is_that_of_their_rows() -> None:
    table, optimizer = lab.Variable(np.zeros((200_000, 8), np.float32)), optimizers.Adagrad(0.1)
    optimizer.build([table])
    slot = optimizer.variables[-1]
    slices = lab.IndexedSlices(np.ones((3, 8), np.float32), [5, 9, 5], (200_000, 8))
    optimizer.apply_gradients([(slices, table)])
    before = [array.__array_interface__["data"] for array in (table._own, slot._own)]
    for _ in range(3):
        optimizer.apply_gradients([(slices, table)])
    assert [array.__array_interface__["data"] for array in (table._own, slot._own)] == before
    assert sorted(np.flatnonzero(table.numpy()[:, 0])) == [5, 9]


def test_a_model_is_updated_along_a_gradient_that_mirrors_it() -> None:
    layer = lab.layers.Dense(1, kernel_initializer="ones")
    layer([[0.0, 0.0]])
    _, gradient = lab.value_with_gradient(lambda m: lab.reduce_sum(m([[1.0, 2.0]])))(layer)
    optimizers.SGD(0.5).update(layer, along=gradient)
    np.testing.assert_array_equal(layer.kernel, [[0.5], [0.0]])


def test_minimize_takes_a_function_or_a_loss_with_its_tape() -> None:
    v = lab.Variable(3.0)
    optimizers.SGD(0.25).minimize(lambda: v * v, [v])
    assert float(v) == 1.5
    with lab.GradientTape() as tape:
        loss = v * v
    optimizers.SGD(0.25).minimize(loss, [v], tape=tape)
    assert float(v) == 0.75
    with pytest.raises(lab.errors.InvalidArgumentError, match="needs its tape"):
        optimizers.SGD().minimize(lab.constant(1.0), [v])


@pytest.mark.parametrize("name", TABLE)
def test_training_goes_on_from_a_saved_state_as_if_it_had_not_stopped(name: str, tmp_path: Path) -> None:
    make, _ = TABLE[name]
    whole, v = make(), lab.Variable(START)
    for g in GRADIENTS:
        whole.apply_gradients([(lab.constant(g), v)])
    first, w = make(), lab.Variable(START)
    for g in GRADIENTS[:2]:
        first.apply_gradients([(lab.constant(g), w)])
    first.save_state(tmp_path / "state.npz")
    second = make()
    second.build([w])
    second.load_state(tmp_path / "state.npz")
    second.apply_gradients([(lab.constant(GRADIENTS[2]), w)])
    np.testing.assert_array_equal(v, w)
    assert int(second.iterations) == 3


def test_the_rate_follows_a_schedule_and_can_be_set() -> None:
    optimizer = optimizers.SGD(schedules.PiecewiseConstantDecay([0], [1.0, 0.1]))
    v = lab.Variable(0.0)
    seen = []
    for _ in range(3):
        seen.append(optimizer.learning_rate)
        optimizer.apply_gradients([(lab.constant(-1.0), v)])
    assert seen == [1.0, 0.1, 0.1]
    assert float(v) == pytest.approx(1.2)
    optimizer.learning_rate = 0.5
    assert optimizer.learning_rate == 0.5


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (schedules.ExponentialDecay(1.0, 10, 0.5), {0: 1.0, 5: 0.5**0.5, 10: 0.5, 25: 0.5**2.5}),
        (schedules.ExponentialDecay(1.0, 10, 0.5, staircase=True), {0: 1.0, 9: 1.0, 10: 0.5, 25: 0.25}),
        (schedules.InverseTimeDecay(2.0, 10, 3.0), {0: 2.0, 10: 0.5, 20: 2 / 7}),
        (schedules.InverseTimeDecay(2.0, 10, 3.0, staircase=True), {9: 2.0, 10: 0.5, 19: 0.5}),
        (schedules.CosineDecay(1.0, 10, alpha=0.1), {0: 1.0, 5: 0.55, 10: 0.1, 99: 0.1}),
        (schedules.PolynomialDecay(1.0, 10, 0.2, power=2.0), {0: 1.0, 5: 0.4, 10: 0.2, 99: 0.2}),
        (schedules.PolynomialDecay(1.0, 10, 0.0, cycle=True), {10: 0.0, 15: 0.25, 30: 0.0}),
        (schedules.PiecewiseConstantDecay([2, 4], [3.0, 2.0, 1.0]), {0: 3.0, 2: 3.0, 3: 2.0, 4: 2.0, 5: 1.0}),
    ],
)
def test_a_schedule_is_its_formula(schedule: Any, expected: dict[int, float]) -> None:
    assert {step: pytest.approx(schedule(step)) for step in expected} == expected


def test_values_and_boundaries_must_go_together() -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="1 boundaries need 2 values, got 1"):
        schedules.PiecewiseConstantDecay([1], [1.0])
