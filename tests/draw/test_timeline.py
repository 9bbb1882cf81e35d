"""What is known at each step: values, partial sums of adjoints, zero, "not computed yet" and "no path"."""

import math

import numpy as np

from autodiff_lab.draw.timeline import Timeline
from tests.draw import handmade

X, W, SQUARE, Y = 1, 2, 2, 4


def amount(timeline: Timeline, tensor: int, moment: int | None) -> float:
    """The gradient as a number."""
    adjoint = timeline.gradient(tensor, moment).tensor
    assert adjoint is not None
    return float(np.asarray(timeline.recording.tensors[adjoint].snapshot.array))


def test_values_appear_when_their_op_has_run() -> None:
    timeline = Timeline(handmade.sine())
    assert [timeline.has_value(SQUARE, moment) for moment in (-1, 0, 1)] == [False, True, True]
    assert [timeline.has_value(Y, moment) for moment in (1, 2, None)] == [False, True, True]
    assert timeline.has_value(X, -1)


def test_contributions_to_x_are_summed_one_at_a_time() -> None:
    timeline = Timeline(handmade.sine())
    states = [timeline.gradient(X, moment) for moment in (2, 3, 4, 5)]
    assert [(g.state, g.arrived, g.expected) for g in states] == [
        ("pending", 0, 3), ("pending", 0, 3), ("known", 1, 3), ("known", 3, 3),
    ]  # fmt: skip
    assert math.isclose(amount(timeline, X, 4), math.cos(3), rel_tol=1e-6)
    assert math.isclose(amount(timeline, X, None), 6 + math.cos(3), rel_tol=1e-6)


def test_the_seed_is_known_from_the_first_step_of_the_sweep() -> None:
    timeline = Timeline(handmade.sine())
    assert [timeline.gradient(Y, moment).state for moment in (2, 3)] == ["pending", "known"]


def test_no_path_is_told_only_when_the_sweep_is_over() -> None:
    timeline = Timeline(handmade.two_sweeps())
    assert [timeline.gradient(W, moment).state for moment in (0, 2, 3, None)] == [
        "pending", "pending", "no path", "no path",
    ]  # fmt: skip


def test_zero_is_a_known_gradient() -> None:
    timeline = Timeline(handmade.two_sweeps())
    assert timeline.gradient(X).state == "known"
    assert amount(timeline, X, None) == 0.0


def test_the_second_sweep_starts_from_nothing() -> None:
    timeline = Timeline(handmade.two_sweeps())
    assert amount(timeline, X, 3) == 1.0
    y = timeline.recording.applications[0].outputs[0]
    assert [timeline.gradient(y, moment).state for moment in (3, 4)] == ["known", "known"]
    assert [amount(timeline, y, moment) for moment in (3, 4)] == [1.0, 0.0]
    assert timeline.gradient(X, 4).arrived == 1


def test_constants_that_no_sweep_reached_have_no_gradient_line() -> None:
    timeline = Timeline(handmade.two_layers())
    assert timeline.gradient(1).state == "none"


def test_without_a_sweep_there_are_no_gradients() -> None:
    assert Timeline(handmade.failed()).gradient(1).state == "none"


def test_a_sweep_that_did_not_finish_promises_nothing() -> None:
    recording = handmade.unfinished()
    assert Timeline(recording).gradient(recording.applications[0].inputs[0]).state == "pending"


def test_shares_pass_back_through_each_input_at_their_moment() -> None:
    timeline = Timeline(handmade.sine())
    assert [timeline.flow_moment(0, 0), timeline.flow_moment(0, 1), timeline.flow_moment(1, 0)] == [5, 5, 4]
    assert timeline.flow_moment_into(0, X) == 5
    assert timeline.flow_moment_into(0, Y) is None
