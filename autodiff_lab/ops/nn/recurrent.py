"""Recurrent cells over whole sequences, one op each: LSTM, GRU and the simple recurrent cell.

An op computes all steps, so a sequence is one entry on a tape and one node in a recording.  Its gradient is an op too,
made of the gates that the forward pass returns.  The gradient of that one is taken of the backward pass written op by
op, so higher orders are slower, and right.  The layers use these ops with their usual activations; with others they
run op by op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.backward import UnconnectedGradients
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.recurrent import reference as kernel
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.joining import concat, split, stack, unstack
from autodiff_lab.ops.array.shaping import expand_dims, reshape
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.complex_numbers import handed_back, handed_over
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.math.trigonometric import tanh

Wanted = tuple[int, ...]


def _rule_of(name: str, inputs: int) -> Callable[..., Any]:
    """Return the rule of a forward op: its gradient op, on the adjoints, the results and all inputs but the bias."""

    def rule(ops: Any, g: Any, out: Any, *xs: Any, need: tuple[int, ...]) -> list[Any]:
        wanted = tuple([k for k in need if k < inputs])
        adjoints, results = (g, out) if isinstance(g, list) else ([g], [out])
        found = getattr(ops, name)(*adjoints, *results, *xs[: inputs - 1], *xs[inputs:], wanted=wanted)
        return [*found, *[None] * (len(need) - len(wanted))]  # a mask has no gradient

    return rule


def _by_ops(backward: Callable[..., list[Tensor]], inputs: int) -> Callable[..., Any]:
    """Return the rule of a gradient op: of the same backward pass, op by op, under a tape."""

    def rule(ops: Any, g: Any, out: Any, *xs: Any, need: tuple[int, ...], wanted: Wanted) -> list[Any]:
        if not xs[0].shape[1]:  # nothing depends on a sequence of no step
            return [None if k >= inputs else xs[k] * 0 for k in need]
        given = [wrap(x) if ops.raw else x for x in xs]
        cotangents = [handed_over(ops, h) for h in g]
        sources = [given[k] for k in need if k < inputs]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            value = backward(*given, wanted=wanted)
        found = tape.gradient(value, sources, cotangents, UnconnectedGradients.ZERO)
        return [*[handed_back(ops, h) for h in found], *[None] * (len(need) - len(sources))]

    return rule


def _steps(*sequences: Tensor) -> list[Any]:
    """Return the steps of sequences (b, t, n), each with its position."""
    return list(enumerate(zip(*[unstack(s, axis=1) for s in sequences], strict=True)))


def _masked(masks: tuple[Tensor, ...], like: Tensor) -> list[Tensor]:
    """Return the mask of each step as numbers (b, 1); an empty list if there is none."""
    return [expand_dims(cast(m, like.dtype), -1) for mask in masks for m in unstack(mask, axis=1)]


def _rows(x: Tensor) -> Tensor:
    return reshape(x, (-1, x.shape[-1]))


def _of_weights(given: Tensor, fed_back: Tensor, x: Tensor, weights: Tensor, before: list[Tensor],
                first: int) -> dict[int, Callable[[], Tensor]]:  # fmt: skip
    return {
        0: lambda: matmul(given, weights, transpose_b=True),
        first: lambda: matmul(_rows(x), _rows(given), transpose_a=True),
        first + 1: lambda: matmul(_rows(stack(before, axis=1)), _rows(fed_back), transpose_a=True),
        first + 2: lambda: reduce_sum(given, axis=[0, 1]),
    }


def _lstm_backward(gh: Tensor, gc: Tensor, gg: Tensor, hidden: Tensor, cells: Tensor, gates: Tensor, x: Tensor,
                   h: Tensor, c: Tensor, weights: Tensor, recurrent: Tensor, *masks: Tensor,
                   wanted: Wanted) -> list[Tensor]:  # fmt: skip
    h_before, c_before = [h, *unstack(hidden, axis=1)[:-1]], [c, *unstack(cells, axis=1)[:-1]]
    on = _masked(masks, x)
    dh: Any = zeros_like(h)
    dc: Any = zeros_like(c)
    stay_h: Any = 0.0
    stay_c: Any = 0.0
    dz: list[Any] = []
    for s, (gh_now, gc_now, gg_now, cell, gate) in reversed(_steps(gh, gc, gg, cells, gates)):
        dh, dc = dh + gh_now, dc + gc_now
        if on:
            stay_h, stay_c = dh * (1 - on[s]), dc * (1 - on[s])
            dh, dc = dh * on[s], dc * on[s]
        (i, f, g, o), (ei, ef, eg, eo) = split(gate, 4, axis=-1), split(gg_now, 4, axis=-1)
        squashed = tanh(cell)
        dc = dc + dh * o * (1 - squashed * squashed)
        dz.append(concat([(dc * g + ei) * i * (1 - i), (dc * c_before[s] + ef) * f * (1 - f),
                          (dc * i + eg) * (1 - g * g), (dh * squashed + eo) * o * (1 - o)], axis=-1))  # fmt: skip
        dh, dc = matmul(dz[-1], recurrent, transpose_b=True) + stay_h, dc * f + stay_c
    whole = stack(dz[::-1], axis=1)
    found = {1: lambda: dh, 2: lambda: dc, **_of_weights(whole, whole, x, weights, h_before, 3)}
    return [found[k]() for k in wanted]


def _gru_backward(gh: Tensor, gg: Tensor, hidden: Tensor, gates: Tensor, x: Tensor, h: Tensor, weights: Tensor,
                  recurrent: Tensor, *masks: Tensor, wanted: Wanted) -> list[Tensor]:  # fmt: skip
    before, on = [h, *unstack(hidden, axis=1)[:-1]], _masked(masks, x)
    dh: Any = zeros_like(h)
    stay: Any = 0.0
    given: list[Any] = []
    fed_back: list[Any] = []
    for s, (gh_now, gg_now, gate) in reversed(_steps(gh, gg, gates)):
        dh = dh + gh_now
        if on:
            stay, dh = dh * (1 - on[s]), dh * on[s]
        (y, z, r, fed), (ey, ez, er, e_fed) = split(gate, 4, axis=-1), split(gg_now, 4, axis=-1)
        dy = (dh * (1 - z) + ey) * (1 - y * y)
        dz, dr = (dh * (before[s] - y) + ez) * z * (1 - z), (dy * fed + er) * r * (1 - r)
        given.append(concat([dz, dr, dy], axis=-1))
        fed_back.append(concat([dz, dr, dy * r + e_fed], axis=-1))
        dh = dh * z + matmul(fed_back[-1], recurrent, transpose_b=True) + stay
    whole, back = stack(given[::-1], axis=1), stack(fed_back[::-1], axis=1)
    found = {1: lambda: dh, **_of_weights(whole, back, x, weights, before, 2)}
    found[4] = lambda: stack([reduce_sum(whole, axis=[0, 1]), reduce_sum(back, axis=[0, 1])])
    return [found[k]() for k in wanted]


def _simple_rnn_backward(gh: Tensor, hidden: Tensor, x: Tensor, h: Tensor, weights: Tensor, recurrent: Tensor,
                         *masks: Tensor, wanted: Wanted) -> list[Tensor]:  # fmt: skip
    on = _masked(masks, x)
    dh: Any = zeros_like(h)
    stay: Any = 0.0
    dz: list[Any] = []
    for s, (gh_now, y) in reversed(_steps(gh, hidden)):
        dh = dh + gh_now
        if on:
            stay, dh = dh * (1 - on[s]), dh * on[s]
        dz.append(dh * (1 - y * y))
        dh = matmul(dz[-1], recurrent, transpose_b=True) + stay
    whole, before = stack(dz[::-1], axis=1), [h, *unstack(hidden, axis=1)[:-1]]
    found = {1: lambda: dh, **_of_weights(whole, whole, x, weights, before, 2)}
    return [found[k]() for k in wanted]


_STEPS = "steps through the sequence {0}, starting from the state {1}"
_BACK = "steps back through the sequence with the adjoint {0}"


def _work(h: Any, *rest: Any, **how: Any) -> int:
    """Return the number of elements of the gates, about; the first array is a sequence."""
    return 4 * h.size


def _latex(name: str) -> str:
    return rf"\operatorname{{{{{name}}}}}({{0}}, {{1}})"


def _locals(count: int) -> tuple[str, ...]:
    return (r"\partial",) * count


lstm = general(
    "lstm", chosen("lstm", kernel.lstm, work=_work), _rule_of("lstm_grad", 6),
    shared=True, stacked=False, warns=False, symbol="LSTM",
    latex=_latex("lstm"), locals_latex=_locals(6), sentence=_STEPS, registered="BlockLSTM",
    doc="Hidden states, cell states and gates (input, forget, candidate, output) of all steps of a sequence; the "
        "inputs are x, hidden and cell state, kernel, recurrent kernel, bias and optionally a mask.  "
        "`lab.layers.LSTM` uses it.")
lstm_grad = general(
    "lstm_grad", chosen("lstm_grad", kernel.lstm_grad, work=_work), _by_ops(_lstm_backward, 11),
    shared=True, stacked=False, warns=False,
    symbol="d LSTM", latex=_latex("d\\,lstm"), locals_latex=_locals(11), sentence=_BACK,
    doc="The wanted contributions of `lstm`, from the adjoints of its results; the rule of `lstm` uses it.")
gru = general(
    "gru", chosen("gru", kernel.gru, work=_work), _rule_of("gru_grad", 5),
    shared=True, stacked=False, warns=False, symbol="GRU",
    latex=_latex("gru"), locals_latex=_locals(5), sentence=_STEPS,
    doc="Hidden states of all steps of a sequence, with candidate, update gate, reset gate and the recurrent part of "
        "the candidate; the inputs are x, state, kernel, recurrent kernel, bias and optionally a mask.  The reset gate "
        "comes after the recurrent product.  `lab.layers.GRU` uses it.")
gru_grad = general(
    "gru_grad", chosen("gru_grad", kernel.gru_grad, work=_work), _by_ops(_gru_backward, 8),
    shared=True, stacked=False, warns=False, symbol="d GRU",
    latex=_latex("d\\,gru"), locals_latex=_locals(8), sentence=_BACK,
    doc="The wanted contributions of `gru`, from the adjoints of its results; the rule of `gru` uses it.")
simple_rnn = general(
    "simple_rnn", chosen("simple_rnn", kernel.simple_rnn, work=_work), _rule_of("simple_rnn_grad", 5),
    shared=True, stacked=False, warns=False,
    symbol="RNN", latex=_latex("rnn"), locals_latex=_locals(5), sentence=_STEPS,
    doc="tanh(x W + h U + b) of all steps of a sequence; the inputs are x, state, kernel, recurrent kernel, bias and "
        "optionally a mask.  `lab.layers.SimpleRNN` uses it.")
simple_rnn_grad = general(
    "simple_rnn_grad", chosen("simple_rnn_grad", kernel.simple_rnn_grad, work=_work),
    _by_ops(_simple_rnn_backward, 6), shared=True, stacked=False, warns=False,
    symbol="d RNN", latex=_latex("d\\,rnn"), locals_latex=_locals(6), sentence=_BACK,
    doc="The wanted contributions of `simple_rnn`, from the adjoint of its result; the rule of `simple_rnn` uses it.")
