"""Graph and layout: what is drawn, and where, as plain frozen values.

A graph has sizes but no coordinates, a layout coordinates, and neither has colours.  A node is a leaf (``t`` and the
tensor's id) or an application (``a`` and its index); a scope that is folded is one node (``s`` and its path), and so is
a loop (``l`` and the path of its first iteration).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """One number for each iteration of a loop, None where there is none; `kind` is 'value' or 'gradient'.

    `tensors` are the tensors whose values these are, none for gradients.
    """

    name: str
    kind: str
    numbers: tuple[float | None, ...]
    tensors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf, an application, a folded scope, or a folded loop.

    `kind` is 'variable', 'constant', 'gradient' (a leaf that a backward pass made), 'op', 'backward op' (an op of an
    inner backward pass), 'failed', 'scope' or 'loop'.
    `label` is large (the user's name or the op's symbol), `name` the user's name of the first output if the label is
    the op.  `tensors` are the ids whose values it shows, first one first; `members` the applications folded into it.
    `width` and `height` hold its text, in pixels.  A node that is `outside` only says where an edge comes from or goes.
    A loop has the paths of its iterations as `turns`, and numbers along them as `series`; one leaf may stand for the
    leaves that the iterations take one by one, which are `times` many.
    """

    key: str
    kind: str
    label: str
    name: str = ""
    tensors: tuple[int, ...] = ()
    application: int | None = None
    scope: str = ""
    members: tuple[int, ...] = ()
    width: float = 64.0
    height: float = 40.0
    outside: bool = False
    turns: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class Edge:
    """One tensor going into one input of one application; a value that is used twice has two edges.

    A 'carried' edge leads from a loop to itself: what an iteration takes from the one before.

    Two more kinds compute nothing: an 'adjoint' edge leads from a node to the gradient that a backward pass found for
    it, an 'assigned' one from what a variable was given to where it is read next.
    """

    source: str
    target: str
    tensor: int
    position: int
    kind: str = "value"


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in the order in which they ran, and edges; `scopes` are the paths that can be folded."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    scopes: tuple[str, ...] = ()
    folded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Box:
    """Centre and size of a node, in pixels at 100 % zoom; x grows to the right, y downwards."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes by node key, edge curves in the order of the graph's edges, and the size of the whole picture.

    A curve is a list of points: a start, then triples of Bezier control points as Graphviz gives them.  Time runs from
    left to right or, in a picture that goes `down`, from the top.
    """

    boxes: dict[str, Box]
    curves: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float
    engine: str
    down: bool = False
