"""Recurrent cells over whole sequences: one product for the inputs of all steps, then a few array passes a step.

A forward kernel returns, beside the states, the gates of all steps after their activations, which is all that the
backward kernel needs.  The backward kernel first multiplies the local derivatives of all steps in whole-sequence
passes; what is left to each step is one recurrent product and the products with the state's adjoint.  Gradients of
weights are one product over all steps at once.

A sigmoid is taken as ``(1 + tanh(z / 2)) / 2``, with the factor of 1/2 in the weights, so that the gates of a step
need one pass of tanh, which NumPy vectorizes.

Shapes: inputs x (b, t, c), states (b, n); m gates make kernels (c, m n) and recurrent kernels (n, m n). An optional
last argument is the mask (b, t) of bools: where it is False a step repeats the state before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import empty, on_gpu, zeros
from autodiff_lab.kernels.base.halves import in_float32

Arrays = tuple[Any, ...]


def _row(factors: tuple[float, ...], n: int, like: Any) -> Any:
    """Return one number for each column of a stack of gates of n columns."""
    row = empty((len(factors) * n,), like)
    for k, factor in enumerate(factors):
        row[k * n : (k + 1) * n] = factor
    return row


def rows(x: Any) -> Any:
    """Return all steps of all examples as the rows of one matrix."""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def _before(first: Any, states: Any) -> Any:
    """Return the state that each step begins with: (b, n), (b, t, n) -> (b, t, n)."""
    made = empty(states.shape, states)
    made[:, 1:] = states[:, :-1]
    if states.shape[1]:
        made[:, 0] = first
    return made


def _keep(mask: Any, step: int, new: Any, old: Any) -> None:
    """Put the old state back where a step is masked."""
    new[...] = np.where(mask[:, step, None], new, old)


def _put_aside(mask: Any, step: int, adjoint: Any) -> Any:
    """Return the adjoint of states that stay as they are, and clear it, as their step gets none of it.

    Products with zeros and ones would make nan of infinities.
    """
    on, none = mask[:, step, None], zeros(adjoint.shape, adjoint)
    stay = np.where(on, none, adjoint)
    adjoint[...] = np.where(on, adjoint, none)
    return stay


def _any(x: Any) -> bool:
    """Whether an adjoint has to be added: on the CPU, whether it is not 0; on a GPU the question would take longer."""
    return on_gpu(x) or bool(x.any())


@in_float32
def lstm(x: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Arrays:
    """Return hidden states, cell states and gates (input, forget, candidate, output) of all steps.

    Shapes: x (b, t, k), h and c (b, n), kernel (k, 4n), recurrent (n, 4n), bias (4n)
    -> (b, t, n), (b, t, n), (b, t, 4n).
    """
    (batch, steps, _), n = x.shape, h.shape[-1]
    half, shift = _row((0.5, 0.5, 1, 0.5), n, x), _row((0.5, 0.5, 0, 0.5), n, x)
    gates = rows(x) @ (kernel * half)
    gates += bias * half
    gates, recurrent = gates.reshape(batch, steps, 4 * n), recurrent * half
    hidden, cells = empty((batch, steps, n), x), empty((batch, steps, n), x)
    z, made = empty((batch, 4 * n), x), empty((batch, n), x)
    for s in range(steps):
        gate, h_before, c_before = gates[:, s], h, c
        h, c = hidden[:, s], cells[:, s]
        np.matmul(h_before, recurrent, out=z)
        z += gate
        np.tanh(z, out=z)
        z *= half
        np.add(z, shift, out=gate)
        np.multiply(gate[:, n : 2 * n], c_before, out=c)
        np.multiply(gate[:, :n], gate[:, 2 * n : 3 * n], out=made)
        c += made
        np.tanh(c, out=made)
        np.multiply(gate[:, 3 * n :], made, out=h)
        if masks:
            _keep(masks[0], s, h, h_before)
            _keep(masks[0], s, c, c_before)
    return hidden, cells, gates


@in_float32
def lstm_grad(gh: Any, gc: Any, gg: Any, hidden: Any, cells: Any, gates: Any, x: Any, h: Any, c: Any, kernel: Any,
              recurrent: Any, *masks: Any, wanted: tuple[int, ...]) -> Arrays:  # fmt: skip
    """Return the gradients of `lstm` for those of its first six arguments whose positions are wanted.

    Shapes: adjoints gh, gc, gg of the results, the results, then the arguments of `lstm` without the bias.
    """
    batch, steps, n = hidden.shape
    i, f, g, o = (gates[..., k * n : (k + 1) * n] for k in range(4))
    squashed = np.tanh(cells)
    dz = _derivatives(gates, (0, 1, 3), n)
    extra = gg * dz if _any(gg) else None
    dz[..., :n] *= g
    dz[..., n : 2 * n] *= _before(c, cells)
    dz[..., 2 * n : 3 * n] *= i
    dz[..., 3 * n :] *= squashed
    through = squashed * squashed
    np.subtract(1, through, out=through)
    through *= o
    parts, turned = dz.reshape(batch, steps, 4, n), recurrent.T
    dh, dc, made = zeros((batch, n), x), zeros((batch, n), x), empty((batch, n), x)
    stay_h = stay_c = None
    add_cells = _any(gc)
    for s in range(steps - 1, -1, -1):
        dh += gh[:, s]
        if add_cells:
            dc += gc[:, s]
        if masks:
            stay_h, stay_c = _put_aside(masks[0], s, dh), _put_aside(masks[0], s, dc)
        np.multiply(dh, through[:, s], out=made)
        dc += made
        parts[:, s, :3] *= dc[:, None]
        parts[:, s, 3] *= dh
        if extra is not None:
            dz[:, s] += extra[:, s]
        np.matmul(dz[:, s], turned, out=dh)
        dc *= f[:, s]
        if masks:
            dh += stay_h
            dc += stay_c
    flat = rows(dz)
    return wanted_of(wanted, (dh, dc), flat, flat, x, kernel, h, hidden)


def _derivatives(gates: Any, sigmoids: tuple[int, ...], n: int) -> Any:
    """Return the derivatives of activations by their results: y (1 - y) of a sigmoid, 1 - y² of tanh."""
    made = gates * gates
    for k in range(gates.shape[-1] // n):
        part, y = made[..., k * n : (k + 1) * n], gates[..., k * n : (k + 1) * n]
        np.subtract(y if k in sigmoids else 1, part, out=part)
    return made


def wanted_of(
    wanted: tuple[int, ...], states: Arrays, given: Any, fed_back: Any, x: Any, kernel: Any, h: Any, hidden: Any
) -> Arrays:
    """Return the gradients of x, states, kernel, recurrent kernel and bias whose positions are wanted.

    Given are those of the states, and the adjoints of what x and what the state was multiplied to, as rows for all
    steps; if these are not the same array, each has a bias of its own.
    """
    first = 1 + len(states)
    found = {
        0: lambda: (given @ kernel.T).reshape(x.shape),
        first: lambda: rows(x).T @ given,
        first + 1: lambda: rows(_before(h, hidden)).T @ fed_back,
        first + 2: lambda: np.add.reduce(given, axis=0),
    }
    if fed_back is not given:
        found[first + 2] = lambda: np.stack([np.add.reduce(given, axis=0), np.add.reduce(fed_back, axis=0)])
    return tuple([states[k - 1] if 0 < k < first else found[k]() for k in wanted])


@in_float32
def gru(x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Arrays:
    """Return hidden states, and candidate, update gate, reset gate and the recurrent part of the candidate.

    The reset gate is applied after the recurrent product.  Gates of the weights are update, reset, candidate.
    Shapes: x (b, t, k), h (b, n), kernel (k, 3n), recurrent (n, 3n), bias (2, 3n) -> (b, t, n), (b, t, 4n).
    """
    (batch, steps, _), n = x.shape, h.shape[-1]
    half = _row((0.5, 0.5, 1), n, x)
    given = rows(x) @ (kernel * half)
    given += bias[0] * half
    given = given.reshape(batch, steps, 3 * n)
    recurrent, offset = recurrent * half, bias[1] * half
    hidden, gates = empty((batch, steps, n), x), empty((batch, steps, 4 * n), x)
    z = empty((batch, 3 * n), x)
    both, last = z[:, : 2 * n], z[:, 2 * n :]
    for s in range(steps):
        candidate, update, reset = (gates[:, s, k * n : (k + 1) * n] for k in range(3))
        pair, h_before = gates[:, s, n : 3 * n], h
        h = hidden[:, s]
        np.matmul(h_before, recurrent, out=z)
        z += offset
        gates[:, s, 3 * n :] = last
        both += given[:, s, : 2 * n]
        np.tanh(both, out=both)
        both *= 0.5
        np.add(both, 0.5, out=pair)
        last *= reset
        last += given[:, s, 2 * n :]
        np.tanh(last, out=candidate)
        np.subtract(h_before, candidate, out=h)
        h *= update
        h += candidate
        if masks:
            _keep(masks[0], s, h, h_before)
    return hidden, gates


@in_float32
def gru_grad(gh: Any, gg: Any, hidden: Any, gates: Any, x: Any, h: Any, kernel: Any, recurrent: Any, *masks: Any,
             wanted: tuple[int, ...]) -> Arrays:  # fmt: skip
    """Return the gradients of `gru` for those of its first five arguments whose positions are wanted."""
    batch, steps, n = hidden.shape
    candidate, update, reset, fed = (gates[..., k * n : (k + 1) * n] for k in range(4))
    derivatives = _derivatives(gates[..., : 3 * n], (1, 2), n)
    extra = None
    if _any(gg):
        extra = empty(gates.shape, x)
        extra[..., : 3 * n] = gg[..., : 3 * n] * derivatives
        direct = extra[..., :n]
        extra[..., 2 * n : 3 * n] += direct * fed * derivatives[..., 2 * n :]
        extra[..., 3 * n :] = gg[..., 3 * n :] + direct * reset
    dz = empty(gates.shape, x)  # of candidate, update, reset and the recurrent part, before their activations
    inner = np.multiply(derivatives[..., :n], 1 - update, out=dz[..., :n])
    np.multiply(_before(h, hidden) - candidate, derivatives[..., n : 2 * n], out=dz[..., n : 2 * n])
    np.multiply(inner * fed, derivatives[..., 2 * n :], out=dz[..., 2 * n : 3 * n])
    np.multiply(inner, reset, out=dz[..., 3 * n :])
    parts, turned = dz.reshape(batch, steps, 4, n), recurrent.T
    dh, made, stay = zeros((batch, n), x), empty((batch, n), x), None
    for s in range(steps - 1, -1, -1):
        dh += gh[:, s]
        if masks:
            stay = _put_aside(masks[0], s, dh)
        parts[:, s] *= dh[:, None]
        if extra is not None:
            dz[:, s] += extra[:, s]
        np.matmul(dz[:, s, n:], turned, out=made)
        dh *= update[:, s]
        dh += made
        if masks:
            dh += stay
    given = rows(np.concatenate([dz[..., n : 3 * n], dz[..., :n]], axis=-1))
    fed_back = rows(dz)[:, n:]
    return wanted_of(wanted, (dh,), given, fed_back, x, kernel, h, hidden)


@in_float32
def simple_rnn(x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Any:
    """Return tanh(x W + h U + b) of all steps: (b, t, k), (b, n), (k, n), (n, n), (n) -> (b, t, n)."""
    (batch, steps, _), n = x.shape, h.shape[-1]
    hidden = rows(x) @ kernel
    hidden += bias
    hidden, z = hidden.reshape(batch, steps, n), empty((batch, n), x)
    for s in range(steps):
        h_before, h = h, hidden[:, s]
        np.matmul(h_before, recurrent, out=z)
        z += h
        np.tanh(z, out=h)
        if masks:
            _keep(masks[0], s, h, h_before)
    return hidden


@in_float32
def simple_rnn_grad(gh: Any, hidden: Any, x: Any, h: Any, kernel: Any, recurrent: Any, *masks: Any,
                    wanted: tuple[int, ...]) -> Arrays:  # fmt: skip
    """Return the gradients of `simple_rnn` for those of its first five arguments whose positions are wanted."""
    batch, steps, n = hidden.shape
    dz, turned = 1 - hidden * hidden, recurrent.T
    dh, stay = zeros((batch, n), x), None
    for s in range(steps - 1, -1, -1):
        dh += gh[:, s]
        if masks:
            stay = _put_aside(masks[0], s, dh)
        dz[:, s] *= dh
        np.matmul(dz[:, s], turned, out=dh)
        if masks:
            dh += stay
    flat = rows(dz)
    return wanted_of(wanted, (dh,), flat, flat, x, kernel, h, hidden)
