"""The view of a training: its losses, and step by step the health of every parameter, with what is suspicious first.

The kernel sends plain numbers a few times a second; ``widget.js`` draws them.  The state is which of the observed steps
is shown, and -1 follows the latest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.lines import cut
from autodiff_lab.draw.training import Sample, account, counted, heights, norms, picture, suspects, thinned
from autodiff_lab.widgets.base import LabWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)
MOST_SAMPLES = 60
"""Observed steps that the view can show; of more, some in the middle are left out."""
MOST_ROWS = 200
"""Parameters that the view lists."""


class TrainingView(LabWidget):
    """Losses and health of a training.  Usually made by ``lab.watch_training``.

    Parameters
    ----------
    title : str
        The heading.
    opened : callable, optional
        Called with the number of a step that is to be opened in the explorer.

    Attributes
    ----------
    chosen : int
        Index of the observed step that is shown, -1 for the latest.

    Examples
    --------
    >>> view = TrainingView("Training")
    >>> view.tell([2.0, 1.0], [Sample(1, 2.0)], (1,))
    >>> view.facts["status"]
    '2 steps, 1 observed'
    """

    _esm = _SCRIPT
    _css = _STYLE

    facts = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)

    def __init__(self, title: str = "Training", opened: Callable[[int], None] | None = None) -> None:
        self._opened = opened
        self._losses: Sequence[float] = ()
        self._samples: Sequence[Sample] = ()
        super().__init__(facts={"title": cut(title), "status": "no step yet", **_measured((), (), ())})
        self.on_msg(self._answer)

    def tell(
        self,
        losses: Sequence[float],
        samples: Sequence[Sample],
        recorded: Sequence[int] = (),
        *,
        steps: int | None = None,
        left: float | None = None,
        ended: bool = False,
    ) -> None:
        """Show the present state.

        Parameters
        ----------
        losses : sequence of float
            One for each step.
        samples : sequence of Sample
            The steps that were observed.
        recorded : sequence of int
            Those that can be opened.
        steps : int, optional
            How many there will be.
        left : float, optional
            Seconds left.
        ended : bool
            Whether the training is over.
        """
        self._losses, self._samples = losses, samples
        shown = list(samples)
        while len(shown) > MOST_SAMPLES:
            shown = [*shown[:-10:2], *shown[-10:]] if len(shown) > 12 else shown[-MOST_SAMPLES:]
        self.facts = {
            "title": self.facts["title"],
            "status": _status(len(losses), len(samples), steps, left, ended),
            "done": len(losses) / steps if steps else None,
            "ended": ended,
            **_measured(losses, shown, recorded),
        }

    def account(self) -> str:
        """Return losses, the latest observed step and what is suspicious as text."""
        return account(self._losses, self._samples[-1] if self._samples else None)

    def picture(self) -> str | None:
        """Return the losses as a static SVG."""
        return picture(self._losses, self._samples) if self._losses else None

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        step = content.get("step") if isinstance(content, dict) and content.get("kind") == "open" else None
        if self._opened is not None and isinstance(step, int):
            self._opened(step)


def _measured(losses: Sequence[float], shown: Sequence[Sample], recorded: Sequence[int]) -> dict[str, Any]:
    """Return losses and observed steps as JSON, with the axes that hold them."""
    places, values = thinned(losses)
    return {
        "steps": places,
        "losses": [_json(value) for value in values],
        "samples": [_sample(sample, sample.step in recorded) for sample in shown],
        "heights": asdict(heights(losses)),
        "norms": asdict(norms(shown)),
    }


def _status(done: int, observed: int, steps: int | None, left: float | None, ended: bool) -> str:
    """Return a line such as "120 of 1,000 steps, 12 s left, 13 observed"."""
    of = f"{done:,} of {counted(steps)}" if steps and not ended else counted(done)
    rest = ", ended" if ended else f", {_duration(left)} left" if left is not None else ""
    return f"{of}{rest}, {observed:,} observed"


def _duration(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> _duration(0.4), _duration(75), _duration(7300)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _sample(sample: Sample, recorded: bool) -> dict[str, Any]:
    """Return an observed step as JSON."""
    found = suspects(sample)
    return {
        "step": sample.step,
        "loss": _json(sample.loss),
        "recorded": recorded,
        "rows": [
            [each.name, _json(each.gradient), _json(each.weight), _json(each.change)]
            for each in sample.parameters[:MOST_ROWS]
        ],
        "more": max(0, len(sample.parameters) - MOST_ROWS),
        "units": [[units.name, units.count, units.dead] for units in sample.units[:MOST_ROWS]],
        "suspects": [[suspect.name, suspect.words] for suspect in found[:12]],
        "suspicious": sorted({name for suspect in found for name in suspect.parameters}),
    }


def _json(value: float | None) -> float | str | None:
    """Return a number as JSON has it, and words for what is not finite.

    Examples
    --------
    >>> _json(1.5), _json(float("nan")), _json(None)
    (1.5, 'nan', None)
    """
    return value if value is None or math.isfinite(value) else str(value)
