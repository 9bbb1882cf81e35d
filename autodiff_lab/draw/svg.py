"""Graph, layout and recording to a static SVG: a picture that needs no script, no network and no kernel.

It is drawn from the same graph, layout and lines of text as the explorer.  Colours are custom properties of the root
element, so that one file suits light, dark, print and forced colours; every class begins with ``lab-`` and there are
no ids, because several pictures may stand in one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.account import account, heading, position
from autodiff_lab.draw.geometry import HEAD_LENGTH, arrowhead, backward, path, shortened
from autodiff_lab.draw.lines import cut, text_width
from autodiff_lab.draw.markup import picture, written
from autodiff_lab.draw.nodes import draw_halo, draw_node
from autodiff_lab.draw.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autodiff_lab.draw.geometry import Curve
    from autodiff_lab.draw.model import Edge, Graph, Layout
    from autodiff_lab.recording.recording import Recording

CAPTION = 32.0
"""Pixels above the picture for its title and position."""
LEAST_WIDTH = 160.0
TITLE_LENGTH = 60
MARGIN = 16
PARTS = frozenset({"values", "gradients", "shapes", "names"})
"""What can be shown or left out."""
SHOWN = frozenset({"values", "gradients", "names"})

_STYLE = """
.lab-picture { font-family: var(--lab-ui-font); font-size: 14px; color: var(--lab-ink); max-width: 100%; height: auto; }
.lab-picture text { fill: var(--lab-ink); }
.lab-paper { fill: var(--lab-paper); }
.lab-caption { font-weight: 600; }
.lab-picture .lab-muted { fill: var(--lab-muted); }
.lab-edge { fill: none; stroke: var(--lab-forward); stroke-width: 1.5; }
.lab-head { fill: var(--lab-forward); }
.lab-back .lab-edge { stroke: var(--lab-backward); stroke-dasharray: 5 3; }
.lab-back .lab-head { fill: var(--lab-backward); }
.lab-assigned .lab-edge { stroke: var(--lab-muted); stroke-width: 1; stroke-dasharray: 1 4; }
.lab-assigned .lab-head { fill: var(--lab-muted); }
.lab-to-come { opacity: 0.45; }
.lab-box { fill: var(--lab-paper); stroke: var(--lab-muted); stroke-width: 1.25; }
.lab-variable .lab-box { fill: var(--lab-panel); stroke: var(--lab-forward); }
.lab-constant .lab-box { fill: var(--lab-panel); stroke: var(--lab-hairline); }
.lab-node.lab-gradient .lab-box { fill: var(--lab-panel); stroke: var(--lab-backward); stroke-dasharray: 5 3; }
.lab-outside .lab-box { stroke-dasharray: 2 3; }
.lab-failed .lab-box { stroke: var(--lab-cut); stroke-width: 2; }
.lab-halo { fill: none; stroke: var(--lab-now); stroke-width: 6; }
.lab-now .lab-box { stroke: var(--lab-ink); stroke-width: 2; }
.lab-label { font-weight: 600; }
.lab-name, .lab-picture .lab-count, .lab-picture .lab-number { font-weight: 400; }
.lab-picture .lab-count { font-size: 12px; }
.lab-picture .lab-number { font-family: var(--lab-code-font); font-size: 12px; font-variant-numeric: tabular-nums; }
.lab-picture .lab-value { fill: var(--lab-forward); }
.lab-picture .lab-gradient { fill: var(--lab-backward); }
.lab-picture .lab-pending { fill: var(--lab-muted); }
.lab-picture .lab-cut { fill: var(--lab-cut); }
.lab-cells path { fill: var(--lab-forward); stroke: none; }
.lab-cells.lab-gradient path { fill: var(--lab-backward); }
.lab-level-1 { fill-opacity: 0.2; }
.lab-level-2 { fill-opacity: 0.4; }
.lab-level-3 { fill-opacity: 0.6; }
.lab-level-4 { fill-opacity: 0.8; }
.lab-cells .lab-level-bad { fill: none; stroke: var(--lab-cut); }
.lab-frame { fill: none; stroke: var(--lab-hairline); }
.lab-cells.lab-gradient .lab-frame { stroke-dasharray: 3 2; stroke: var(--lab-backward); }
.lab-cells.lab-pending .lab-frame { stroke-dasharray: 1 3; stroke: var(--lab-muted); }
.lab-series { fill: none; stroke: var(--lab-forward); stroke-width: 1.5; stroke-linejoin: round; }
.lab-series-gradient { stroke: var(--lab-backward); stroke-dasharray: 4 2; }
.lab-slash { stroke: var(--lab-cut); stroke-width: 1.5; fill: none; }
.lab-plus { fill: var(--lab-paper); stroke: var(--lab-backward); stroke-width: 1.25; }
@media print { .lab-picture { print-color-adjust: exact; } }
"""


def svg(
    graph: Graph,
    layout: Layout,
    recording: Recording,
    moment: int | None = None,
    theme: str = "auto",
    show: Iterable[str] = SHOWN,
    timeline: Timeline | None = None,
    themed: bool = True,
) -> str:
    """Draw a recording as a static picture.

    Parameters
    ----------
    graph, layout : Graph, Layout
        What to draw, and where.
    recording : Recording
        The values, and what has happened when.
    moment : int, optional
        Index into ``recording.order``: the state after it is drawn, with a halo around where it happened.  By default
        the end of the program.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.
    show : iterable of str
        Any of ``"values"``, ``"gradients"``, ``"shapes"`` and ``"names"``.
    timeline : Timeline, optional
        That of the recording, if the caller has it already.
    themed : bool
        Whether to include its colours; inside a page that has them this is not necessary.

    Returns
    -------
    str
        One ``<svg>`` element, all text escaped.

    Raises
    ------
    ValueError
        For an unknown theme or part.

    Examples
    --------
    >>> from autodiff_lab.draw.layout import layout
    >>> from autodiff_lab.draw.model import Graph
    >>> from autodiff_lab.recording.recording import Recording
    >>> empty = Recording({}, {}, ())
    >>> svg(Graph((), ()), layout(Graph((), ())), empty)[:4]
    '<svg'
    """
    shown = frozenset(show)
    if not shown <= PARTS:
        raise ValueError(f"show: expected only {', '.join(sorted(PARTS))}, got {sorted(shown - PARTS)}.")
    timeline = timeline or Timeline(recording)
    title, where = cut(recording.title, TITLE_LENGTH), position(recording, moment)
    caption = CAPTION if title or where else 0.0
    told = text_width(title, 14.0, strong=True) + text_width(where, 14.0) + 3 * MARGIN
    width, height = max(layout.width, told if caption else 0.0, LEAST_WIDTH), layout.height + caption
    inside = [
        _caption(title, where, width),
        f'<g transform="translate(0,{caption:g})">',
        *(draw_halo(node, layout.boxes[node.key], timeline, moment) for node in graph.nodes),
        *_edges(graph, layout, timeline, moment, gradients="gradients" in shown),
        *(draw_node(node, layout.boxes[node.key], timeline, moment, shown) for node in graph.nodes),
        "</g>",
    ]
    spoken = account(graph, timeline, moment)
    return picture("lab-picture", _STYLE, heading(recording), spoken, width, height, inside, theme, themed)


def _caption(title: str, where: str, width: float) -> str:
    told = f'<text class="lab-caption" x="{MARGIN}" y="22">{written(title)}</text>' if title else ""
    if where and title:
        told += f'<text class="lab-muted" x="{width - MARGIN:g}" y="22" text-anchor="end">{where}</text>'
    elif where:
        told += f'<text class="lab-muted" x="{MARGIN}" y="22">{where}</text>'
    return told


def _edges(graph: Graph, layout: Layout, timeline: Timeline, moment: int | None, gradients: bool) -> list[str]:
    nodes = {node.key: node for node in graph.nodes}
    drawn = []
    for edge, curve in zip(graph.edges, layout.curves, strict=True):
        target = nodes[edge.target]
        if edge.kind == "carried":
            drawn.append(_line(curve, "lab-forth", timeline.has_value(edge.tensor, moment)))
            continue
        if edge.kind != "value":
            if edge.kind == "assigned" or gradients:
                kind = "lab-assigned" if edge.kind == "assigned" else "lab-back"
                drawn.append(_line(curve, kind, timeline.has_value(edge.tensor, moment)))
            continue
        members = target.members if target.application is None else (target.application,)
        done = any(timeline.has_run(member, moment) for member in members)
        drawn.append(_line(curve, "lab-forth", done))
        passed = _passed(edge, members, timeline, moment) if gradients else None
        if passed is not None:
            drawn.append(_line(backward(curve), "lab-back", moment is None or passed <= moment))
    return drawn


def _passed(edge: Edge, members: tuple[int, ...], timeline: Timeline, moment: int | None) -> int | None:
    """Return when a contribution came back along an edge, None if none does."""
    if edge.target.startswith("a"):
        return timeline.flow_moment(members[0], edge.position, moment)
    readers = frozenset(members).intersection(timeline.scopes.readers.get(edge.tensor, ()))
    moments = (timeline.flow_moment_into(reader, edge.tensor, moment) for reader in readers)
    return max((at for at in moments if at is not None), default=None)


def _line(curve: Curve, kind: str, done: bool) -> str:
    state = "" if done else " lab-to-come"
    line, head = path(shortened(curve, HEAD_LENGTH - 1)), arrowhead(curve)
    return f'<g class="{kind}{state}"><path class="lab-edge" d="{line}"/><path class="lab-head" d="{head}"/></g>'
