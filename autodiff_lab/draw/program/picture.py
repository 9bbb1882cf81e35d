"""The graph of a compiled program, as SVG: ops from left to right, with one outline around those that became one loop.

The outline is drawn behind everything: each member a little larger, each edge between members very thick, first in
the colour of the line and then a little smaller in that of the ground, so that together they are one shape, whatever
the layout.  Nodes carry their position as data, by which the live widget finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw import markup
from autodiff_lab.draw import theme as themes
from autodiff_lab.draw.geometry import HEAD_LENGTH, arrowhead, path, shortened
from autodiff_lab.draw.layout import layout
from autodiff_lab.draw.lines import ARROW, GAP, PAD_X, cut, number_width, text_width
from autodiff_lab.draw.markup import written
from autodiff_lab.draw.model import Edge, Graph, Node

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Box, Layout
    from autodiff_lab.draw.program.model import Item, ProgramView

LONGEST = 24
"""Characters of a label or name."""
HEIGHT = 48.0
ROOM = 24.0
"""Around the picture, for outlines and their titles, in pixels."""
REACH = 12.0
"""The distance between the outline of a loop and its nodes, in pixels."""

STYLE = """
.lab-program { font: 400 14px var(--lab-ui-font); color: var(--lab-ink); }
.lab-program text { fill: var(--lab-ink); }
.lab-program .lab-paper { fill: var(--lab-paper); }
.lab-program .lab-box { fill: var(--lab-paper); stroke: var(--lab-muted); stroke-width: 1.25; }
.lab-program .lab-label { font-weight: 600; }
.lab-program .lab-name { font-weight: 400; }
.lab-program .lab-shape { font: 400 12px var(--lab-code-font); fill: var(--lab-muted); }
.lab-program :is(.lab-argument, .lab-variable) .lab-box { stroke: var(--lab-forward); stroke-width: 1.75; }
.lab-program .lab-constant .lab-box { stroke: var(--lab-hairline); }
.lab-program .lab-back .lab-box { stroke: var(--lab-backward); stroke-dasharray: 5 3; }
.lab-program .lab-edge { fill: none; stroke: var(--lab-forward); stroke-width: 1.5; }
.lab-program .lab-head { fill: var(--lab-forward); }
.lab-program .lab-flow.lab-back .lab-edge { stroke: var(--lab-backward); stroke-dasharray: 5 3; }
.lab-program .lab-flow.lab-back .lab-head { fill: var(--lab-backward); }
.lab-program .lab-rim rect { fill: var(--lab-muted); }
.lab-program .lab-rim path { fill: none; stroke: var(--lab-muted); stroke-width: 22; stroke-linejoin: round; }
.lab-program .lab-ground rect { fill: var(--lab-panel); }
.lab-program .lab-ground path { fill: none; stroke: var(--lab-panel); stroke-width: 20; stroke-linejoin: round; }
.lab-program .lab-title { font-size: 12px; font-weight: 600; paint-order: stroke; }
.lab-program .lab-title { stroke: var(--lab-paper); stroke-width: 4px; stroke-linejoin: round; }
"""


def graph(view: ProgramView) -> Graph:
    """Return the graph of a program; a node is named by its place in the list of items.

    Constants that nothing uses, such as those left over by a pass, are not drawn.
    """
    used = {at for item in view.items for at in item.ins}
    shown = [at for at, item in enumerate(view.items) if item.kind == "op" or at in used]
    nodes = tuple(_node(at, view.items[at]) for at in shown)
    edges = tuple(
        Edge(f"{source}", f"{at}", source, position)
        for at in shown
        for position, source in enumerate(view.items[at].ins)
    )
    return Graph(nodes, edges)


def _node(at: int, item: Item) -> Node:
    label, name = cut(item.label, LONGEST), _name(item)
    first = text_width(label, 14.0, strong=True) + (GAP + text_width(ARROW + name, 14.0) if name else 0.0)
    width = max(first, number_width(_second(item)), 24.0) + 2 * PAD_X
    kind = {"op": "backward op" if item.backward else "op", "constant": "constant"}.get(item.kind, "variable")
    return Node(f"{at}", kind, label, name, width=width, height=HEIGHT)


def _name(item: Item) -> str:
    return cut(item.name, LONGEST) if item.name != item.label else ""


def _second(item: Item) -> str:
    return f"{item.number} {item.shape}" + (f" ×{item.times}" if item.times > 1 else "")


def picture(view: ProgramView, themed: bool = True, theme: str = "auto") -> tuple[str, float, float]:
    """Draw the graph.

    Parameters
    ----------
    view : ProgramView
        What to draw.
    themed : bool
        Whether to include its colours; inside a page that has them this is not necessary.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.

    Returns
    -------
    str, float, float
        One ``<svg>`` element, all text escaped, its width and its height in pixels.

    Raises
    ------
    LayoutFailed
        If the graph is too large to be drawn.

    Examples
    --------
    >>> from autodiff_lab.draw.program.model import Item, ProgramView
    >>> x = Item("argument", "x", "x", "%0", "f32[3]")
    >>> y = Item("op", "sin", "y", "%1", "f32[3]", (0,))
    >>> picture(ProgramView("f", (x, y)))[0][:4]
    '<svg'
    """
    drawn = graph(view)
    placed = layout(drawn)
    width, height = placed.width + 2 * ROOM, placed.height + 2 * ROOM
    inside = [
        f'<g transform="translate({ROOM:g},{ROOM:g})">',
        *(_outline(view, at, drawn, placed) for at in range(len(view.loops))),
        *_edges(view, drawn, placed),
        *(_box(view.items[int(node.key)], node, placed.boxes[node.key]) for node in drawn.nodes),
        *(_title(view, at, placed) for at in range(len(view.loops))),
        "</g>",
    ]
    text = markup.picture(
        "lab-program", STYLE, view.title, view.summary(), width, height, inside, theme=theme, themed=themed
    )
    return text, width, height


def _edges(view: ProgramView, drawn: Graph, placed: Layout) -> list[str]:
    made = []
    for edge, curve in zip(drawn.edges, placed.curves, strict=True):
        back = " lab-back" if view.items[int(edge.target)].backward else ""
        made.append(
            f'<g class="lab-flow{back}" data-source="{edge.source}" data-target="{edge.target}">'
            f'<path class="lab-edge" d="{path(shortened(curve, HEAD_LENGTH - 1))}"/>'
            f'<path class="lab-head" d="{arrowhead(curve)}"/></g>'
        )
    return made


def _box(item: Item, node: Node, box: Box) -> str:
    back = " lab-back" if item.backward else ""
    radius = themes.RADIUS if item.kind == "op" else box.height / 2
    name = f'<tspan class="lab-name" dx="{GAP}">{written(ARROW + node.name)}</tspan>' if node.name else ""
    return (
        f'<g class="lab-node lab-{item.kind}{back}" data-at="{node.key}" transform="translate({box.x:g},{box.y:g})">'
        f'<rect class="lab-box" x="{-box.width / 2:g}" y="{-box.height / 2:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="{radius:g}"/>'
        f'<text class="lab-label" y="-4" text-anchor="middle">{written(node.label)}{name}</text>'
        f'<text class="lab-shape" y="15" text-anchor="middle">{written(_second(item))}</text></g>'
    )


def _outline(view: ProgramView, at: int, drawn: Graph, placed: Layout) -> str:
    members = {f"{i}" for i in view.loops[at].items} & placed.boxes.keys()
    inner = [
        path(curve)
        for edge, curve in zip(drawn.edges, placed.curves, strict=True)
        if edge.source in members and edge.target in members
    ]
    lines = "".join(f'<path d="{line}"/>' for line in inner)
    layers = (("lab-rim", REACH), ("lab-ground", REACH - 1.0))
    parts = [
        f'<g class="{css}">{"".join(_grown(placed.boxes[key], reach) for key in sorted(members))}{lines}</g>'
        for css, reach in layers
    ]
    return f'<g class="lab-loop" data-loop="{at}">{"".join(parts)}</g>'


def _grown(box: Box, reach: float) -> str:
    x, y = box.x - box.width / 2 - reach, box.y - box.height / 2 - reach
    width, height = box.width + 2 * reach, box.height + 2 * reach
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{themes.RADIUS + reach:g}"/>'


def _title(view: ProgramView, at: int, placed: Layout) -> str:
    """Return the name of a loop, placed above its topmost node, where the loop draws nothing else."""
    boxes = [placed.boxes[f"{i}"] for i in view.loops[at].items if f"{i}" in placed.boxes]
    if not boxes:
        return ""
    top = min(boxes, key=lambda box: (box.y - box.height / 2, box.x))
    x, y = top.x - top.width / 2, top.y - top.height / 2 - REACH - 6
    return f'<text class="lab-title" data-loop="{at}" x="{x:g}" y="{y:g}">{written(view.loops[at].title)}</text>'
