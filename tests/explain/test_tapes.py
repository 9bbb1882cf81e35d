"""`tape.explain`: during a recording, after it, and without one."""

from collections.abc import Callable

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import NotInRecording


def test_inside_and_after_the_recording_the_answer_has_a_line() -> None:
    """The tape finds the recording that heard it, whether it still runs or is over."""
    x, w = lab.Variable(3.0, name="x"), lab.Variable(2.0, name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.stop_gradient(x) * w
        during = tape.explain(y, x)
    after = tape.explain(y, x)
    assert during.cause == after.cause == "stop_gradient"
    assert during.place == after.place == recording.explain(y, x).place


def test_each_tape_answers_for_itself() -> None:
    """Of two tapes that hear the same program one watches x and the other does not."""
    x = lab.constant(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as one, lab.GradientTape() as two:
        one.watch(x)
        y = x * x
    assert (one.explain(y, x).cause, two.explain(y, x).cause) == ("connected", "not_watched")
    assert len(recording) == 1


def test_explaining_takes_nothing_from_a_one_shot_tape() -> None:
    """The gradient can still be asked for."""
    x = lab.Variable(3.0, name="x")
    with lab.GradientTape() as tape:
        y = x * x
    assert tape.explain(y, x).cause == "connected"
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize(
    ("source", "options", "cause"),
    [
        (lab.constant(3.0), {}, "not_watched"),
        (lab.Variable(3.0, trainable=False), {}, "not_trainable"),
        (lab.Variable(3.0), {"watch_accessed_variables": False}, "watching_off"),
        (lab.Variable(3), {}, "integer"),
        (lab.Variable(3.0), {}, "connected"),
    ],
    ids=["constant", "not trainable", "watching off", "integer", "connected"],
)
def test_without_a_recording_the_tape_says_what_it_knows(source: object, options: dict[str, bool], cause: str) -> None:
    """What is certain is named, and the line to add is told."""
    with lab.GradientTape(**options) as tape:
        y = source * source
    found = tape.explain(y, source)
    assert found.cause == cause
    assert "with lab.record() as recording" in found.fix


def test_without_a_recording_other_cuts_are_told_as_not_recorded() -> None:
    """Neither the tape nor its spent rest knows a line, and both say so."""
    x, w = lab.Variable(3.0, name="x"), lab.Variable(2.0, name="w")
    with lab.GradientTape() as tape:
        y = lab.stop_gradient(x) * w
    before = tape.explain(y, x)
    tape.gradient(y, x)
    after = tape.explain(y, x)
    assert before.cause == after.cause == "not_recorded"
    assert before.result == "None"
    assert "spent" in after.what


def test_a_variable_that_was_never_read_has_no_path() -> None:
    """Certain without a recording: the block did not read it."""
    x, other = lab.Variable(3.0), lab.Variable(1.0)
    with lab.GradientTape() as tape:
        y = x * x
    assert tape.explain(y, other).cause == "no_path"


def test_names_that_nobody_has_are_refused_with_near_ones() -> None:
    """A typing error is answered with the names there are."""
    weight = lab.Variable(3.0, name="weight")
    with lab.record() as recording, lab.GradientTape():
        loss = weight * weight
    assert recording.explain("loss", "weight").cause == "connected"
    assert recording.explain(loss, "%0").cause == "connected"
    with pytest.raises(NotInRecording, match="weight"):
        recording.explain("loss", "wieght")
    with pytest.raises(LookupError, match="id"):
        recording.explain(-5, "weight")


@pytest.mark.parametrize("leave", [float, lab.Tensor.numpy], ids=["float", "numpy"])
def test_a_target_that_is_no_tensor_has_left_the_engine(leave: Callable[[lab.Tensor], object]) -> None:
    """A loss that became a Python or NumPy number is found at the line where it left."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        loss = leave(x * 1.5)
    found = recording.explain(loss, x)
    assert found.cause == "left_engine"
    assert "loss = leave(" in found.where


def test_a_recording_without_a_tape_says_so() -> None:
    """Only ops ran: there is nothing to ask a gradient of."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording:
        _ = x * x
    assert recording.explain("%1", "x").cause == "no_tape"


def test_text_that_came_from_the_user_is_escaped_in_markdown() -> None:
    """A name cannot become markup in a notebook."""
    x, w = lab.Variable(3.0, name="<b>x_1</b>"), lab.Variable(2.0, name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.stop_gradient(x) * w
        tape.gradient(y, x)
    shown = recording.explain(y, x)._repr_markdown_()
    assert "<b>" not in shown
    assert r"\<b\>" in shown
