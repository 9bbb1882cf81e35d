"""Frames around nested tapes: which ops are in them, and what they leave as it is."""

from __future__ import annotations

import pytest

import autodiff_lab as lab
from autodiff_lab.draw.loops import Loop, with_loops
from autodiff_lab.draw.nested import MOST, Frame, with_frames
from autodiff_lab.draw.scene import scene
from autodiff_lab.recording import Recording


def framed(recording: Recording) -> tuple[dict[str, list[str]], tuple[Loop, ...], dict[str, Frame]]:
    """Return the ops of each scope, the loops, and the frames."""
    made, loops, frames = with_frames(*with_loops(recording.so_far()))
    ops: dict[str, list[str]] = {}
    visited = {moment.application for moment in made.order if moment.phase == "forward"}
    for application in made.applications:
        if application.index in visited:
            ops.setdefault(application.scope, []).append(application.op)
    return ops, loops, frames


def hessian_vector(inside: bool = True) -> Recording:
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = lab.reduce_sum(lab.exp(x))
            end = lab.reduce_sum((inner.gradient(y, x) if inside else x) * 2.0)
        if not inside:
            inner.gradient(y, x)
        outer.gradient(end, x)
    return recording


def test_an_inner_tape_and_its_backward_pass_have_a_frame_each() -> None:
    ops, _, frames = framed(hessian_vector())
    assert ops["inner tape"] == ["exp", "sum"]
    assert set(ops) == {"inner tape", "gradient of y", ""}
    assert ops[""] == ["multiply", "sum"]
    assert "multiply" in ops["gradient of y"]
    assert {path: frame.kind for path, frame in frames.items()} == {"inner tape": "tape", "gradient of y": "pass"}


def test_what_no_outer_tape_recorded_has_no_frame() -> None:
    assert list(framed(hessian_vector(inside=False))[2]) == ["inner tape"]


def test_a_single_tape_has_none() -> None:
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
    assert scene(recording)["frames"] == {}


@pytest.mark.parametrize("tapes", [MOST, MOST + 1])
def test_more_frames_than_are_drawn_are_said_to_be_left_out(tapes: int) -> None:
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        for _ in range(tapes):
            with lab.GradientTape(watch_accessed_variables=False) as inner:
                y = x * x
            inner.gradient(y, [])
    made = scene(recording.so_far())
    told = [remark for remark in made["remarks"] if "nested tapes are left out" in remark]
    assert (len(made["frames"]), len(told)) == ((tapes, 0) if tapes <= MOST else (0, 1))


def test_frames_of_three_orders_lie_in_each_other() -> None:
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as one:
            with lab.GradientTape() as two:
                with lab.GradientTape() as three:
                    y = x**3.0
                first = three.gradient(y, x)
            second = two.gradient(first, x)
        one.gradient(second, x)
    paths = set(framed(recording)[2])
    assert {"inner tape", "inner tape/inner tape", "inner tape/gradient of y"} <= paths
    assert any(path.startswith("gradient of first") for path in paths)


@pytest.mark.parametrize("scope_outside", [True, False])
def test_scopes_of_the_user_stay_around_a_frame_or_inside(scope_outside: bool) -> None:
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        if scope_outside:
            with lab.name_scope("net"), lab.GradientTape() as inner:
                y = lab.exp(x)
        else:
            with lab.GradientTape() as inner:
                with lab.name_scope("net"):
                    h = lab.exp(x)
                y = lab.sin(h)
        inner.gradient(y, x)
    ops, _, _ = framed(recording)
    assert ops["net/inner tape" if scope_outside else "inner tape/net"] == ["exp"]


def test_a_loop_inside_a_frame_keeps_its_iterations() -> None:
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording, lab.GradientTape():
        with lab.GradientTape() as inner:
            y = x * 1.0
            for _ in range(12):
                y = lab.sin(y) + x
        inner.gradient(y, x)
    ops, loops, frames = framed(recording)
    inside = next(loop for loop in loops if loop.turns[0].startswith("inner tape/"))
    assert len(inside.turns) == 12
    assert all(ops[turn] == ["sin", "add"] for turn in inside.turns)
    assert "inner tape" in frames


def test_two_inner_tapes_have_two_names() -> None:
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording, lab.GradientTape():
        for _ in range(2):
            with lab.GradientTape() as inner:
                y = lab.sin(x)
            inner.gradient(y, x)
    assert {"inner tape", "inner tape 2"} <= set(framed(recording)[2])


def test_the_frames_are_open_at_first_and_have_words() -> None:
    payload = scene(hessian_vector())
    assert payload["frames"]["gradient of y"] == ["pass", "what this backward pass ran, and an outer tape recorded"]
    assert hessian_vector().explore().unfolded == list(payload["frames"])
