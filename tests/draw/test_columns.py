"""Columns of the built-in layout: the lengths of edges add up to the least possible, as a linear program finds it."""

import numpy as np
import pytest

from autodiff_lab.draw.layout import columns
from autodiff_lab.draw.layout.columns import shorten

Graph = tuple[dict[str, int], list[tuple[str, str]]]


def drawn(seed: int) -> Graph:
    """Return a random acyclic graph, with several parts and repeated edges, in columns by longest path."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 40))
    edges = []
    for _ in range(int(random.integers(0, 3 * size))):
        one, other = sorted(random.integers(0, size, 2).tolist())
        if one != other:
            edges.append((f"n{one}", f"n{other}"))
    depth = {f"n{number}": 0 for number in range(size)}
    for source, target in sorted(edges, key=lambda edge: int(edge[1][1:])):
        depth[target] = max(depth[target], depth[source] + 1)
    return depth, edges


def least(graph: Graph) -> float:
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy, whose linear programs are compared, is missing")
    nodes, edges = graph
    place = {key: number for number, key in enumerate(nodes)}
    rows, cost = np.zeros((len(edges), len(nodes))), np.zeros(len(nodes))
    for row, (source, target) in zip(rows, edges, strict=True):
        row[place[source]], row[place[target]] = 1, -1
        cost[place[source]] -= 1
        cost[place[target]] += 1
    found = optimize.linprog(cost, rows, -np.ones(len(edges)), bounds=(0, len(nodes)))
    assert found.success
    return found.fun


def length(found: dict[str, int], edges: list[tuple[str, str]]) -> int:
    return sum(found[target] - found[source] for source, target in edges)


@pytest.mark.parametrize("seed", range(60))
def test_no_columns_have_shorter_edges(seed: int) -> None:
    nodes, edges = graph = drawn(seed)
    found = shorten(nodes, edges)
    assert found.keys() == nodes.keys()
    assert all(found[source] < found[target] for source, target in edges)
    assert min(found.values()) == 0
    if edges:
        assert length(found, edges) == round(least(graph))


def test_columns_are_valid_however_early_the_search_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, edges = drawn(7)
    sums = []
    for work in (0, 50, 200, 1000, 10_000):
        monkeypatch.setattr(columns, "MOST_WORK", work)
        found = shorten(nodes, edges)
        assert all(found[source] < found[target] for source, target in edges)
        sums.append(length(found, edges))
    assert sums[-1] < sums[0]
