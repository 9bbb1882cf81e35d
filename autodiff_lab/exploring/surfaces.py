"""`plot_2d` and `explore_2d`: contours of a function of two numbers, its gradients, and the paths of optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import style
from autodiff_lab.draw.lines import cut
from autodiff_lab.draw.plots import Axis, Layer, Plot, arrows, contour_lines, levels_of, line
from autodiff_lab.draw.surfaces import ROLES, Path, Surface
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.errors import (
    BadInterval,
    ConversionError,
    InvalidArgumentError,
    MissingPackage,
    NotCallable,
    ShapeMismatch,
)
from autodiff_lab.exploring.curves import own_name
from autodiff_lab.recording.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from autodiff_lab.widgets.surface import SurfaceExplorer

GRID, FIELD, LEVELS = 61, 13, 12
"""Samples along each side for contours, arrows along each side, and how many contours."""
MOST_STEPS = 1000
SLENDER = 4.0
"""How many times longer one side may be for both axes to be drawn with one scale."""
Pair = Sequence[float]


def plot_2d(
    f: Callable[..., object], lo: Pair, hi: Pair, ax: Axes | None = None, *, start: Pair | None = None,
    optimizers: Mapping[str, object] | None = None, steps: int = 50, field: bool = True, theme: str = "light",
) -> Axes:  # fmt: skip
    """Draw contours of a function of two numbers, with its gradients and the paths that optimizers take.

    Contours are chosen so that equally many samples lie between two of them. Arrows point downhill, along minus the
    gradient that the tape computes; their length says only which is longer.

    Parameters
    ----------
    f : callable
        Of one Tensor of shape (2,), float64; its value is a number.
    lo, hi : pair of float
        The lower left and the upper right corner.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default into a new figure.
    start : pair of float, optional
        Where paths begin; by default a quarter of the way from the lower left corner.
    optimizers : mapping of str to Optimizer, optional
        By name; each path is taken by a fresh copy.
    steps : int
        How many steps each takes at most; a path ends where it is no longer finite.
    field : bool
        Whether to draw arrows.
    theme : str
        ``"light"`` or ``"dark"``.

    Returns
    -------
    matplotlib.axes.Axes
        With a line for each contour and each path, and names beside the paths.

    Raises
    ------
    NotCallable
        If f is not a function.
    BadInterval
        If the corners are not finite pairs in order.
    ShapeMismatch
        If f does not return one number.
    InvalidArgumentError
        If f raises, or returns None or something that is not a number, at every point.
    MissingPackage
        Where matplotlib is not installed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> valley = lambda p: 0.5 * (p[0] ** 2 + 10.0 * p[1] ** 2)
    >>> ax = lab.plot_2d(valley, (-12, -4), (12, 4), start=(10, 1), optimizers={"SGD": lab.optimizers.SGD(0.18)})
    >>> [text.get_text() for text in ax.texts]
    ['SGD']
    """
    plot = surface(f, lo, hi, start, {} if optimizers is None else optimizers, steps, field)
    try:
        from autodiff_lab.exploring.papers import draw_plot, new_axes
    except ImportError as error:
        raise MissingPackage.of("plot_2d", "matplotlib", "lab") from error
    with style.context(theme):
        axes = new_axes() if ax is None else ax
        axes.grid(visible=False)
        draw_plot(axes, plot, theme)
    return axes


def explore_2d(
    f: Callable[..., object], lo: Pair, hi: Pair, *, start: Pair | None = None,
    optimizers: Mapping[str, object] | None = None, steps: int = 50, field: bool = True, ellipse: bool = True,
    name: str | None = None,
) -> SurfaceExplorer:  # fmt: skip
    """Open contours of a function of two numbers: drag the start, and step through the paths that optimizers take.

    At the point that is shown, the gradient and both curvatures are written out, and an ellipse shows how f bends: a
    contour of the second-order approximation, narrow where f bends much. Where f does not bend upwards in every
    direction it is dashed.

    Parameters
    ----------
    f : callable
        Of one Tensor of shape (2,), float64; its value is a number.
    lo, hi : pair of float
        The lower left and the upper right corner.
    start : pair of float, optional
        Where paths begin; by default a quarter of the way from the lower left corner.
    optimizers : mapping of str to Optimizer, optional
        By name; each path is taken by a fresh copy.  By default gradient descent with step 0.1.
    steps : int
        How many steps each takes at most; a path ends where it is no longer finite.
    field : bool
        Whether the arrows downhill are shown at first.
    ellipse : bool
        Whether the ellipse is shown at first.
    name : str, optional
        The name to show; by default that of the function, or f.

    Returns
    -------
    SurfaceExplorer
        A widget; ``.start`` is where paths begin, ``.to_html(path)`` writes it as a page.

    Raises
    ------
    NotCallable
        If f is not a function.
    BadInterval
        If the corners are not finite pairs in order, or the start is not a finite pair.
    ShapeMismatch
        If f does not return one number.
    InvalidArgumentError
        If f raises, or returns None or something that is not a number, at every point; or if an optimizer is none, or
        the number of steps is not an integer from 1 to 1,000.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> valley = lambda p: 0.5 * (p[0] ** 2 + 10.0 * p[1] ** 2)
    >>> steep = {"step 0.15": lab.optimizers.SGD(0.15)}
    >>> print(lab.explore_2d(valley, (-12, -4), (12, 4), start=(10, 1), optimizers=steep, steps=2).account())
    f from (10, 1): f = 55, gradient (10, 10), curvatures 1 and 10
      step 0.15: 2 steps to (7.225, 0.25), f = 26.41
    """
    try:
        from autodiff_lab.widgets.surface import SurfaceExplorer
    except ImportError as error:
        raise MissingPackage.of(
            "This explorer", "anywidget", "lab", ", or lab.plot_2d, which draws with matplotlib"
        ) from error
    used = {"gradient descent, 0.1": lab.optimizers.SGD(0.1)} if optimizers is None else optimizers
    found = measure_surface(f, lo, hi, start, used, steps, field=True, name=name, alike=True)
    again = lambda place: paths_from(f, np.asarray(place, dtype=float), used, steps)  # noqa: E731
    return SurfaceExplorer(found, again, field=field, ellipse=ellipse)


def surface(
    f: Callable[[Any], Any], lo: Pair, hi: Pair, start: Pair | None, optimizers: Mapping[str, Any], steps: int,
    field: bool,
) -> Plot:  # fmt: skip
    """Return the plot that `plot_2d` draws.

    Examples
    --------
    >>> surface(lambda p: p[0] * p[1], (-1, -1), (1, 1), None, {}, 10, False).x
    Axis(lo=-1.0, hi=1.0, name='x', log=False)
    """
    found = measure_surface(f, lo, hi, start, optimizers, steps, field)
    return (found if optimizers else replace(found, paths=())).plot()


def measure_surface(
    f: Callable[[Any], Any], lo: Pair, hi: Pair, start: Pair | None, optimizers: Mapping[str, Any], steps: int,
    field: bool, name: str | None = None, alike: bool = False,
) -> Surface:  # fmt: skip
    """Sample a function of two numbers, and let optimizers run on it.

    Examples
    --------
    >>> found = measure_surface(lambda p: p[0] * p[1], (-1, -1), (1, 1), (0.5, 0.5), {}, 1, False)
    >>> found.paths[0].rows[0].tolist()
    [0.5, 0.5, 0.25, 0.5, 0.5, 0.0, 1.0, 0.0]
    """
    if not callable(f):
        raise NotCallable(f"f: expected a function, got {type(f).__name__}. Try lambda p: p[0] ** 2 + p[1] ** 2.")
    left, right = _corner(lo, "lo"), _corner(hi, "hi")
    if not (left[0] < right[0] and left[1] < right[1]):
        raise BadInterval(f"expected lo below hi in both numbers, got {tuple(lo)} and {tuple(hi)}.")
    begin = left + 0.25 * (right - left) if start is None else _corner(start, "start")
    _check_optimizers(optimizers, steps)
    x, y = (np.linspace(a, b, GRID) for a, b in zip(left, right, strict=True))
    heights = Context().run(_sampled, f, x, y)
    layers: list[Layer] = []
    for level in levels_of(heights, LEVELS):
        layers += [line(chain[:, 0], chain[:, 1], "muted", faint=True) for chain in contour_lines(x, y, heights, level)]
    if field:
        layers += Context().run(_field, f, left, right, alike)
    axes = Axis(float(left[0]), float(right[0]), "x"), Axis(float(left[1]), float(right[1]), "y")
    return Surface(own_name(f, name), *axes, tuple(layers), paths_from(f, begin, optimizers, steps))


def paths_from(
    f: Callable[[Any], Any], start: np.ndarray, optimizers: Mapping[str, Any], steps: int
) -> tuple[Path, ...]:
    """Return the path of each optimizer with what is known at its points; without optimizers the start alone.

    Examples
    --------
    >>> (path,) = paths_from(lambda p: p[0] * p[1], np.array([1.0, 2.0]), {"SGD": lab.optimizers.SGD(0.5)}, 1)
    >>> path.rows[:, :3].tolist()
    [[1.0, 2.0, 2.0], [0.0, 1.5, 0.0]]
    """
    run = Context().run
    visited = {called: run(_path, f, start, optimizer, steps) for called, optimizer in optimizers.items()}
    return tuple(
        Path(cut(called), ROLES[k % len(ROLES)], np.array([run(_measured, f, place) for place in places]))
        for k, (called, places) in enumerate((visited or {"": [start]}).items())
    )


def _check_optimizers(optimizers: Any, steps: Any) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps <= MOST_STEPS:
        raise InvalidArgumentError(f"steps: expected an integer from 1 to {MOST_STEPS}, got {steps!r}.")
    if not isinstance(optimizers, Mapping):
        raise InvalidArgumentError(
            f"optimizers: expected optimizers by name, got {type(optimizers).__name__}. "
            'Try {"SGD": lab.optimizers.SGD(0.1)}.'
        )
    for called, optimizer in optimizers.items():
        if not (isinstance(called, str) and isinstance(optimizer, lab.optimizers.Optimizer)):
            raise InvalidArgumentError(
                f"optimizers: expected optimizers by name, got {type(optimizer).__name__} for {called!r}. "
                'Try {"SGD": lab.optimizers.SGD(0.1)}.'
            )


def _corner(pair: Any, name: str) -> np.ndarray:
    try:
        found = np.asarray(pair, dtype=float)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{name}: expected two numbers, got {pair!r}.") from error
    if found.shape != (2,) or not np.isfinite(found).all():
        raise BadInterval(f"{name}: expected two finite numbers, got {pair!r}. Try (-2.0, -2.0).")
    return found


def value_at(f: Callable[[Any], Any], point: Any) -> Any:
    """Return f at a point, which must be one number.

    Raises
    ------
    InvalidArgumentError
        If it is None or text.
    ShapeMismatch
        If it is several numbers.

    Examples
    --------
    >>> value_at(lambda p: 2.0, None)
    2.0
    """
    value = f(point)
    if value is None:
        raise InvalidArgumentError("it returned None. Does it end with a return?")
    if isinstance(value, str | bytes):
        raise InvalidArgumentError("it returned text instead of a number.")
    shape = np.shape(value.numpy() if lab.is_tensor(value) else value)
    if shape != ():
        raise ShapeMismatch(
            f"f must return one number for a point of shape (2,); it returned shape {tuple(shape)}.\n"
            "Try lab.reduce_sum around it, or p[0] and p[1] in its formula."
        )
    return value


def _sampled(f: Callable[[Any], Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return f on the grid, nan where it raises."""
    heights = np.full((len(y), len(x)), np.nan)
    failure: Exception | None = None
    for row, column in np.ndindex(heights.shape):
        try:
            value = value_at(f, lab.constant([x[column], y[row]], dtype=lab.float64))
            heights[row, column] = float(value)
        except ShapeMismatch:
            raise
        except Exception as error:  # noqa: BLE001 - f is the user's own; whatever it raises is a gap
            failure = failure or error
    if failure is not None and np.isnan(heights).all():
        said = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
        raise InvalidArgumentError(
            f"f has no value at any of {heights.size} points; at ({short(x[0])}, {short(y[0])}): {said}\n"
            "Try f(lab.constant([1.0, 2.0], dtype=lab.float64)) alone."
        ) from failure
    return heights


def _gradient(f: Callable[[Any], Any], place: np.ndarray) -> np.ndarray:
    """Return the gradient at a point, nan where there is none."""
    point = lab.constant(place, dtype=lab.float64)
    try:
        with lab.GradientTape() as tape:
            tape.watch(point)
            value = value_at(f, point)
        found = dense(tape.gradient(value, point)) if lab.is_tensor(value) else None
    except Exception:  # noqa: BLE001 - as above
        found = None
    return np.full(2, np.nan) if found is None else np.asarray(found.numpy())


def _field(f: Callable[[Any], Any], left: np.ndarray, right: np.ndarray, alike: bool) -> list[Layer]:
    """Return arrows downhill; where slopes differ much, long ones are drawn shorter than they are.

    They are downhill in the picture: along minus the gradient where both axes are drawn `alike`, with one scale.
    """
    span = right - left
    alike = alike and span.max() < SLENDER * span.min()
    cell = np.full(2, math.sqrt(span.prod()) / FIELD) if alike else span / FIELD
    across, up = np.maximum(np.round(span / cell), 1).astype(int)
    cell = np.minimum(cell, span / [across, up])
    places = [left + (np.array([i, j]) + 0.5) * span / [across, up] for j in range(up) for i in range(across)]
    slopes = np.array([_gradient(f, place) for place in places]) * (1.0 if alike else span)
    sizes = np.hypot(*slopes.T)
    known = np.isfinite(sizes) & (sizes > 0)
    if not known.any():
        return []
    scaled = np.sqrt(sizes[known] / sizes[known].max())[:, None]
    ends = -slopes[known] / sizes[known][:, None] * scaled * 0.8 * (cell.min() if alike else cell)
    return [arrows(np.array(places)[known], np.array(places)[known] + ends)]


def _path(f: Callable[[Any], Any], start: np.ndarray, optimizer: Any, steps: int) -> np.ndarray:
    """Return the points that an optimizer visits, the start included; shape (n, 2)."""
    fresh = type(optimizer).from_config(optimizer.get_config())
    point = lab.Variable(start, dtype=lab.float64)
    visited = [start]
    for _ in range(steps):
        try:
            with lab.GradientTape() as tape:
                value = value_at(f, point)
            gradient = tape.gradient(value, point) if lab.is_tensor(value) else None
        except Exception:  # noqa: BLE001 - as above: where f has no value, the path ends
            break
        if gradient is None:
            break
        fresh.apply_gradients([(dense(gradient), point)])
        there = point.numpy()
        if not (np.isfinite(there).all() and math.hypot(*there) < 1e150):
            break
        visited.append(np.array(there))
    return np.array(visited)


def _measured(f: Callable[[Any], Any], place: np.ndarray) -> list[float]:
    """Return the point, f, its gradient and its second derivatives; nan where there is no such number."""
    point = lab.constant(place, dtype=lab.float64)
    try:
        value = float(value_at(f, point))
    except Exception:  # noqa: BLE001 - as above
        value = math.nan
    try:
        bends = np.asarray(lab.hessian(lambda p: value_at(f, p))(point).numpy(), dtype=float)[[0, 0, 1], [0, 1, 1]]
    except Exception:  # noqa: BLE001 - as above
        bends = np.full(3, np.nan)
    return [*map(float, place), value, *map(float, _gradient(f, place)), *map(float, bends)]
