"""The answer of a layout program: centres and rough curves, before edges get their own ends; or a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autodiff_lab.errors import LayoutFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.draw.model import Graph

Point = tuple[float, float]
"""Pixels, y downwards."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Centres by node key; a curve for each edge: a start and triples of Bezier points, or nothing."""

    centres: dict[str, Point]
    curves: tuple[tuple[Point, ...], ...]


class TooSlow(Exception):
    """An engine that did not finish in its time."""


def too_large(graphs: Sequence[Graph], time_limit: float) -> LayoutFailed:
    """Return the error for graphs that no engine could lay out within the time limit."""
    nodes, edges = sum(len(graph.nodes) for graph in graphs), sum(len(graph.edges) for graph in graphs)
    return LayoutFailed(
        f"A graph of {nodes} nodes and {edges} edges cannot be laid out within {time_limit:g} s. "
        "Give parts of the program a name with lab.name_scope(...), so that they fold to one node each; "
        "or look inside one scope only; or raise time_limit."
    )
