"""NumPy in JAX's place: runs the texts for JAX in float64, with every derivative by differences.

It holds what the programs use of JAX and no more.  Derivatives are differences of five points, whose error is of the
fourth power of the step, so that two of them within one another still have seven digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.library import Library

STEP = 1e-4
STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
"""Fornberg 1988: weights of the first derivative at five points; that of the middle one is zero."""


class StopGradient:
    """JAX's ``stop_gradient`` for derivatives by differences: what it returns does not move with the leaves.

    While values are held, each call returns what the same call returned in the evaluation before.
    """

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.again: Iterator[Any] | None = None

    def __call__(self, x: Any) -> Any:
        if self.again is not None:
            return next(self.again)
        self.seen.append(x)
        return x

    @contextmanager
    def held(self) -> Iterator[None]:
        """Return the values seen so far, in their order, as often as the function is evaluated."""
        self.again = cycle(self.seen)
        try:
            yield
        finally:
            self.again = None


STOP_GRADIENT = StopGradient()


class Numeric(Library):
    """A library like the others, for the tests."""

    package, family = "numpy", "jax"

    def __init__(self) -> None:
        super().__init__()
        self.numpy, self.jax = np, JAX

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        leaves, given = [np.float64(x) for x in leaves], [_double(x) for x in constants]

        def run() -> Any:
            STOP_GRADIENT.seen.clear()
            value = forward(*leaves, *given)
            with STOP_GRADIENT.held():
                return (value, *_slopes(lambda *leaves: forward(*leaves, *given), leaves))

        return run

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        given = [_double(x) for x in arguments]
        return lambda: (function(*given),)

    def trained(self, loss: Callable[..., Any], weights: list[Any], *constants: Any, steps: int, optimizer: str,
                rate: float, momentum: float) -> Run:  # fmt: skip
        """Adam as in Kingma & Ba 2015, algorithm 1; or SGD with momentum."""
        given = [_double(x) for x in constants]

        def run() -> Any:
            losses, now = [], [np.float64(w) for w in weights]
            ms, vs = [0.0 * w for w in now], [0.0 * w for w in now]
            for t in range(1, steps + 1):
                losses.append(loss(*now, *given))
                for k, g in enumerate(_slopes(lambda *weights: loss(*weights, *given), now)):
                    if optimizer == "SGD":
                        ms[k] = momentum * ms[k] - rate * g
                        now[k] = now[k] + ms[k]
                        continue
                    ms[k], vs[k] = 0.9 * ms[k] + 0.1 * g, 0.999 * vs[k] + 0.001 * g * g
                    now[k] = now[k] - rate * (ms[k] / (1 - 0.9**t)) / (np.sqrt(vs[k] / (1 - 0.999**t)) + 1e-8)
            return (losses, *now)

        return run


def _double(x: Any) -> Any:
    return np.float64(x) if np.asarray(x).dtype.kind == "f" else x


def _along(function: Callable[[Any], Any], x: Any, way: Any) -> Any:
    """The derivative of a function of arrays, or of a tuple of them, in one direction."""
    moved = [(weight, function(_plus(x, way, STEP * by))) for by, weight in STENCIL]
    if isinstance(moved[0][1], (tuple, list)):
        return tuple(sum(w * out[k] for w, out in moved) / STEP for k in range(len(moved[0][1])))
    return sum(weight * out for weight, out in moved) / STEP


def _plus(x: Any, way: Any, by: float) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(_plus(one, other, by) for one, other in zip(x, way, strict=True))
    return x + by * way


def _units(x: Any) -> Iterator[np.ndarray]:
    for place in range(np.size(x)):
        unit = np.zeros(np.size(x))
        unit[place] = 1
        yield unit.reshape(np.shape(x))


def _slopes(function: Callable[..., Any], leaves: Any) -> list[np.ndarray]:
    """The gradient of a number with respect to each leaf, one element after the other."""
    return [
        np.reshape(
            [
                _along(lambda x, k=k: function(*leaves[:k], x, *leaves[k + 1 :]), leaf, unit)
                for unit in _units(leaf)
            ],
            np.shape(leaf),
        )
        for k, leaf in enumerate(leaves)
    ]  # fmt: skip


def _grad(function: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    def slope(*args: Any) -> Any:
        x = args[argnums]
        several = isinstance(x, (tuple, list))
        leaves = list(x) if several else [x]

        def value(*leaves: Any) -> Any:
            return function(*args[:argnums], type(x)(leaves) if several else leaves[0], *args[argnums + 1 :])

        found = _slopes(value, leaves)
        return type(x)(found) if several else found[0]

    return slope


def _value_and_grad(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: (function(*args), _grad(function)(*args))


def _hessian(function: Callable[..., Any]) -> Callable[..., Any]:
    """By differences of a gradient by differences."""

    def matrix(x: Any, *more: Any) -> Any:
        return np.stack([_along(lambda x: _grad(function)(x, *more), x, unit) for unit in _units(x)])

    return matrix


def _jacfwd(function: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    assert has_aux

    def columns(x: Any, *more: Any) -> Any:
        found = [_along(lambda x: function(x, *more)[0], x, unit) for unit in _units(x)]
        return np.stack(found, axis=-1), function(x, *more)[1]

    return columns


def _segment_sum(rows: Any, places: Any, num_segments: int) -> Any:
    total = np.zeros((num_segments, *rows.shape[1:]))
    np.add.at(total, places, rows)
    return total


def _segment_max(rows: Any, places: Any, num_segments: int) -> Any:
    highest = np.full((num_segments, *rows.shape[1:]), -np.inf)
    np.maximum.at(highest, places, rows)
    return highest


def _jvp(function: Callable[..., Any], x: tuple[Any, ...], way: tuple[Any, ...]) -> Any:
    return function(*x), _along(lambda x: function(*x), x, way)


def _vmap(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: np.stack([function(*one) for one in zip(*args, strict=True)])


def _scan(step: Callable[..., Any], state: Any, rows: Any, length: int | None = None) -> Any:
    outs = []
    for row in range(length or 0) if rows is None else zip(*rows, strict=True) if isinstance(rows, tuple) else rows:
        state, out = step(state, row)
        outs.append(out)
    return state, np.stack(outs) if outs and outs[0] is not None else None


def _convolution(x: Any, filters: Any, strides: Any, padding: Any, *, rhs_dilation: Any = None,
                 feature_group_count: int = 1, dimension_numbers: Any = None) -> Any:  # fmt: skip
    """Channels last in any number of dimensions: the sum over the filter's places of shifted products."""
    places = filters.shape[:-2]
    apart = rhs_dilation or (1,) * len(places)
    if padding == "SAME":
        wide = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(x.shape[1:-1], strides, places, strict=True)]
        padding = [(w // 2, w - w // 2) for w in wide]
    x = np.pad(x, [(0, 0), *padding, (0, 0)])
    spans = [(n - (k - 1) * d - 1) // s + 1
             for n, k, d, s in zip(x.shape[1:-1], places, apart, strides, strict=True)]  # fmt: skip
    total: Any = 0.0
    for place in np.ndindex(*places):
        begins = [p * d for p, d in zip(place, apart, strict=True)]
        cut = tuple(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(begins, spans, strides, strict=True))
        part = x[(slice(None), *cut)]
        one = filters[place]
        total = total + (part @ one if feature_group_count == 1 else part * one[0])
    return total


def _expm(x: Any) -> Any:
    """A Taylor series of a part, which is squared ten times."""
    part = x / 1024
    total = term = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    for k in range(1, 10):
        term = term @ part / k
        total = total + term
    return np.linalg.matrix_power(total, 1024)


def _sigmoid(x: Any) -> Any:
    return 0.5 * (1 + np.tanh(0.5 * x))


def _log_softmax(x: Any, axis: int = -1) -> Any:
    return x - _logsumexp(x, axis, keepdims=True)


def _logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    high = x.max(axis=axis, keepdims=True)
    total = np.log(np.exp(x - high).sum(axis=axis, keepdims=True)) + high
    return total if keepdims else total.squeeze(axis)


def _gelu(x: Any, *, approximate: bool) -> Any:
    assert not approximate
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


JAX = SimpleNamespace(
    grad=_grad,
    value_and_grad=_value_and_grad,
    hessian=_hessian,
    jacfwd=_jacfwd,
    jvp=_jvp,
    vmap=_vmap,
    lax=SimpleNamespace(
        scan=_scan, conv_general_dilated=_convolution, cumlogsumexp=np.logaddexp.accumulate, stop_gradient=STOP_GRADIENT
    ),
    nn=SimpleNamespace(
        sigmoid=_sigmoid,
        relu=lambda x: np.maximum(x, 0),
        gelu=_gelu,
        softmax=lambda x, axis=-1: np.exp(_log_softmax(x, axis)),
        log_softmax=_log_softmax,
        logsumexp=_logsumexp,
        softplus=lambda x: np.logaddexp(x, 0),
        elu=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        leaky_relu=lambda x, slope: np.where(x > 0, x, slope * x),
        selu=lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
        silu=lambda x: x * _sigmoid(x),
        log_sigmoid=lambda x: -np.logaddexp(-x, 0),
    ),
    ops=SimpleNamespace(segment_sum=_segment_sum, segment_max=_segment_max),
    scipy=SimpleNamespace(
        special=SimpleNamespace(gammaln=np.vectorize(math.lgamma)),
        linalg=SimpleNamespace(
            cho_solve=lambda factor, y: np.linalg.solve(factor[0] @ factor[0].T, y),
            solve_triangular=lambda L, y, lower: np.linalg.solve(L, y),
            expm=_expm,
        ),
    ),
)
