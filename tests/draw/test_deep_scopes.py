"""Many scopes: a runaway recursion has a bounded number of pictures, and pictures take no more time than they show."""

import sys
from collections.abc import Callable
from typing import Any

import autodiff_lab as lab
from autodiff_lab.draw.graph import graph, scope_paths
from autodiff_lab.draw.passes import DEEPEST
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.recording import Recording


def deeper(x: lab.Tensor, levels: int) -> lab.Tensor:
    if levels == 0:
        return x
    with lab.name_scope(f"level {levels}"):
        return deeper(lab.sin(x), levels - 1)


def test_scopes_beyond_the_deepest_level_are_drawn_in_it() -> None:
    levels = 3 * DEEPEST
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording:
        deeper(x.read(), levels)
    paths = [path for path in scope_paths(recording) if "turn" not in path]
    assert len(paths) == DEEPEST
    assert max(path.count("/") for path in paths) == DEEPEST - 1
    assert len(scene(recording)["steps"]) == levels
    assert recording.applications[-1].scope.count("/") == levels - 1, "the recording itself keeps the whole path"


def training(epochs: int) -> Recording:
    """Record a program with a scope for each epoch, for each of its four steps, and for each pass of a step."""
    w, b = lab.Variable([0.5, 0.1], name="w"), lab.Variable(0.2, name="b")
    with lab.record() as recording:
        for epoch in range(epochs):
            for step in range(4):
                with lab.name_scope(f"epoch{epoch}/step{step}"), lab.GradientTape() as tape:
                    loss = lab.reduce_sum(lab.tanh(w * (step + 1.0) + b) ** 2)
                grad_w, grad_b = tape.gradient(loss, [w, b])
                w.assign_sub(0.1 * grad_w)
                b.assign_sub(0.1 * grad_b)
    return recording.so_far()


def calls(work: Callable[[], object]) -> int:
    """Return how many Python functions and generators are entered while something runs."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_all_pictures_together_grow_with_the_program(figure: Callable[[str, str], None]) -> None:
    def draw(recording: Recording) -> int:
        timeline = Timeline(recording)
        paths = ["", *timeline.scopes.members]
        return calls(lambda: [graph(recording, path, timeline=timeline) for path in paths])

    few, many = draw(training(5)), draw(training(20))
    figure("calls to make the graphs of all scopes, for 4 times the ops", f"{many / few:.2f} times as many")
    assert many < 4.4 * few
