"""Compare the tape's gradient of a function with differences, and say why they disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.testing.diagnosis import Diagnosis, differing_runs, nearby
from autodiff_lab.testing.differences import Array, Function, as_double, gradient, numeric_gradient, swept, traced
from autodiff_lab.testing.line import Line, Program, filled
from autodiff_lab.testing.report import (
    AGREES,
    BY_WEIGHT,
    NOT_DETERMINISTIC,
    NOTHING,
    WRONG_RULE,
    WRONG_SHAPE,
    GradientCheck,
    GradientEntry,
)

EXAMINED = 3
"""Elements that are examined one by one: the worst, and as many of the others that are suspected."""
SUSPECTED = 300
"""Elements that are looked at to find those."""
KEPT = 100
Place = tuple[int, tuple[int, ...]]


def check_gradient(
    function: Callable[..., object],
    *inputs: object,
    order: int = 1,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> GradientCheck:
    """Compare the tape's gradient of a function with central differences, and say why they disagree.

    If they do, the function is run again: with the same inputs, to see whether it is deterministic; along the worst
    elements with many steps, in longdouble where possible, for the slopes on both sides; and with the tape at nearby
    points, because a wrong rule is wrong there too and a kink is not.

    Parameters
    ----------
    function : callable
        Takes tensors and returns a tensor or a structure of them.
    *inputs : Tensor, array, number, nested list, or dict of them
        Where to compare; converted to float64, or to complex128.  Integers and bools are passed on as they are.
    order : int
        1 for the gradient; 2 compares the gradient of the gradient with differences of the gradient.
    step : float, optional
        Of the differences; 1e-6 for the first order and 1e-5 for the second.
    rtol, atol : float, optional
        Tolerances, relative and absolute; 1e-5 and 1e-6 for the first order, ten times as much for the second.

    Returns
    -------
    GradientCheck
        True if the gradients agree; printed, it says what was found and why.

    Raises
    ------
    ConversionError
        If an input is not numeric.
    ValueError
        If `order` is neither 1 nor 2.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> bool(lab.testing.check_gradient(lambda x, y: x * lab.exp(y), [1.0, 2.0], 0.5))
    True
    >>> @lab.custom_gradient
    ... def wrong(x):
    ...     return x * x, lambda upstream: upstream * x
    >>> print(lab.testing.check_gradient(wrong, 3.0))
    wrong rule: At input 0 the tape gives 3, finite differences give 6; they differ by 3.0e+00; the tolerance is
    6.1e-05.
      The slope is 6 (± 6e-15). It is wrong at nearby points too.
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradient: expected order 1 or 2, got {order!r}.")
    if order == 2:

        def function_2(*tensors: Any) -> list[Tensor]:
            leaves, rebuild = nest.flatten(tensors)
            found = [g for g in gradient(lambda *flat: function(*rebuild(list(flat))), *leaves) if g is not None]
            return [g * g for g in found]

        return check_gradient(
            function_2, *inputs, step=step or 1e-5, rtol=rtol or 1e-4, atol=1e-5 if atol is None else atol
        )
    rtol, atol = 1e-5 if rtol is None else rtol, 1e-6 if atol is None else atol
    flat, leaves, places = _flattened(function, inputs)
    arrays = [as_double(x) for x in leaves]
    tape, total, tensors = traced(flat, *map(constant, arrays))
    try:
        found = swept(tape, total, tensors)
    except (ShapeMismatch, DtypeMismatch, InvalidArgumentError) as error:
        if isinstance(error, NotCallable):
            raise
        verdict = WRONG_RULE if isinstance(error, DtypeMismatch) else WRONG_SHAPE
        why = str(error).partition("\n")[0]
        return GradientCheck(False, 0, (), np.nan, np.nan, np.inf, atol, verdict, why)
    exact = filled(arrays, found)
    rough = numeric_gradient(flat, *arrays, step=step or 1e-6)
    return _Comparison(flat, arrays, places, exact, rough, rtol, atol).result()


def _flattened(function: Function, inputs: tuple[Any, ...]) -> tuple[Function, list[Any], list[tuple[int, str]]]:
    """Return a function of plain inputs, those, and for each the position of its argument and its name."""
    leaves: list[Any] = []
    places: list[tuple[int, str]] = []
    rebuilders: list[tuple[int, Any]] = []
    for k, value in enumerate(inputs):
        if isinstance(value, dict):
            paths, parts, _ = nest.with_paths(value)
            rebuilders.append((len(parts), nest.flatten(value)[1]))
            leaves += parts
            places += [(k, f"input {k}" + "".join(f"[{key!r}]" for key in path)) for path in paths]
        else:
            leaves.append(value)
            places.append((k, f"input {k}"))
            rebuilders.append((1, None))
    if all(rebuild is None for _, rebuild in rebuilders):
        return function, leaves, places

    def flat(*tensors: Any) -> Any:
        rest, arguments = list(tensors), []
        for count, rebuild in rebuilders:
            taken, rest = rest[:count], rest[count:]
            arguments.append(taken[0] if rebuild is None else rebuild(taken))
        return function(*arguments)

    return flat, leaves, places


class _Comparison:
    """Gradients beside differences, element by element."""

    def __init__(
        self,
        function: Function,
        arrays: list[Array],
        places: list[tuple[int, str]],
        exact: list[Array],
        rough: list[Array],
        rtol: float,
        atol: float,
    ) -> None:
        self.function, self.arrays, self.places = function, arrays, places
        self.exact, self.rough, self.rtol, self.atol = exact, rough, rtol, atol
        self.errors = [
            np.zeros(0) if not d.size else np.asarray(np.nan_to_num(abs(g - d) / (atol + rtol * abs(d)), nan=np.inf))
            for g, d in zip(exact, rough, strict=True)
        ]

    def result(self) -> GradientCheck:
        """Return the check, examined if it does not pass."""
        if not any(errors.size for errors in self.errors):
            floating = any(a.dtype.kind in "fc" for a in self.arrays)
            verdict = AGREES if floating else NOTHING
            return GradientCheck(True, 0, (), 0.0, 0.0, 0.0, self.atol, verdict)
        k, index = self._worst()
        if self.errors[k][index] <= 1:
            return self._check(self._entry(k, index), True, AGREES, "")
        program = Program(self.function, self.arrays)
        runs = differing_runs(program)
        every = self._disagreeing()
        places = every[:KEPT]
        if runs is not None:
            why = (
                f"Two runs with the same inputs gave {runs[0]:.8g} and {runs[1]:.8g}, so there is nothing to compare. "
            )
            why += "Pass the random numbers to the function, or set the seed inside it."
            entries = tuple(self._entry(*place) for place in places)
            return self._check(entries[0], False, NOT_DETERMINISTIC, why, entries)
        examined = self._chosen(program, every)
        places += [place for place in examined if place not in places]
        entries = tuple(self._entry(*place, program if place in examined else None) for place in places)
        known = [entry for entry in entries if entry.verdict]
        worst = min(known, key=lambda entry: BY_WEIGHT.index(entry.verdict))
        shadow = "longdouble" if program.wide else "float64"
        return self._check(worst, False, worst.verdict, worst.why, entries, shadow)

    def _worst(self) -> Place:
        k = max((k for k, errors in enumerate(self.errors) if errors.size), key=lambda k: self.errors[k].max())
        return k, tuple(int(i) for i in np.unravel_index(int(np.argmax(self.errors[k])), self.errors[k].shape))

    def _disagreeing(self) -> list[Place]:
        found = [(k, tuple(map(int, at))) for k, errors in enumerate(self.errors) for at in np.argwhere(errors > 1)]
        return sorted(found, key=lambda place: -self.errors[place[0]][place[1]])

    def _chosen(self, program: Program, places: list[Place]) -> list[Place]:
        """Return the elements to examine: the worst, and of the others those that are worst at another point too."""
        rest = places[EXAMINED:]
        if len(rest) > EXAMINED:
            arrays = nearby(self.arrays, 1e-2, np.random.default_rng(0))
            found = program.gradients(arrays)
            step = -(-len(rest) // SUSPECTED)
            if found is not None:
                rest = sorted(rest[::step], key=lambda place: -self._error_at(program, arrays, found, *place))
        return places[:EXAMINED] + rest[:EXAMINED]

    def _error_at(
        self, program: Program, arrays: list[Array], found: list[Array], k: int, index: tuple[int, ...]
    ) -> float:
        unit, values = self._unit(k, index), []
        for side in (1, -1):
            moved = [a.copy() for a in arrays]
            moved[k][index] += side * 1e-5 * unit
            values.append(program.plain_value(moved))
        number = found[k][index].imag if unit == 1j else found[k][index].real
        error = abs((values[0] - values[1]) / 2e-5 - number) / (abs(number) + 1.0)
        return float(np.nan_to_num(error, nan=0.0))

    def _entry(self, k: int, index: tuple[int, ...], program: Program | None = None) -> GradientEntry:
        g, d = self.exact[k][index].item(), self.rough[k][index].item()
        error, tolerance = float(abs(g - d)), float(self.atol + self.rtol * abs(d))
        position, name = self.places[k]
        entry = (position, index, g, d, error, tolerance)
        if program is None:
            return GradientEntry(*entry, label=name)
        unit = self._unit(k, index)
        number = g.imag if unit == 1j else g.real
        found = Diagnosis(program, k, index, unit, number, self.rtol, self.atol).found()
        return GradientEntry(*entry, found.verdict, found.left, found.right, found.why, name)

    def _unit(self, k: int, index: tuple[int, ...]) -> complex:
        """Return the part of a complex element that is off by more."""
        if self.arrays[k].dtype.kind != "c":
            return 1.0
        apart = self.exact[k][index] - self.rough[k][index]
        return 1j if not abs(apart.real) >= abs(apart.imag) else 1.0

    def _check(
        self,
        entry: GradientEntry,
        passed: bool,
        verdict: str,
        why: str,
        entries: tuple[GradientEntry, ...] = (),
        shadow: str = "",
    ) -> GradientCheck:
        k = next(k for k, place in enumerate(self.places) if place == (entry.input, entry.label))
        unit = self._unit(k, entry.index)
        number: Any = entry.gradient.imag if unit == 1j else entry.gradient.real

        def measure() -> list[tuple[float, float]]:
            return Line(Program(self.function, self.arrays), self.arrays, k, entry.index, unit).errors(number)

        about = (entry.input, entry.index, entry.gradient, entry.difference, entry.error, entry.tolerance)
        return GradientCheck(passed, *about, verdict, why, entry.label, entries, shadow, tuple(self.errors), measure)
