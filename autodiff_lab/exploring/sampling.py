"""Sample a user's function and its derivatives at many points, all with the tape and none by finite differences.

A function that works elementwise is called once with all points: the gradient of a sum of independent elements is the
derivative at each of them.  A function that does not (it has an ``if``, or mixes its elements) is detected at a few
points, where it is also called with single values, and is then called for one point at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, NamedTuple

import numpy as np

import autodiff_lab as lab
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.recording.numbers import short

Function = Callable[[Any], Any]
Rows = list[np.ndarray]

PROBES = 7
"""How many points are used to compare both ways of calling."""


class Sampled(NamedTuple):
    """What sampling gave.

    Attributes
    ----------
    rows : list of numpy.ndarray
        f and its derivatives, nan where there is none.
    notes : list of str
        Sentences about what is missing.
    nones : list of numpy.ndarray
        For each row where the program returned None: a forgotten return, or no path on the tape.
    """

    rows: Rows
    notes: list[str]
    nones: list[np.ndarray]


class Sampler:
    """A function that is ready to be sampled.

    Parameters
    ----------
    function : callable
        Of one Tensor.
    lo, hi : float
        The interval on which it is tried.
    order : int
        How many derivatives are requested; afterwards `order` says how many exist.
    name : str
        What sentences call it.

    Attributes
    ----------
    dtype : DType
        float64, or float32 for a function that requires it.
    elementwise : bool
        Whether it is called with all points at once.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> sampler = Sampler(lambda x: x * x, -1.0, 1.0, order=1, name="f")
    >>> [row.tolist() for row in sampler(np.array([0.0, 0.5]))], sampler.elementwise
    ([[0.0, 0.25], [0.0, 1.0]], True)
    """

    def __init__(self, function: Function, lo: float, hi: float, order: int, name: str) -> None:
        self.function, self.order, self.name = function, order, name
        self._of_lab = False  # whether it returned a tensor of lab
        self.dtype = lab.float64
        places = np.linspace(lo, hi, PROBES)
        alone = self._each(places)
        if any(isinstance(result, DtypeMismatch) for result in alone):
            self.dtype = lab.float32  # the function has its own constants, and nothing is cast silently
            alone = self._each(places)
        if self.order > 1 and all(isinstance(result, Exception) for result in alone):
            self.order = 1  # perhaps only the second derivative is unavailable
            alone = self._each(places)
        self.elementwise = self._agree(places, alone)

    def __call__(self, x: np.ndarray) -> Rows:
        """Return f and its derivatives at x, nan where there is none; each of the shape of x, float64."""
        return self.sample(x).rows

    def sample(self, x: np.ndarray) -> Sampled:
        """Return f and its derivatives at x, and what is missing.

        Raises
        ------
        ShapeMismatch
            If the function does not return one number for one number.
        InvalidArgumentError
            If it raises at every point, where the first of its own exceptions is the cause, or returns None everywhere.
        """
        if self.elementwise:
            try:
                return self._whole(x, self._at(x))
            except Exception:  # noqa: BLE001 - f is the user's own; one bad point must not spoil the others
                pass
        return self._tidy(x, self._each(x))

    def _at(self, x: Any) -> list[np.ndarray | None]:
        """Return the rows at x (a number or a vector), None where the tape has no path."""
        # An empty context: no surrounding tape or recording is to see these thousands of ops.
        return Context().run(self._on_tapes, x)

    def _on_tapes(self, x: Any) -> list[np.ndarray | None]:
        point = lab.constant(x, dtype=self.dtype)
        return [None if row is None else _real(row, np.shape(x), self.name) for row in self._nested(point, self.order)]

    def _nested(self, point: Any, order: int) -> list[Any]:
        """Return f and its derivatives, from nested tapes."""
        if order == 0:
            value = self.function(point)
            self._of_lab = self._of_lab or lab.is_tensor(value)
            return [value]
        with lab.GradientTape() as tape:
            tape.watch(point)
            rows = self._nested(point, order - 1)
        gradient = dense(tape.gradient(rows[-1], point)) if lab.is_tensor(rows[-1]) else None
        return [*rows, gradient]

    def _each(self, x: np.ndarray) -> list[Any]:
        """Return the rows at each point separately, or what was raised there."""
        results: list[Any] = []
        for place in x.tolist():
            try:
                results.append(self._at(place))
            except ShapeMismatch:
                raise
            except Exception as error:  # noqa: BLE001 - f is the user's own; whatever it raises is a gap
                results.append(error)
        return results

    def _agree(self, places: np.ndarray, alone: list[Any]) -> bool:
        """Return whether calling with all points at once gives the same as calling with each separately."""
        if any(isinstance(result, Exception) for result in alone):
            return False
        try:
            together = self._at(places)
        except Exception:  # noqa: BLE001 - as above
            return False
        tolerance = 1e-9 if self.dtype == lab.float64 else 1e-4
        for row, values in enumerate(together):
            singles = [result[row] for result in alone]
            if values is None or any(single is None for single in singles):
                if values is None and all(single is None for single in singles):
                    continue
                return False
            scale = np.max(np.abs(values[np.isfinite(values)]), initial=0.0)
            if not np.allclose(values, np.array(singles), rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                return False
        return True

    def _tidy(self, x: np.ndarray, results: list[Any]) -> Sampled:
        """Put the results for every point into rows, and say what is missing."""
        errors = [(place, result) for place, result in zip(x, results, strict=True) if isinstance(result, Exception)]
        if errors and len(errors) == len(x):
            place, error = errors[0]
            raise InvalidArgumentError(
                f"{self.name} raised at every one of the {len(x)} points; at x = {short(place)}: {_said(error)}\n"
                f"Try {self.name}(lab.constant({short(place)})) alone, or another interval."
            ) from error
        nowhere = [None] * (self.order + 1)
        columns = zip(*(nowhere if isinstance(result, Exception) else result for result in results), strict=True)
        return self._rows([list(column) for column in columns], x, errors)

    def _whole(self, x: np.ndarray, rows: list[np.ndarray | None]) -> Sampled:
        """Put the result for all points at once into rows, and say what is missing."""
        return self._rows([[None] * len(x) if row is None else row for row in rows], x, [])

    def _rows(self, columns: list[Any], x: np.ndarray, errors: list[tuple[Any, Exception]]) -> Sampled:
        """Return rows with nan for what is missing, and sentences about that."""
        raised = np.isin(x, [place for place, _ in errors])
        rows: Rows = []
        missing = [np.array([value is None for value in column]) for column in columns]
        for order, (column, gaps) in enumerate(zip(columns, missing, strict=True)):
            row = np.array([np.nan if value is None else value for value in column], dtype=np.float64)
            if order > 1:  # a derivative that no longer depends on x has derivative 0
                row[gaps & np.isfinite(rows[order - 1])] = 0.0
            rows.append(row)
        nones = [gaps & ~raised for gaps in missing]
        if nones[0].all() and len(x):
            raise InvalidArgumentError(
                f"{self.name} returned None at all {len(x)} points.\nTry ending it with a return: a function without"
                " one returns None, whatever it computed or printed."
            )
        undefined = np.isnan(rows[0])
        continued = int((undefined & np.isfinite(rows[1])).sum()) if self.order else 0
        for row in rows[1:]:
            row[undefined] = np.nan
        unconnected = int((nones[1] & ~nones[0]).sum()) if self.order else 0
        notes = [
            *self._gaps(errors, len(x)),
            *self._returned_none(x, nones[0]),
            *self._paths(unconnected, len(x)),
            *self._continued(continued, len(x)),
        ]
        return Sampled(rows, notes, nones)

    def _returned_none(self, x: np.ndarray, nones: np.ndarray) -> list[str]:
        if not nones.any():
            return []
        where = f"{int(nones.sum())} of {len(x)} points, first at x = {short(float(x[nones][0]))}"
        return [f"{self.name} returned None at {where}: does a branch end without a return?"]

    def _gaps(self, errors: Sequence[tuple[Any, Exception]], n: int) -> list[str]:
        if not errors:
            return []
        place, error = errors[0]
        where = f"{len(errors)} of {n} points, first at x = {short(place)}"
        return [f"{self.name} raised at {where}: {_said(error)}"]

    def _paths(self, unconnected: int, n: int) -> list[str]:
        if not unconnected:
            return []
        where = "" if unconnected == n else f" at {unconnected} of {n} points"
        note = f"{self.name} does not depend on x through the tape{where} (its gradient is None): no derivative there."
        instead = " Try the functions of lab, such as lab.sin, instead of those of math or NumPy."
        if self._of_lab:  # it is made of lab already: floor, round and sign pass no gradient on, a constant has no path
            instead = " None of its ops passes a gradient on, as with floor or with a constant."
        return [note + (instead if unconnected == n else "")]

    def _continued(self, continued: int, n: int) -> list[str]:
        if not continued:
            return []
        return [
            f"{self.name} is undefined at {continued} of {n} points where its formula has a derivative: a gap there."
        ]


def _real(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return a result as float64 numbers of the shape of the argument, or refuse it."""
    array = np.asarray(value.numpy() if lab.is_tensor(value) else value)
    if array.shape != shape:
        raise ShapeMismatch(
            f"{name} must return one number for each number; for x of shape {shape} it returned shape {array.shape}.\n"
            "Try a function of one number, such as lambda x: x * x, and pick one element of a larger result."
        )
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise InvalidArgumentError(f"{name} must return real numbers to be drawn; it returned {array.dtype}.")
    return array.astype(np.float64)


def _said(error: Exception) -> str:
    text = str(error).splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
