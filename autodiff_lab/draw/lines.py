"""The text on a node: what it says, and the room it takes.

The static picture and the explorer both show the lines that `node_lines` gives, and `node_size` keeps room for the
longest that a node will ever show, so that nothing moves while stepping. Widths are estimates (there is no font
here to measure with) and err on the wide side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab.draw.cells import ROW_HEIGHT, pictured
from autodiff_lab.draw.naming import described
from autodiff_lab.recording.numbers import SHOWN, brief, counted, dimensions, short
from autodiff_lab.recording.text import written

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Node
    from autodiff_lab.draw.timeline import Gradient, Timeline
    from autodiff_lab.recording.model import Application
    from autodiff_lab.recording.recording import Recording
    from autodiff_lab.recording.snapshot import Snapshot

MINUS = "\N{MINUS SIGN}"
PENDING = "\N{HORIZONTAL ELLIPSIS}"
"""The mark for "not computed yet"; zero is ``0``, and "no path" is written out."""
CUT = "\N{TWO DOT LEADER}"
"""The end of a name or text that was cut; `PENDING` means one thing only."""
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Of emoji and of several scripts; every other character that cannot be shown is `UNKNOWN`."""
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
NO_PATH = "no path"
FAILED = "failed"

NUMBER_WIDTH = 32
"""Characters beyond which a value is cut on a node; the tooltip has all of it."""
LABEL_WIDTH = 24
NAME_WIDTH = 10
"""Characters of the name of a folded scope's result."""
PAD_X, PAD_Y, GAP = 12, 8, 6
SLOT_GAP = 10
"""Between the pictures of a value and of its gradient."""
LINE, FIRST_LINE = 17, 20
SLASH_ROOM = 12.0
"""Room for the slash before a word."""
LEAST_WIDTH = 48.0
CURVE = 22
"""Height of the curve in the node of a loop."""
TIMES = "\N{MULTIPLICATION SIGN}"
ARROW = "\N{RIGHTWARDS ARROW} "


@dataclass(frozen=True, slots=True)
class NodeLines:
    """What a node shows at a moment; an empty line shows nothing.  `count` says how many ops a scope holds.

    A value with a `picture`, of this width and height, is pictured where otherwise its line would stand, and so is its
    gradient. `value_state` is 'known', 'pending' or 'failed'; `gradient_state` as in `Gradient`; the texts already say
    so in words or marks, and the states let a picture draw a slash or a lighter ink.
    """

    label: str
    name: str = ""
    count: str = ""
    shape: str = ""
    value: str = ""
    gradient: str = ""
    value_state: str = "known"
    gradient_state: str = "none"
    picture: tuple[float, float] | None = None

    @property
    def leads_to(self) -> str:
        """The name behind an arrow, unless the label ends with one: ``Σ→ y``."""
        return self.name if not self.name or self.label.endswith(ARROW[0]) else ARROW + self.name

    @property
    def stacked(self) -> bool:
        """Whether the picture of the gradient is below that of the value, because both are single rows."""
        return self.picture is not None and self.picture[1] <= ROW_HEIGHT


def node_lines(node: Node, timeline: Timeline, moment: int | None = None) -> NodeLines:
    """Return the text lines of a node after a moment, or at the end of the program.

    Parameters
    ----------
    node : Node
        A node of a graph of the timeline's recording.
    timeline : Timeline
        Made once for a recording.
    moment : int, optional
        Index into ``recording.order``.
    """
    recording = timeline.recording
    label, name = cut(node.label, LABEL_WIDTH), cut(node.name, LABEL_WIDTH)
    count = _count(node)
    if node.kind == "failed":
        known = node.application is None or timeline.has_run(node.application, moment)
        return NodeLines(label, name, count, "", FAILED if known else PENDING, "", "failed" if known else "pending")
    if len(node.tensors) > 1 and node.members:
        return NodeLines(label, name, count, "", f"{len(node.tensors)} results")
    if not node.tensors:
        return NodeLines(label, name, count)
    tensor = node.tensors[0]
    snapshot = recording.tensors[tensor].snapshot
    shape = "" if len(node.tensors) > 1 else dimensions(snapshot.shape)
    told = recording.tensors[tensor].name if node.members else None
    picture = pictured(snapshot)
    if picture and told:
        name, told = cut(told, NAME_WIDTH), None
    value, state = (f"{cut(told, NAME_WIDTH)} {PENDING}" if told and node.turns else PENDING), "pending"
    if timeline.has_value(tensor, moment):
        value, state = number(snapshot), "known"
        value = f"{cut(told, NAME_WIDTH)} {value}" if told else value
    if value == node.label and node.kind == "constant":
        value = ""
    gradient = timeline.gradient(tensor, moment)
    known = gradient_text(gradient, recording)
    return NodeLines(label, name, count, shape, value, known, state, gradient.state, picture)


def _count(node: Node) -> str:
    """Return how many ops a scope holds, how often a loop runs, or how many leaves a node stands for."""
    if node.turns or node.times > 1:
        return f"{TIMES}{len(node.turns) or node.times}"
    return f"{len(node.members)} op{'s' if len(node.members) != 1 else ''}" if node.members else ""


def gradient_text(gradient: Gradient, recording: Recording) -> str:
    """Return a gradient in one short line: the number, or the mark for why there is none."""
    if gradient.tensor is not None:
        return number(recording.tensors[gradient.tensor].snapshot)
    return {"pending": PENDING, "no path": NO_PATH}.get(gradient.state, "")


def number(snapshot: Snapshot) -> str:
    """Return a value short enough for a node; its shape is shown elsewhere and not repeated here.

    Many elements are summarized by `bulk`.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> number(snapshot(np.array([0.12345, -0.5, 12.0, 1e-9, 4.0])))
    '[0.1235, −0.5, 12, 1e−9, 4]'
    """
    return shortened(bulk(snapshot), snapshot)


def shortened(summary: str, snapshot: Snapshot) -> str:
    """Return the summary that `bulk` made of a value, or its elements where it made none, short enough for a node."""
    text = summary or brief(snapshot, minus=MINUS).removesuffix(" " + dimensions(snapshot.shape))
    if len(text) <= NUMBER_WIDTH:
        return text
    if not text.startswith("[") or snapshot.array is None:
        return cut(text, NUMBER_WIDTH)
    for digits in (3, 2):  # a few elements with fewer digits say more than some of them
        text = brief(snapshot, digits, MINUS)
        if len(text) <= NUMBER_WIDTH:
            return text
    numbers = np.asarray(snapshot.array)
    if numbers.dtype.kind in "fiu" and np.isfinite(numbers).all():
        return _bulk_of(numbers.ravel().astype(np.float64).tolist())
    return cut(text, NUMBER_WIDTH)


def bulk(snapshot: Snapshot) -> str:
    """Return many numbers in one short line of words: their mean and their standard deviation, the spread.

    Values and gradients read alike. Where only extremes were kept, the range stands in. Empty for few elements, for nan
    and for anything that is not a float.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> values = snapshot(np.array([3.0, -3.0, 3.0, -3.0, 3.0, -3.0, 3.0, -3.0]))
    >>> bulk(values), bulk(snapshot(np.ones(9)))
    ('mean 0, spread 3', 'all 1')
    >>> bulk(snapshot(np.linspace(-2.0, 1.0, 500)))
    'from −2 to 1'
    """
    if snapshot.size <= SHOWN or not snapshot.dtype.startswith("float"):
        return ""
    if snapshot.summary is None:
        numbers = np.asarray(snapshot.array).ravel().tolist()
        return _bulk_of(numbers) if all(map(math.isfinite, numbers)) else ""
    if not snapshot.finite:
        return ""
    low, high = snapshot.summary.minimum, snapshot.summary.maximum
    if low is None or high is None or low == high:
        return "" if low is None else f"all {short(low, minus=MINUS)}"
    return f"from {short(low, 3, MINUS)} to {short(high, 3, MINUS)}"


def _bulk_of(numbers: list[float]) -> str:
    """Summarize some dozens of numbers: Python is quicker with them than NumPy."""
    if min(numbers) == max(numbers):
        return f"all {short(numbers[0], minus=MINUS)}"
    mean = math.fsum(numbers) / len(numbers)
    spread = math.hypot(*[number - mean for number in numbers]) / math.sqrt(len(numbers))
    # A mean of 0 with rounding noise is not worth showing.
    mean = 0.0 if abs(mean) < 1e-6 * spread else mean
    return f"mean {short(mean, 2, MINUS)}, spread {short(spread, 2, MINUS)}"


def cut(text: str, most: int = 40) -> str:
    """Return a text in one line of limited length, without characters that cannot be shown."""
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in JOINERS else UNKNOWN for c in text)
    return text if len(text) <= most else text[: most - 1] + CUT


def tip(node: Node, recording: Recording) -> str:
    """Return the tooltip of a node: its op, parameters, source line and full values, one line each."""
    told = []
    if node.application is not None:
        told += _about(recording.applications[node.application], recording)
    if node.kind == "scope":
        told.append(f"scope {node.key[1:]}: {counted(len(node.members), 'op')}")
    if node.turns:
        told.append(f"{node.label}: {len(node.turns)} iterations, {counted(len(node.members), 'op')}")
    for tensor in node.tensors:
        record = recording.tensors[tensor]
        kind = "" if record.kind == "output" else f"{record.kind} "
        shape = f" {dimensions(record.snapshot.shape)}" if record.snapshot.shape else ""
        told.append(f"{kind}{described(recording, tensor)}: {record.snapshot.dtype}{shape} = {_whole(record.snapshot)}")
        if node.application is None and record.place is not None:
            told.append(_line(recording, record.place))
    return "\n".join(told)


def _about(application: Application, recording: Recording) -> list[str]:
    inputs = ", ".join(described(recording, tensor) for tensor in application.inputs)
    params = "".join(f", {key}={written(value)}" for key, value in (application.params or {}).items())
    told = [cut(f"{application.op}({inputs}{params})", 200)]
    if application.place is not None:
        told.append(_line(recording, application.place))
    if application.error is not None:
        told.append(f"failed: {application.error}")
    return told


def _line(recording: Recording, place: tuple[str, int]) -> str:
    line = recording.line(place)
    return f"{recording.where(place)}: {line}" if line else recording.where(place)


def _whole(snapshot: Snapshot) -> str:
    if snapshot.array is None or snapshot.size > NUMBER_WIDTH:
        return brief(snapshot)
    return np.array2string(np.asarray(snapshot.array), separator=", ")


def node_size(node: Node, timeline: Timeline) -> tuple[float, float]:
    """Return the width and height, in pixels, that hold every line this node ever shows."""
    lines = node_lines(node, timeline)
    width = head_width(lines)
    texts = [(text, text_room(text)) for text in (lines.value, *_gradients(node, timeline))]
    if lines.picture:
        picture, grown = lines.picture[0], max((room for _, room in texts[1:]), default=0.0)
        beside = SLOT_GAP + max(picture, grown) if lines.gradient_state != "none" else 0.0
        width = max(width, grown, picture) if lines.stacked else max(width, picture + beside)
    else:
        width = max(width, *(room for _, room in texts))
    rows = (lines.value != "") + (lines.gradient_state != "none")
    rows = 2 if lines.picture and not lines.stacked else rows
    height = 2 * PAD_Y + FIRST_LINE + rows * LINE + (CURVE + GAP if node.series else 0)
    return max(LEAST_WIDTH, width + 2 * PAD_X), float(height)


def _gradients(node: Node, timeline: Timeline) -> list[str]:
    if not node.tensors:
        return []
    tensor, records = node.tensors[0], timeline.recording.tensors
    arrivals = timeline.arrivals.get(tensor, ())
    totals = [records[arrival.total].snapshot for arrival in arrivals if arrival.total in records]
    picture = pictured(records[tensor].snapshot)
    # A gradient is pictured where its value is; a pass may be chosen that does not come here.
    shown = [PENDING if picture and pictured(total) else number(total) for total in totals]
    passes = len(timeline.recording.sweeps) if timeline.stepped else 0
    if 1 < passes != len({arrival.sweep for arrival in arrivals}) and tensor in timeline.overlapping:
        shown.append(NO_PATH)
    return shown or [gradient_text(timeline.gradient(tensor), timeline.recording)]


def text_room(text: str) -> float:
    """Return the width of a line of a node, with the slash before some words."""
    return number_width(text) + (SLASH_ROOM if text in (FAILED, NO_PATH) else 0.0)


def head_width(lines: NodeLines) -> float:
    """Return the width of the first line: label, name and shape side by side."""
    width = text_width(lines.label, 14.0, strong=True)
    if lines.name:
        width += GAP + text_width(lines.leads_to, 14.0)
    if lines.count:
        width += GAP + text_width(lines.count, 12.0)
    return width + (GAP + number_width(lines.shape) if lines.shape else 0.0)


def number_width(text: str) -> float:
    """Return the width of a text in the code font, 12 px: every character is as wide as a digit."""
    return 7.3 * len(text)


def text_width(text: str, size: float, strong: bool = False) -> float:
    """Estimate the width of a text in the host's font.

    Examples
    --------
    >>> text_width("ill", 14.0) < text_width("WWW", 14.0)
    True
    """
    return size * (1.08 if strong else 1.0) * sum(map(_em, text))


def _em(character: str) -> float:
    if character in "iljtfrI.,:;|!'()[] ":
        return 0.38
    if character in "mwMW@%" or ord(character) >= 0x1100:
        return 1.0
    return 0.72 if character.isupper() else 0.62
