"""Calls of the ops that step through sequences, and of their gradients."""

from typing import Any

import numpy as np

from tests.ops.samples.core import Call, normal, sampler

# Examples, steps, features, units; whether steps are masked.
CASES = [(2, 3, 2, 2, False), (1, 1, 3, 1, False), (2, 3, 1, 2, True)]
Arrays = tuple[np.ndarray, ...]


def _masks(rng: np.random.Generator, b: int, t: int, masked: bool) -> tuple[Any, ...]:
    return (rng.random((b, t)) < 0.6,) if masked else ()


def _cell(rng: np.random.Generator, b: int, t: int, k: int, n: int, states: int, gates: int) -> Arrays:
    """Draw x, states, kernel and recurrent kernel."""
    width = gates * n
    return normal(rng, (b, t, k), *[(b, n)] * states, (k, width), (n, width))


def _calls(rng: np.random.Generator, states: int, gates: int, biases: tuple[int, ...]) -> list[Call]:
    made: list[Call] = []
    for b, t, k, n, masked in CASES:
        bias = normal(rng, (*biases, gates * n))
        made.append(((*_cell(rng, b, t, k, n, states, gates), *bias, *_masks(rng, b, t, masked)), {}))
    return made


@sampler("lstm")
def _lstm(rng: np.random.Generator) -> list[Call]:
    return _calls(rng, 2, 4, ())


@sampler("gru")
def _gru(rng: np.random.Generator) -> list[Call]:
    return _calls(rng, 1, 3, (2,))


@sampler("simple_rnn")
def _simple_rnn(rng: np.random.Generator) -> list[Call]:
    return _calls(rng, 1, 1, ())


def _gradients(rng: np.random.Generator, widths: tuple[int, ...], states: int, gates: int) -> list[Call]:
    """Draw adjoints and results, which are sequences of `widths` states each, then the inputs but the bias."""
    made: list[Call] = []
    for b, t, k, n, masked in CASES:
        sequences = normal(rng, *[(b, t, width * n) for width in (*widths, *widths)])
        inputs = (*sequences, *_cell(rng, b, t, k, n, states, gates), *_masks(rng, b, t, masked))
        made += [(inputs, {"wanted": wanted}) for wanted in (tuple(range(4 + states)), (0,), (3,))]
    return made


@sampler("lstm_grad")
def _lstm_grad(rng: np.random.Generator) -> list[Call]:
    return _gradients(rng, (1, 1, 4), 2, 4)


@sampler("gru_grad")
def _gru_grad(rng: np.random.Generator) -> list[Call]:
    return _gradients(rng, (1, 4), 1, 3)


@sampler("simple_rnn_grad")
def _simple_rnn_grad(rng: np.random.Generator) -> list[Call]:
    return _gradients(rng, (1,), 1, 1)
