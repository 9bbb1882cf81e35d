"""Recurrences over arrays, as users write them, and random ones made from a seed."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from tests.compile.random_programs import Made, Walk

TURNS = 11


def _draw(seed: int, *shapes: tuple[int, ...], dtype: str = "float32") -> list[Any]:
    draw = np.random.default_rng(seed)
    return [lab.constant((draw.standard_normal(shape) * 0.4).astype(dtype)) for shape in shapes]


def lstm(x: Any, h: Any, w: Any, u: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch([w, u])
        state = h
        for t in range(TURNS):
            i, f, g, o = lab.split(x[:, t] @ w + h @ u, 4, axis=1)
            state = lab.sigmoid(f) * state + lab.sigmoid(i) * lab.tanh(g)
            h = lab.sigmoid(o) * lab.tanh(state)
        loss = lab.reduce_sum(h * h)
    return loss, tape.gradient(loss, [w, u])


def gru(x: Any, h: Any, w: Any, u: Any) -> Any:
    """A gated unit over a sequence read backwards, with all its states as a result and a gradient for the input."""
    with lab.GradientTape() as tape:
        tape.watch([x, w, u])
        states = []
        for part in lab.unstack(x, axis=1)[::-1]:
            z, r, n = lab.split(part @ w[:, :9], 3, axis=-1)
            a, b, c = lab.split(h @ u[:, :9], 3, axis=-1)
            z, r = lab.sigmoid(z + a), lab.sigmoid(r + b)
            h = z * h + (1.0 - z) * lab.tanh(n + r * c)
            states.append(h)
        out = lab.stack(states, axis=1)
        loss = lab.reduce_mean(out * out)
    return out, tape.gradient(loss, [x, w, u])


def two_layers(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Every other step of a series through two layers, with a loss at each step."""
    with lab.GradientTape() as tape:
        tape.watch([w, u])
        low = high = h
        loss = lab.reduce_sum(h) * 0.0
        for t in range(0, TURNS, 2):
            low = lab.tanh(x[:, t] @ w[:, :3] + low @ u[:, :3])
            high = lab.tanh(low @ u[:, 3:6] + high @ u[:, 6:9])
            loss = loss + lab.reduce_sum(lab.square(high - x[:, t, :3]))
    return loss, tape.gradient(loss, [w, u])


def leapfrog(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Bodies that attract each other."""

    def pull(place: Any) -> Any:
        apart = lab.expand_dims(place, 0) - lab.expand_dims(place, 1)
        near = lab.reduce_sum(apart * apart, axis=-1) + 0.1
        return lab.reduce_sum(apart * lab.expand_dims(near**-1.5, -1), axis=1)

    with lab.GradientTape() as tape:
        tape.watch([h])
        place, speed = h, h * 0.1
        force = pull(place)
        for _ in range(TURNS):
            speed = speed + 0.01 * force
            place = place + 0.02 * speed
            force = pull(place)
            speed = speed + 0.01 * force
        energy = lab.reduce_sum(speed * speed) + lab.reduce_sum(place * place)
    return energy, place, tape.gradient(energy, h)


def runge_kutta(x: Any, h: Any, w: Any, u: Any) -> Any:
    def slope(y: Any) -> Any:
        return lab.tanh(y @ u[:, :3]) - 0.1 * y

    with lab.GradientTape() as tape:
        tape.watch([h, u])
        y = h
        for _ in range(TURNS):
            a = slope(y)
            b = slope(y + 0.05 * a)
            c = slope(y + 0.05 * b)
            d = slope(y + 0.1 * c)
            y = y + (a + 2.0 * b + 2.0 * c + d) * (0.1 / 6)
        loss = lab.reduce_sum(y * y)
    return y, tape.gradient(loss, [h, u])


def descent(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Gradient descent inside the program, differentiated by its start: a second order."""
    with lab.GradientTape() as outer:
        outer.watch(w)
        now, moment = w, w * 0.0
        for _ in range(TURNS):
            with lab.GradientTape() as inner:
                inner.watch(now)
                loss = lab.reduce_mean(lab.square(lab.tanh(x[:, 0] @ now) - 0.1))
            moment = 0.9 * moment + inner.gradient(loss, now)
            now = now - 0.1 * moment
        value = lab.reduce_sum(now * now)
    return now, outer.gradient(value, w)


def conjugate_gradients(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Single numbers and vectors in one loop."""
    matrix = lab.matmul(u, u, transpose_a=True) + lab.linalg.diag(w[0] * 0.0 + 2.0)
    right = w[0]
    guess, rest = right * 0.0, right
    way, size = rest, lab.reduce_sum(rest * rest)
    for _ in range(TURNS):
        image = lab.linalg.matvec(matrix, way)
        step = size / (lab.reduce_sum(way * image) + 1e-6)
        guess, rest = guess + step * way, rest - step * image
        after = lab.reduce_sum(rest * rest)
        way, size = rest + after / (size + 1e-6) * way, after
    return guess, size


def attention(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Maxima, sums along rows, comparisons and choices in a turn."""
    with lab.GradientTape() as tape:
        tape.watch([h, u])
        share = h
        for t in range(TURNS):
            score = h @ u[:, :3]
            score = score - lab.reduce_max(score, axis=-1, keepdims=True)
            share = lab.exp(score)
            share = share / lab.reduce_sum(share, axis=-1, keepdims=True)
            h = lab.where(share > 0.3, h * 0.9, lab.sin(h) + 0.01 * t)
        loss = lab.reduce_sum(h * share)
    return h, tape.gradient(loss, [h, u])


def remembering(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Each turn reads the two before it, and others read values out of the middle."""
    with lab.GradientTape() as tape:
        tape.watch([h, u])
        before, now, kept = h, h * 0.5, []
        for _ in range(TURNS):
            before, now = now, lab.tanh(now @ u[:, :3]) + 0.3 * before
            kept.append(now)
        loss = lab.reduce_sum(kept[3] * now) + lab.reduce_sum(lab.concat(kept[2:5], axis=0))
    return kept[1], kept[-2], now, tape.gradient(loss, [h, u])


def convolved(x: Any, h: Any, w: Any, u: Any) -> Any:
    """A stencil: slices of what is carried, padded again by their gradients."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        heat = x[0]
        for _ in range(TURNS):
            inner = heat[1:-1] + 0.2 * (heat[2:] - 2.0 * heat[1:-1] + heat[:-2])
            heat = lab.concat([heat[:1], inner, heat[-1:]], axis=0)
        loss = lab.reduce_sum(heat * heat)
    return heat, tape.gradient(loss, x)


def angles(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Angles, which may become too large for a fused loop."""
    for _ in range(TURNS):
        h = lab.sin(h * 0.7) + lab.cos(h) * x[:, 0, :3] * 0.3
    return h


def batched(x: Any, h: Any, w: Any, u: Any) -> Any:
    """Stacks of small matrices."""
    cell = lab.stack([u[:, :3], u[:, 3:6]])
    with lab.GradientTape() as tape:
        tape.watch(cell)
        now = lab.stack([h, h * 0.5])
        for _ in range(TURNS):
            now = lab.tanh(now @ cell + lab.transpose(cell, perm=(0, 2, 1))[:, :1])
        loss = lab.reduce_sum(now)
    return now, tape.gradient(loss, cell)


PROGRAMS: list[Callable[..., Any]] = [
    lstm, gru, two_layers, leapfrog, runge_kutta, descent, conjugate_gradients, attention, remembering, convolved,
    angles, batched,
]  # fmt: skip


def arguments(seed: int, dtype: str) -> list[Any]:
    """A batch of 4 sequences, a state of 3 and the weights of four gates."""
    return _draw(seed, (4, TURNS, 5), (4, 3), (5, 12), (3, 12), dtype=dtype)


# --- random ones ------------------------------------------------------------------------------------------------------

_ONE: list[Callable[[Any], Any]] = [
    lab.tanh, lab.sigmoid, lambda v: -v, lambda v: v * 0.5, lab.sin, lab.nn.relu, lab.square,
    lambda v: v - lab.reduce_mean(v, axis=-1, keepdims=True), lambda v: lab.reduce_sum(v, axis=0) * 0.1,
    lambda v: lab.reduce_max(v, axis=1, keepdims=True), lambda v: lab.transpose(lab.transpose(v) * 0.5),
    lambda v: lab.concat([v[:, 1:], v[:, :1]], axis=1), lambda v: lab.reshape(lab.reshape(v, (-1,)), v.shape),
    lambda v: lab.abs(v) ** 1.5, lab.reduce_mean, lambda v: lab.reduce_logsumexp(v, axis=0), lab.reduce_logsumexp,
    lambda v: lab.nn.softmax(v, axis=0), lambda v: lab.roll(v, [1, -1], [0, 1]), lambda v: lab.reverse(v, [1]),
    lambda v: lab.cumsum(v, axis=1) * 0.3, lambda v: lab.gather(v, [3, 0, 0, 2]), lambda v: lab.reduce_min(v, axis=0),
    lambda v: lab.pad(v[1:], [[0, 1], [0, 0]]), lambda v: lab.linalg.band_part(v, 1, 0), lab.math.cumprod,
    lambda v: lab.linalg.solve(lab.transpose(v) @ v * 0.1 + lab.eye(3, dtype=v.dtype), lab.transpose(v))[:, :3][:1],
    lambda v: lab.reduce_max(v[:, None] * v[None], axis=[0, 2]), lambda v: lab.tile(v[:2], [2, 1]),
    lambda v: lab.repeat(v[1:3], 2, axis=0), lambda v: lab.repeat(v[:, 2:], 3, axis=1),
]  # fmt: skip
_MOVES: list[Callable[[Any], Any]] = [
    lambda v: lab.roll(v, 1, 0), lambda v: lab.roll(v, -1, 1), lambda v: lab.roll(v, [1, 1], [0, 1]) * v,
    lambda v: lab.concat([lab.roll(v, 1, 0)[:, ::2], v[:, 1::2]], axis=1),
    lambda v: lab.concat([v[2:], v[:2] * v[1:3]], 0),
    lambda v: lab.tensor_scatter_nd_add(v, [[0], [2]], lab.roll(v, 1, 0)[1:3]),
    lambda v: lab.roll(v, 2, 0) - 2.0 * v + lab.roll(v, -1, 0), lambda v: lab.pad(v[1:, 1:], [[1, 0], [0, 1]]),
    lambda v: lab.reduce_sum(lab.stack([v, lab.roll(v, 1, 1)], axis=2) * v[..., None], axis=2), lambda v: v * v[:1],
    lambda v: lab.reshape(lab.roll(lab.reshape(v, (2, 6)), 1, 1), (4, 3)), lambda v: v[::-1] + v[:, :1],
]  # fmt: skip
"""What takes arrays apart and puts them together again."""
_TWO: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lab.maximum, lambda a, b: lab.where(a > b, a, b * 0.5),
    lambda a, b: a / (b * b + 1.0),
]  # fmt: skip


def recurrence(seed: int, dtype: str = "float32", moves: bool = False) -> Made:
    """The random recurrence of a seed: states of (4, 3), a series, weights, and a variable that is assigned.

    Half of the steps of one that `moves` are those that take arrays apart.
    """
    choice = random.Random(seed)
    states, length, turns = choice.randrange(1, 4), choice.randrange(2, 8), choice.randrange(6, 14)
    step, backwards = choice.choice([1, 1, 2, 3]), choice.random() < 0.3
    breaks = choice.choice([None, None, 0, turns - 1, choice.randrange(turns)])
    collects, second = choice.random() < 0.5, choice.random() < 0.15
    numbers = tuple(choice.random() for _ in range(4 * length + 8))
    series, start, weights = _draw(seed, (4, 3 * turns, 3), (4, 3), (3, 3), dtype=dtype)
    variable = lab.Variable(weights.numpy() * 0.5, name="state")

    def turn(past: list[Any], here: Any, w: Any) -> list[Any]:
        walk = Walk(numbers)
        values = [*past, here]
        for _ in range(length):
            kind, x, y = walk.random(), walk.choice(values), walk.choice(values)
            if kind < 0.3:
                made = lab.tanh(x @ w)
            elif kind < 0.65:
                made = walk.choice(_MOVES if moves else _ONE)(x)
            else:
                made = walk.choice(_TWO)(x, y)
            made = made[:, None] if made.shape == (4,) else made
            values.append(lab.tanh(made) + here * 0.1 if made.shape != (4, 3) else made)
        return [lab.tanh(v) for v in values[-len(past) :]]

    def body(series: Any, start: Any, weights: Any) -> tuple[Any, list[Any]]:
        with lab.GradientTape() as outer:
            outer.watch([weights])
            with lab.GradientTape() as tape:
                tape.watch([series, start, weights])
                w = weights + variable
                past = [start * (0.5 + k) for k in range(states)]
                kept = []
                for k in range(turns)[:: -1 if backwards else 1]:
                    past = turn(past, series[:, step * k], w)
                    if k == breaks:
                        past = [past[0] * 1.5, *past[1:]]
                    kept.append(past[-1])
                target = lab.reduce_sum(past[0] * past[-1])
                if collects:
                    target = target + lab.reduce_mean(lab.stack(kept, axis=1))
            found = tape.gradient(target, [series, start, weights, variable], unconnected_gradients="zero")
            size = lab.reduce_sum(lab.square(found[2]))
        more = [outer.gradient(size, weights, unconnected_gradients="zero")] if second else []
        variable.assign_sub(found[3] * 0.01)
        return target, [*kept[1:3], past[-1], *found, *more]

    def run(*xs: Any) -> tuple[Any, list[Any]]:
        return body(*xs)

    return Made(run, [series, start, weights], variable, f"recurrence {seed} {dtype}")
