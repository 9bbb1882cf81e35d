"""Asks Graphviz for coordinates: ``dot`` on the PATH, or the library inside the pygraphviz package.

Both run in a separate process, which can be stopped at the time limit and whose warnings (mostly about fonts) do
not reach the user's stderr. The limit counts CPU time, so that a busy machine draws the same picture. They are given
node sizes and no text, so that the same version gives the same layout on every machine, whatever its fonts.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from autodiff_lab.draw.layout.placed import Placed, Point, TooSlow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.draw.model import Graph

LARGE = 300
"""The number of nodes from which a faster, less thorough search is requested."""
RANK_SPACE, NODE_SPACE = 64.0, 20.0
"""Pixels between columns, and between nodes of a column."""
POINTS = 72.0
WAITING = 6.0
"""How many times the CPU time a program may take by the clock, since other programs run too."""
OUT_OF_TIME = frozenset({-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)} - {0})
"""Statuses of a program that the system stopped."""
SEPARATOR = "\n// next\n"
"""A comment between graphs that are sent together."""

# The library is run in another Python, because its search cannot be interrupted from the inside. The text goes in by
# stdin and comes out by stdout, as it does for `dot`.
_LIBRARY = """
import sys
import pygraphviz
for source in sys.stdin.buffer.read().decode().split("// next"):
    picture = pygraphviz.AGraph(string=source)
    sys.stdout.buffer.write(picture.draw(format="json0", prog="dot"))
"""


def programs() -> dict[str, Sequence[str]]:
    """Return the commands that lay out on this machine, by name, the preferred one first."""
    found: dict[str, Sequence[str]] = {}
    dot = shutil.which("dot")
    if dot is not None:
        found["dot"] = (dot, "-Tjson0")
    if find_spec("pygraphviz") is not None and sys.executable:
        found["pygraphviz"] = (sys.executable, "-P", "-W", "ignore", "-c", _LIBRARY)
    return found


def place_by_graphviz(graphs: Sequence[Graph], command: Sequence[str], time_limit: float) -> list[Placed] | None:
    """Return coordinates from one run of a program, or None if it does not work here.

    Raises
    ------
    TooSlow
        If it is not ready within `time_limit` seconds of CPU time.
    """
    if not graphs:
        return []
    sources = SEPARATOR.join(map(layout_source, graphs)).encode()
    try:
        done = _run(command, sources, time_limit)
    except subprocess.TimeoutExpired as error:
        raise TooSlow from error
    except OSError:
        return None
    if done.returncode in OUT_OF_TIME:
        raise TooSlow
    try:
        found = _documents(done.stdout.decode()) if done.returncode == 0 else []
        return [_read(graph, document) for graph, document in zip(graphs, found, strict=True)]
    except (ValueError, KeyError, IndexError):
        return None


def _run(command: Sequence[str], sources: bytes, time_limit: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program with a limit on its CPU time, where the system has a shell that sets one."""
    wall = time_limit
    shell = shutil.which("sh") if os.name == "posix" else None
    if shell is not None:
        # The limit is in whole seconds.
        command = (shell, "-c", 'ulimit -t "$0"; exec "$@"', str(max(1, math.ceil(time_limit))), *command)
        wall = WAITING * time_limit + 1.0
    return subprocess.run(command, input=sources, capture_output=True, timeout=wall, check=False)


def _documents(text: str) -> list[dict[str, Any]]:
    """Return the JSON documents that follow each other in a text."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while (start := text.find("{", at)) >= 0:
        document, at = decoder.raw_decode(text, start)
        found.append(document)
    return found


def layout_source(graph: Graph) -> str:
    """Return the graph as Graphviz reads it: numbered nodes, their sizes in inches, and numbered edges."""
    lines = [
        "digraph {",
        f"graph [rankdir=LR, ranksep={RANK_SPACE / POINTS:.3f}, nodesep={NODE_SPACE / POINTS:.3f}{_patience(graph)}]",
        'node [shape=box, fixedsize=true, label=""]',
        "edge [dir=none, tailport=e, headport=w]",
    ]
    numbers = {node.key: number for number, node in enumerate(graph.nodes)}
    lines += [f"n{numbers[n.key]} [width={n.width / POINTS:.4f}, height={n.height / POINTS:.4f}]" for n in graph.nodes]
    lines += [
        f"n{numbers[e.source]} -> n{numbers[e.target]} [id=e{number}]"
        for number, e in enumerate(graph.edges)
        if e.source != e.target
    ]
    return "\n".join([*lines, "}"])


def _patience(graph: Graph) -> str:
    # With thousands of nodes and long edges the full search takes minutes; this one takes seconds.
    return ", nslimit=1, nslimit1=1, mclimit=0.1, splines=line" if len(graph.nodes) > LARGE else ""


def _read(graph: Graph, found: dict[str, Any]) -> Placed:
    centres: dict[str, Point] = {}
    for entry in found["objects"]:
        x, y = map(float, entry["pos"].split(","))
        centres[graph.nodes[int(entry["name"][1:])].key] = (x, -y)
    curves: list[tuple[Point, ...]] = [()] * len(graph.edges)
    for entry in found.get("edges", ()):
        pairs = (pair.split(",") for pair in entry["pos"].split())
        curves[int(entry["id"][1:])] = tuple((float(x), -float(y)) for x, y in pairs)
    return Placed(centres, tuple(curves))
