"""Stacks of cotangents that are bands: the stack of unit cotangents, and what elementwise rules and slices make of it.

A Jacobian starts from a stack that is an identity matrix.  An elementwise rule multiplies each of its columns by one
number, and a slice moves it aside; so all that need be worked on are its diagonals.  `Bands` holds these and stands in
for the whole stack in a raw sweep, with `BANDED` as the sweep's operations.  Whatever else is done with it is done with
the whole stack, and so is a product with inf or nan, which are not the same times 0 as a number is: results are those
of the whole stack.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.namespace import RAW, Ops

MOST_BANDS = 8
"""With more bands than that the whole stack is quicker."""


class Bands:
    """A stack of `count` cotangents of shape `inner`, seen as a matrix with their elements laid out along its rows.

    ``bands[k][j]`` stands in row ``j + k`` of column j; everything else is 0.  Values beyond the matrix are 0 too.
    """

    __slots__ = ("bands", "count", "inner")
    __array_ufunc__ = None  # so that an array leaves its operators to this class
    nbytes = 0

    def __init__(self, bands: dict[int, Any], count: int, inner: tuple[int, ...]) -> None:
        self.bands, self.count, self.inner = bands, count, inner

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole stack."""
        return (self.count, *self.inner)

    @property
    def ndim(self) -> int:
        """Number of axes of the whole stack."""
        return 1 + len(self.inner)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return next(iter(self.bands.values())).dtype

    def whole(self) -> np.ndarray[Any, Any]:
        """The stack as an array."""
        size = math.prod(self.inner)
        stack = np.zeros(self.count * size, self.dtype)
        for k, values in self.bands.items():
            low, high = max(0, -k), min(size, self.count - k)
            if low < high:
                first = (low + k) * size + low
                stack[first : first + (high - low - 1) * (size + 1) + 1 : size + 1] = values.reshape(-1)[low:high]
        return stack.reshape(self.shape)

    def mapped(self, function: Callable[[Any], Any], inner: tuple[int, ...] | None = None, shift: int = 0) -> Bands:
        """The stack with a function applied to the values of each band, which moves by `shift` rows."""
        bands = {k + shift: function(values) for k, values in self.bands.items()}
        return Bands(bands, self.count, self.inner if inner is None else inner)

    def scaled(self, function: Callable[[Any, Any], Any], by: Any) -> Any:
        """Multiply or divide each column by a number of its own."""
        if by.__class__ is not Bands:
            elsewhere = function(self.dtype.type(0), by)  # what becomes of all that is outside the bands
            if not np.count_nonzero(elsewhere) and elsewhere.dtype == self.dtype:
                scaled = self.mapped(lambda values: function(values, by))
                if next(iter(scaled.bands.values())).shape == self.inner:
                    return scaled
        return function(self.whole(), filled(by))

    def __mul__(self, by: Any) -> Any:
        return self.scaled(operator.mul, by)

    __rmul__ = __mul__

    def __truediv__(self, by: Any) -> Any:
        return self.scaled(operator.truediv, by)

    def __neg__(self) -> Bands:
        return self.mapped(operator.neg)

    def __add__(self, other: Any) -> Any:
        if other.__class__ is Bands and other.shape == self.shape and other.dtype == self.dtype:
            bands = dict(self.bands)
            for k, values in other.bands.items():
                bands[k] = bands[k] + values if k in bands else values
            if len(bands) <= MOST_BANDS:
                return Bands(bands, self.count, self.inner)
        return self.whole() + filled(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other


def filled(value: Any) -> Any:
    """The whole stack of bands, anything else as it is."""
    return value.whole() if value.__class__ is Bands else value


def _fall_back(name: str, reflected: bool = False) -> None:
    function = getattr(operator, name)
    if reflected:
        setattr(Bands, f"__r{name}__", lambda self, other: function(filled(other), self.whole()))
    else:
        setattr(Bands, f"__{name}__", lambda self, *others: function(self.whole(), *map(filled, others)))


for _name in ("pow", "matmul", "getitem", "abs", "floordiv", "mod", "lt", "le", "gt", "ge"):
    _fall_back(_name)
for _name in ("sub", "truediv", "pow", "matmul"):
    _fall_back(_name, reflected=True)


def unit_stack(y: Any) -> Bands:
    """The stack of unit cotangents of an array."""
    return Bands({0: np.ones(y.shape, y.dtype)}, y.size, y.shape)


# --- what some operations make of bands; None where they need the whole stack ----------------------------------------


def _reshape(g: Any, shape: tuple[int, ...]) -> Any:
    inner = tuple(shape[1:])
    if shape[0] != g.count or math.prod(inner) != math.prod(g.inner):
        return None
    return g.mapped(lambda values: values.reshape(inner), inner)


def _range(items: Any, length: int) -> tuple[int, int] | None:
    """Start and stop of an index that takes a range of a vector."""
    if len(items) != 1 or items[0][0] != "s":
        return None
    start, stop, step = slice(*items[0][1:]).indices(length)
    return (start, max(start, stop)) if step == 1 else None


def _slice(g: Any, items: Any) -> Any:
    found = _range(items, g.inner[0]) if len(g.inner) == 1 else None
    if found is None:
        return None
    start, stop = found
    return g.mapped(lambda values: values[start:stop], (stop - start,), start)


def _unslice(g: Any, items: Any, shape: tuple[int, ...]) -> Any:
    found = _range(items, shape[0]) if len(shape) == 1 == len(g.inner) else None
    if found is None:
        return None
    start, stop = found

    def put(values: Any) -> Any:
        vector = np.zeros(shape, values.dtype)
        vector[start:stop] = values
        return vector

    return g.mapped(put, shape, -start)


def _select(g: Any, condition: Any) -> Any:
    return g.mapped(lambda values: RAW.select(values, condition)) if condition.shape == g.inner else None


def _select_not(g: Any, condition: Any) -> Any:
    return g.mapped(lambda values: RAW.select_not(values, condition)) if condition.shape == g.inner else None


def _gate(g: Any, mask: Any) -> Any:
    return g.scaled(RAW.gate, mask) if g.__class__ is Bands else None


def _matmul(x: Any, y: Any) -> Any:
    """Unit rows times a matrix, or a matrix times unit columns: a scaled row of the matrix for each cotangent."""
    if y.__class__ is Bands:
        if x.__class__ is Bands or len(y.inner) != 2 or y.inner[1] != 1:
            return None
        g, matrix, inner = y, x.T, (-1, 1)
    else:
        if len(x.inner) != 1 and (len(x.inner) != 2 or x.inner[0] != 1):
            return None
        g, matrix, inner = x, y, (*x.inner[:-1], -1)
    values = g.bands.get(0)
    if values is None or len(g.bands) > 1 or values.size != g.count or matrix.ndim != 2 or matrix.dtype != g.dtype:
        return None
    if not np.logical_and.reduce(np.isfinite(matrix), axis=None):
        return None
    return (values.reshape(-1, 1) * matrix).reshape((g.count, *inner))


_KNOWN: dict[str, Callable[..., Any]] = {
    "gate": _gate,
    "matmul": _matmul,
    "reshape": _reshape,
    "select": _select,
    "select_not": _select_not,
    "slice": _slice,
    "unslice": _unslice,
}
CHEAP = frozenset(_KNOWN) | {"add"}
"""Ops whose rules leave bands what they are, as those of elementwise ops do, if shapes allow."""


class _Banded(Ops):
    """The raw operations, for sweeps whose adjoints may be bands."""

    def __getattr__(self, name: str) -> Any:
        plain, known = getattr(RAW, name), _KNOWN.get(name)

        def operation(*arrays: Any, **params: Any) -> Any:
            for array in arrays:
                if array.__class__ is Bands:
                    found = None if known is None else known(*arrays, **params)
                    return plain(*map(filled, arrays), **params) if found is None else found
            return plain(*arrays, **params)

        setattr(self, name, operation)
        return operation


BANDED = _Banded(raw=True)
