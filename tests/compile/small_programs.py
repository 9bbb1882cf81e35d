"""Random programs of small matrices, as sequences run them: products in every layout, views, sums, casts, numbers.

Each is a chain of layers made from a seed, with its gradient or its gradient's gradient.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab

_SHOWN: list[Callable[[Any], Any]] = [
    lab.transpose, lambda x: lab.transpose(lab.expand_dims(x, 0), (2, 0, 1)), lambda x: lab.reshape(x, (-1,)),
    lambda x: lab.reshape(lab.transpose(x), (-1,)), lambda x: lab.reshape(x, (-1, 1))[::2], lambda x: x[0],
]  # fmt: skip
"""Views that a program returns."""
SIZES = [1, 1, 2, 3, 5, 8, 13, 16, 17, 33, 40]


def small_program(seed: int, dtype: str) -> tuple[Callable[..., Any], list[Any]]:
    """Return the program of a seed and its arguments."""
    choice = random.Random(seed)
    draw = np.random.default_rng(seed)
    rows, width = choice.choice(SIZES), choice.choice(SIZES)
    arguments = [_drawn(draw, (rows, width), dtype)]
    layers: list[Callable[[Any, list[Any]], Any]] = []
    for _ in range(choice.randrange(2, 6)):
        made = choice.choice(SIZES)
        kind = choice.choice(
            ["dense", "dense", "turned", "outer", "vector", "cut", "stack", "sums", "number", "cast", "split", "join"]
        )
        layer, shapes, made = _LAYERS[kind](len(arguments), rows, width, made)
        layers.append(layer)
        arguments += [_drawn(draw, shape, dtype) for shape in shapes]
        width = made
    order = choice.choice([1, 1, 2])

    shown = [choice.choice([None, None, *_SHOWN]) for _ in layers]

    def value(*xs: Any) -> Any:
        x, views = xs[0], []
        for layer, view in zip(layers, shown, strict=True):
            x = layer(x, list(xs))
            if view is not None:
                views.append(view(x))
        return lab.reduce_mean(x * x), views

    def run(*xs: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(xs)
            with lab.GradientTape() as inner:
                inner.watch(xs)
                y, views = value(*xs)
            grads = inner.gradient(y, xs)
            if order == 1:
                return y, views, [g for g in grads if g is not None]
            slope = lab.add_n([lab.reduce_sum(g * lab.sin(x)) for g, x in zip(grads, xs, strict=True) if g is not None])
        return y, views, [g for g in outer.gradient(slope, xs) if g is not None]

    return run, arguments


def _drawn(draw: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    scale = np.sqrt(max(1, shape[0])) if len(shape) > 1 else 1.0
    return lab.constant((draw.standard_normal(shape) / scale).astype(dtype))


def _dense(n: int, rows: int, width: int, made: int) -> Any:
    return lambda x, xs: lab.tanh(x @ xs[n] + xs[n + 1]), [(width, made), (made,)], made


def _turned(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        return lab.transpose(lab.transpose(lab.sigmoid(x)) + 0.5 * lab.matmul(xs[n], x, False, True))

    return layer, [(width, width)], width


def _outer(n: int, rows: int, width: int, made: int) -> Any:
    return lambda x, xs: lab.matmul(x, xs[n]) @ lab.sin(xs[n + 1]), [(width, 1), (1, made)], made


def _vector(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        column = lab.linalg.matvec(x, xs[n])
        return x * lab.expand_dims(column, 1) + lab.linalg.matvec(x, column, transpose_a=True)

    return layer, [(width,)], width


def _cut(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        first = lab.reshape(lab.reshape(x, (-1,))[: rows * width], (width, rows))
        return lab.transpose(first) * x[:, :1] + x[:1, ::-1]

    return layer, [], width


def _stack(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        several = lab.expand_dims(x, 0) * xs[n]
        return lab.reduce_mean(several @ xs[n + 1] + lab.matmul(several, xs[n + 2], False, True), axis=0)

    return layer, [(3, 1, 1), (width, made), (3, made, width)], made


def _sums(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        return x - lab.reduce_mean(x @ xs[n], 1, keepdims=True) * lab.reduce_max(x @ xs[n], axis=0, keepdims=True)

    return layer, [(width, width)], width


def _number(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        a = lab.reduce_mean(x)
        return x * lab.exp(-a * a) + a / (1.0 + xs[n] * xs[n])

    return layer, [()], width


def _cast(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        other = "float64" if x.dtype == lab.float32 else "float32"
        turned = lab.cast(lab.sin(lab.cast(lab.transpose(x), other)), x.dtype)
        return lab.transpose(turned) @ xs[n]

    return layer, [(width, made)], made


def _split(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        a, b, c = lab.split(x @ xs[n] + x @ xs[n + 1], 3, axis=1)
        return lab.sigmoid(a) * b + lab.tanh(c) * lab.reduce_sum(lab.add_n([r * r for r in lab.unstack(b)]))

    return layer, [(width, 3 * made), (width, 3 * made)], made


def _join(n: int, rows: int, width: int, made: int) -> Any:
    def layer(x: Any, xs: list[Any]) -> Any:
        wide = lab.concat([x, lab.transpose(lab.transpose(x) * xs[n]), lab.pad(x[:, ::2], [[0, 0], [1, 0]])], axis=1)
        several = lab.stack([wide[:, 0], wide[:, -1], lab.reduce_max(wide, axis=1)], axis=-1)
        return lab.concat([several, wide[:, 1:]], 1)

    columns = 2 * width + (width + 1) // 2 + 3
    return layer, [()], columns


_LAYERS: dict[str, Callable[[int, int, int, int], Any]] = {
    "dense": _dense, "turned": _turned, "outer": _outer, "vector": _vector, "cut": _cut, "stack": _stack,
    "sums": _sums, "split": _split, "join": _join, "number": _number, "cast": _cast,
}  # fmt: skip


def mixture(w: Any, x: Any, y: Any) -> Any:
    """A mixture of normal distributions whose shares and means depend on x, and the gradient of its likelihood."""
    with lab.GradientTape() as tape:
        tape.watch(w)
        shares, means = lab.split(x @ w, 2, axis=1)
        loss = -lab.reduce_mean(lab.reduce_logsumexp(lab.nn.log_softmax(shares) - (y - means) ** 2, axis=1))
    return loss, tape.gradient(loss, w)
