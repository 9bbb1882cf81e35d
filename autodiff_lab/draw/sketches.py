"""Sketches of a derivative: what somebody drew, beside the derivative and beside what the usual mistakes give.

A sketch is a height for each of `COLUMNS` columns, nan where nothing is drawn.  It is judged by shape: each candidate
may be scaled, and the nearest names the idea.  ``widgets/sketch_pad/scoring.js`` judges alike, and
``tests/data/sketches.json`` holds both to the same table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_lab.draw.curves import Curves
from autodiff_lab.draw.curves.axes import heights as heights_of
from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, band, line, points

COLUMNS = 121
HANDLES = 9
BAND = 0.1
"""Half the height of the band around the derivative, in parts of its range."""
NEEDED = 85
"""Percent of the columns that must lie in the band."""
ENOUGH = 0.95
"""The part of the columns that must be drawn."""
SCALES = 0.35, 3.0
SHIFTED = 1.15
"""What a candidate that may be shifted has to be nearer by, since a shift is one more thing to fit."""
LEAST_SHIFT = 0.12
FARTHEST = 0.5
"""Beyond this distance no candidate explains a sketch."""
FAINT = 0.01
"""A sketch with smaller heights than this part of the panel's is taken for a line along 0."""
NOTHING = 0.03
"""Heights below this part of the largest one have no sign."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a sketch is.

    Attributes
    ----------
    code : str
        ``""`` if the derivative is nearest, else the code of the idea, or ``"OTHER"``.
    score : int
        Percent of the columns that lie in the band, after scaling.
    scale : float
        What the derivative is multiplied by to come nearest.
    signs : int
        Percent of the columns that have the sign of the derivative.
    """

    code: str
    score: int
    scale: float
    signs: int

    @property
    def passed(self) -> bool:
        """Whether the derivative is nearest, and enough of the sketch lies in the band."""
        return not self.code and self.score >= NEEDED


def candidates(curves: Curves, row: int) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Yield a code, the heights that this idea draws, and whether they may be shifted.

    Parameters
    ----------
    curves : Curves
        With a row for each derivative.
    row : int
        Of the derivative that is sketched, from 1 on.
    """
    f, d = curves.rows[row - 1], shown(curves, row)
    yield "", d, False
    yield "COPIED_F", f, False
    yield "COPIED_F", f, True
    yield "FLIPPED_SLOPE", -d, False
    yield "ABSOLUTE", np.abs(d), False
    yield "SHIFTED_UP", d, True
    if row + 1 < len(curves.rows):
        yield "SECOND_FOR_FIRST", curves.rows[row + 1], False
    yield "AREA", np.cumsum(np.nan_to_num(f)) * float(curves.x[1] - curves.x[0]), False
    yield "SIGNS_ONLY", np.sign(d), False


def shown(curves: Curves, row: int) -> np.ndarray:
    """Return a row as far as the panel shows it; a pole leaves it."""
    top = reach(curves, row)
    return np.clip(curves.rows[row], -top, top)


def reach(curves: Curves, row: int) -> float:
    """Return how far the panel of a derivative reaches from 0, up and down alike, so that it gives no sign away.

    Examples
    --------
    >>> x = np.linspace(-2.2, 2.2, COLUMNS)
    >>> reach(Curves(x, (x**3 - 3 * x, 3 * x**2 - 3)), 1)
    15.0
    """
    ends = heights_of(curves.rows[row], clip=curves.clip)
    most = max(map(abs, ends))
    power = 10.0 ** math.floor(math.log10(most))
    return next(part * power for part in (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if part * power >= most)


def extent(values: np.ndarray) -> float:
    """Return the range of heights, that of a constant being its height, and 1 where there is none."""
    known = values[np.isfinite(values)]
    most = float(np.max(np.abs(known), initial=0.0))
    return float(np.ptp(known)) if most and np.ptp(known) > 1e-9 * most else most or 1.0


def judge(curves: Curves, sketch: np.ndarray, row: int = 1) -> Judged:
    """Compare a sketch with the derivative, and with what each idea would have drawn.

    Parameters
    ----------
    curves : Curves
        Of `COLUMNS` samples.
    sketch : numpy.ndarray
        Shape (COLUMNS,), nan where nothing is drawn.
    row : int
        1 for a sketch of f′, 2 for one of f″.

    Examples
    --------
    >>> x = np.linspace(-2.2, 2.2, COLUMNS)
    >>> cubic = Curves(x, (x**3 - 3 * x, 3 * x**2 - 3, 6 * x))
    >>> judge(cubic, 2.5 * x**2 - 2.4)
    Judged(code='', score=100, scale=0.8417, signs=100)
    >>> judge(cubic, x**3 - 3 * x + 5).code, judge(cubic, 6 * x).code, judge(cubic, 3 * x**2).code
    ('COPIED_F', 'SECOND_FOR_FIRST', 'SHIFTED_UP')
    """
    truth = shown(curves, row)
    is_flat = not np.nan_to_num(truth).any()
    floor = 0.1 * reach(curves, row) * len(sketch) ** 0.5 if is_flat else 0.0  # a hand is not that steady
    faint = float(np.max(np.abs(np.nan_to_num(sketch)))) < FAINT * reach(curves, row)
    nearest, code, scale = math.inf, "OTHER", 1.0
    right = 1.0
    for name, given, shift in candidates(curves, row):
        known = np.isfinite(sketch) & np.isfinite(given)
        if not known.any() or (name and faint):  # a line along 0 is not a small copy of anything
            continue
        far, by, offset = _fit(sketch[known], given[known], shift, floor)
        if not name:
            right = by
        if name == "SHIFTED_UP" and abs(offset) < LEAST_SHIFT * by * extent(truth):
            continue
        if far < nearest - 1e-9:
            nearest, code, scale = far, name, by
    if nearest > FARTHEST:
        code = "OTHER"
    scale = scale if not code else right
    near = np.abs(sketch / scale - truth) <= BAND * extent(truth)
    signs = signs_of(sketch) == signs_of(truth)
    there = np.isfinite(truth)
    return Judged(code, _percent(near[there]), float(f"{scale:.4g}"), _percent(signs[there]))


def _percent(flags: np.ndarray) -> int:
    return math.floor(100 * float(flags.mean()) + 0.5) if len(flags) else 0


def _fit(sketch: np.ndarray, given: np.ndarray, shift: bool, floor: float) -> tuple[float, float, float]:
    """Return how far a sketch is from a candidate, the scale at which it is nearest, and the shift."""
    middle, base = (sketch.mean(), given.mean()) if shift else (0.0, 0.0)
    drawn, wanted = sketch - middle, given - base
    power = float(wanted @ wanted)
    scale = float(np.clip(drawn @ wanted / power, *SCALES)) if power > 1e-18 else 1.0
    size = max(float(np.linalg.norm(drawn)), floor, 1e-12)
    far = float(np.linalg.norm(drawn - scale * wanted)) / size
    return far * (SHIFTED if shift else 1.0), scale, float(middle - scale * base)


def signs_of(heights: np.ndarray) -> np.ndarray:
    """Return −1, 0 or 1 for each column; a height that is hardly one keeps the sign before it.

    Examples
    --------
    >>> signs_of(np.array([-4.0, -0.05, 0.05, 4.0, np.nan])).tolist()
    [-1, -1, -1, 1, 1]
    """
    least = NOTHING * float(np.max(np.abs(heights[np.isfinite(heights)]), initial=0.0))
    plain = [0 if not abs(height) > least else math.copysign(1, height) for height in heights.tolist()]
    found, last = [], next((sign for sign in plain if sign), 0)
    for sign in plain:
        last = int(sign) or int(last)
        found.append(last)
    return np.array(found)


def zeros(x: np.ndarray, heights: np.ndarray) -> list[float]:
    """Return where the heights change their sign.

    Examples
    --------
    >>> x = np.linspace(-2.0, 2.0, 41)
    >>> [round(at, 2) for at in zeros(x, x**2 - 1)]
    [-1.0, 1.0]
    """
    signs = signs_of(heights)
    found: list[float] = []
    for k in np.flatnonzero(np.diff(signs) != 0).tolist():
        first = k
        while first > 0 and not heights[first] * signs[k] > 0:
            first -= 1
        a, b = float(heights[first]), float(heights[first + 1])
        part = a / (a - b) if math.isfinite(a) and math.isfinite(b) and a != b else 0.5
        found.append(float(x[first] + part * (x[first + 1] - x[first])))
    return found


def in_words(x: np.ndarray, heights: np.ndarray) -> str:
    """Return where a curve is above 0 and where below.

    Examples
    --------
    >>> x = np.linspace(-2.0, 2.0, 41)
    >>> in_words(x, x**2 - 1), in_words(x, 0 * x)
    ('above 0 until -1, below until 1, above', 'on 0 everywhere')
    """
    signs = signs_of(heights)
    names = {1: "above", -1: "below", 0: "on"}
    runs = [signs[0], *signs[1:][np.diff(signs) != 0]]
    step = float(x[-1] - x[0]) / (len(x) - 1)
    ends = [f" until {position(place, step)}" for place in zeros(x, heights)]
    if not ends:
        return f"{names[int(runs[0])]} 0 everywhere"
    told = [names[int(sign)] + (" 0" if k == 0 else "") + end
            for k, (sign, end) in enumerate(zip(runs, [*ends, ""], strict=True))]  # fmt: skip
    return ", ".join(told)


def position(place: float, step: float) -> str:
    """Return a place with as many decimals as tell neighbours apart, without zeros at its end.

    >>> position(-1.0004, 0.04), position(0.333, 0.04)
    ('-1', '0.33')
    """
    text = f"{place:.{max(0, math.ceil(-math.log10(step)))}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def through(handles: Sequence[float] | np.ndarray, count: int = COLUMNS) -> np.ndarray:
    """Return a smooth curve through heights that are evenly far apart: a cubic between two neighbours.

    Examples
    --------
    >>> through([0.0, 1.0, 0.0], 5).tolist()
    [0.0, 0.625, 1.0, 0.625, 0.0]
    """
    given = np.asarray(handles, dtype=float)
    if len(given) < 2:
        return np.full(count, given[0] if len(given) else np.nan)
    slopes = np.concatenate([[given[1] - given[0]], (given[2:] - given[:-2]) / 2, [given[-1] - given[-2]]])
    along = np.linspace(0.0, len(given) - 1.0, count)
    left = np.minimum(along.astype(int), len(given) - 2)
    t = along - left
    a, b, p, q = given[left], given[left + 1], slopes[left], slopes[left + 1]
    return a + t * (p + t * ((3 * (b - a) - 2 * p - q) + t * (2 * (a - b) + p + q)))


def drawn(curves: Curves, given: Any, row: int) -> np.ndarray:
    """Return a sketch from a number, from evenly spaced heights or from a function of x, cut off at the panel.

    Raises
    ------
    TypeError, ValueError
        If it is none of these.
    """
    if callable(given):
        call: Callable[[float], Any] = given
        heights = np.array([float(call(x)) for x in curves.x.tolist()])
    else:
        listed = np.asarray(given, dtype=float)
        if listed.ndim > 1 or not np.isfinite(listed).any():
            raise ValueError("expected a number, or a list of heights")
        heights = listed if listed.shape == (COLUMNS,) else through(np.atleast_1d(listed))
    return np.clip(heights, -reach(curves, row), reach(curves, row))


def plot(curves: Curves, sketch: np.ndarray, row: int, judged: Judged | None) -> Plot:
    """Return a sketch; once it is judged, over the derivative and its band, with its score.

    Examples
    --------
    >>> x = np.linspace(-2.2, 2.2, COLUMNS)
    >>> cubic = Curves(x, (x**3 - 3 * x, 3 * x**2 - 3, 6 * x))
    >>> plot(cubic, 3 * x**2 - 3, 1, judge(cubic, 3 * x**2 - 3)).title
    'f′(x), sketched: 100 of 100'
    """
    x, top, name = curves.x, reach(curves, row), curves.names[row]
    across, up = Axis(float(x[0]), float(x[-1]), curves.variable), Axis(-top, top)
    layers: list[Layer] = [line([x[0], x[-1]], [0, 0], "muted")]
    labels: list[Label] = []
    title, told = f"{name}, to be sketched", "Nothing is drawn yet."
    at = np.flatnonzero(np.isfinite(sketch))
    if judged is not None:
        truth = shown(curves, row)
        half = BAND * extent(truth)
        layers += [band(x, truth - half, truth + half, "backward"), line(x, truth, "backward")]
        places = zeros(x, truth)
        layers.append(points(places, np.zeros(len(places)), "backward", 4))
        if judged.scale != 1 and not judged.code:
            layers.append(line(x, sketch / judged.scale, "ink", dashed=True, faint=True))
        end = int(np.flatnonzero(np.isfinite(truth))[-1])
        labels.append(Label(name, float(x[end]), float(truth[end]), "backward"))
        title, told = f"{name}, sketched: {judged.score} of 100", in_words(x, truth)
    if len(at):
        places = zeros(x, sketch)
        layers += [line(x, sketch, "ink"), points(places, np.zeros(len(places)), "ink", 4, hollow=True)]
        k = int(at[len(at) // 8])
        labels.append(Label("sketch", float(x[k]), float(sketch[k]), "ink"))
        told = f"Sketch: {in_words(x, sketch)}." + (f" {name}: {told}." if judged is not None else "")
    if judged is not None:
        labels.append(Label(f"{judged.score} of 100", float(x[0]) + 0.35 * float(x[-1] - x[0]), 0.93 * top))
    return replace(Plot(across, up, tuple(layers), tuple(labels), title), account=told)
