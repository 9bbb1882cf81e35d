"""`plot_2d`: contours of a function of two numbers, its gradient field, and the paths of optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import style
from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, arrows, contour_lines, levels_of, line, points
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.errors import (
    BadInterval,
    ConversionError,
    InvalidArgumentError,
    MissingPackage,
    NotCallable,
    ShapeMismatch,
)
from autodiff_lab.recording.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID, FIELD, LEVELS = 61, 13, 12
"""Samples along each side for contours, arrows along each side, and how many contours."""
ROLES = ("forward", "backward", "ink", "cut")
Pair = Sequence[float]


def plot_2d(
    f: Callable[[Any], Any], lo: Pair, hi: Pair, ax: Axes | None = None, *, start: Pair | None = None,
    optimizers: Mapping[str, Any] | None = None, steps: int = 50, field: bool = True, theme: str = "light",
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
    plot = surface(f, lo, hi, start, optimizers or {}, steps, field)
    try:
        from autodiff_lab.exploring.papers import draw_plot, new_axes
    except ImportError as error:
        raise MissingPackage.of("plot_2d", "matplotlib", "lab") from error
    with style.context(theme):
        axes = new_axes() if ax is None else ax
        axes.grid(visible=False)
        draw_plot(axes, plot, theme)
    return axes


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
    if not callable(f):
        raise NotCallable(f"f: expected a function, got {type(f).__name__}. Try lambda p: p[0] ** 2 + p[1] ** 2.")
    left, right = _corner(lo, "lo"), _corner(hi, "hi")
    if not (left[0] < right[0] and left[1] < right[1]):
        raise BadInterval(f"expected lo below hi in both numbers, got {tuple(lo)} and {tuple(hi)}.")
    x, y = (np.linspace(a, b, GRID) for a, b in zip(left, right, strict=True))
    heights = Context().run(_sampled, f, x, y)
    layers: list[Layer] = []
    for level in levels_of(heights, LEVELS):
        layers += [line(chain[:, 0], chain[:, 1], "muted", faint=True) for chain in contour_lines(x, y, heights, level)]
    if field:
        layers += Context().run(_field, f, left, right)
    begin = left + 0.25 * (right - left) if start is None else _corner(start, "start")
    paths = {name: Context().run(_path, f, begin, optimizer, steps) for name, optimizer in optimizers.items()}
    roles = dict(zip(paths, _cycled(len(paths)), strict=True))
    for name, path in paths.items():
        layers += [line(path[:, 0], path[:, 1], roles[name]), points(path[:, 0], path[:, 1], roles[name], 1.5)]
    labels = [_named(name, paths, left, right, roles[name]) for name in paths]
    axes = Axis(float(left[0]), float(right[0]), "x"), Axis(float(left[1]), float(right[1]), "y")
    return Plot(*axes, tuple(layers), tuple(labels), "Contours", ", ".join(paths))


def _named(name: str, paths: Mapping[str, np.ndarray], left: np.ndarray, right: np.ndarray, role: str) -> Label:
    """Return the label of a path, at the point in the picture that is farthest from all other paths."""
    path = paths[name]
    others = [other for key, other in paths.items() if key != name]
    inside = path[np.all((path >= left) & (path <= right), axis=1)]
    places = inside if len(inside) else path
    chosen = len(places) - 1
    if others:
        gaps = (places[:, None] - np.concatenate(others)[None]) / (right - left)
        chosen = int(np.argmax(np.hypot(gaps[..., 0], gaps[..., 1]).min(axis=1)))
    return Label(name, float(places[chosen, 0]), float(places[chosen, 1]), role)


def _cycled(count: int) -> list[str]:
    return [ROLES[k % len(ROLES)] for k in range(count)]


def _corner(pair: Any, name: str) -> np.ndarray:
    try:
        found = np.asarray(pair, dtype=float)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{name}: expected two numbers, got {pair!r}.") from error
    if found.shape != (2,) or not np.isfinite(found).all():
        raise BadInterval(f"{name}: expected two finite numbers, got {pair!r}. Try (-2.0, -2.0).")
    return found


def _value(f: Callable[[Any], Any], point: Any) -> Any:
    value = f(point)
    if value is None:
        raise InvalidArgumentError("it returned None. Does it end with a return?")
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
            value = _value(f, lab.constant([x[column], y[row]], dtype=lab.float64))
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
            value = _value(f, point)
        found = dense(tape.gradient(value, point)) if lab.is_tensor(value) else None
    except Exception:  # noqa: BLE001 - as above
        found = None
    return np.full(2, np.nan) if found is None else np.asarray(found.numpy())


def _field(f: Callable[[Any], Any], left: np.ndarray, right: np.ndarray) -> list[Layer]:
    """Return arrows downhill; where slopes differ much, long ones are drawn shorter than they are."""
    cell = (right - left) / FIELD
    places = [left + (np.array([i, j]) + 0.5) * cell for j in range(FIELD) for i in range(FIELD)]
    slopes = np.array([_gradient(f, place) for place in places]) * (right - left)  # for each width of the picture
    sizes = np.hypot(*slopes.T)
    known = np.isfinite(sizes) & (sizes > 0)
    if not known.any():
        return []
    scaled = np.sqrt(sizes[known] / sizes[known].max())[:, None]
    ends = -slopes[known] / sizes[known][:, None] * scaled * cell * 0.8
    return [arrows(np.array(places)[known], np.array(places)[known] + ends)]


def _path(f: Callable[[Any], Any], start: np.ndarray, optimizer: Any, steps: int) -> np.ndarray:
    """Return the points that an optimizer visits, the start included; shape (n, 2)."""
    fresh = type(optimizer).from_config(optimizer.get_config())
    point = lab.Variable(start, dtype=lab.float64)
    visited = [start]
    for _ in range(steps):
        with lab.GradientTape() as tape:
            value = _value(f, point)
        gradient = tape.gradient(value, point) if lab.is_tensor(value) else None
        if gradient is None:
            break
        fresh.apply_gradients([(dense(gradient), point)])
        there = point.numpy()
        if not (np.isfinite(there).all() and math.hypot(*there) < 1e150):
            break
        visited.append(np.array(there))
    return np.array(visited)
