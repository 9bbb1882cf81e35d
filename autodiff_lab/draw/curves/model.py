"""What is drawn: samples of f and its derivatives over one x axis, and the places where they break."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from autodiff_lab.recording.numbers import short

PRIMES = ("", "′", "″", "‴", "⁽⁴⁾")

Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where f or its slope breaks.

    Attributes
    ----------
    x : float
        Where; exactly the sample's x if it sits on a sample.
    kind : str
        ``"kink"``: f is continuous and its slope jumps, or is vertical; ``"jump"``: f jumps; ``"pole"``: f grows
        without bound.
    limits : tuple of pairs
        For f and each derivative the values just left and just right of it; None where there is none.

    Examples
    --------
    >>> Mark(0.0, "kink", ((0.0, 0.0), (-1.0, 1.0))).breaks(0)
    False
    """

    x: float
    kind: str
    limits: tuple[Limits, ...]

    def breaks(self, row: int) -> bool:
        """Return whether the line of this row is broken here: a kink leaves f in one piece."""
        return row > 0 or self.kind != "kink"


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Samples of a function and of its derivatives.

    Attributes
    ----------
    x : numpy.ndarray
        Shape (n,), float64, increasing.
    rows : tuple of numpy.ndarray
        f and its derivatives in order, each of shape (n,), float64; nan where undefined.
    name, variable : str
        The name of the function without its argument, and of the argument.
    marks : tuple of Mark
        From left to right.
    notes : tuple of str
        Sentences for the reader, about gaps and about how the samples were made.
    nones : tuple of tuple of pairs
        For each row the intervals of x in which the program returned None.
    narrowest : float
        The narrowest part of the axis, in units of x, on which differences are still meaningful.
    labels : tuple of str
        Names of the rows in place of those with primes: curves that do not say what they are look all alike.
    is_resolved : bool
        Whether the samples are close enough for the curve; see `unresolved`.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 5)
    >>> curves = Curves(x, (x**2, 2 * x), name="square")
    >>> curves.names
    ('square(x)', 'square′(x)')
    """

    x: np.ndarray
    rows: tuple[np.ndarray, ...]
    name: str = "f"
    variable: str = "x"
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    narrowest: float = 0.0
    title: str = field(default="")
    nones: tuple[tuple[tuple[float, float], ...], ...] = ()
    labels: tuple[str, ...] = ()
    is_resolved: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows, as shown at the ends of the curves."""
        return self.labels or tuple(f"{self.name}{PRIMES[row]}({self.variable})" for row in range(len(self.rows)))

    @property
    def clip(self) -> bool:
        """Whether a few extreme values may leave the picture rather than flatten all others.

        True near poles, and where f goes up and down ever faster, as sin(1/x) does.
        """
        infinite = any(bool(np.isinf(row).any()) for row in self.rows)
        return not self.is_resolved or infinite or any(mark.kind == "pole" for mark in self.marks)

    def word(self, row: int, index: int) -> str:
        """Return the value of a sample as text: None where the program returned None, nan where it computed nan.

        Examples
        --------
        >>> x = np.array([0.0, 1.0])
        >>> gap = Curves(x, (np.array([np.nan, np.nan]),), nones=(((1.0, 1.0),),))
        >>> gap.word(0, 0), gap.word(0, 1)
        ('nan', 'None')
        """
        x = float(self.x[index])
        spans = self.nones[row] if row < len(self.nones) else ()
        return "None" if any(lo <= x <= hi for lo, hi in spans) else short(float(self.rows[row][index]))

    def nearest(self, x: float) -> int:
        """Index of the sample nearest to x."""
        return int(np.argmin(np.abs(self.x - x)))
