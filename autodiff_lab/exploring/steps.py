"""`explore_steps`: how wrong a difference quotient is for every step, beside the slope that the tape gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import style
from autodiff_lab.draw.steps import LOWEST, Steps, Values
from autodiff_lab.errors import ConversionError, InvalidArgumentError, MissingPackage, NotCallable
from autodiff_lab.exploring.curves import own_name
from autodiff_lab.exploring.sampling import Sampler
from autodiff_lab.recording.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from autodiff_lab.widgets.step_plot import StepPlot

ORDER = 3
PER_DECADE = 24


def explore_steps(f: Callable[..., object], x: float, *, name: str | None = None) -> StepPlot:
    """Open a plot of the error of measured slopes against the step: move h, and watch digits cancel.

    A measured slope is (f(x + h) − f(x)) / h, or central (f(x + h) − f(x − h)) / 2h. Both are computed in float64 and
    in float32, with 24 steps in each decade, and compared with the slope from the tape.

    Parameters
    ----------
    f : callable
        Of one Tensor; made of functions of lab, so that the tape has its slope.
    x : float
        The point.
    name : str, optional
        The name to show; by default that of the function, or f.

    Returns
    -------
    StepPlot
        A widget; ``.to_html(path)`` writes it as a page, ``.h`` is the step it shows.

    Raises
    ------
    NotCallable
        If f is not a function.
    InvalidArgumentError
        If x is not finite, or f has no finite value or no slope there.
    ShapeMismatch
        If f does not return one number for one number.
    MissingPackage
        Where anywidget is not installed.

    Notes
    -----
    The error is about h·|f″|/2 + 2ε·|f|/h one-sided and h²·|f‴|/6 + ε·|f|/h central, ε = 2⁻⁵³ in float64: N. J. Higham,
    *Accuracy and Stability of Numerical Algorithms*, section 1.11.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.explore_steps(lambda x: x * x * x, 1.0).account())
    Slope of f at 1 measured with steps; the tape says 3
      float64, one-sided: best step near 1e-8, error near 1e-7
      float64, central: best step near 1e-6, error near 1e-11
      float32, one-sided: best step near 1e-4, error near 1e-3
      float32, central: best step near 1e-3, error near 1e-5
    """
    try:
        from autodiff_lab.widgets.step_plot import StepPlot
    except ImportError as error:
        raise MissingPackage.of(
            "This plot", "anywidget", "lab", ", or lab.plot_steps, which draws with matplotlib"
        ) from error
    return StepPlot(measure_steps(f, x, name))


def plot_steps(
    f: Callable[..., object], x: float, ax: Axes | None = None, *, central: bool = False, dtype: str = "float64",
    name: str | None = None, theme: str = "light",
) -> Axes:  # fmt: skip
    """Draw the error of measured slopes against the step with matplotlib, both axes logarithmic.

    Parameters
    ----------
    f : callable
        Of one Tensor.
    x : float
        The point.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default into a new figure.
    central : bool
        Whether to measure with a step to both sides.
    dtype : str
        ``"float64"`` or ``"float32"``.
    name : str, optional
        The name to show.
    theme : str
        ``"light"`` or ``"dark"``.

    Returns
    -------
    matplotlib.axes.Axes
        With the errors, their envelope, and guide lines named in place.

    Raises
    ------
    NotCallable
        If f is not a function.
    InvalidArgumentError
        If x is not finite, f has no finite value or no slope there, or the dtype is another one.
    MissingPackage
        Where matplotlib is not installed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> ax = lab.plot_steps(lab.sin, 1.0, central=True)
    >>> ax.get_xscale(), ax.get_xlabel()
    ('log', 'step h')
    """
    if not isinstance(dtype, str) or dtype not in LOWEST:
        raise InvalidArgumentError(f"plot_steps: expected dtype 'float64' or 'float32', got {dtype!r}.")
    try:
        from autodiff_lab.exploring.papers import draw_plot, new_axes
    except ImportError as error:
        raise MissingPackage.of("plot_steps", "matplotlib", "lab") from error
    plot = measure_steps(f, x, name).plot(dtype, central)
    with style.context(theme):
        axes = new_axes() if ax is None else ax
        draw_plot(axes, plot, theme)
    return axes


def measure_steps(f: Callable[[Any], Any], x: float, name: str | None = None, per_decade: int = PER_DECADE) -> Steps:
    """Measure slopes of f at x with steps of many sizes, in float64 and in float32.

    Parameters
    ----------
    f : callable
        Of one Tensor.
    x : float
        The point.
    name : str, optional
        The name to show.
    per_decade : int
        How many steps there are between two powers of ten.

    Examples
    --------
    >>> steps = measure_steps(lambda x: x * x, 3.0)
    >>> steps.truth, steps.values["float32"].h.dtype.name
    (6.0, 'float32')
    """
    if not callable(f):
        raise NotCallable(f"f: expected a function, got {type(f).__name__}. Try lab.sin, or lambda x: x * x.")
    try:
        at = float(x)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"x: expected a number, got {x!r}.") from error
    if not math.isfinite(at):
        raise InvalidArgumentError(f"x: expected a finite number, got {at}.")
    called = own_name(f, name)
    value, derivatives = _derivatives(f, at, called)
    if not math.isfinite(value):
        raise InvalidArgumentError(
            f"{called} is {value} at x = {short(at)}: there is no slope to measure. Try another x."
        )
    if not math.isfinite(derivatives[0]):
        raise InvalidArgumentError(
            f"The tape gives no slope of {called} at x = {short(at)}, so there is nothing to compare with. Try a"
            " function made of functions of lab, such as lab.sin instead of math.sin, or another x."
        )
    return Steps(called, at, derivatives, {dtype: _values(f, at, dtype, per_decade) for dtype in LOWEST})


def _derivatives(f: Callable[[Any], Any], at: float, name: str) -> tuple[float, tuple[float, float, float]]:
    """Return f and its first three derivatives; those that cannot be computed are nan."""
    place = np.array([at])
    rows = Sampler(f, at, at, ORDER, name).sample(place)[0]
    found = [float(row[0]) for row in rows]
    found += [math.nan] * (ORDER + 1 - len(found))
    return found[0], (found[1], found[2], found[3])


def _values(f: Callable[[Any], Any], at: float, dtype: str, per_decade: int) -> Values:
    kind = np.dtype(dtype).type
    lowest = LOWEST[dtype]
    # Powers from a list of exponents, so that whole decades are exactly 1e-8 and not a neighbour of it.
    exponents = [lowest + k / per_decade for k in range(-lowest * per_decade + 1)]
    h = np.array([float(f"1e{round(e)}") if e == round(e) else 10.0**e for e in exponents], dtype=kind)
    x = kind(at)
    with np.errstate(all="ignore"):
        places = np.concatenate([[x], x + h, x - h])
    values = Context().run(_each, f, places, dtype)
    return Values(values[0], h, values[1 : len(h) + 1], values[len(h) + 1 :])


def _each(f: Callable[[Any], Any], places: np.ndarray, dtype: str) -> np.ndarray:
    """Return f at every place in this dtype, nan where it raises: a step may leave its domain."""
    found = np.full(len(places), np.nan, dtype=dtype)
    with np.errstate(all="ignore"):
        for index, place in enumerate(places):
            try:
                result = f(lab.constant(place, dtype=dtype))
                found[index] = np.asarray(result.numpy() if lab.is_tensor(result) else result, dtype=dtype)
            except Exception:  # noqa: BLE001 - f is the user's own; whatever it raises is a gap
                continue
    return found
