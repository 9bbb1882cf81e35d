"""Loops in recordings: what is folded, what it is called, and what its node shows."""

import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.loops import with_loops
from autodiff_lab.draw.model import Graph, Node
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.series import heights
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.recording import Recording

DATA = Path(__file__).parents[1] / "data"


@cache
def program(name: str) -> Recording:
    with lab.record() as recording:
        runpy.run_path(str(DATA / f"{name}.py"))
    return recording.so_far()


def loop_of(drawn: Graph) -> Node:
    (found,) = [node for node in drawn.nodes if node.turns]
    return found


FOUND = {
    "rnn": ("for x in xs", 20, "turn 1"),
    "euler": ("for _ in range(300)", 300, "turn 1"),
    "mlp_training": ("training step", 50, "pass 1"),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_loop_has_a_name_and_all_its_iterations(name: str) -> None:
    ((label, turns),) = with_loops(program(name))[1]
    assert (label, len(turns), turns[0]) == FOUND[name]


@pytest.mark.parametrize("name", ["attention", "cnn_step", "transformer_block"])
def test_a_program_without_a_loop_has_none(name: str) -> None:
    assert with_loops(program(name))[1] == ()


def test_what_each_iteration_takes_is_one_leaf_and_what_all_take_one_edge() -> None:
    drawn = graph(program("rnn"))
    loop = loop_of(drawn)
    (xs,) = [node for node in drawn.nodes if node.times > 1]
    assert (xs.label, xs.times) == ("input", 20)
    into = [edge.source for edge in drawn.edges if edge.target == loop.key and edge.kind == "value"]
    assert len(into) == len(set(into)) == 4, "inputs, U, W and b"
    assert [(edge.source, edge.target) for edge in drawn.edges if edge.kind == "carried"] == [(loop.key, loop.key)]


def test_the_curve_of_a_loop_is_the_size_of_what_it_carries_and_of_its_gradient() -> None:
    recording = program("rnn")
    value, gradient = loop_of(graph(recording)).series
    named = {r.name: r for r in recording.tensors.values() if r.name == "h" and r.application is not None}
    assert value.name == "h"
    assert named
    assert len(value.numbers) == len(gradient.numbers) == 20
    last = [a for a in recording.forward if a.op == "tanh"][-1].outputs[0]
    assert value.numbers[-1] == pytest.approx(np.linalg.norm(recording.tensors[last].snapshot.array))
    assert (value.kind, gradient.kind) == ("value", "gradient")


def test_the_curve_of_a_training_loop_is_its_loss() -> None:
    recording = program("mlp_training")
    (losses,) = loop_of(graph(recording)).series
    means = [a.outputs[0] for a in recording.forward if a.op == "mean"]
    assert losses.name == "loss"
    assert losses.tensors == tuple(means)
    wanted = [float(recording.tensors[tensor].snapshot.array) for tensor in means]
    assert losses.numbers == pytest.approx(wanted)
    assert wanted[-1] < wanted[0]


def test_the_iterations_of_a_loop_stand_at_the_same_places() -> None:
    payload = scene(program("rnn"))
    places = {tuple(tuple(row[8:12]) for row in payload["views"][f"turn {n}"]["nodes"]) for n in range(2, 20)}
    assert len(places) == 1


def test_loops_inside_loops_are_found() -> None:
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording, lab.GradientTape():
        y = x * 1.0
        for _ in range(5):
            for _ in range(4):
                y = lab.sin(y) + x
            y = lab.cos(y)
    loops = with_loops(recording.so_far())[1]
    assert len(loops[0].turns) == 5
    timeline = Timeline(recording.so_far())
    inner = graph(recording.so_far(), "turn 2", timeline=timeline)
    assert not any(node.turns for node in inner.nodes), "eight ops are easier to read unfolded"
    assert sum(node.application is not None for node in inner.nodes if not node.outside) == 9


def test_numbered_scopes_are_one_loop_from_six_on() -> None:
    def net(blocks: int) -> Recording:
        x = lab.Variable(0.5, name="x")
        with lab.record() as recording:
            y = x * 1.0
            for number in range(blocks):
                with lab.name_scope(f"block{number}"):
                    y = lab.sin(y)
        return recording.so_far()

    few, many = graph(net(5)), graph(net(12))
    assert [node.label for node in few.nodes if node.members] == [f"block{n}" for n in range(5)]
    assert (loop_of(many).label, len(loop_of(many).turns)) == ("block", 12)
    assert graph(net(12), "block3").nodes, "the inside of one"
    unfolded = graph(net(12), folded=[f"block{n}" for n in range(12)])
    assert len([node for node in unfolded.nodes if node.members]) == 12, "on request"


def test_a_function_that_is_called_again_and_again_names_its_loop() -> None:
    def layer(x: lab.Tensor) -> lab.Tensor:
        y = lab.sin(x) * 2.0
        return lab.cos(y) + x

    x = lab.Variable(0.5, name="x")
    with lab.record() as recording:
        y = layer(layer(layer(layer(layer(layer(x.read()))))))
    loop = loop_of(graph(recording.so_far()))
    assert (loop.label, len(loop.turns)) == ("layer", 6)
    assert float(y)


def test_a_chain_on_one_line_is_no_loop() -> None:
    x = lab.Variable(1.01, name="x")
    with lab.record() as recording:
        y = x * x * x * x * x * x
    assert with_loops(recording.so_far())[1] == ()
    assert float(y) > 1


def fails_after_a_loop(x: lab.Variable) -> lab.Tensor:
    y = x * 1.0
    for _ in range(10):
        y = lab.sin(y) + x
    return y @ lab.ones((4, 4))


def test_a_program_that_fails_after_a_loop_shows_how_far_it_came() -> None:
    x = lab.Variable(np.ones(3, np.float32), name="x")
    recording = lab.record()
    with pytest.raises(lab.errors.LabError), recording as made:
        fails_after_a_loop(x)
    drawn = graph(made.so_far())
    assert loop_of(drawn).label == "for _ in range(10)"
    assert any(node.kind == "failed" for node in drawn.nodes)


def test_heights_of_numbers_that_are_missing_or_alike() -> None:
    assert heights([None, None]) == [None, None]
    assert heights([2.0, 2.0, None]) == [50, 50, None]
    assert heights([-1e308, 1e308]) == [50, 50], "their distance is infinite"


STATEMENTS = """
a = lab.sin(x); b = a * 2.0 + x
c, d = lab.cos(a), lab.exp(b)
e = d * 2.0; print(e + 1.0); f = e / 3.0
g = f * 2.0; print([f + i for i in range(3)]); h = g / 3.0
"""


def test_statements_on_one_line_name_their_own_results(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(STATEMENTS, encoding="utf-8")
    with lab.record() as recording:
        runpy.run_path(str(file), {"lab": lab, "x": lab.Variable(0.5, name="x")})
    found = recording.so_far()
    made = [(r.name, r.application) for r in found.tensors.values() if r.name and r.application is not None]
    named = {name: found.applications[application].op for name, application in made if application is not None}
    assert named == {"a": "sin", "b": "add", "c": "cos", "d": "exp", "e": "multiply", "f": "divide"}, (
        "of the last line nothing is certain"
    )


def test_a_crowd_of_ops_is_folded_in_the_order_in_which_they_ran() -> None:
    x = lab.Variable(0.5, name="x")
    chance = np.random.default_rng(0)
    with lab.record() as recording:
        y = x * 1.0
        for op in chance.integers(0, 3, 2000):
            y = (lab.sin, lab.tanh, lab.exp)[op](y)
    drawn = graph(recording.so_far())
    stretches = [node for node in drawn.nodes if node.label.startswith("ops ")]
    assert drawn.nodes[0].label == "x"
    assert stretches[0].label.startswith("ops 1 to ")
    assert stretches[-1].tensors, "the result is in sight"
    assert len(drawn.nodes) <= 40
    assert sum(len(node.members) for node in stretches) > 1000


def test_a_loop_with_an_if_is_one_loop_whatever_its_iterations_do() -> None:
    x = lab.Variable(0.7, name="x")
    with lab.record() as recording:
        h = x
        for i in range(12):
            h = lab.sin(h * x) + lab.sin(h)
            if i % 5 == 2:
                h = h + lab.exp(-h)
        while h > 1e-3:
            h = h * 0.3
            for _ in range(2 if h > 0.1 else 3):
                h = lab.sin(h) + lab.sin(h * 0.01)
    found = with_loops(recording.so_far())[1]
    assert [(loop.label, len(loop.turns)) for loop in found] == [("for i in range(12)", 12), ("while h > 1e-3", 7)]
    drawn = graph(recording.so_far())
    first = next(node for node in drawn.nodes if node.turns)
    assert first.series[0].numbers[-1] is not None
    assert len(first.series[0].numbers) == 12


def test_a_line_that_repeats_itself_is_not_taken_for_iterations() -> None:
    x = lab.Variable(0.7, name="x")
    with lab.record() as recording:
        h = x
        for i in range(8):
            h = lab.sin(lab.sin(lab.sin(h)))
            if i == 4:
                h = h * 2.0
    ((label, turns),) = with_loops(recording.so_far())[1]
    assert (label, len(turns)) == ("for i in range(8)", 8)
