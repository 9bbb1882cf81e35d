"""DOT text, and that it can be used as users of graphviz do."""

import subprocess
from collections.abc import Callable

import pytest
from graphviz import Source

from autodiff_lab.draw.dot import dot
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import graphviz
from autodiff_lab.recording.recording import Recording
from tests.draw import handmade

RECORDINGS: dict[str, Callable[[], Recording]] = {
    "sine": handmade.sine,
    "net": handmade.two_layers,
    "failed": handmade.failed,
    "hostile": handmade.hostile,
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_text_is_that_of_the_golden_file(name: str, golden: Callable[[str, str], None]) -> None:
    recording = RECORDINGS[name]()
    made = dot(graph(recording), recording)
    assert isinstance(made, Source)
    golden(f"{name}.dot", made.source)


@pytest.mark.parametrize("name", RECORDINGS)
def test_graphviz_reads_it_and_finds_every_node_and_edge(name: str) -> None:
    programs = graphviz.programs()
    if not programs:
        pytest.skip("no Graphviz on this machine")
    recording = RECORDINGS[name]()
    drawn = graph(recording)
    done = subprocess.run(next(iter(programs.values())), input=dot(drawn, recording).source.encode(),
                          capture_output=True, check=True)  # fmt: skip
    found = done.stdout.decode()
    assert all(f'"name": "n{number}"' in found for number in range(len(drawn.nodes)))
    assert found.count('"tail":') >= len(drawn.edges)


def test_gradients_are_dashed_edges_the_other_way() -> None:
    recording = handmade.sine()
    source = dot(graph(recording), recording).source
    assert source.count("n0 -> n1\n") == 2
    assert sum(1 for line in source.splitlines() if "n1 -> n0" in line and "dashed" in line) == 2


def test_a_name_in_angle_brackets_stays_text() -> None:
    pencil = handmade.Pencil()
    x = pencil.leaf([1.0, 2.0], "<b>x</b>")
    pencil.run("sin", (x,), [0.8, 0.9], "\\N\\l")
    recording = pencil.done()
    source = dot(graph(recording), recording).source
    assert "<b>" in source
    assert "=<b>" not in source
    assert "\\\\N\\\\l" in source
