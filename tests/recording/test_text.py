"""The printed form, compared with texts that were checked by hand."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from autodiff_lab.recording.model import Application, TensorRecord
from autodiff_lab.recording.snapshot import snapshot
from autodiff_lab.recording.text import text
from tests.recording.programs import failing, higher_order, square_plus_sine


def test_a_program_and_its_backward_pass() -> None:
    """Forward ops with values and names, then one line for each step back, numbered from zero."""
    assert (
        square_plus_sine().to_text(lines=False)
        == """\
%0: f32 = variable                 # x = 3
%1: f32 = multiply(%0, %0)         # 9
%2: f32 = sin(%0)                  # 0.1411
%3: f32 = add(%1, %2)              # y = 9.141
backward pass from %3 (y)
%3 += f32                          # 1
%3 add: %1 += f32, %2 += f32       # 1, 1
%2 sin: %0 += f32                  # -0.99 (1 of 3)
%1 multiply: %0 += f32, %0 += f32  # 3 (2 of 3, total 2.01), 3 (3 of 3, total 5.01)
%0: gradient f32                   # 5.01"""
    )


def test_without_values_only_the_structure_is_left() -> None:
    """What goldens of structure compare: no number, no name."""
    assert (
        square_plus_sine().to_text(values=False, lines=False)
        == """\
%0: f32 = variable
%1: f32 = multiply(%0, %0)
%2: f32 = sin(%0)
%3: f32 = add(%1, %2)
backward pass from %3
%3 += f32
%3 add: %1 += f32, %2 += f32
%2 sin: %0 += f32
%1 multiply: %0 += f32, %0 += f32
%0: gradient f32"""
    )


def test_source_lines_stand_beside_the_ops() -> None:
    """File, line number and the line itself, without a folder."""
    printed = square_plus_sine().to_text()
    assert re.search(r"# y = 9\.141   programs\.py, line \d+: y = x \* x \+ lab\.sin\(x\)$", printed, re.MULTILINE)
    where = r"backward pass from %3 \(y\) +# programs\.py, line \d+: tape\.gradient\(y, x\)$"
    assert re.search(where, printed, re.MULTILINE)


def test_scopes_are_indented_under_their_path() -> None:
    """Entering a scope prints its path once; what is outside stands at the margin."""
    with lab.record() as recording:
        x = lab.constant([1.0, 2.0], name="x")
        with lab.name_scope("layer1"):
            h = lab.sin(x)
            h = h * h
        _ = h + x
    assert (
        recording.to_text(lines=False)
        == """\
%0: f32[2] = converted           # x = [1, 2]
in layer1:
  %1: f32[2] = sin(%0)           # h = [0.8415, 0.9093]
  %2: f32[2] = multiply(%1, %1)  # h = [0.7081, 0.8268]
%3: f32[2] = add(%2, %0)         # [1.708, 2.827]"""
    )


def test_a_failing_op_is_marked_and_the_end_is_told() -> None:
    """The op that raised stands where its result would, with the message on one line."""
    lines = failing().to_text(lines=False).splitlines()
    assert lines[2].startswith("%2: f32[3] = constant") or lines[1].startswith("%1: f32[2] = add")
    assert any(line.startswith("FAILED multiply(%1, %2)") and "ShapeMismatch" in line for line in lines)
    assert lines[-1].startswith("the program ended with ShapeMismatch: ")


def test_ops_of_an_inner_backward_pass_say_whose_derivative_they_are() -> None:
    """In a second derivative the ops of the first are printed where they ran, with their cause."""
    text = higher_order().to_text(lines=False)
    assert "backward pass 1 from" in text
    assert "backward pass 2 from" in text
    assert "derivative of %" in text


def test_unconnected_sources_and_values_that_left_are_told() -> None:
    """The two things a learner looks for when a gradient is missing."""
    x, z = lab.Variable(2.0, name="x"), lab.Variable(5.0, name="z")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * float(z)
        tape.gradient(y, [x, z])
    text = recording.to_text(lines=False)
    assert "%0 left the tape by float" in text
    assert re.search(r"%0: no gradient +# no path leads to it", text)


def test_training_steps_stay_in_the_order_of_time() -> None:
    """Forward, backward, assignment, forward: as the program ran."""
    w = lab.Variable(2.0, name="w")
    with lab.record() as recording:
        for _ in range(2):
            with lab.GradientTape() as tape:
                y = w * w
            w.assign_sub(0.25 * tape.gradient(y, w))
    words = [re.split(r"[ :(]", line)[0] for line in recording.to_text(values=False, lines=False).splitlines()]
    assert words.count("backward") == words.count("assigned") == 2
    assert words.index("assigned") < len(words) - 1 - words[::-1].index("backward")


def test_a_complex_gradient_is_told_from_the_total_that_the_sweep_ends_with() -> None:
    c = lab.Variable(1 + 2j, name="c")
    with lab.record() as recording, lab.GradientTape() as tape:
        m = lab.abs(c * c)
        g = tape.gradient(m, c)
    assert complex(g) == 2 + 4j
    *_, sums, result = recording.to_text(lines=False).splitlines()
    assert sums.endswith("(2 of 2, total 2 - 4i)")
    assert result.endswith("2 + 4i, the conjugate of its adjoint")


def test_text_has_no_control_characters_and_no_line_breaks_from_the_user() -> None:
    """A name with a newline or an escape sequence cannot forge a line or colour a terminal."""
    record = TensorRecord(1, "constant", "a\n%9: forged\x1b[31m", snapshot(np.float32(1)))
    recording = Recording(ops={}, tensors={1: record}, applications=(Application(0, "f", (1,), (), error="e\ne"),))
    from autodiff_lab.recording.model import Moment

    recording = Recording(
        ops={}, tensors={1: record}, applications=recording.applications, order=(Moment("forward", 0),), error="x\ny"
    )
    text = recording.to_text()
    assert len(text.splitlines()) == 3
    assert "\x1b" not in text


@pytest.mark.parametrize("program", [square_plus_sine, higher_order, failing])
def test_what_is_to_be_cut_off_changes_nothing_before_it(program: Callable[[], Recording]) -> None:
    """Its values are not worked out, and its columns are as they were."""
    recording = program()
    whole = text(recording)
    for room in range(0, len(whole), 7):
        assert text(recording, room=room)[:room] == whole[:room]
        assert len(text(recording, room=room)) > room
    assert text(recording, room=len(whole)) == whole
