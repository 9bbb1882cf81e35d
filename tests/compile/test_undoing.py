"""A function that is compiled ahead runs once, and nothing of the run is seen afterwards.

What a call computes without `compile` it must compute after it: whatever the run assigned, created or drew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import layers, optimizers

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adadelta": lambda: optimizers.Adadelta(1.0),
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "adam": lambda: optimizers.Adam(0.1),
    "adam with limits": lambda: optimizers.Adam(0.1, clipnorm=0.5, weight_decay=0.01),
    "adamax": lambda: optimizers.Adamax(0.1),
    "adamw": lambda: optimizers.AdamW(0.1),
    "amsgrad": lambda: optimizers.Adam(0.1, amsgrad=True),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "nadam": lambda: optimizers.Nadam(0.1),
    "rmsprop": lambda: optimizers.RMSprop(0.1, momentum=0.5, centered=True),
    "sgd": lambda: optimizers.SGD(0.1),
}


def training(make: Callable[[], Any]) -> Callable[[Any], Any]:
    w, optimizer = lab.Variable(np.ones(3, np.float32)), make()

    def step(x: Any) -> Any:
        loss: Any = 0.0
        for _ in range(2):  # the second update must not let the first one stay
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum((w - x) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss + 0.0 * lab.reduce_sum(w)

    return step


def normalized() -> Callable[[Any], Any]:
    layer = layers.BatchNormalization()

    def run(x: Any) -> Any:
        result = layer(lab.reshape(x, [3, 1]), training=True)
        return lab.concat([lab.reshape(result, [-1]), layer.moving_mean.read(), layer.moving_variance.read()], 0)

    return run


def recurrent() -> Callable[[Any], Any]:
    layer = layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")  # whose building assigns a bias
    return lambda x: layer(lab.reshape(x, [1, 3, 1]))


def averaging() -> Callable[[Any], Any]:
    metric = lab.metrics.Mean()

    def run(x: Any) -> Any:
        metric.update_state(x)
        return metric.total + metric.count

    return run


def counting() -> Callable[[Any], Any]:
    made: list[Any] = []

    def run(x: Any) -> Any:
        if not made:
            made.append(lab.Variable(0.0))
        made[0].assign_add(1.0)
        made[0].assign(2.0 * made[0])
        return x * made[0]

    return run


def of_a_generator() -> Callable[[Any], Any]:
    source = lab.random.Generator.from_seed(1)
    return lambda x: x + source.normal([3]) + source.uniform([3])


def of_the_global_seed() -> Callable[[Any], Any]:
    return lambda x: x + lab.random.normal([3]) * lab.random.uniform([3], seed=4)


def with_dropout() -> Callable[[Any], Any]:
    drop = layers.Dropout(0.5)
    return lambda x: drop(lab.ones([20]), training=True) * x[0]


def with_weights_first() -> Callable[[Any], Any]:
    dense, drop = layers.Dense(20), layers.Dropout(0.5)
    return lambda x: drop(dense(lab.reshape(x, [1, 3])), training=True)


def splitting() -> Callable[[Any], Any]:
    source = lab.random.Generator.from_seed(1)
    return lambda x: x + source.split(1)[0].normal([3])


PROGRAMS: dict[str, Callable[[], Callable[[Any], Any]]] = {
    **{name: (lambda make=make: training(make)) for name, make in OPTIMIZERS.items()},
    **{
        one.__name__: one
        for one in (
            normalized, recurrent, averaging, counting, of_a_generator, of_the_global_seed, with_dropout,
            with_weights_first, splitting,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_after_compile_are_those_without_it(name: str) -> None:
    x = lab.constant([0.5, -1.0, 2.0])
    lab.random.set_seed(3)
    step = PROGRAMS[name]()
    wanted = [step(x).numpy() for _ in range(4)]
    lab.random.set_seed(3)
    function = lab.function(PROGRAMS[name]())
    assert function.compile(x) is (name != "splitting")
    for one in wanted:
        np.testing.assert_allclose(function(x).numpy(), one, rtol=2e-5, atol=1e-6)


def test_a_program_compiled_beside_another_draws_nothing() -> None:
    source, same = (lab.random.Generator.from_seed(1) for _ in range(2))

    @lab.function
    def pick(x: Any) -> Any:
        noise = source.normal([2])
        return x + noise if float(x[0]) > 0 else x - noise

    up, down = lab.constant([1.0, 2.0]), lab.constant([-1.0, 2.0])
    for x, sign in ((up, 1), (down, -1), (up, 1), (down, -1), (up, 1), (down, -1)):
        np.testing.assert_allclose(pick(x).numpy(), (x + sign * same.normal([2])).numpy(), rtol=1e-6)


def test_a_first_row_that_is_undone_draws_nothing() -> None:
    source, same = (lab.random.Generator.from_seed(1) for _ in range(2))
    rows = lab.constant([[1.0], [2.0], [3.0]])
    function = lab.function(lambda x: lab.vectorized_map(lambda row: row + source.normal([1]), x))
    wanted = rows + lab.stack([same.normal([1]) for _ in range(3)])
    np.testing.assert_allclose(function(rows).numpy(), wanted.numpy(), rtol=1e-6)


def test_a_call_that_built_something_says_that_the_next_one_is_compiled() -> None:
    step = lab.function(training(OPTIMIZERS["adam"]))
    x = lab.constant([0.5, -1.0, 2.0])
    step(x)
    assert step.why().startswith("step ran eagerly: the variable Adam/Variable/m:0 is created in the function (line ")
    assert step.why().endswith("as where it creates something, the next one can be compiled.")
    step(x)
    assert step.compile(x)
    assert step.why().startswith("step is compiled.")
