"""Random programs of tensors, and what their compiled form must equal: made from a seed, so that a failure can be
repeated.  Each takes gradients of a random target with respect to its arguments and to a variable that it also assigns.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab


def _normalised(x: Any) -> Any:
    if not x.ndim:
        return x
    centred = x - lab.reduce_mean(x, axis=-1, keepdims=True)
    return centred * lab.math.rsqrt(lab.reduce_mean(centred * centred, axis=-1, keepdims=True) + 0.1)


UNARY: list[tuple[str, Callable[[Any], Any]]] = [
    ("sin", lab.sin), ("cos", lab.cos), ("tanh", lab.tanh), ("exp", lambda x: lab.exp(lab.tanh(x))),
    ("log", lambda x: lab.math.log(x * x + 0.5)), ("log1p", lambda x: lab.math.log1p(x * x)),
    ("sqrt", lambda x: lab.sqrt(x * x + 0.25)), ("sigmoid", lab.sigmoid), ("relu", lab.nn.relu), ("abs", lab.abs),
    ("negative", lambda x: -x), ("square", lab.square), ("softplus", lab.math.softplus),
    ("expm1", lambda x: lab.math.expm1(lab.tanh(x))), ("reciprocal", lambda x: 1.0 / (x * x + 1.0)),
    ("identity", lab.identity), ("power", lambda x: lab.pow(lab.abs(x) + 0.5, 1.5)), ("cube", lambda x: x**3.0),
    ("clip", lambda x: lab.clip_by_value(x, -1.0, 1.0)), ("stop", lab.stop_gradient), ("times one", lambda x: 1.0 * x),
    ("softmax", lambda x: lab.nn.softmax(x) if x.ndim else x), ("gelu", lab.nn.gelu), ("elu", lab.nn.elu),
    ("silu", lab.nn.silu), ("log_sigmoid", lab.nn.log_sigmoid), ("leaky", lab.nn.leaky_relu), ("selu", lab.nn.selu),
    ("tan", lambda x: lab.tan(lab.tanh(x))), ("fourth", lambda x: x**4.0), ("normalised", _normalised),
    ("log_softmax", lambda x: lab.nn.log_softmax(x) if x.ndim else x), ("sign", lab.sign),
    ("erf", lab.math.erf), ("round", lab.round),
    ("where", lambda x: lab.where(x > 0.0, x * 2.0, lab.sin(x))), ("minus zero", lambda x: x - 0.0),
]  # fmt: skip
BINARY: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("add", lambda x, y: x + y), ("subtract", lambda x, y: x - y), ("multiply", lambda x, y: x * y),
    ("divide", lambda x, y: x / (y * y + 1.0)), ("maximum", lab.maximum), ("minimum", lab.minimum),
    ("squared_difference", lab.math.squared_difference), ("atan2", lambda x, y: lab.atan2(x, y * y + 0.5)),
]  # fmt: skip
SHAPES = [(), (1,), (7,), (3, 4), (4,), (3, 1), (2, 3, 4), (1, 4), (3, 20), (20,), (2, 3, 20)]


@dataclass
class Made:
    """A program, its arguments, and the variable it reads and assigns."""

    run: Callable[..., Any]
    arguments: list[Any]
    variable: Any
    text: str


class Walk:
    """Choices from numbers drawn before the program runs, because drawing is a side effect that prevents compiling."""

    def __init__(self, numbers: tuple[float, ...]) -> None:
        self._next = iter(numbers).__next__

    def random(self) -> float:
        return self._next()

    def choice(self, items: Any) -> Any:
        return items[int(self._next() * len(items))]


def _reduced(choice: Walk, x: Any) -> Any:
    function = choice.choice([lab.reduce_sum, lab.reduce_mean, lab.reduce_max, lab.reduce_min])
    axis = choice.choice([None, *range(x.ndim)])
    return function(x, axis=axis, keepdims=choice.random() < 0.5)


def _rearranged(choice: Walk, x: Any) -> Any:
    how = choice.choice(range(4))
    if how == 0:
        return lab.transpose(x)
    if how == 1:
        return lab.reshape(x, (-1,))
    if how == 2 and x.ndim:
        return x[..., 0]
    if x.ndim == 2:
        return lab.matmul(x, x, transpose_b=True)
    return lab.expand_dims(x, 0)


def program(seed: int, dtype: str = "float32", shapes: list[tuple[int, ...]] | None = None) -> Made:
    """The random program of a seed."""
    choice = random.Random(seed)
    draw = np.random.default_rng(seed)
    pool = shapes or SHAPES
    count = choice.randrange(1, 4)
    arguments = [lab.constant(np.asarray(draw.standard_normal(choice.choice(pool)), dtype)) for _ in range(count)]
    variable = lab.Variable(np.asarray(draw.standard_normal(choice.choice(pool)), dtype), name="state")
    length = choice.randrange(3, 15)
    assigns = choice.random() < 0.5
    numbers = tuple(choice.random() for _ in range(200))

    def body(*xs: Any) -> tuple[Any, list[Any]]:
        walk = Walk(numbers)
        values: list[Any] = [*xs, lab.identity(variable)]
        with lab.GradientTape() as tape:
            tape.watch(list(xs))
            values.append(variable * 1.5)
            for _ in range(length):
                kind = walk.random()
                x = walk.choice(values)
                if kind < 0.45:
                    _, function = walk.choice(UNARY)
                    made = function(x)
                elif kind < 0.8:
                    _, function = walk.choice(BINARY)
                    made = _met(function, x, walk.choice(values))
                elif kind < 0.9:
                    made = _reduced(walk, x)
                else:
                    made = _rearranged(walk, x)
                values.append(made)
            target = lab.reduce_sum(values[-1]) + lab.reduce_mean(values[-2])
        gradients = tape.gradient(target, [*xs, variable])
        if assigns:
            variable.assign_sub(lab.tanh(variable) * 0.25)
            variable.assign(lab.identity(variable) * 0.5)
        return target, [*values[len(xs) + 2 :][-3:], *gradients]

    def run(*xs: Any) -> tuple[Any, list[Any]]:
        return body(*xs)

    return Made(run, arguments, variable, f"seed {seed} {dtype}")


def _met(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Let two values meet, the second summed to a number where the shapes do not broadcast."""
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        y = lab.reduce_sum(y)
    return function(x, y)


def outcome(made: Made, function: Callable[..., Any], start: Any, arguments: list[Any]) -> list[Any]:
    """All results of a call and the variable after it, as arrays; None where a gradient is None."""
    made.variable.assign(start)
    target, rest = function(*arguments)
    return [None if r is None else r.numpy() for r in [target, *rest]] + [made.variable.numpy()]
