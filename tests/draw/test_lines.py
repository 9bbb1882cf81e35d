"""The text on nodes, and the space reserved for it."""

import numpy as np
import pytest

from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.lines import NUMBER_WIDTH, PAD_X, node_lines, number, number_width, tip
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.recording.snapshot import snapshot
from tests.draw import handmade


@pytest.mark.parametrize(("value", "text"), [
    (np.float32(-1.5), "−1.5"),
    (np.float32(0.0), "0"),
    (np.array([0.0, np.nan]), "[0, nan]"),
    (np.array([np.inf]), "[inf]"),
    (np.ones((64, 256)), "all 1"),
    (np.full((2, 3), 0.123456), "all 0.1235"),
    (np.array([0.123456, -1.5, 0.98765]), "[0.1235, −1.5, 0.9877]"),
    (np.array([0.123456, -1.5, 0.98765, 12.25, 1e-9]), "[0.123, −1.5, 0.988, 12.2, 1e−9]"),
    (np.array([[0.123456, -1.5], [0.98765, 2.0], [0.00321, 1.0]]), "mean 0.44, spread 1.1"),
])  # fmt: skip
def test_a_number_is_short_and_its_shape_is_told_elsewhere(value: np.ndarray, text: str) -> None:
    assert number(snapshot(value)) == text


def test_numbers_on_nodes_are_never_longer_than_their_room() -> None:
    chance = np.random.default_rng(0)
    for size in (1, 2, 3, 6, 7, 100):
        for scale in (1e-30, 1e-3, 1.0, 1e10):
            assert len(number(snapshot(chance.normal(size=size) * scale))) <= NUMBER_WIDTH


def test_a_node_has_room_for_every_number_it_will_show() -> None:
    recording = handmade.sine()
    timeline = Timeline(recording)
    for node in graph(recording).nodes:
        for moment in (None, *range(len(recording.order))):
            lines = node_lines(node, timeline, moment)
            assert max(number_width(lines.value), number_width(lines.gradient)) <= node.width - 2 * PAD_X


def test_a_tip_tells_op_line_and_whole_value() -> None:
    recording = handmade.two_layers()
    node = next(node for node in graph(recording).nodes if node.key == "a6")
    assert tip(node, recording).splitlines() == [
        "reduce_sum(output, axis=None)",
        "cell 3, line 3: loss = lab.reduce_sum(output)",
        "loss: float32 = 0.7168",
    ]


def test_a_scope_says_how_many_ops_it_holds() -> None:
    recording = handmade.two_layers()
    net = next(node for node in graph(recording).nodes if node.kind == "scope")
    assert node_lines(net, Timeline(recording)).count == "6 ops"


def test_a_value_that_is_the_label_is_not_repeated() -> None:
    recording = handmade.failed()
    half = next(node for node in graph(recording).nodes if node.label == "0.5")
    assert node_lines(half, Timeline(recording)).value == ""
