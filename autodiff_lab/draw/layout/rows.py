"""Training loops in rows: one iteration below the other, with what only it reads to its left.

Iterations are folded scopes whose names differ only in a number and that pass no values to each other: they are
connected by the variables that each of them assigns. Everything else stands to the left of the rows or, if it is
computed from them, to the right.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from autodiff_lab.draw.layout.layered import COLUMN_SPACE, ROW_SPACE, place_in_layers
from autodiff_lab.draw.layout.placed import Placed, Point
from autodiff_lab.draw.model import Graph
from autodiff_lab.draw.passes import LEAST, pattern

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Node

TURN_SPACE = 32.0
"""Pixels between two iterations: room for the arrow of an assignment."""


def turns(graph: Graph) -> tuple[str, ...]:
    """Return the keys of the iterations of the longest loop that a graph shows, in order; empty if there is none.

    Examples
    --------
    >>> from autodiff_lab.draw.model import Node
    >>> turns(Graph(tuple(Node(f"sstep {n}", "scope", f"step {n}", members=(n,)) for n in range(4)), ()))
    ('sstep 0', 'sstep 1', 'sstep 2', 'sstep 3')
    """
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for node in graph.nodes:
        if node.members and not node.outside and pattern(node.label) != node.label:
            alike[pattern(node.label)].append(node.key)
    longest = max(alike.values(), key=len, default=[])
    together = set(longest)
    bound = any(e.kind == "value" and e.source in together and e.target in together for e in graph.edges)
    return () if bound or len(longest) < LEAST else tuple(longest)


def place_in_rows(graph: Graph) -> Placed | None:
    """Return the places of a graph that shows a loop, or None for any other graph."""
    loop = turns(graph)
    return _Rows(graph, loop).placed() if loop else None


class _Rows:
    def __init__(self, graph: Graph, loop: tuple[str, ...]) -> None:
        self.graph = graph
        self.loop = loop
        self.nodes = {node.key: node for node in graph.nodes}
        before = {edge.target for edge in graph.edges if edge.kind == "value"}
        readers: defaultdict[str, set[str]] = defaultdict(set)
        for edge in graph.edges:
            readers[edge.source].add(edge.target)
        after = self._following()
        after |= {key for key, found in readers.items() if found and found <= after and key not in loop}
        self.own: defaultdict[str, list[Node]] = defaultdict(list)
        self.left: list[Node] = []
        self.right: list[Node] = []
        for node in graph.nodes:
            only = next(iter(readers[node.key])) if len(readers[node.key]) == 1 else ""
            if node.key in loop:
                continue
            if node.key in after:
                self.right.append(node)
            elif only in loop and node.key not in before:
                self.own[only].append(node)
            else:
                self.left.append(node)

    def _following(self) -> set[str]:
        """Return all nodes computed from an iteration, or from what one assigned."""
        found, waiting = set(self.loop), list(self.loop)
        while waiting:
            source = waiting.pop()
            new = {edge.target for edge in self.graph.edges if edge.source == source} - found
            found |= new
            waiting += new
        return found - set(self.loop)

    def placed(self) -> Placed:
        centres: dict[str, Point] = {}
        x = self._beside(self.left, 0.0, centres)
        own = [node.width for nodes in self.own.values() for node in nodes]
        column = x + max(own) if own else x - COLUMN_SPACE
        turn_width = max(self.nodes[key].width for key in self.loop)
        turn_x = column + COLUMN_SPACE + turn_width / 2 if centres or own else turn_width / 2
        y = 0.0
        for key in self.loop:
            inputs = self.own[key]
            stack = sum(node.height for node in inputs) + ROW_SPACE * max(len(inputs) - 1, 0)
            height = max(stack, self.nodes[key].height)
            centres[key] = (turn_x, y + height / 2)
            top = y + (height - stack) / 2
            for node in inputs:
                centres[node.key] = (column - node.width / 2, top + node.height / 2)
                top += node.height + ROW_SPACE
            y += height + TURN_SPACE
        self._beside(self.right, turn_x + turn_width / 2 + COLUMN_SPACE, centres)
        return Placed(centres, tuple(() for _ in self.graph.edges))

    def _beside(self, nodes: list[Node], x: float, centres: dict[str, Point]) -> float:
        """Lay out some of the nodes from `x` to the right, top aligned with the rows; return where they end."""
        if not nodes:
            return x
        keys = {node.key for node in nodes}
        edges = tuple(edge for edge in self.graph.edges if {edge.source, edge.target} <= keys)
        found = place_in_layers(Graph(tuple(nodes), edges)).centres
        left = min(found[node.key][0] - node.width / 2 for node in nodes)
        top = min(found[node.key][1] - node.height / 2 for node in nodes)
        for node in nodes:
            centres[node.key] = (found[node.key][0] - left + x, found[node.key][1] - top)
        return max(centres[node.key][0] + node.width / 2 for node in nodes) + COLUMN_SPACE
