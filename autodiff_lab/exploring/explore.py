"""`explore`: a function above its derivative, as a widget with a draggable point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.draw.curves import Curves
from autodiff_lab.errors import InvalidArgumentError, MissingPackage, NotCallable
from autodiff_lab.exploring.curves import curves_of, own_name
from autodiff_lab.exploring.sampling import Sampler

if TYPE_CHECKING:
    from autodiff_lab.widgets.curve_explorer import CurveExplorer

ORDERS = (0, 1, 2, 3, 4)
AT_LEAST = 2
"""Derivatives that are computed in any case, so that they can be switched on."""


def explore(
    f: Callable[..., object],
    lo: float,
    hi: float,
    n: int = 401,
    *,
    order: int = 1,
    secant: bool = False,
    x: float | None = None,
    other: float | None = None,
    name: str | None = None,
    **parameters: float | tuple[float, float],
) -> CurveExplorer:
    """Open f above its derivative: drag the point, and watch slope and height agree.

    Every derivative is computed by the tape, at each sample. The second derivative is available too and can be switched
    on. Zooming in (``+``, Ctrl and the wheel) requests finer samples, and zooming out of the interval a wider one;
    without a kernel the page interpolates, and says so. Every further keyword argument is passed on to f and gets a
    slider.

    Parameters
    ----------
    f : callable
        Of one Tensor; called once with all x if it works elementwise, else with one x at a time.
    lo, hi : float
        The interval, in units of x.
    n : int
        Number of evenly spaced samples.
    order : int
        How many derivatives are shown at first, from 0 (f alone) to 4.
    secant : bool
        Show a second point, and the average rate of change between both.
    x, other : float, optional
        Initial positions of the point and the second point.
    name : str, optional
        The name to show; by default that of the function, or f.
    **parameters : float or pair of float
        Further arguments of f, by name: a start value, or the two ends of the slider. Given its ends, a slider starts
        at the default of f if that lies between them, else in the middle.

    Returns
    -------
    CurveExplorer
        A widget; ``.to_html(path)`` writes it as a page, ``.x`` is where the point is.

    Raises
    ------
    TypeError
        If f cannot be called.
    ValueError
        If lo is not below hi, an end is not finite, n is below 2, or f does not return one number for one number.
    InvalidArgumentError
        If f raises at every point or returns None there, the order is not 0 to 4, or a parameter is not a number.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.explore(lambda x: x * x, -2.0, 2.0, n=5, x=1.0).account())
    f(x) and its derivatives for x from -2 to 2, 5 samples
      f(x): from 0 to 4
      f′(x): from -4 to 4
      f″(x): from 2 to 2
      at x = 1: f(x) = 1, f′(x) = 2, f″(x) = 2

    Parameters become sliders:

    >>> wave = lab.explore(lambda x, a: lab.sin(a * x), -2.0, 2.0, n=5, a=3.0)
    >>> wave.parameters
    {'a': [0.0, 6.0, 3.0]}
    """
    if isinstance(order, bool) or order not in ORDERS:
        raise InvalidArgumentError(f"explore: expected an order from 0 to 4, got {order!r}.")
    try:
        from autodiff_lab.widgets.curve_explorer import CurveExplorer
    except ImportError as error:
        raise MissingPackage.of(
            "The explorer", "anywidget", "lab", ", or lab.plot_derivative, which draws with matplotlib"
        ) from error
    places = [place for place in (x, other) if place is not None]
    if not callable(f):
        raise NotCallable(f"f: expected a function, got {type(f).__name__}. Try explore(lambda x: x * x, -5, 5).")
    usual = _defaults(f)
    sliders = {key: slider(key, value, usual.get(key)) for key, value in parameters.items()}
    called = own_name(f, name)

    def remade(left: float, right: float, values: dict[str, float]) -> tuple[Curves, Sampler]:
        """Sample again: another interval, or other values of the parameters."""
        bound = partial(f, **values) if values else f
        also = [place for place in places if left <= place <= right]
        return curves_of(bound, left, right, n, max(order, AT_LEAST), called, also=also)

    curves, sampler = remade(lo, hi, {key: start for key, (_, _, start) in sliders.items()})
    return CurveExplorer(
        curves,
        sampler,
        x=x,
        other=other,
        order=min(order, sampler.order),
        secant=secant,
        parameters=sliders,
        remade=remade,
    )


def _defaults(f: Callable[..., object]) -> dict[str, Any]:
    """Return the defaults of the arguments of a function; none of one without a signature, such as NumPy's."""
    try:
        arguments = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return {}
    return {name: argument.default for name, argument in arguments.items()}


def slider(name: str, value: float | tuple[float, float], usual: Any = None) -> tuple[float, float, float]:
    """Return the ends of a slider and where it starts.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    value : float or pair of float
        A start value, or both ends.
    usual : object, optional
        Where a slider between given ends starts, if this is a number between them.

    Raises
    ------
    InvalidArgumentError
        If these are not finite numbers in order.

    Examples
    --------
    >>> slider("a", 3.0), slider("a", -0.5), slider("a", (0, 10))
    ((0.0, 6.0, 3.0), (-1.5, 0.5, -0.5), (0.0, 10.0, 5.0))
    >>> slider("a", (0, 10), 1)
    (0.0, 10.0, 1.0)
    """
    try:
        given = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        given = np.array([np.nan])
    if given.shape not in ((), (2,)) or not np.isfinite(given).all() or (given.ndim and not given[0] < given[1]):
        raise InvalidArgumentError(
            f"explore: expected a number, or two numbers in order, for the parameter {name}; got {value!r}.\n"
            f"Try {name}=2.0, or {name}=(0.0, 4.0) for the ends of its slider."
        )
    if given.ndim:
        low, high = map(float, given)
        fits = isinstance(usual, (int, float)) and low <= usual <= high
        return low, high, float(usual if fits else given.mean())
    start, reach = float(given), max(abs(float(given)), 1.0)
    return start - reach, start + reach, start
