"""Values that come in with every call though they are no arguments: random numbers, the rate of a schedule."""

from collections.abc import Callable
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
    for f in (program, lab.function(program, backend=backend)):
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
    assert f.fallbacks == 0, f.why()


def test_a_call_that_a_program_declines_draws_no_more_than_once() -> None:
    """The eager run that follows finds the generators where they were."""

    def program(x: Any, i: Any) -> Any:
        noise = lab.random.normal([2]) + lab.random.normal([2], seed=9)
        return lab.gather(x * noise, i)

    outcomes: list[Any] = []
    for f in (program, lab.function(program, backend="numpy")):
        lab.random.set_seed(5)
        found: list[Any] = []
        for i in (0, 7, 1, 9, 0):
            try:
                found.append(f(X, lab.constant([i])).numpy().tolist())
            except lab.errors.InvalidArgumentError:
                found.append("out of range")
        outcomes.append([*found, lab.random.normal([1]).numpy().tolist()])
    assert outcomes[0] == outcomes[1]
    assert f.fallbacks == 2


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
