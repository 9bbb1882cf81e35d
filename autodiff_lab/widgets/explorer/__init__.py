"""Explorer: the recording as a graph to step through, forwards and backwards, as a widget.

The whole recording is sent once, as the payload of `draw.scene`; the state is the integer `step` and the open
scopes, `unfolded`, and the front end (``widget.js``) works out the rest, so that stepping never waits for the kernel.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.layout import SECONDS
from autodiff_lab.draw.measures import Color
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.still import still
from autodiff_lab.draw.thinning import MOST, kept, said
from autodiff_lab.recording.recording import Recording
from autodiff_lab.widgets.base import LabWidget, assets

_BRIEF = 40
"""Steps up to which the text alternative of the widget is the full trace."""
_FOLDER = Path(__file__).parent
_SCRIPT, _STYLE = assets(_FOLDER)


def _sent(payload: dict[str, Any], widget: Any) -> dict[str, Any]:
    """Return the scene as the page gets it: a long one is packed."""
    return {"packed": widget.packed} if widget.packed else payload


class Explorer(LabWidget):
    """Step through a recording.

    Parameters
    ----------
    recording : Recording
        What to show.  Displaying a recording in a notebook makes an explorer of it.
    step : int, optional
        How many steps have been made; by default the forward pass.
    layout_seconds : float
        CPU seconds that Graphviz may take to place all small scopes together, and for each large one.  What takes
        longer is placed in layers.
    ask : bool, optional
        Whether a step of a pass is shown only once the numbers that it computes have been typed. Steps whose results
        are arrays are shown without. Numbers count up to 0.5 %, and up to 1 % if they are rounded to two digits.

    color : mapping, callable or Costs, optional
        A number for each value, by which the nodes are coloured at first: a dict from tensors, variables or names to
        numbers, a function that takes a `TensorRecord` and returns a number or None, or the times of `lab.costs`.
    max_bytes : int, optional
        What it may take in the file of a notebook. A longer recording keeps its whole graph and fewer numbers, and says
        so; None for no limit.

    Attributes
    ----------
    step : int
        From 0 (nothing has run) to the number of steps; values outside are clamped to this range.
    unfolded : list of str
        Paths of the scopes that are open in place, inside the picture around them; of a loop, that of the iteration
        that is shown. They follow the reader, and can be set.  At first the frames of nested tapes are open, and of a
        training loop with few iterations one.
    size : str
        How much it takes in the file of a notebook, and what was left out.
    packed : bytes
        The scene as JSON packed by gzip, empty if it is short.
    ask : bool
        As given.
    solved : int
        The last step whose numbers have been typed.
    passes : list of int
        The backward pass whose gradients the graph shows, or two that are compared; numbers count from 1, as those of
        the page do.  Empty for the latest pass.

    Raises
    ------
    traitlets.TraitError
        If `unfolded` is set to a list with a path in which nothing was recorded; if `passes` has a number that is not
        that of a backward pass, or more than two.
    InvalidArgumentError
        If `color` is neither a dict nor a function, or gives something other than finite numbers and None, or
        `max_bytes` is not a positive number.
    NotInRecording
        If a key of `color` is not in the recording.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab.widgets.explorer import Explorer
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    >>> explorer = Explorer(recording)
    >>> explorer.step = 99
    >>> explorer.step
    1
    """

    _esm = _SCRIPT
    _css = _STYLE
    scene = traitlets.Dict(read_only=True).tag(sync=True, to_json=_sent)
    size = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    unfolded = traitlets.List(traitlets.Unicode()).tag(sync=True)
    ask = traitlets.Bool(False).tag(sync=True)
    solved = traitlets.Int(0).tag(sync=True)
    passes = traitlets.List(traitlets.Int(), maxlen=2).tag(sync=True)

    def __init__(
        self,
        recording: Recording,
        step: int | None = None,
        *,
        layout_seconds: float = SECONDS,
        color: Color | None = None,
        max_bytes: int | None = MOST,
        **traits: Any,
    ) -> None:
        self.recording = recording
        payload = scene(recording, layout_seconds, color)
        if traits.get("ask"):
            payload["measures"].pop("gradient norm", None)  # colours would tell what is asked
        self._payload, self._most = payload, max_bytes
        self._keep(0)
        first = {"step": payload["start"] if step is None else step, "unfolded": payload["open"]}
        super().__init__(**(first | traits))

    @property
    def is_locked(self) -> bool:
        """Whether there are steps that have not been opened."""
        return self.ask and self.solved < len(self.scene["steps"])

    @traitlets.validate("step", "solved")
    def _within_the_steps(self, proposal: Any) -> int:
        return max(0, min(int(proposal["value"]), len(self.scene.get("steps", ()))))

    @traitlets.validate("unfolded")
    def _of_known_scopes(self, proposal: Any) -> list[str]:
        for path in proposal["value"]:
            if path not in self.scene.get("views", {}):
                known = ", ".join(sorted(p for p in self.scene["views"] if p)) or "none"
                raise traitlets.TraitError(f"No op ran in scope {path!r}; the scopes of this recording are: {known}.")
        return proposal["value"]

    @traitlets.validate("passes")
    def _of_backward_passes(self, proposal: Any) -> list[int]:
        known = [sweep.index + 1 for sweep in self.recording.sweeps if not sweep.forward]
        for number in proposal["value"]:
            if number not in known:
                some = f"they are numbered from 1 to {known[-1]}" if known else "there is none"
                raise traitlets.TraitError(f"No backward pass {number} was recorded; {some}.")
        return proposal["value"]

    def account(self) -> str:
        """Return the recording as text; a long one is summed up, and of a locked one only the program is shown."""
        if self.is_locked:
            order = tuple(moment for moment in self.recording.order if moment.phase == "forward")
            ops = replace(self.recording.so_far(), sweeps=(), order=order)
            return f"{ops.to_text(lines=False)}\nEvery further step is a question: type the number that comes next."
        return self.recording.to_text() if len(self.recording.order) <= _BRIEF else repr(self.recording)

    def picture(self) -> str | None:
        """Return the recording as an SVG, a very long one as a summary; None if it is locked."""
        if self.is_locked:
            return None
        picture = still(self.recording)
        self._keep(len(picture))
        return picture

    def _keep(self, besides: int) -> None:
        """Keep as much as the limit allows together with what is kept besides, and say so."""
        if not besides or (self._most is not None and self._kept.size + besides > self._most):
            self._kept = kept(self._payload, self._most, besides)
            self.packed = self._kept.packed
            self.set_trait("scene", self._kept.payload)
        self.size = said(self._kept, self._most, besides, "in the notebook", "recording.explore(max_bytes=None)")
