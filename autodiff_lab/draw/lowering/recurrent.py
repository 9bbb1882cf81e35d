"""Steps of the recurrent cells over whole sequences, forward and backward.

A cell is what one step of a sequence computes; the walk over the steps, the mask and the weights are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from autodiff_lab.draw.lowering.steps import Lower, Steps, Value, Values

Cell = Callable[..., Any]
Passed = tuple[Values, Values, list[Values]]
_SIGMOID = "one / (one + exp(-({0} + {1})))"


def _forward(held: int, gates: int, cell: Cell, steps: Steps, x: Value, *rest: Value) -> Values:
    """A cell with some states held, from what it is fed and fed back for each of its gates, and its old states."""
    firsts, (kernel, recurrent, bias, *mask) = [*rest[:held]], rest[held:]
    biases = [bias] if len(bias.shape) == 1 else steps.split(steps.reshape(bias, 2 * bias.shape[-1]), 2)
    given = steps.of("{0} + {1}", steps.einsum("btw,wc->btc", x, kernel), biases[0])

    def step(inner: Steps, old: Values, here: Values, whole: Values) -> tuple[Values, Values]:
        fed, *on = here
        back = inner.einsum("bn,nc->bc", old[0], whole[0])
        back = inner.of("{0} + {1}", back, whole[1]) if whole[1:] else back
        states, more = cell(inner, inner.split(fed, gates), inner.split(back, gates), old)
        if on:
            states = [inner.of("choose({0}, {1}, {2})", *on, *pair) for pair in zip(states, old, strict=True)]
        return states, [inner.join(more)] if more else []

    return steps.walk(step, firsts, [given, *(steps.grown(one, -1) for one in mask)], [recurrent, *biases[1:]])[1]


def _rnn(steps: Steps, fed: Values, back: Values, _: Values) -> tuple[Values, Values]:
    return [steps.of("tanh({0} + {1})", fed[0], back[0])], []


def _lstm(steps: Steps, fed: Values, back: Values, old: Values) -> tuple[Values, Values]:
    i, f, o = (steps.of(_SIGMOID, fed[gate], back[gate]) for gate in (0, 1, 3))
    g = steps.of("tanh({0} + {1})", fed[2], back[2])
    cell = steps.of("{0} * {1} + {2} * {3}", f, old[1], i, g)
    return [steps.of("{0} * tanh({1})", o, cell), cell], [i, f, g, o]


def _gru(steps: Steps, fed: Values, back: Values, old: Values) -> tuple[Values, Values]:
    update, reset = (steps.of(_SIGMOID, fed[gate], back[gate]) for gate in (0, 1))
    candidate = steps.of("tanh({0} + {1} * {2})", fed[2], reset, back[2])
    return [steps.of("({0} - {1}) * {2} + {1}", old[0], candidate, update)], [candidate, update, reset, back[2]]


def _backward(held: int, gated: int, cell: Cell, steps: Steps, *rest: Value, wanted: list[int]) -> Values:
    """What a cell passes back.

    From the adjoints of its states, the states, the old ones, its gates and their own adjoints it makes the adjoints of
    what it was fed and fed back, and what else goes to each of its old states.
    """
    taken = iter(rest)
    counts = (held, gated, held, gated, 1, held, 2)
    arriving, own, states, gates, [x], firsts, [kernel, recurrent] = ([next(taken) for _ in range(n)] for n in counts)
    before = [_shifted(steps, *pair) for pair in zip(firsts, states, strict=True)]

    def step(inner: Steps, carried: Values, here: Values, whole: Values) -> tuple[Values, Values]:
        parts = iter(here)
        g, out, old, kept, adjoints = ([next(parts) for _ in range(n)] for n in (held, held, held, gated, gated))
        on = list(parts)
        d = [inner.of("{0} + {1}", *pair) for pair in zip(carried, g, strict=True)]
        used = [inner.of("choose({0}, {1}, zero)", *on, one) for one in d] if on else d
        fed, back, past = cell(inner, used, out, old, *(inner.split(one, 4) for one in (*kept, *adjoints)))
        past[0].append(inner.einsum("bc,nc->bn", inner.join(back), *whole))
        if on:
            past = [[*terms, inner.of("choose({0}, zero, {1})", *on, one)] for terms, one in zip(past, d, strict=True)]
        new = [inner.of(" + ".join(f"{{{k}}}" for k in range(len(terms))), *terms) for terms in past]
        return new, [inner.join(fed), inner.join(back)]

    zeros = [steps.of("zero * zero", shape=first.shape) for first in firsts]
    along = [*arriving, *states, *before, *gates, *own, *(steps.grown(one, -1) for one in taken)]
    carried, [*_, fed, back] = steps.walk(step, zeros, along, [recurrent], reverse=True)
    sums = [steps.reshape(steps.reduce("sum", one, [-3, -2]), one.shape[-1]) for one in (fed, back)]
    parts = [
        steps.einsum("btc,wc->btw", fed, kernel), *carried, steps.einsum("btw,btc->wc", x, fed),
        steps.einsum("btn,btc->nc", before[0], back), steps.join(sums) if cell is _gru_back else sums[0],
    ]  # fmt: skip
    return [parts[part] for part in wanted]


def _shifted(steps: Steps, first: Value, states: Value) -> Value:
    """Return the states before each step."""
    batch, length, n = states.shape
    places = ([[row * n, n, 1], [(batch + row * length) * n, (length - 1) * n, 1]] for row in range(batch))
    return steps.take([first, states], list(chain.from_iterable(places)), *states.shape)


def _rnn_back(steps: Steps, d: Values, states: Values, _: Values) -> Passed:
    through = [steps.of("{0} * (one - {1} * {1})", d[0], states[0])]
    return through, through, [[]]


def _lstm_back(steps: Steps, d: Values, states: Values, old: Values, gates: Values, own: Values) -> Passed:
    i, f, g, o = gates
    squashed = steps.of("tanh({0})", states[1])
    cell = steps.of("{0} + {1} * {2} * (one - {3} * {3})", d[1], d[0], o, squashed)
    logistic, bounded = ("({0} * {1} + {2}) * " + rest for rest in ("{3} * (one - {3})", "(one - {3} * {3})"))
    sums = [
        steps.of(logistic, cell, g, own[0], i), steps.of(logistic, cell, old[1], own[1], f),
        steps.of(bounded, cell, i, own[2], g), steps.of(logistic, d[0], squashed, own[3], o),
    ]  # fmt: skip
    return sums, sums, [[], [steps.of("{0} * {1}", cell, f)]]


def _gru_back(steps: Steps, d: Values, _: Values, old: Values, gates: Values, own: Values) -> Passed:
    candidate, update, reset, part = gates
    middle = steps.of("({0} * (one - {1}) + {2}) * (one - {3} * {3})", d[0], update, own[0], candidate)
    first = steps.of("({0} * ({1} - {2}) + {3}) * {4} * (one - {4})", d[0], old[0], candidate, own[1], update)
    second = steps.of("({0} * {1} + {2}) * {3} * (one - {3})", middle, part, own[2], reset)
    back = steps.of("{0} * {1} + {2}", middle, reset, own[3])
    return [first, second, middle], [first, second, back], [[steps.of("{0} * {1}", d[0], update)]]


OPS: dict[str, Lower] = {
    "simple_rnn": partial(_forward, 1, 1, _rnn), "simple_rnn_grad": partial(_backward, 1, 0, _rnn_back),
    "lstm": partial(_forward, 2, 4, _lstm), "lstm_grad": partial(_backward, 2, 1, _lstm_back),
    "gru": partial(_forward, 1, 3, _gru), "gru_grad": partial(_backward, 1, 1, _gru_back),
}  # fmt: skip
