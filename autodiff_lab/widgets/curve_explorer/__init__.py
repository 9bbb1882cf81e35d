"""The function explorer: f above its derivative with a draggable point, as a widget and as a standalone page.

The widget gets samples, drawn in the page by ``widget.js`` and the modules beside it; it never sees the function.  On
zooming in it asks `sample`, a callable passed by the widget's creator, for finer samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from autodiff_lab.draw.curves import Curves, account, svg
from autodiff_lab.widgets.base import LabWidget, assets
from autodiff_lab.widgets.curve_explorer.page import page

_SCRIPT, _STYLE = assets(Path(__file__).parent)
MOST_SAMPLES = 20_000
"""How many samples one request from the page may ask for."""

Sample = Callable[[np.ndarray], Sequence[np.ndarray]]
Remade = Callable[[float, float, dict[str, float]], tuple[Curves, Sample]]


def packed(x: np.ndarray, rows: Sequence[np.ndarray]) -> bytes:
    """Return samples as the page reads them: float64, little endian, x first and then row after row.

    Examples
    --------
    >>> len(packed(np.zeros(5), [np.zeros(5), np.ones(5)]))
    120
    """
    return np.ascontiguousarray(np.stack([x, *rows]), dtype="<f8").tobytes()


def facts(curves: Curves, live: bool) -> dict[str, Any]:
    """Return what the page needs besides the samples, as JSON.

    Parameters
    ----------
    curves : Curves
        What is shown.
    live : bool
        Whether finer samples can be requested.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 3)
    >>> facts(Curves(x, (x, np.ones(3))), live=False)["names"]
    ['f(x)', 'f′(x)']
    """
    marks = [{"x": mark.x, "kind": mark.kind, "limits": [list(pair) for pair in mark.limits]} for mark in curves.marks]
    return {
        "name": curves.name,
        "names": list(curves.names),
        "variable": curves.variable,
        "title": curves.title or f"{curves.names[0]} and its derivative",
        "notes": list(curves.notes),
        "marks": marks,
        "lo": float(curves.x[0]),
        "hi": float(curves.x[-1]),
        "narrowest": curves.narrowest or float(curves.x[-1] - curves.x[0]) * 1e-6,
        "clip": curves.clip,
        "nones": [[list(span) for span in spans] for spans in curves.nones],
        "live": live,
    }


def _defined_near(curves: Curves, share: float) -> float:
    """Return the sample nearest to this fraction of the axis at which f has a slope: a good place to begin."""
    middle = curves.x[0] + share * (curves.x[-1] - curves.x[0])
    usable = curves.x[np.isfinite(curves.rows[min(1, len(curves.rows) - 1)])]
    return float(middle) if not len(usable) else float(usable[np.argmin(np.abs(usable - middle))])


class CurveExplorer(LabWidget):
    """A function above its derivative, with a draggable point, a tangent, a secant and a microscope.

    Usually made by ``autodiff_lab.explore``.

    Parameters
    ----------
    curves : Curves
        Samples of the function and its derivatives.
    sample : callable, optional
        Takes an array of x and returns the rows of the curves there; without it the page interpolates.
    x, other : float, optional
        Initial positions of the point and the second point of the secant.
    order : int
        How many derivatives are shown.
    secant : bool
        Whether the secant is shown.
    parameters : mapping, optional
        For each parameter of the function the ends of its slider and where it starts.
    remade : callable, optional
        Takes the ends of an interval and values of the parameters, and returns curves and `sample` for these.

    Attributes
    ----------
    x, other : float
        Where the points are now, in units of the x axis.
    order : int
        How many derivatives are shown now.
    secant : bool
        Whether the secant is shown now.
    parameters : dict of str to list of float
        For each parameter of the function the ends of its slider and its value now.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 5)
    >>> CurveExplorer(Curves(x, (x**2, 2 * x)), x=0.5).x
    0.5
    """

    _esm = _SCRIPT
    _css = _STYLE

    facts = traitlets.Dict().tag(sync=True)
    samples = traitlets.Bytes(b"").tag(sync=True)
    x = traitlets.Float(0.0).tag(sync=True)
    other = traitlets.Float(0.0).tag(sync=True)
    order = traitlets.Int(1, min=0, max=4).tag(sync=True)
    secant = traitlets.Bool(False).tag(sync=True)
    parameters = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        curves: Curves,
        sample: Sample | None = None,
        *,
        x: float | None = None,
        other: float | None = None,
        order: int = 1,
        secant: bool = False,
        parameters: Mapping[str, Sequence[float]] | None = None,
        remade: Remade | None = None,
    ) -> None:
        self.curves = curves
        self._sample = sample
        self._remade = remade
        super().__init__(
            facts=facts(curves, live=sample is not None),
            samples=packed(curves.x, curves.rows),
            x=_defined_near(curves, 0.25) if x is None else x,
            other=_defined_near(curves, 0.75) if other is None else other,
            order=order,
            secant=secant,
            parameters={name: list(slider) for name, slider in (parameters or {}).items()},
        )
        self.on_msg(self._answer)

    @traitlets.validate("x", "other")
    def _on_a_sample(self, proposal: Any) -> float:
        """Keep a point inside the axis."""
        value = float(proposal["value"])
        if not np.isfinite(value):
            raise traitlets.TraitError(f"{proposal['trait'].name} is {value}; a point needs a finite x.")
        return float(np.clip(value, self.curves.x[0], self.curves.x[-1]))

    def account(self) -> str:
        """Return the ranges, marks, notes and the values at the point as text."""
        return account(self.curves, self.x)

    def picture(self) -> str:
        """Return the curves with the tangent at the point as a static SVG."""
        return svg(self.curves, self.x, self.order)

    def to_html(self, path: str | Path) -> Path:
        """Write the explorer as one HTML file that needs no network and no kernel.

        Parameters
        ----------
        path : str or pathlib.Path
            Where the file goes.

        Returns
        -------
        pathlib.Path
            The file.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> x = np.linspace(-1.0, 1.0, 5)
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> CurveExplorer(Curves(x, (x**2, 2 * x))).to_html(folder / "square.html").name
        'square.html'
        """
        state = {name: getattr(self, name) for name in ("x", "other", "order", "secant", "parameters")}
        text = page(facts(self.curves, live=False), self.samples, state, _SCRIPT, _STYLE)
        file = Path(path)
        file.write_text(text, encoding="utf-8")
        return file

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        """Answer a request for samples; an invalid or failing one gets an error message on the same channel."""
        if not isinstance(content, dict) or content.get("kind") not in ("sample", "remake"):
            return
        if content["kind"] == "remake":
            self._remake(content)
            return
        reply = {"kind": "samples", "id": content.get("id")}
        try:
            x = self._grid(content.get("lo"), content.get("hi"), content.get("n"))
            if self._sample is None:
                raise ValueError("there is no function to sample")
            rows = list(self._sample(x))[: len(self.curves.rows)]
        except Exception as error:  # noqa: BLE001 - f is the user's own; whatever it raises belongs on the page
            self.send({**reply, "error": f"{type(error).__name__}: {error}"})
        else:
            self.send(reply, buffers=[packed(x, rows)])

    def _remake(self, content: dict[str, Any]) -> None:
        """Sample another interval, or with other values of the parameters; if that fails, what is shown stays."""
        reply = {"kind": "remade", "id": content.get("id")}
        try:
            if self._remade is None:
                raise ValueError("there is no function to sample")
            lo: Any = content.get("lo")
            hi: Any = content.get("hi")
            given: Any = content.get("values")
            if not isinstance(given, dict) or set(given) != set(self.parameters):
                raise ValueError("the page named parameters that the function does not have")
            if not all(isinstance(value, int | float) and np.isfinite(value) for value in (lo, hi, *given.values())):
                raise ValueError("the page requested samples without a valid interval")
            curves, sample = self._remade(float(lo), float(hi), {name: float(value) for name, value in given.items()})
        except Exception as error:  # noqa: BLE001 - f is the user's own; whatever it raises belongs on the page
            self.send({**reply, "error": f"{type(error).__name__}: {str(error).splitlines()[0]}"})
            return
        self.curves, self._sample = curves, sample
        sliders = {name: [*self.parameters[name][:2], float(value)] for name, value in given.items()}
        with self.hold_sync():
            self.parameters = sliders
            self.facts = facts(curves, live=True)
            self.samples = packed(curves.x, curves.rows)
        self.send(reply)

    def _grid(self, lo: Any, hi: Any, n: Any) -> np.ndarray:
        if not all(isinstance(end, int | float) and np.isfinite(end) for end in (lo, hi)) or not lo < hi:
            raise ValueError("the page requested samples without a valid interval")
        if not isinstance(n, int) or not 2 <= n <= MOST_SAMPLES:
            raise ValueError(f"the page requested {n} samples; at most {MOST_SAMPLES} are allowed")
        return np.linspace(lo, hi, n)
