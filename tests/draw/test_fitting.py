"""Directions of a picture: read from left to right while it fits, else down or in rows, and nothing covered."""

import itertools

import pytest

from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import OWN, arrange, layout
from autodiff_lab.draw.layout.fitting import PANEL, READABLE, fit, scale
from autodiff_lab.draw.layout.wrapping import wrapped
from autodiff_lab.draw.model import Box, Edge, Graph, Layout, Node
from tests.draw import handmade
from tests.draw.test_layout import overlap, points
from tests.draw.test_loops import program


def chain(length: int, width: float = 120.0) -> Graph:
    nodes = tuple(Node(f"a{n}", "op", "sin", width=width, height=60.0) for n in range(length))
    return Graph(nodes, tuple(Edge(f"a{n}", f"a{n + 1}", n, 0) for n in range(length - 1)))


def by_layers(drawn: Graph) -> Layout:
    return layout(drawn, engine=OWN)


def test_what_can_be_read_runs_from_left_to_right() -> None:
    for drawn in (graph(handmade.sine()), graph(handmade.two_layers()), chain(4)):
        level = by_layers(drawn)
        assert scale(level) >= READABLE
        assert fit(drawn, level, None) is level


def test_a_long_chain_continues_below() -> None:
    drawn = chain(24)
    level, found = by_layers(drawn), arrange(drawn, engine=OWN)
    assert scale(found) > 3 * scale(level)
    order = [(found.boxes[f"a{n}"].y, found.boxes[f"a{n}"].x) for n in range(24)]
    assert order == sorted(order), "row by row, as text"


def test_narrow_boxes_run_down() -> None:
    drawn = Graph(
        tuple(Node(f"a{n}", "op", "x", width=300.0, height=20.0) for n in range(7)),
        tuple(Edge(f"a{n}", f"a{n + 1}", n, 0) for n in range(6)),
    )
    found = arrange(drawn, engine=OWN)
    assert found.down
    heights = [found.boxes[f"a{n}"].y for n in range(7)]
    assert heights == sorted(heights)
    for edge, curve in zip(drawn.edges, found.curves, strict=True):
        source, target = found.boxes[edge.source], found.boxes[edge.target]
        assert curve[0][1] == pytest.approx(source.y + source.height / 2, abs=0.1)
        assert curve[-1][1] == pytest.approx(target.y - target.height / 2, abs=0.1)


NAMES = ["attention", "cnn_step", "transformer_block", "rnn", "euler"]


@pytest.mark.parametrize("engine", [OWN, None])
@pytest.mark.parametrize("name", NAMES)
def test_boxes_and_edges_of_real_programs_keep_clear_of_each_other(name: str, engine: str | None) -> None:
    drawn = graph(program(name))
    placed = arrange(drawn, engine=engine)
    assert not [pair for pair in itertools.combinations(placed.boxes.values(), 2) if overlap(*pair)]
    for node in drawn.nodes:
        box = placed.boxes[node.key]
        assert box.width / 2 <= box.x <= placed.width - box.width / 2
        assert box.height / 2 <= box.y <= placed.height - box.height / 2
    for edge, curve in zip(drawn.edges, placed.curves, strict=True):
        assert len(curve) % 3 == 1
        if placed.engine != OWN:
            continue  # Graphviz routes edges between boxes, but its curves may touch a corner.
        between = [box for key, box in placed.boxes.items() if key not in (edge.source, edge.target)]
        touched = [box for bend in points(curve) for box in between if overlap(box, Box(*bend, 0.5, 0.5))]
        assert not touched, (edge, touched)


@pytest.mark.parametrize("bands", [2, 3, 5])
def test_edges_from_row_to_row_end_on_their_boxes(bands: int) -> None:
    drawn = chain(20)
    drawn = Graph(drawn.nodes, (*drawn.edges, Edge("a0", "a19", 0, 1), Edge("a2", "a12", 2, 1)))
    placed = wrapped(drawn, by_layers(drawn), bands)[-1].layout()
    assert len({round(box.y) for box in placed.boxes.values()}) >= bands
    for edge, curve in zip(drawn.edges, placed.curves, strict=True):
        source, target = placed.boxes[edge.source], placed.boxes[edge.target]
        assert curve[0][0] == pytest.approx(source.x + source.width / 2, abs=0.2)
        assert curve[-1][0] == pytest.approx(target.x - target.width / 2, abs=0.2)
        assert abs(curve[0][1] - source.y) <= source.height / 2
        assert abs(curve[-1][1] - target.y) <= target.height / 2
        for x, y in points(curve):
            assert 0 <= x <= placed.width
            assert 0 <= y <= placed.height


def test_a_picture_with_an_edge_backward_is_not_cut_into_rows() -> None:
    drawn = chain(12)
    placed = by_layers(drawn)
    back = Graph(drawn.nodes, (*drawn.edges, Edge("a9", "a2", 9, 1)))
    assert wrapped(back, Layout(placed.boxes, (*placed.curves, ()), placed.width, placed.height, OWN), 2) == []
    assert len(wrapped(drawn, placed, 7)) == 5, "a row has two columns at least: 2 to 6 rows"


def test_the_panel_is_that_of_a_usual_window() -> None:
    assert PANEL[0] < 1300 * 2 / 3
