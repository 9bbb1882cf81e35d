"""Training loops and results of backward passes that are used later: drawn as such, in order of time."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.graph import graph, scope_paths
from autodiff_lab.draw.layout import layout
from autodiff_lab.draw.lines import node_lines
from autodiff_lab.draw.model import Graph, Node
from autodiff_lab.draw.naming import described
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.recording import Recording
from tests.draw import handmade

TURNS = 4


@cache
def loop(named: bool) -> Recording:
    """Four turns of gradient descent on one weight; the turns have scopes of their own, or none."""
    w = lab.Variable(0.0, name="w")
    data = lab.constant([1.0, 2.0, 3.0], name="data")
    with lab.record() as recording:
        for turn in range(1, TURNS + 1):
            with lab.name_scope(f"step {turn}" if named else ""):
                with lab.GradientTape() as tape:
                    loss = lab.reduce_mean((data * w - 2.0) ** 2)
                slope = tape.gradient(loss, w)
                w.assign_sub(0.1 * slope)
        final = w * 1.0
    assert float(final) != 0
    return recording.so_far()


@cache
def second() -> Recording:
    """First and second derivative of x³ − 3x, where one number of the inner pass is not an op of the outer tape."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = x * x * x - 3.0 * x
            slope = inner.gradient(y, x)
        curvature = outer.gradient(slope, x)
        shift = slope / curvature
    assert float(shift) == 0.75
    return recording.so_far()


def node_named(drawn: Graph, label: str) -> Node:
    return next(node for node in drawn.nodes if node.label == label)


def test_a_gradient_that_is_used_later_is_a_leaf_tied_to_its_variable() -> None:
    drawn = graph(loop(named=True), "step 2")
    gradient = node_named(drawn, "∂loss/∂w")
    assert (gradient.kind, gradient.name) == ("gradient", "slope")
    (tie,) = [edge for edge in drawn.edges if edge.kind == "adjoint"]
    assert next(node for node in drawn.nodes if node.key == tie.source).label == "w"
    assert tie.target == gradient.key


def test_a_gradient_has_no_value_before_its_pass_delivered_it() -> None:
    recording = loop(named=True)
    timeline = Timeline(recording)
    gradient = node_named(graph(recording, "step 1", timeline=timeline), "∂loss/∂w")
    used = min(timeline.ran[index] for index in timeline.scopes.readers[gradient.tensors[0]])
    shown = [node_lines(gradient, timeline, moment).value_state for moment in range(used + 1)]
    assert shown[0] == "pending"
    assert shown[-1] == "known"
    passes = [moment.phase for moment in recording.order[: used + 1]]
    assert "backward" in passes[: shown.index("known") + 1], "not before the backward pass"


def test_numbers_of_an_inner_backward_pass_are_no_constants() -> None:
    recording = second()
    drawn = graph(recording)
    written = {node.label for node in drawn.nodes if node.kind == "constant"}
    assert written == {"3"}, "the only number in the program text"
    gradients = {node.label for node in drawn.nodes if node.kind == "gradient"}
    assert {"seed", "∂slope/∂x"} <= gradients
    assert any(label.startswith("part of") for label in gradients)


def test_ops_of_an_inner_pass_have_the_line_of_the_op_whose_derivative_they_are() -> None:
    payload = scene(second())
    inner = [row for row in payload["applications"].values() if len(row) > 8]
    assert inner
    for row in inner:
        assert payload["places"][row[3]][1] == "y = x * x * x - 3.0 * x"
        assert re.fullmatch(r"derivative of (multiply|subtract) at .*test_training.py, line \d+", row[8])


@pytest.mark.parametrize("named", [True, False])
def test_turns_stand_below_each_other_in_the_order_of_time(named: bool) -> None:
    recording = loop(named)
    drawn = graph(recording)
    boxes = layout(drawn).boxes
    turns = [boxes[node.key] for node in drawn.nodes if node.members]
    assert len(turns) == TURNS
    assert [box.y for box in turns] == sorted(box.y for box in turns)
    assert len({box.x for box in turns}) == 1
    after = next(boxes[node.key] for node in drawn.nodes if node.name == "final")
    assert after.x > turns[0].x, "what is computed after the loop stands to the right of it"


@pytest.mark.parametrize("named", [True, False])
def test_each_turn_is_tied_to_the_next_by_what_it_assigns(named: bool) -> None:
    drawn = graph(loop(named))
    turns = [node.key for node in drawn.nodes if node.members]
    ties = [(edge.source, edge.target) for edge in drawn.edges if edge.kind == "assigned"]
    assert ties[: TURNS - 1] == list(pairwise(turns))


def test_a_loop_without_scopes_gets_one_for_each_turn_and_a_short_program_none() -> None:
    assert scope_paths(loop(named=False)) == tuple(f"pass {turn}" for turn in range(1, TURNS + 1))
    assert scope_paths(handmade.two_sweeps()) == ()
    assert scope_paths(second()) == ()


def test_a_turn_shows_the_loss_that_it_came_to() -> None:
    recording = loop(named=False)
    timeline = Timeline(recording)
    turns = [node for node in graph(recording, timeline=timeline).nodes if node.members]
    losses = [float(node_lines(node, timeline).value.removeprefix("loss ")) for node in turns]
    weight, wanted = 0.0, []
    data = np.array([1.0, 2.0, 3.0])
    for _ in range(TURNS):
        wanted.append(np.mean((data * weight - 2.0) ** 2))
        weight -= 0.1 * np.mean(2.0 * (data * weight - 2.0) * data)
    assert losses == pytest.approx(wanted, rel=1e-3)


def test_the_explorer_opens_on_the_first_turn() -> None:
    payload = scene(loop(named=False))
    assert payload["open"] == ["pass 1"]
    assert payload["loops"] == [[f"pass {turn}" for turn in range(1, TURNS + 1)]]
    assert scene(handmade.sine())["open"] == []


def test_an_update_says_which_variable_it_changes() -> None:
    assert [node.name for node in graph(loop(named=True), "step 1").nodes if "changes" in node.name] == ["changes w"]


def test_what_has_no_name_is_told_by_its_formula() -> None:
    recording = loop(named=False)
    words = [described(recording, a.outputs[0]) for a in recording.forward[:4]]
    assert words == ["data * w", "data * w - 2.0", "(data * w - 2.0) ** 2.0", "loss"]


def test_of_many_numbers_the_mean_and_the_spread_are_told() -> None:
    w = lab.Variable(np.linspace(-1.0, 1.0, 10, dtype=np.float32), name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(w * w)
        tape.gradient(y, w)
    timeline = Timeline(recording.so_far())
    lines = node_lines(node_named(graph(timeline.recording), "w"), timeline)
    assert lines.value == f"mean 0, spread {np.linspace(-1, 1, 10).std():.2g}"
    assert lines.gradient == f"mean 0, spread {np.linspace(-2, 2, 10).std():.2g}"


@pytest.mark.parametrize("name", ["two_layer_net", "newton", "pendulum"])
def test_no_box_of_a_real_program_lies_on_another(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    monkeypatch.setattr("builtins.print", lambda *_: None)
    with lab.record() as recording:
        runpy.run_path(str(Path(__file__).parents[1] / "data" / f"{name}.py"))
    for path, view in scene(recording.so_far())["views"].items():
        boxes = [row[8:12] for row in view["nodes"]]
        for at, (x, y, width, height) in enumerate(boxes):
            for a, b, wide, high in boxes[:at]:
                assert x >= a + wide or a >= x + width or y >= b + high or b >= y + height, path
