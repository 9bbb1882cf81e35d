"""One node of a static picture: its box, its lines of text, and the marks of failure, sums and the present moment."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from autodiff_lab.draw.lines import (
    ARROW,
    FIRST_LINE,
    GAP,
    LINE,
    NO_PATH,
    NodeLines,
    head_width,
    node_lines,
    number_width,
    text_width,
    tip,
)
from autodiff_lab.draw.theme import RADIUS

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Box, Node
    from autodiff_lab.draw.timeline import Timeline

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def written(text: str) -> str:
    """Return text of any origin as it may stand in XML: escaped, without the characters that XML forbids.

    Examples
    --------
    >>> written('<b>&"\\x00')
    '&lt;b&gt;&amp;&quot;�'
    """
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def draw_node(node: Node, box: Box, timeline: Timeline, moment: int | None, shown: frozenset[str]) -> str:
    """Draw a node around its centre, with its whole story as a title that a pointer shows."""
    lines = node_lines(node, timeline, moment)
    now = _is_now(node, timeline, moment)
    classes = ["lab-node", f"lab-{node.kind.replace(' ', '-')}"]
    classes += ["lab-outside"] if node.outside else []
    classes += ["lab-now"] if now else []
    classes += ["lab-to-come"] if lines.value_state == "pending" and not now else []
    return "".join([
        f'<g class="{" ".join(classes)}" transform="translate({box.x:g},{box.y:g})">',
        f"<title>{written(tip(node, timeline.recording))}</title>",
        *_box(node, box, now),
        *_text(lines, shown),
        _slash(box) if lines.value_state == "failed" else "",
        _plus(node, box, timeline, moment) if "gradients" in shown else "",
        "</g>",
    ])  # fmt: skip


def _is_now(node: Node, timeline: Timeline, moment: int | None) -> bool:
    order = timeline.recording.order
    if moment is None or not 0 <= moment < len(order):
        return False
    here = order[moment].application
    return here == node.application or here in node.members


def _box(node: Node, box: Box, now: bool) -> list[str]:
    def rectangle(kind: str, grown: float = 0.0, shift: float = 0.0) -> str:
        width, height = box.width + 2 * grown, box.height + 2 * grown
        radius = height / 2 if node.kind == "variable" else RADIUS + grown
        return (
            f'<rect class="{kind}" x="{shift - width / 2:g}" y="{shift - height / 2:g}" width="{width:g}" '
            f'height="{height:g}" rx="{min(radius, 18 + grown):g}"/>'
        )

    drawn = [rectangle("lab-halo", 4.0)] if now else []
    drawn += [rectangle("lab-box", shift=4.0)] if node.members else []
    return [*drawn, rectangle("lab-box")]


def _text(lines: NodeLines, shown: frozenset[str]) -> list[str]:
    name = lines.name if "names" in shown else ""
    shape = lines.shape if "shapes" in shown else ""
    rows: list[tuple[str, str]] = []
    if lines.value and "values" in shown:
        rows.append((lines.value, _value_class(lines)))
    if lines.gradient_state != "none" and "gradients" in shown:
        rows.append((lines.gradient, _gradient_class(lines)))
    top = -(FIRST_LINE + LINE * len(rows)) / 2
    drawn = _head(NodeLines(lines.label, name, shape), top + 15)
    for number, (text, kind) in enumerate(rows):
        y = top + FIRST_LINE + LINE * number + 13
        drawn.append(f'<text class="lab-number {kind}" y="{y:g}" text-anchor="middle">{written(text)}</text>')
        if text == NO_PATH:
            drawn.append(_struck(number_width(text), y - 4))
    return drawn


def _head(lines: NodeLines, y: float) -> list[str]:
    """Return the first line in parts: label, name, shape; centred as one."""
    if not lines.name and not lines.shape:
        return [f'<text class="lab-label" y="{y:g}" text-anchor="middle">{written(lines.label)}</text>']
    name = f'<tspan dx="{GAP}" font-weight="400">{written(ARROW + lines.name)}</tspan>' if lines.name else ""
    shape = f'<tspan class="lab-number lab-muted" font-weight="400" dx="{GAP}">{written(lines.shape)}</tspan>'
    tail = name + (shape if lines.shape else "")
    return [f'<text class="lab-label" y="{y:g}" text-anchor="middle">{written(lines.label)}{tail}</text>']


def _value_class(lines: NodeLines) -> str:
    return {"pending": "lab-pending", "failed": "lab-cut"}.get(lines.value_state, _finite(lines.value, "lab-value"))


def _gradient_class(lines: NodeLines) -> str:
    states = {"pending": "lab-pending", "no path": "lab-cut"}
    return states.get(lines.gradient_state, _finite(lines.gradient, "lab-gradient"))


def _finite(text: str, kind: str) -> str:
    return "lab-cut" if "nan" in text or "inf" in text else kind


def _struck(width: float, y: float) -> str:
    """Return a small slash before the words "no path", so that they do not hang on their colour."""
    x = -width / 2 - 9
    return f'<path class="lab-slash" d="M{x - 3:g},{y + 5:g}L{x + 3:g},{y - 5:g}"/>'


def _slash(box: Box) -> str:
    x, y = box.width / 2, box.height / 2
    return f'<path class="lab-slash" d="M{x - 16:g},{y:g}L{x:g},{y - 16:g}"/>'


def _plus(node: Node, box: Box, timeline: Timeline, moment: int | None) -> str:
    """Return the mark of a sum where several contributions meet."""
    if not node.tensors or node.members:
        return ""
    gradient = timeline.gradient(node.tensors[0], moment)
    if gradient.expected < 2:
        return ""
    x, y = box.width / 2, box.height / 2
    state = "" if gradient.arrived else ' class="lab-to-come"'
    return (
        f'<g{state}><circle class="lab-plus" cx="{x - 6:g}" cy="{y:g}" r="6"/><path class="lab-back lab-edge" '
        f'style="stroke-dasharray:none" d="M{x - 9:g},{y:g}h6M{x - 6:g},{y - 3:g}v6"/></g>'
    )
