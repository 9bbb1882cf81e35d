"""`explore`: a function above its derivative, as a widget with a draggable point."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.exploring.curves import curves_of

if TYPE_CHECKING:
    from autodiff_lab.widgets.curve_explorer import CurveExplorer

ORDERS = (1, 2)


def explore(
    f: Callable[[Any], Any],
    lo: float,
    hi: float,
    n: int = 401,
    *,
    order: int = 1,
    secant: bool = False,
    x: float | None = None,
    other: float | None = None,
    name: str | None = None,
) -> CurveExplorer:
    """Open f above its derivative: drag the point, and watch slope and height agree.

    Every derivative is computed by the tape, at each sample. The second derivative is available too and can be switched
    on. Zooming in (``+``, the wheel) requests finer samples; without a kernel the page interpolates, and says so.

    Parameters
    ----------
    f : callable
        Of one Tensor; called once with all x if it works elementwise, else with one x at a time.
    lo, hi : float
        The interval, in units of x.
    n : int
        Number of evenly spaced samples.
    order : int
        1 to show f′ at first, 2 to show f″ as well.
    secant : bool
        Show a second point, and the average rate of change between both.
    x, other : float, optional
        Initial positions of the point and the second point.
    name : str, optional
        The name to show; by default that of the function, or f.

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
        If f raises at every point, or the order is neither 1 nor 2.
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
    """
    if order not in ORDERS:
        raise InvalidArgumentError(f"explore: expected order 1 or 2, got {order!r}.")
    try:
        from autodiff_lab.widgets.curve_explorer import CurveExplorer
    except ImportError as error:
        raise MissingPackage.of(
            "The explorer", "anywidget", "lab", ", or lab.plot_derivative, which draws with matplotlib"
        ) from error
    places = [place for place in (x, other) if place is not None]
    curves, sampler = curves_of(f, lo, hi, n, max(ORDERS), name, also=places)
    return CurveExplorer(curves, sampler, x=x, other=other, order=min(order, sampler.order), secant=secant)
