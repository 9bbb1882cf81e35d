"""A picture in words, for screen readers: each node with its inputs and value, in the order of execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.lines import FAILED, PENDING, node_lines

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Graph, Node
    from autodiff_lab.draw.timeline import Timeline
    from autodiff_lab.recording.recording import Recording

SPOKEN = 40
"""The number of nodes that are listed one by one; the others are only counted."""


def heading(recording: Recording) -> str:
    """Return the title of a picture."""
    return recording.title or "A recorded computation"


def position(recording: Recording, moment: int | None) -> str:
    """Return the current position: ``"Step 7 of 12 · backward"``; empty at the end of the program."""
    if moment is None or not 0 <= moment < len(recording.order):
        return ""
    return f"Step {moment + 1} of {len(recording.order)} · {recording.order[moment].phase}"


def account(graph: Graph, timeline: Timeline, moment: int | None = None) -> str:
    """Return the sentences that describe the picture."""
    counts = f"{len(graph.nodes)} nodes and {len(graph.edges)} edges, from left to right."
    where = position(timeline.recording, moment)
    told = [f"{where}." if where else "", counts]
    sources: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    words = {node.key: node.name or node.label for node in graph.nodes}
    for edge in graph.edges:
        if edge.kind != "value":
            continue
        sources[edge.target].append(words[edge.source])
    told += [_sentence(node, sources[node.key], timeline, moment) for node in graph.nodes[:SPOKEN]]
    if len(graph.nodes) > SPOKEN:
        told.append(f"And {len(graph.nodes) - SPOKEN} more nodes.")
    return " ".join(filter(None, told))


def _sentence(node: Node, sources: list[str], timeline: Timeline, moment: int | None) -> str:
    lines = node_lines(node, timeline, moment)
    called = f"{lines.label} ({lines.name})" if lines.name else lines.label
    given = f" of {', '.join(sources)}" if sources else ""
    told = [f"{called}{given}"]
    if lines.value_state == "failed":
        told.append(FAILED)
    elif lines.value:
        told.append("not computed yet" if lines.value == PENDING else f"value {lines.value}")
    if lines.gradient:
        told.append("gradient " + ("not computed yet" if lines.gradient == PENDING else lines.gradient))
    return ", ".join(told) + "."
