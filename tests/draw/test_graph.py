"""Which nodes and edges a picture has, independent of the layout."""

from collections.abc import Callable

import pytest

from autodiff_lab.draw.graph import graph, scope_paths
from autodiff_lab.draw.model import Graph
from autodiff_lab.recording.recording import Recording
from tests.draw import handmade


def facts(drawn: Graph) -> str:
    """A graph as text: a line for each node and edge."""
    labels = {node.key: node.name or node.label for node in drawn.nodes}
    lines = [
        f"{node.key} {node.kind}{' outside' * node.outside}: {node.label} {node.name}".rstrip() for node in drawn.nodes
    ]
    lines += [f"{labels[e.source]} -> {labels[e.target]} [{e.position}] %{e.tensor}" for e in drawn.edges]
    for word, paths in (("scopes", drawn.scopes), ("folded", sorted(drawn.folded))):
        lines.append(f"{word}: {', '.join(paths) or 'none'}")
    return "\n".join([*lines, ""])


PICTURES: dict[str, tuple[Callable[[], Recording], str, tuple[str, ...] | None]] = {
    "sine": (handmade.sine, "", None),
    "net folded": (handmade.two_layers, "", None),
    "net open": (handmade.two_layers, "", ()),
    "net one layer open": (handmade.two_layers, "", ("net/layer1",)),
    "inside net": (handmade.two_layers, "net", None),
    "inside layer2": (handmade.two_layers, "net/layer2", None),
    "failed": (handmade.failed, "", None),
    "second order": (handmade.second_order, "", None),
}


@pytest.mark.parametrize("name", PICTURES)
def test_nodes_and_edges_are_those_of_the_golden_file(name: str, golden: Callable[[str, str], None]) -> None:
    make, within, folded = PICTURES[name]
    golden(f"{name.replace(' ', '_')}.txt", facts(graph(make(), within, folded)))


def test_a_value_that_is_used_twice_has_two_edges() -> None:
    edges = graph(handmade.sine()).edges
    assert [(e.source, e.target, e.position) for e in edges if e.target == "a0"] == [("t1", "a0", 0), ("t1", "a0", 1)]


def test_every_input_of_every_op_is_an_edge_when_nothing_is_folded() -> None:
    recording = handmade.many(60, scopes=5)
    drawn = graph(recording, folded=())
    expected = [(f"a{a.index}", position) for a in recording.applications for position in range(len(a.inputs))]
    assert [(edge.target, edge.position) for edge in drawn.edges] == expected


def test_leaves_that_nobody_uses_are_left_out() -> None:
    pencil = handmade.Pencil()
    x, unused = pencil.leaf(1.0, "x"), pencil.leaf(2.0, "unused")
    pencil.run("sin", (x,), 0.84)
    assert f"t{unused}" not in {node.key for node in graph(pencil.done()).nodes}


@pytest.mark.parametrize("within", ["", "net", "net/layer1", "net/layer2"])
def test_every_edge_joins_nodes_of_the_graph(within: str) -> None:
    drawn = graph(handmade.two_layers(), within)
    keys = {node.key for node in drawn.nodes}
    assert all({edge.source, edge.target} <= keys and edge.source != edge.target for edge in drawn.edges)
    assert len(keys) == len(drawn.nodes)


def test_what_lies_outside_of_a_scope_is_there_only_where_an_edge_crosses() -> None:
    drawn = graph(handmade.two_layers(), "net/layer2")
    touched = {key for edge in drawn.edges for key in (edge.source, edge.target)}
    outside = {node.key for node in drawn.nodes if node.outside}
    assert outside == {"snet/layer1", "a6"}
    assert outside <= touched


def test_a_folded_scope_keeps_its_parameters_and_shows_its_data() -> None:
    pencil = handmade.Pencil()
    data = pencil.leaf([[1.0, 2.0]], "data", "constant", scope="layer")
    weight = pencil.leaf([[1.0], [1.0]], "w", scope="layer")
    pencil.run("matmul", (data, weight), [[3.0]], scope="layer")
    assert [node.label for node in graph(pencil.done()).nodes] == ["data", "layer"]


def test_a_folded_scope_without_other_inputs_shows_its_leaves() -> None:
    pencil = handmade.Pencil()
    x, two = pencil.leaf(3.0, "x", scope="f"), pencil.leaf(2.0, kind="constant", scope="f")
    pencil.run("multiply", (x, two), 6.0, scope="f")
    assert [node.label for node in graph(pencil.done()).nodes] == ["x", "2", "f"]


def test_an_unknown_scope_is_named_together_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"'layer9'.*net, net/layer1, net/layer2"):
        graph(handmade.two_layers(), "layer9")


def test_a_scope_that_failed_is_marked() -> None:
    pencil = handmade.Pencil()
    x = pencil.leaf(1.0, "x")
    pencil.run("sin", (x,), 0.84, scope="block")
    recording = pencil.done()
    broken = handmade.failing_scope()
    assert [node.kind for node in graph(recording).nodes] == ["variable", "scope"]
    assert [node.kind for node in graph(broken).nodes] == ["variable", "failed"]


def test_backward_ops_are_nodes_only_if_the_stepper_stops_at_them() -> None:
    recording = handmade.second_order()
    keys = {node.key for node in graph(recording).nodes}
    stops = {f"a{moment.application}" for moment in recording.order}
    assert {key for key in keys if key.startswith("a")} == stops
    assert "a4" not in keys


def test_a_small_unnamed_constant_is_labelled_with_its_value() -> None:
    labels = {node.key: node.label for node in graph(handmade.failed()).nodes}
    assert labels["t2"] == "0.5"


def test_scopes_are_listed_outer_before_inner() -> None:
    assert scope_paths(handmade.two_layers()) == ("net", "net/layer1", "net/layer2")


def test_a_scope_entered_twice_is_one_node_with_edges_both_ways() -> None:
    pencil = handmade.Pencil()
    x = pencil.leaf(1.0, "x")
    one = pencil.run("sin", (x,), 0.84, scope="layer")
    two = pencil.run("tanh", (one,), 0.68)
    pencil.run("sin", (two,), 0.63, scope="layer")
    drawn = graph(pencil.done())
    assert [(e.source, e.target) for e in drawn.edges] == [("t1", "slayer"), ("slayer", "a1"), ("a1", "slayer")]
