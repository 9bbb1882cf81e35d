"""Still: a recording of any length as one picture that needs no script, for what cannot run the explorer."""

from __future__ import annotations

from collections import Counter

from autodiff_lab.draw.charts import bars
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import arrange
from autodiff_lab.draw.lines import cut
from autodiff_lab.draw.svg import svg
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.recording.numbers import counted
from autodiff_lab.recording.recording import Recording

MOST_NODES = 100
"""A picture of more nodes cannot be read where it cannot be enlarged."""
LONGEST = 150_000
"""Characters of a picture; one with very many edges is longer."""
ROWS, WIDTH = 8, 40


def still(recording: Recording, themed: bool = True, timeline: Timeline | None = None) -> str:
    """Return the graph at the end of the program or, where that is too large, how often each op ran.

    Parameters
    ----------
    recording : Recording
        Of any length.
    themed : bool
        As for `draw.svg.svg`.
    timeline : Timeline, optional
        That of the recording, if the caller has it already.

    Returns
    -------
    str
        One ``<svg>`` element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.record() as recording:
    ...     y = lab.sin(lab.Variable(0.5, name="x"))
    >>> still(recording)[:4]
    '<svg'
    """
    timeline = timeline or Timeline(recording)
    drawn = graph(recording, timeline=timeline)
    if len(drawn.nodes) <= MOST_NODES:
        try:
            picture = svg(drawn, arrange(drawn), recording, timeline=timeline, themed=themed)
        except LayoutFailed:
            picture = ""
        if picture and len(picture) <= LONGEST:
            return picture
    return summary(recording)


def summary(recording: Recording) -> str:
    """Return a picture of how often each op ran, the most frequent first.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.record(title="twice") as recording:
    ...     y = lab.sin(lab.sin(lab.Variable(0.5)))
    >>> "twice: 2 ops; those that ran most often" in summary(recording)
    True
    """
    forward = recording.forward
    ran = Counter(cut(application.op, WIDTH) for application in forward)
    most = dict(ran.most_common(ROWS))
    told = {name: f"{count:,}" for name, count in most.items()}
    title = f"{cut(recording.title, WIDTH) or 'Recording'}: {counted(len(forward), 'op')}"
    passes = len(recording.sweeps)
    title += f", {passes:,} backward pass{'es' if passes != 1 else ''}" if passes else ""
    return bars(f"{title}; those that ran most often", {name: float(count) for name, count in most.items()}, told)
