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

MOST = 1024
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
    if line.params["rank"] != 1 or kind is None or x.memory is not None:
        return _transformed_twice(to, line)
    n = (out if line.op.name == "irfft" else x).shape[-1]
    fits = line.op.name != "irfft" or x.shape[-1] == n // 2 + 1
    same = kind.itemsize in (8, 16) and all(v.dtype in (kind, np.dtype(f"f{kind.itemsize // 2}")) for v in (x, out))
    if not (fits and same) or not 0 < math.prod(x.shape) <= MOST or not is_smooth(n):
        return False
    to.end(line, BY_ROOTS[line.op.name], line.ins[0], to.constant(_roots(n, kind.name)), **line.params)
    return True


def _transformed_twice(to: Writing, line: Line) -> bool:
    """Write a transform along two axes as two along one each, if these are for a block."""
    name, x = line.op.name, to.values[line.ins[0]]
    if line.params["rank"] != 2 or name not in ("fft", "ifft") or x.memory is not None or x.dtype.kind != "c":
        return False
    *lead, m, n = x.shape
    if not 0 < math.prod(x.shape) <= MOST or not (is_smooth(n) and is_smooth(m)):
        return False
    order = (*range(len(lead)), len(lead) + 1, len(lead))
    turned = (*lead, n, m)
    rows = to.add(BY_ROOTS[name], (line.ins[0], to.constant(_roots(n, x.dtype.name))), {"rank": 1}, x.shape, line)
    columns = to.add("transpose", (rows,), {"perm": order}, turned, line)
    both = to.add(BY_ROOTS[name], (columns, to.constant(_roots(m, x.dtype.name))), {"rank": 1}, turned, line)
    to.end(line, "transpose", both, perm=order)
    return True


def _weighted(to: Writing, line: Line) -> bool:
    """Write a half spectrum times its weights."""
    value = to.values[line.ins[0]]
    if value.dtype.kind != "c" or value.memory is not None or 0 in value.shape:
        return False
    ones = np.ones((1,) * (len(value.shape) - 1) + value.shape[-1:], value.dtype)
    to.end(line, "multiply", line.ins[0], to.constant(line.op.kernel(ones, **line.params)))
    return True
