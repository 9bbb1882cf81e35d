"""Steps of recurrent cells as one compiled loop each, as `recurrent.reference`; the products stay NumPy's.

Optimizations: all that a step does between two products is one pass over rows that lie in the first-level cache, with
vector instructions and our own exponentials; local derivatives are taken where they are needed, so nothing but the
gates and the states goes through memory.  A row that the mask leaves out of a step keeps its state, and its adjoints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.maths.bits import add_up
from autodiff_lab.kernels.maths.rows import sigmoid, tanh
from autodiff_lab.kernels.recurrent.reference import rows, wanted_of

# pyright: reportIndexIssue=false, reportCallIssue=false
Arrays = tuple[Any, ...]
_NONE = np.zeros((0, 0), np.uint8)
_BY_ROWS = 16_384
"""Multiplications of a step of all rows up to which its product is a loop too: a call of BLAS takes longer."""


def _left_out(masks: Arrays) -> Any:
    """Return where steps are masked, as ones; without a mask an array without rows."""
    return np.logical_not(masks[0], order="C").view(np.uint8) if masks else _NONE


def _keep(off: Any, s: int, new: Any, old: Any) -> None:
    """Put the old state back where a step is masked."""
    if off.size:
        np.copyto(new, old, where=off[:, s, None].view(np.bool_))


@register_jitable
def put_aside(adjoint: Any, kept: Any) -> None:
    """Keep the adjoint of a state that stays as it is, so that the step gets none."""
    for k in range(adjoint.size):
        kept[k] = adjoint[k]
        adjoint[k] = 0


@loop("void({t}[:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,::1], int64)", wraparound=False)
def _lstm_step(z: Any, gates: Any, hidden: Any, cells: Any, first: Any, s: int) -> None:
    """Optimizations: a slice for each gate, indexed from 0, as an index that might be negative forbids vectors."""
    n = hidden.shape[2]
    for r in range(z.shape[0]):
        gate, more, h, c = gates[r, s], z[r], hidden[r, s], cells[r, s]
        before = first[r] if s == 0 else cells[r, s - 1]
        i, f, g, o = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        both, both_more, g_more, o_more = gate[: 2 * n], more[: 2 * n], more[2 * n : 3 * n], more[3 * n :]
        for k in range(both.size):
            both[k] = sigmoid(both[k] + both_more[k])
        for k in range(n):
            g[k] = tanh(g[k] + g_more[k])
            o[k] = sigmoid(o[k] + o_more[k])
        for k in range(n):
            c[k] = f[k] * before[k] + i[k] * g[k]
        for k in range(n):
            h[k] = o[k] * tanh(c[k])


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1],"
      " {t}[:,::1], {t}[:,:,::1], uint8[:,::1], {t}[:,::1], {t}[::1], int64, int64, int64)",
      wraparound=False)  # fmt: skip
def _lstm_back(dh: Any, dc: Any, gh: Any, gc: Any, gg: Any, gates: Any, cells: Any, first: Any, dz: Any,  # noqa: C901, PLR0912
               off: Any, stay_h: Any, stay: Any, s: int, add_cells: int, add_gates: int) -> None:  # fmt: skip
    """With a mask, `stay_h` gets the adjoints of states that stay; those of cells stay where they are."""
    n = dh.shape[1]
    one = dz.dtype.type(1)
    for r in range(dh.shape[0]):
        gate, c, to, of_h, of_c = gates[r, s], cells[r, s], dz[r, s], dh[r], dc[r]
        before, g_h, g_c = first[r] if s == 0 else cells[r, s - 1], gh[r, s], gc[r, s]
        i, f, g, o = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        to_i, to_f, to_g, to_o = to[:n], to[n : 2 * n], to[2 * n : 3 * n], to[3 * n :]
        if add_cells:
            for k in range(n):
                of_c[k] += g_c[k]
        for k in range(n):
            of_h[k] += g_h[k]
        still = off.size > 0 and off[r, s] != 0
        if still:
            put_aside(of_h, stay_h[r])
            put_aside(of_c, stay)
        elif off.size:
            for k in range(n):
                stay_h[r, k] = 0
        for k in range(n):
            y = tanh(c[k])
            to_o[k] = of_h[k] * y * o[k] * (one - o[k])
            of_c[k] += of_h[k] * o[k] * (one - y * y)
        for k in range(n):
            to_i[k] = of_c[k] * g[k] * i[k] * (one - i[k])
            to_g[k] = of_c[k] * i[k] * (one - g[k] * g[k])
        for k in range(n):
            to_f[k] = of_c[k] * before[k] * f[k] * (one - f[k])
        for k in range(n):
            of_c[k] *= f[k]
        if still:
            for k in range(n):
                of_c[k] += stay[k]
        if add_gates:
            more = gg[r, s]
            of_g = more[2 * n : 3 * n]
            for k in range(n):
                to_g[k] += of_g[k] * (one - g[k] * g[k] - g[k] * (one - g[k]))
            for k in range(gate.size):
                to[k] += more[k] * gate[k] * (one - gate[k])


@override(_lstm_step)
def lstm(x: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Any:
    """All steps of an LSTM."""
    if not h.size:
        return NotImplemented
    (batch, steps, _), n = x.shape, h.shape[-1]
    gates = rows(x) @ kernel
    gates += bias
    gates, first = gates.reshape(batch, steps, 4 * n), row_major(c)
    hidden, cells = np.empty((batch, steps, n), x.dtype), np.empty((batch, steps, n), x.dtype)
    z, run, off = np.empty((batch, 4 * n), x.dtype), _lstm_step[x.dtype], _left_out(masks)
    for s in range(steps):
        np.matmul(h, recurrent, out=z)
        run(z, gates, hidden, cells, first, s)
        _keep(off, s, hidden[:, s], h)
        _keep(off, s, cells[:, s], cells[:, s - 1] if s else first)
        h = hidden[:, s]
    return hidden, cells, gates


@override(_lstm_back)
def lstm_grad(gh: Any, gc: Any, gg: Any, hidden: Any, cells: Any, gates: Any, x: Any, h: Any, c: Any, kernel: Any,
              recurrent: Any, *masks: Any, wanted: tuple[int, ...]) -> Any:  # fmt: skip
    """All steps of an LSTM, backwards."""
    if not h.size:
        return NotImplemented
    (batch, steps, n), dz = hidden.shape, np.empty(gates.shape, gates.dtype)
    gh, gc, gg, gates, cells, first = map(row_major, (gh, gc, gg, gates, cells, c))
    dh, dc = np.zeros((batch, n), x.dtype), np.zeros((batch, n), x.dtype)
    run, turned, off = _lstm_back[x.dtype], recurrent.T, _left_out(masks)
    stay_h, stay = np.empty((batch if masks else 0, n), x.dtype), np.empty(n, x.dtype)
    how = int(gc.any()), int(gg.any())
    for s in range(steps - 1, -1, -1):
        run(dh, dc, gh, gc, gg, gates, cells, first, dz, off, stay_h, stay, s, *how)
        np.matmul(dz[:, s], turned, out=dh)
        if masks:
            dh += stay_h
    flat = rows(dz)
    return wanted_of(wanted, (dh, dc), flat, flat, x, kernel, h, hidden)


@loop("void({t}[:,::1], {t}[::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,::1], int64)", wraparound=False)
def _gru_step(z: Any, offset: Any, given: Any, gates: Any, hidden: Any, first: Any, s: int) -> None:
    n = hidden.shape[2]
    for r in range(z.shape[0]):
        gate, back, x, h = gates[r, s], z[r], given[r, s], hidden[r, s]
        before = first[r] if s == 0 else hidden[r, s - 1]
        both, x_both, back_both, offset_both = gate[n : 3 * n], x[: 2 * n], back[: 2 * n], offset[: 2 * n]
        for k in range(both.size):
            both[k] = sigmoid(x_both[k] + (back_both[k] + offset_both[k]))
        y, update, reset, fed = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        x_last, back_last, offset_last = x[2 * n :], back[2 * n :], offset[2 * n :]
        for k in range(n):
            fed[k] = back_last[k] + offset_last[k]
            y[k] = tanh(x_last[k] + reset[k] * fed[k])
        for k in range(n):
            h[k] = y[k] + update[k] * (before[k] - y[k])


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,::1],"
      " {t}[:,:,::1], {t}[:,:,::1], uint8[:,::1], {t}[::1], int64)", wraparound=False)  # fmt: skip
def _gru_back(dh: Any, more: Any, gh: Any, gg: Any, gates: Any, hidden: Any, first: Any, given: Any, fed_back: Any,  # noqa: C901
              off: Any, stay: Any, s: int) -> None:  # fmt: skip
    """Optimizations: a loop of few arrays each, as LLVM asks of more whether they overlap and gives up."""
    n = dh.shape[1]
    one = given.dtype.type(1)
    for r in range(dh.shape[0]):
        gate, g_gate, g_h, of_h, add = gates[r, s], gg[r, s], gh[r, s], dh[r], more[r]
        to, back, before = given[r, s], fed_back[r, s], first[r] if s == 0 else hidden[r, s - 1]
        y, update, reset, fed = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        g_y, g_update, g_reset, g_fed = g_gate[:n], g_gate[n : 2 * n], g_gate[2 * n : 3 * n], g_gate[3 * n :]
        to_update, to_reset, to_y, back_y = to[:n], to[n : 2 * n], to[2 * n :], back[2 * n :]
        for k in range(n):
            of_h[k] += add[k] + g_h[k]
        still = off.size > 0 and off[r, s] != 0
        if still:
            put_aside(of_h, stay)
        for k in range(n):
            to_y[k] = (of_h[k] * (one - update[k]) + g_y[k]) * (one - y[k] * y[k])
        for k in range(n):
            back_y[k] = to_y[k] * reset[k] + g_fed[k]
        for k in range(n):
            to_update[k] = (of_h[k] * (before[k] - y[k]) + g_update[k]) * update[k] * (one - update[k])
        for k in range(n):
            to_reset[k] = (to_y[k] * fed[k] + g_reset[k]) * reset[k] * (one - reset[k])
        for k in range(n):
            of_h[k] *= update[k]
        if still:
            for k in range(n):
                of_h[k] += stay[k]
        both, back_both = to[: 2 * n], back[: 2 * n]
        for k in range(both.size):
            back_both[k] = both[k]


@override(_gru_step)
def gru(x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Any:
    """All steps of a gated recurrent unit."""
    if not h.size:
        return NotImplemented
    (batch, steps, _), n = x.shape, h.shape[-1]
    given = rows(x) @ kernel
    given += bias[0]
    given, first, offset = given.reshape(batch, steps, 3 * n), row_major(h), row_major(bias[1])
    hidden, gates = np.empty((batch, steps, n), x.dtype), np.empty((batch, steps, 4 * n), x.dtype)
    z, run, off = np.empty((batch, 3 * n), x.dtype), _gru_step[x.dtype], _left_out(masks)
    for s in range(steps):
        np.matmul(h, recurrent, out=z)
        run(z, offset, given, gates, hidden, first, s)
        _keep(off, s, hidden[:, s], h)
        h = hidden[:, s]
    return hidden, gates


@override(_gru_back)
def gru_grad(gh: Any, gg: Any, hidden: Any, gates: Any, x: Any, h: Any, kernel: Any, recurrent: Any, *masks: Any,
             wanted: tuple[int, ...]) -> Any:  # fmt: skip
    """All steps of a gated recurrent unit, backwards."""
    if not h.size:
        return NotImplemented
    batch, steps, n = hidden.shape
    gh, gg, gates, hidden, first = map(row_major, (gh, gg, gates, hidden, h))
    given, back = (np.empty((batch, steps, 3 * n), x.dtype) for _ in range(2))
    dh, more = np.zeros((batch, n), x.dtype), np.zeros((batch, n), x.dtype)
    run, turned, off, stay = _gru_back[x.dtype], recurrent.T, _left_out(masks), np.empty(n, x.dtype)
    for s in range(steps - 1, -1, -1):
        run(dh, more, gh, gg, gates, hidden, first, given, back, off, stay, s)
        np.matmul(back[:, s], turned, out=more)
    dh += more
    return wanted_of(wanted, (dh,), rows(given), rows(back), x, kernel, h, hidden)


@loop("void({t}[:,:,::1], {t}[:,::1], {t}[:,::1], uint8[:,::1])", wraparound=False)
def _rnn_rows(hidden: Any, first: Any, recurrent: Any, off: Any) -> None:
    """All steps of one row after the other; `hidden` holds what the inputs give, and gets the states."""
    steps, n = hidden.shape[1], hidden.shape[2]
    for r in range(hidden.shape[0]):
        for s in range(steps):
            h, before = hidden[r, s], first[r] if s == 0 else hidden[r, s - 1]
            if off.size > 0 and off[r, s] != 0:
                for k in range(n):
                    h[k] = before[k]
            else:
                for p in range(n):
                    weights, factor = recurrent[p], before[p]
                    for k in range(n):
                        h[k] += factor * weights[k]
                for k in range(n):
                    h[k] = tanh(h[k])


@loop("void({t}[:,::1], {t}[:,:,::1], {t}[:,::1], uint8[:,::1], int64)", wraparound=False)
def _rnn_step(z: Any, hidden: Any, first: Any, off: Any, s: int) -> None:
    """One step of all rows, whose products with the weights are given."""
    n = hidden.shape[2]
    for r in range(hidden.shape[0]):
        h, before, more = hidden[r, s], first[r] if s == 0 else hidden[r, s - 1], z[r]
        if off.size > 0 and off[r, s] != 0:
            for k in range(n):
                h[k] = before[k]
        else:
            for k in range(n):
                h[k] = tanh(h[k] + more[k])


@override(_rnn_rows, _rnn_step)
def simple_rnn(x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any, *masks: Any) -> Any:
    """All steps of a recurrent network, in one call or in one for each step."""
    if not h.size:
        return NotImplemented
    (batch, steps, _), n = x.shape, h.shape[-1]
    hidden = rows(x) @ kernel
    hidden += bias
    hidden, first, off = hidden.reshape(batch, steps, n), row_major(h), _left_out(masks)
    if h.size * n <= _BY_ROWS:
        _rnn_rows[x.dtype](hidden, first, row_major(recurrent), off)
        return hidden
    z, run = np.empty((batch, n), x.dtype), _rnn_step[x.dtype]
    for s in range(steps):
        np.matmul(h, recurrent, out=z)
        run(z, hidden, first, off, s)
        h = hidden[:, s]
    return hidden


@loop(
    "void({t}[:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,::1], {t}[:,:,::1], uint8[:,::1], {t}[::1])", wraparound=False
)
def _rnn_rows_back(dh: Any, gh: Any, hidden: Any, recurrent: Any, dz: Any, off: Any, stay: Any) -> None:
    """A masked step is computed too, with an adjoint of 0: what is not finite shows in the same places."""
    n = dh.shape[1]
    one, zero = dz.dtype.type(1), dz.dtype.type(0)
    for r in range(dh.shape[0]):
        of_h = dh[r]
        for turn in range(hidden.shape[1]):
            s = hidden.shape[1] - 1 - turn
            h, to, more = hidden[r, s], dz[r, s], gh[r, s]
            for k in range(n):
                of_h[k] += more[k]
            still = off.size > 0 and off[r, s] != 0
            if still:
                put_aside(of_h, stay)
            for k in range(n):
                to[k] = of_h[k] * (one - h[k] * h[k])
            for p in range(n):
                weights, total = recurrent[p], zero
                for k in range(n):
                    total = add_up(total, to[k] * weights[k])
                of_h[p] = total
            if still:
                for k in range(n):
                    of_h[k] += stay[k]


@loop("void({t}[:,::1], {t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], uint8[:,::1], {t}[:,::1], int64)", wraparound=False)
def _rnn_back(dh: Any, gh: Any, hidden: Any, dz: Any, off: Any, stay: Any, s: int) -> None:
    """One step of all rows, before the product that gives the adjoints of the states before it."""
    n = dh.shape[1]
    one = dz.dtype.type(1)
    for r in range(dh.shape[0]):
        of_h, h, to, more = dh[r], hidden[r, s], dz[r, s], gh[r, s]
        for k in range(n):
            of_h[k] += more[k]
        if off.size > 0 and off[r, s] != 0:
            put_aside(of_h, stay[r])
        elif off.size:
            for k in range(n):
                stay[r, k] = 0
        for k in range(n):
            to[k] = of_h[k] * (one - h[k] * h[k])


@override(_rnn_rows_back, _rnn_back)
def simple_rnn_grad(gh: Any, hidden: Any, x: Any, h: Any, kernel: Any, recurrent: Any, *masks: Any,
                    wanted: tuple[int, ...]) -> Any:  # fmt: skip
    """All steps of a recurrent network, backwards."""
    if not h.size:
        return NotImplemented
    batch, steps, n = hidden.shape
    gh, hidden, off = row_major(gh), row_major(hidden), _left_out(masks)
    dz, dh = np.empty(hidden.shape, x.dtype), np.zeros((batch, n), x.dtype)
    if h.size * n <= _BY_ROWS:
        _rnn_rows_back[x.dtype](dh, gh, hidden, row_major(recurrent), dz, off, np.empty(n, x.dtype))
    else:
        run, turned, stay = _rnn_back[x.dtype], recurrent.T, np.empty((batch if masks else 0, n), x.dtype)
        for s in range(steps - 1, -1, -1):
            run(dh, gh, hidden, dz, off, stay, s)
            np.matmul(dz[:, s], turned, out=dh)
            if masks:
                dh += stay
    flat = rows(dz)
    return wanted_of(wanted, (dh,), flat, flat, x, kernel, h, hidden)
