"""Arithmetic on a matrix and a row or a column, or on a column and a row, as one compiled loop over each row.

That is what most operands that broadcast come to: a bias, a scale, a mean that is subtracted, differences of all pairs.
NumPy takes twice as long for them as for two matrices, and three times as long for a column and a row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.choose import IN_USE
from autodiff_lab.kernels.base.elementwise import SHARED, Chain, Elementwise
from autodiff_lab.kernels.base.threads import spread

SHORT = 8
"""Columns from which on a loop over rows is worth its start; shorter rows are computed column by column."""
FEWEST = 4096
"""Elements of a result below which no loop is asked for."""
SAMPLED = 64
"""Columns of the matrices with which a loop is compared with NumPy."""


class Spread(NamedTuple):
    """How two operands broadcast: the kind of each, the shape of the result, and the matrix that this is.

    Attributes
    ----------
    kinds : str
        For each ``a``, a matrix, ``r``, a row that is repeated, or ``c``, a column that is.
    """

    kinds: str
    shape: tuple[int, ...]
    rows: int
    columns: int


@lru_cache(4096)
def spread_of(x: tuple[int, ...], y: tuple[int, ...]) -> Spread | None:
    """Return how two shapes broadcast to the rows of a matrix; None if they do not, or do otherwise.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.rows import spread_of
    >>> spread_of((5, 4, 16), (16,))
    Spread(kinds='ar', shape=(5, 4, 16), rows=20, columns=16)
    >>> spread_of((5, 1), (1, 16))
    Spread(kinds='cr', shape=(5, 16), rows=5, columns=16)
    >>> spread_of((5, 1, 16), (1, 4, 16))
    """
    try:
        shape = np.broadcast_shapes(x, y)
    except ValueError:
        return None
    kinds, columns = "", set[int]()
    for given in (x, y):
        own = (1,) * (len(shape) - len(given)) + given
        lead = next((k for k, n in enumerate(own) if n > 1), len(own))
        last = next((len(own) - k for k, n in enumerate(reversed(own)) if n > 1), 0)
        if own == shape:
            kinds += "a"
        elif own[lead:] == shape[lead:]:
            kinds += "r"
            columns.add(prod(shape[lead:]))
        elif own[:last] == shape[:last]:
            kinds += "c"
            columns.add(prod(shape[last:]))
        else:
            return None
    if len(columns) != 1 or set(kinds) in ({"r"}, {"c"}):
        return None
    (across,), size = columns, prod(shape)
    return Spread(kinds, shape, size // across, across) if SHORT <= across < size else None


class Rows(Elementwise):
    """An operator of Python between numbers of two operands that broadcast; see `spread_of`."""

    def __init__(self, name: str, function: Callable[[Any, Any], Any], symbol: str) -> None:
        super().__init__(name, function, lambda: Chain((f"r = v0 {symbol} v1",), "r"))

    def apply(self, x: Any, y: Any, how: Spread) -> Any:
        """Return the result of the loop; None if NumPy is to compute it."""
        mode, size = IN_USE["mode"], how.rows * how.columns
        if size < FEWEST or mode == "numpy" or x.dtype != y.dtype or not x.flags.carray or not y.flags.carray:
            return None
        kinds = x.dtype.char + how.kinds
        found = self.loops.get(kinds) or self._without(kinds, x.dtype, size, mode)
        if found is None or (size < found[1] and mode != "numba"):
            return None
        return found[0](x, y, how)

    def _compiled(self, kinds: str) -> tuple[Callable[..., Any], str]:
        text = _module_of(self.chain(), kinds)  # type: ignore[arg-type]
        loop = import_module("autodiff_lab.kernels.base.store").load(text).loop
        dtype = np.dtype(kinds[0])

        def run(x: Any, y: Any, how: Spread | None = None) -> Any:
            kind = spread_of(x.shape, y.shape) if how is None else how
            assert kind is not None
            out = np.empty(kind.shape, dtype)
            flat = (kind.columns, x.ravel(), y.ravel(), out.ravel())
            if out.size < 2 * SHARED:
                loop(0, kind.rows, *flat)
            else:
                spread(lambda low, high: loop(low, high, *flat), kind.rows, max(1, SHARED // kind.columns))
            return out

        return run, text

    def _called(self, run: Callable[..., Any]) -> Callable[..., Any]:
        return run

    def _samples(self, kinds: str, size: int) -> list[Any]:
        rows = max(2, size // SAMPLED)
        shapes = {"a": (rows, SAMPLED), "r": (SAMPLED,), "c": (rows, 1)}
        draw = np.random.default_rng(0)
        return [draw.uniform(0.1, 1.1, shapes[kind]).astype(kinds[0]) for kind in kinds[1:]]


def _module_of(chain: Chain, kinds: str) -> str:
    """Write the module of a loop."""
    kind, each = np.dtype(kinds[0]).name, list(enumerate(kinds[1:]))
    rows = [
        f'@compiled("void(int64, int64, int64, {kind}[::1], {kind}[::1], {kind}[::1])")',
        "def loop(first, last, columns, a0, a1, out):",
        "    for r in range(first, last):",
        "        low = r * columns",
        "        row = out[low : low + columns]",
        *(f"        x{n} = a{n}[low : low + columns]" for n, one in each if one == "a"),
        *(f"        v{n} = a{n}[r]" for n, one in each if one == "c"),
        "        for i in range(columns):",
        *(f"            v{n} = {'x' if one == 'a' else 'a'}{n}[i]" for n, one in each if one != "c"),
        *(f"            {statement}" for statement in chain.statements),
        f"            row[i] = {chain.result}",
    ]
    return "\n".join(rows) + "\n"


ROWS = {
    function: Rows(f"{name} in rows", function, symbol)
    for name, function, symbol in (
        ("add", operator.add, "+"),
        ("subtract", operator.sub, "-"),
        ("multiply", operator.mul, "*"),
        ("divide", operator.truediv, "/"),
    )
}
"""By Python's operator."""
