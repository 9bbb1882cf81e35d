"""One node of a static picture: its box, its lines of text, and the marks of failure, sums and the present moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.cells import draw_cells, empty_cells, pictured
from autodiff_lab.draw.lines import (
    CURVE,
    FAILED,
    FIRST_LINE,
    GAP,
    LINE,
    NO_PATH,
    PAD_X,
    PAD_Y,
    SLASH_ROOM,
    SLOT_GAP,
    NodeLines,
    node_lines,
    number_width,
    text_room,
    tip,
)
from autodiff_lab.draw.markup import written
from autodiff_lab.draw.series import heights
from autodiff_lab.draw.theme import RADIUS

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Box, Node
    from autodiff_lab.draw.timeline import Timeline
    from autodiff_lab.recording.snapshot import Snapshot


def draw_node(node: Node, box: Box, timeline: Timeline, moment: int | None, shown: frozenset[str]) -> str:
    """Draw a node around its centre, with its full details as a tooltip."""
    lines = node_lines(node, timeline, moment)
    now = is_now(node, timeline, moment)
    classes = ["lab-node", f"lab-{node.kind.replace(' ', '-')}"]
    classes += ["lab-outside"] if node.outside else []
    classes += ["lab-now"] if now else []
    classes += ["lab-to-come"] if lines.value_state == "pending" and not now else []
    return "".join([
        f'<g class="{" ".join(classes)}" transform="translate({box.x:g},{box.y:g})">',
        f"<title>{written(tip(node, timeline.recording))}</title>",
        _box(node, box),
        *_text(lines, shown, CURVE + GAP if node.series else 0, snapshots(node, timeline, moment)),
        *_curves(node, box),
        _plus(node, box, timeline, moment) if "gradients" in shown else "",
        "</g>",
    ])  # fmt: skip


def is_now(node: Node, timeline: Timeline, moment: int | None) -> bool:
    """Return whether a moment happens in this node."""
    order = timeline.recording.order
    if moment is None or not 0 <= moment < len(order):
        return False
    here = order[moment].application
    return here == node.application or here in node.members


def draw_halo(node: Node, box: Box, timeline: Timeline, moment: int | None) -> str:
    """Draw the mark of the present moment around a node; empty for every other node."""
    return _rectangle("lab-halo", node, box, grown=4.0, centre=(box.x, box.y)) if is_now(node, timeline, moment) else ""


def _box(node: Node, box: Box) -> str:
    behind = _rectangle("lab-box", node, box, grown=-4.0, centre=(0.0, 8.0)) if node.members else ""
    return behind + _rectangle("lab-box", node, box)


def _rectangle(kind: str, node: Node, box: Box, grown: float = 0.0, centre: tuple[float, float] = (0.0, 0.0)) -> str:
    width, height = box.width + 2 * grown, box.height + 2 * grown
    radius = (18.0 if node.kind == "variable" else RADIUS) + grown
    x, y = centre[0] - width / 2, centre[1] - height / 2
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"/>'


def snapshots(node: Node, timeline: Timeline, moment: int | None) -> list[Snapshot | None]:
    """Return what a node pictures: its value and its gradient, each None where it is not known yet."""
    if not node.tensors:
        return [None, None]
    records, tensor = timeline.recording.tensors, node.tensors[0]
    gradient = timeline.gradient(tensor, moment).tensor
    value = records[tensor].snapshot if timeline.has_value(tensor, moment) else None
    return [value, None if gradient is None else records[gradient].snapshot]


def _pictures(lines: NodeLines, shown: frozenset[str], top: float, values: list[Snapshot | None]) -> list[str]:
    """Return the pictures of a value and its gradient, side by side or, of single rows, below each other."""
    width, height = lines.picture or (0.0, 0.0)
    texts = {"value": lines.value, "gradient": lines.gradient}
    roles = ["value", "gradient"] if lines.gradient_state != "none" else ["value"]
    rooms = {
        role: width if known is not None and pictured(known) else max(width, text_room(texts[role]))
        for role, known in zip(("value", "gradient"), values, strict=True)
    }
    whole = sum(rooms[role] for role in roles) + SLOT_GAP * (len(roles) - 1)
    left, drawn = -whole / 2, list[str]()
    for row, role in enumerate(roles):
        known = values[0 if role == "value" else 1]
        x = -rooms[role] / 2 if lines.stacked else left
        y = top + FIRST_LINE + (LINE * row if lines.stacked else 0)
        left += rooms[role] + SLOT_GAP
        if f"{role}s" not in shown:  # its room is kept
            continue
        if known is not None and pictured(known):
            drawn.append(draw_cells(known, x, y + (4 if lines.stacked else 1), f"lab-{role}"))
        elif role == "value" and lines.value_state == "pending":
            drawn.append(empty_cells(x, y + (4 if lines.stacked else 1), width, height))
        else:
            middle, kind = x + rooms[role] / 2, _gradient_class(lines) if role == "gradient" else _value_class(lines)
            line = y + (13 if lines.stacked else height / 2 + 5)
            struck = texts[role] == NO_PATH
            text = f'<text class="lab-number {kind}" x="{middle + struck * SLASH_ROOM / 2:g}" y="{line:g}" '
            drawn.append(f'{text}text-anchor="middle">{written(texts[role])}</text>')
            drawn += [_struck(middle - number_width(NO_PATH) / 2, line - 4)] if struck else []
    return drawn


def _text(lines: NodeLines, shown: frozenset[str], below: float, values: list[Snapshot | None]) -> list[str]:
    """Return the lines of text, and pictures of tensors, centred with the room that is kept `below` them."""
    name = lines.name if "names" in shown else ""
    shape = lines.shape if "shapes" in shown else ""
    rows: list[tuple[str, str]] = []
    if lines.picture:
        tall = 1 if lines.stacked and lines.gradient_state == "none" else 2
        top = -(FIRST_LINE + LINE * tall + below) / 2
        head = _head(NodeLines(lines.label, name, lines.count, shape), top + 15)
        return [head, *_pictures(lines, shown, top, values)]
    if lines.value and "values" in shown:
        rows.append((lines.value, _value_class(lines)))
    if lines.gradient_state != "none" and "gradients" in shown:
        rows.append((lines.gradient, _gradient_class(lines)))
    top = -(FIRST_LINE + LINE * len(rows) + below) / 2
    drawn = [_head(NodeLines(lines.label, name, lines.count, shape), top + 15)]
    for number, (text, kind) in enumerate(rows):
        y = top + FIRST_LINE + LINE * number + 13
        struck = text in (NO_PATH, FAILED)
        x = SLASH_ROOM / 2 if struck else 0
        drawn.append(f'<text class="lab-number {kind}" x="{x:g}" y="{y:g}" text-anchor="middle">{written(text)}</text>')
        if struck:
            drawn.append(_struck(-number_width(text) / 2, y - 4))
    return drawn


def _curves(node: Node, box: Box) -> list[str]:
    """Return what a loop computes as small curves over its iterations: the value solid, its gradient dashed."""
    left, width = -box.width / 2 + PAD_X, box.width - 2 * PAD_X
    bottom = box.height / 2 - PAD_Y
    drawn = []
    for series in node.series:
        known = [(n, height) for n, height in enumerate(heights(series.numbers)) if height is not None]
        step = width / max(len(series.numbers) - 1, 1)
        points = " ".join(f"{left + n * step:.1f},{bottom - CURVE * height / 100:.1f}" for n, height in known)
        drawn.append(f'<polyline class="lab-series lab-series-{series.kind}" points="{points}"/>')
    return drawn


def _head(lines: NodeLines, y: float) -> str:
    """Return the first line in parts, centred as one: label, name, count of ops, shape."""
    parts = [written(lines.label)]
    if lines.name:
        parts.append(f'<tspan class="lab-name" dx="{GAP}">{written(lines.leads_to)}</tspan>')
    if lines.count:
        parts.append(f'<tspan class="lab-count lab-muted" dx="{GAP}">{lines.count}</tspan>')
    if lines.shape:
        parts.append(f'<tspan class="lab-number lab-muted" dx="{GAP}">{written(lines.shape)}</tspan>')
    return f'<text class="lab-label" y="{y:g}" text-anchor="middle">{"".join(parts)}</text>'


def _value_class(lines: NodeLines) -> str:
    return {"pending": "lab-pending", "failed": "lab-cut"}.get(lines.value_state, _finite(lines.value, "lab-value"))


def _gradient_class(lines: NodeLines) -> str:
    states = {"pending": "lab-pending", "no path": "lab-cut"}
    return states.get(lines.gradient_state, _finite(lines.gradient, "lab-gradient"))


def _finite(text: str, kind: str) -> str:
    return "lab-cut" if "nan" in text or "inf" in text else kind


def _struck(x: float, y: float) -> str:
    """Return a small slash before the words "no path" and "failed", which therefore do not depend on colour."""
    return f'<path class="lab-slash" d="M{x - 4:g},{y + 5:g}L{x + 2:g},{y - 5:g}"/>'


def _plus(node: Node, box: Box, timeline: Timeline, moment: int | None) -> str:
    """Return the mark of a sum where several contributions meet."""
    if not node.tensors or node.members:
        return ""
    gradient = timeline.gradient(node.tensors[0], moment)
    if gradient.expected < 2:
        return ""
    x, y = box.width / 2, box.height / 2
    state = "" if gradient.arrived else " lab-to-come"
    return (
        f'<g class="lab-sum{state}"><circle class="lab-plus" cx="{x - 6:g}" cy="{y:g}" r="6"/>'
        f'<path class="lab-plus" d="M{x - 9:g},{y:g}h6M{x - 6:g},{y - 3:g}v6"/></g>'
    )
