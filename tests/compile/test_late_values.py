"""Values that enter with every call without being arguments: random numbers, the rate of a schedule."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import autodiff_lab as lab

X = lab.constant([1.0, 2.0])
DRAWS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda x: x * lab.random.normal([2]),
    "normal of a list": lambda x: x * lab.random.normal([2], 1.0, 3.0),
    "uniform": lambda x: x + lab.random.uniform(x.shape, -1.0, 1.0),
    "whole numbers": lambda x: x * lab.cast(lab.random.uniform([2], 0, 100, lab.int32), lab.float32),
    "truncated": lambda x: x * lab.random.truncated_normal([2]),
    "gamma": lambda x: x * lab.random.gamma([2], 2.0),
    "poisson": lambda x: x * lab.random.poisson([2], 3.0),
    "shuffle": lambda x: lab.random.shuffle(x) - x,
    "with seeds": lambda x: x * lab.random.normal([2], seed=3) + lab.random.normal([2], seed=4),
    "three of them": lambda x: x * lab.random.normal([2]) + lab.random.uniform([2]) - lab.random.normal([2]),
    "not used": lambda x: (lab.random.normal([7]), x * lab.random.normal([2]))[1],
    "dropout": lambda x: lab.nn.dropout(x, 0.5) * x,
    "dropout in rows": lambda x: lab.nn.dropout(lab.stack([x, x]), 0.5, noise_shape=[2, 1]),
    "stateless": lambda x: x * lab.random.stateless_normal([2], seed=[1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_program_draws_what_the_eager_function_draws(name: str, backend: str) -> None:
    """The same numbers in every call, and the generator stands where it would."""
    if backend == "auto" and name != "three of them":
        backend = "numpy"  # one of them is enough to see that fused loops take noise as they take arguments
    program = DRAWS[name]
    outcomes: list[Any] = []
    compiled = lab.function(program, backend=backend)
    for f in (program, compiled):
        lab.random.set_seed(5)
        found = [f(X * k).numpy().tolist() for k in (1.0, 2.0, 3.0)]
        lab.random.set_seed(6)  # other sources from here on
        outcomes.append([found, f(X).numpy().tolist(), lab.random.normal([2], seed=3).numpy().tolist(),
                         lab.random.uniform([2]).numpy().tolist()])  # fmt: skip
    if backend == "numpy":
        assert outcomes[0] == outcomes[1]
    else:
        assert [pytest.approx(row) for row in outcomes[0][0]] == outcomes[1][0]
        assert outcomes[0][-1] == outcomes[1][-1]
    assert compiled.fallbacks == 0, compiled.why()


def test_a_call_that_a_program_declines_draws_no_more_than_once() -> None:
    """The eager run that follows finds the generators where they were."""

    def program(x: Any, i: Any) -> Any:
        noise = lab.random.normal([2]) + lab.random.normal([2], seed=9)
        return lab.gather(x * noise, i)

    outcomes: list[Any] = []
    compiled = lab.function(program, backend="numpy")
    for f in (program, compiled):
        lab.random.set_seed(5)
        found: list[Any] = []
        for i in (0, 7, 1, 9, 0):
            try:
                found.append(f(X, lab.constant([i])).numpy().tolist())
            except lab.errors.InvalidArgumentError:
                found.append("out of range")
        outcomes.append([*found, lab.random.normal([1]).numpy().tolist()])
    assert outcomes[0] == outcomes[1]
    assert compiled.fallbacks == 2


def test_draws_appear_in_the_program() -> None:
    f = lab.function(lambda x: x * lab.random.normal([2]))
    f(X)
    assert "argument noise" in str(f.program)
    assert "def program(x, noise)" in f.source


def test_a_trained_model_with_dropout_is_the_same() -> None:
    def train(wrap: Callable[..., Any]) -> list[Any]:
        lab.random.set_seed(1)
        dense, drop = lab.layers.Dense(3), lab.layers.Dropout(0.3)
        dense(lab.ones((4, 2)))
        optimizer = lab.optimizers.Adam(0.1)

        def step(x: Any) -> Any:
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean(drop(dense(x), training=True) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, dense.weights), dense.weights, strict=True))
            return loss

        step = wrap(step)
        return [step(lab.ones((4, 2)) * float(n)).numpy().tolist() for n in range(6)] + [
            w.numpy().tolist() for w in dense.weights
        ]

    assert train(lambda f: f) == train(lambda f: lab.function(f, backend="numpy"))


SCHEDULES: dict[str, Any] = {
    "exponential": lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5),
    "staircase": lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True),
    "cosine": lab.optimizers.schedules.CosineDecay(0.1, 4),
    "piecewise": lab.optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.3, 0.2, 0.1]),
    "inverse": lab.optimizers.schedules.InverseTimeDecay(0.1, 2, 1.0),
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lab.optimizers.SGD,
    "momentum": lambda rate: lab.optimizers.SGD(rate, momentum=0.9, nesterov=True),
    "Adam": lab.optimizers.Adam,
    "AdamW": lab.optimizers.AdamW,
    "RMSprop": lambda rate: lab.optimizers.RMSprop(rate, momentum=0.5),
    "Adagrad": lab.optimizers.Adagrad,
    "Nadam": lab.optimizers.Nadam,
    "Adamax": lab.optimizers.Adamax,
    "Adadelta": lab.optimizers.Adadelta,
    "clipped": lambda rate: lab.optimizers.SGD(rate, clipnorm=0.5),
    "clipped together": lambda rate: lab.optimizers.Adam(rate, global_clipnorm=0.5),
}


def trained(make: Callable[[], Any], wrap: Callable[..., Any], steps: int = 1) -> tuple[list[Any], Any]:
    """Variables after each of six calls, and the function that was called."""
    w, optimizer = lab.Variable([2.0, 3.0]), make()

    def step(x: Any) -> None:
        for _ in range(steps):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum((w * x - 1.0) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    f = wrap(step)
    found: list[Any] = []
    for n in range(6):
        f(X * float(n))
        found.append((w.numpy().tolist(), int(optimizer.iterations)))
    return found, f


def compile_plainly(f: Any) -> Any:
    return lab.function(f, backend="numpy")


@pytest.mark.slow(keep=15)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_rate_that_follows_a_schedule_does_so_in_a_program(schedule: str, optimizer: str) -> None:
    for steps in (1, 3):
        make = partial(OPTIMIZERS[optimizer], SCHEDULES[schedule])
        eager, _ = trained(make, lambda f: f, steps)
        found, compiled = trained(make, compile_plainly, steps)
        assert found == eager
        assert not compiled.fallbacks, compiled.why()  # the first call, which builds the optimizer's state, is none


def test_a_rate_in_a_variable_is_read_by_the_program() -> None:
    outcomes: list[Any] = []
    for wrap in (lambda f: f, compile_plainly):
        rate, w = lab.Variable(0.1), lab.Variable([1.0, 2.0])
        optimizer = lab.optimizers.Adam(rate)

        def step(x: Any, w: Any = w, optimizer: Any = optimizer) -> None:
            optimizer.apply_gradients([(x, w)])

        f = wrap(step)
        found: list[Any] = []
        for k in (0.1, 0.1, 0.5, 0.01):
            rate.assign(k)
            f(X)
            found.append(w.numpy().tolist())
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert not f.fallbacks, f.why()


def test_a_step_count_that_the_function_sets_keeps_it_eager() -> None:
    w, optimizer = lab.Variable([1.0, 2.0]), lab.optimizers.SGD(SCHEDULES["staircase"])

    @lab.function
    def step(x: Any) -> None:
        optimizer.iterations.assign(7)
        optimizer.apply_gradients([(x, w)])

    for _ in range(3):
        step(X)
    assert step.fallbacks == 3
    assert "step count" in step.why()
    assert w.numpy().tolist() == pytest.approx([1.0 - 3 * 0.0125, 2.0 - 3 * 0.025])
