"""Fourier transforms of small arrays: ops that are given the roots of unity, which a block multiplies with.

Arrays of many elements are left to SciPy, which transforms several rows at a time.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab.compile.program.program import Line
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.fourier.little import is_smooth

if TYPE_CHECKING:
    from autodiff_lab.compile.program.forms import Writing

MOST = 512
"""Elements of the largest array that is transformed in compiled code; SciPy is up to three times as fast with more."""


def _with_roots(name: str) -> Op:
    return Op(
        f"{name}_by_roots", lambda x, roots, **how: REGISTRY[name].kernel(x, **how), None, 2,
        sentence="transforms {0} by Fourier's sums",
    )  # fmt: skip


BY_ROOTS = {name: _with_roots(name) for name in ("fft", "ifft", "rfft", "irfft")}
TRANSFORMS = frozenset({*BY_ROOTS, "mirror_weights"})
FUNCTIONS = {
    "fft_by_roots": ("transform", 0), "ifft_by_roots": ("transform", 1), "irfft_by_roots": ("transform_to_real", 1),
    "rfft_by_roots": ("transform_real", 0),
}  # fmt: skip
"""By op, the function of `kernels.fourier` and what it is told."""


@lru_cache(maxsize=64)
def _roots(n: int, dtype: str) -> np.ndarray:
    return np.exp(-2j * np.pi * np.arange(n) / n).astype(dtype)


def transformed(to: Writing, line: Line) -> bool:
    """Write a transform so that a block can compute it, or return False."""
    if line.op.name == "mirror_weights":
        return _weighted(to, line)
    x, out = (to.values[i] for i in (line.ins[0], line.outs[0]))
    kind = next((v.dtype for v in (out, x) if v.dtype.kind == "c"), None)
    rank, whole = line.params["rank"], (out if line.op.name == "irfft" else x).shape
    if kind is None or x.memory is not None or not 0 < math.prod(whole) <= MOST:
        return False
    fits = line.op.name != "irfft" or x.shape[-1] == whole[-1] // 2 + 1
    same = kind.itemsize in (8, 16) and all(v.dtype in (kind, np.dtype(f"f{kind.itemsize // 2}")) for v in (x, out))
    if not (fits and same) or rank > 2 or not all(map(is_smooth, whole[-rank:])):
        return False
    if rank == 2:
        _transform_twice(to, line, kind.name)
    else:
        to.end(line, BY_ROOTS[line.op.name], line.ins[0], to.constant(_roots(whole[-1], kind.name)), **line.params)
    return True


def _transform_twice(to: Writing, line: Line, kind: str) -> None:
    """Write a transform along two axes as two along one each; what is real is so along the last axis."""
    name, (x,), (out,) = line.op.name, line.ins, line.outs
    spectrum = x if name == "irfft" else out
    before = to.values[spectrum].shape
    *lead, m, n = before
    order, turned = (*range(len(lead)), len(lead) + 1, len(lead)), (*lead, n, m)
    along_first = BY_ROOTS["ifft" if name.startswith("i") else "fft"]

    def along_last(op: Op, value: int, shape: tuple[int, ...], length: int) -> int:
        return to.add(op, (value, to.constant(_roots(length, kind))), {"rank": 1}, shape, line, spectrum)

    if name != "irfft":
        x = along_last(BY_ROOTS[name], x, before, to.values[x].shape[-1])
    x = to.add("transpose", (x,), {"perm": order}, turned, line, spectrum)
    x = along_last(along_first, x, turned, m)
    if name != "irfft":
        return to.end(line, "transpose", x, perm=order)
    x = to.add("transpose", (x,), {"perm": order}, before, line, spectrum)
    length = line.params["length"]
    return to.end(line, BY_ROOTS[name], x, to.constant(_roots(length, kind)), rank=1, length=length)


def _weighted(to: Writing, line: Line) -> bool:
    """Write a half spectrum times its weights."""
    value = to.values[line.ins[0]]
    if value.dtype.kind != "c" or value.memory is not None or 0 in value.shape:
        return False
    ones = np.ones((1,) * (len(value.shape) - 1) + value.shape[-1:], value.dtype)
    to.end(line, "multiply", line.ins[0], to.constant(line.op.kernel(ones, **line.params)))
    return True
