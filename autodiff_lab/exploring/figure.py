"""`plot_derivative`: a function and its derivative as a matplotlib figure, for papers, slides and quick looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab import style
from autodiff_lab.draw.curves import Curves
from autodiff_lab.draw.curves.axes import heights
from autodiff_lab.draw.theme import colours
from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.exploring.curves import curves_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = ("y", "dy/dx", "d²y/dx²", "d³y/dx³", "d⁴y/dx⁴")


def plot_derivative(
    f: Callable[..., object],
    lo: float,
    hi: float,
    n: int = 201,
    ax: Axes | None = None,
    *,
    order: int = 1,
    labels: Sequence[str] | None = None,
    x_label: str = "x",
    theme: str = "light",
) -> Axes:
    """Draw f and its derivative into one matplotlib figure.

    The derivative is computed by the tape. Lines are interrupted where a value is undefined, and open circles mark
    kinks and jumps. The global style of matplotlib is left alone.

    Parameters
    ----------
    f : callable
        Of one Tensor.
    lo, hi : float
        The interval, in units of x.
    n : int
        Number of evenly spaced samples.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default into a new figure.
    order : int
        How many derivatives are drawn, from 0 (f alone) to 4.
    labels : sequence of str, optional
        Names of f and its derivatives; by default ``y``, ``dy/dx`` and so on.
    x_label : str
        Name of the x axis.
    theme : str
        ``"light"`` or ``"dark"``.

    Returns
    -------
    matplotlib.axes.Axes
        With one line for f and one for each derivative, each with its name beside it.

    Raises
    ------
    TypeError
        If f cannot be called.
    ValueError
        If lo is not below hi, an end is not finite, n is below 2, or f does not return one number for one number.
    InvalidArgumentError
        If f raises at every point, the order is not 0 to 4, or labels are missing.
    MissingPackage
        Where matplotlib is not installed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> ax = lab.plot_derivative(lambda x: x * x, -2.0, 2.0)
    >>> [line.get_label() for line in ax.get_lines()], ax.get_xlabel()
    (['y', 'dy/dx'], 'x')
    """
    if isinstance(order, bool) or order not in range(len(LABELS)):
        raise InvalidArgumentError(f"plot_derivative: expected an order from 0 to 4, got {order!r}.")
    shown = LABELS if labels is None else tuple(labels)
    if len(shown) < order + 1:
        raise InvalidArgumentError(
            f"plot_derivative: expected {order + 1} labels, one for each line, got {len(shown)}."
        )
    try:
        from autodiff_lab.exploring.papers import name_lines, new_axes
    except ImportError as error:
        raise MissingPackage.of("plot_derivative", "matplotlib", "lab") from error
    curves, _ = curves_of(f, lo, hi, n, order)
    with style.context(theme):
        axes = new_axes() if ax is None else ax
        for row, label in enumerate(shown[: len(curves.rows)]):
            _draw(axes, curves, row, label, colours(theme)["paper"])
        if ax is None and curves.clip:  # near a pole; axes passed by the caller keep their own limits
            low, high = heights(curves.rows[0], clip=True)
            axes.set_ylim(low - (high - low) / 2, high + (high - low) / 2)
        axes.set_xlabel(x_label)
        name_lines(axes, axes.get_lines()[-len(curves.rows[: order + 1]) :])
    return axes


def _draw(axes: Axes, curves: Curves, row: int, label: str, paper: str) -> None:
    """Draw one line with its gaps, and an open circle at each end that a mark leaves."""
    x, y, circles = _broken(curves, row)
    (line,) = axes.plot(x, y, label=label)
    if circles:
        colour = line.get_color()
        places, heights = zip(*circles, strict=True)
        axes.scatter(places, heights, s=30, facecolors=paper, edgecolors=colour, linewidths=1.5, zorder=3)


def _broken(curves: Curves, row: int) -> tuple[np.ndarray, np.ndarray, list[tuple[float, float]]]:
    """Return the points of a line, nan where it is interrupted, and where open circles stand."""
    x, y = curves.x, curves.rows[row].copy()
    y[~np.isfinite(y)] = np.nan
    circles: list[tuple[float, float]] = []
    for mark in curves.marks:
        left, right = mark.limits[row]
        ends = [value for value in dict.fromkeys((left, right)) if value is not None]
        if not mark.breaks(row):
            circles += [(mark.x, value) for value in ends[:1]]
            continue
        circles += [(mark.x, value) for value in ends]
        keep = x != mark.x
        at = int(np.searchsorted(x[keep], mark.x))
        inserted = [np.nan if value is None else value for value in (left, np.nan, right)]
        x, y = np.insert(x[keep], at, [mark.x] * 3), np.insert(y[keep], at, inserted)
    return x, y, circles
