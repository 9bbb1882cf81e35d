"""Remarks without a query: one line for each missing or non-finite gradient, in repr and in the printed form."""

import re

import numpy as np

import autodiff_lab as lab
from autodiff_lab.explain import remarks
from autodiff_lab.recording import Recording


def detached(steps: int = 1) -> Recording:
    """The comparison's program: w1, tanh, a cut, w2, sum."""
    w1, w2 = lab.Variable([0.5, 1.0], name="w1"), lab.Variable([2.0, 3.0], name="w2")
    with lab.record() as recording:
        for _ in range(steps):
            with lab.GradientTape() as tape:
                h = lab.tanh(w1)
                h = lab.stop_gradient(h)
                loss = lab.reduce_sum(h * w2)
            tape.gradient(loss, [w1, w2])
    return recording


def test_a_cut_is_named_unasked() -> None:
    """The variable, the reason and the line, once in repr and once at the end of the text."""
    recording = detached()
    (line,) = remarks(recording)
    assert re.fullmatch(r"gradient of w1 is None: stop_gradient at line \d+", line)
    assert line in repr(recording)
    assert recording.to_text().splitlines()[-1] == line
    assert recording.to_text(lines=False).splitlines()[-1] == "gradient of w1 is None: stop_gradient"


def test_a_loop_says_it_once() -> None:
    """Ten steps with the same fault are one line that says so."""
    (line,) = remarks(detached(10))
    assert line.endswith("(in 10 backward passes)")


def test_a_nan_is_named_unasked_with_op_line_element_and_cause() -> None:
    """The comparison's second program."""
    x = lab.Variable(0.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.where(x > 0.0, lab.sqrt(x), 0.0)
        tape.gradient(y, x)
    (line,) = remarks(recording)
    assert re.fullmatch(
        r"gradient of x is nan: 0 times infinity in the backward pass of sqrt \(x = 0\) at line \d+", line
    )
    assert line in repr(recording)


def test_a_healthy_recording_has_no_remarks() -> None:
    """Nothing is said where nothing is wrong."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    assert remarks(recording) == ()
    assert repr(recording) == "<Recording: 1 op, 1 backward pass>"


def test_masks_of_infinity_that_are_used_up_are_not_remarked() -> None:
    """An infinite constant that a maximum swallows on purpose leaves every result finite."""
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_max(lab.where([True, False], x, float("-inf")))
        tape.gradient(y, x)
    assert remarks(recording) == ()


def test_many_remarks_are_cut_with_a_count() -> None:
    """Five lines are read, twenty are not."""
    sources = [lab.Variable(float(i), name=f"v{i}") for i in range(12)]
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.constant(1.0) * sources[0]
            for source in sources:
                _ = source * 2.0
        tape.gradient(y, sources)
    lines = remarks(recording)
    assert len(lines) == 5
    assert lines[-1] == "and 7 more like these"


def test_a_source_that_no_op_used_is_remarked() -> None:
    """Even a source that the recording never met is told."""
    x, never = lab.Variable(3.0, name="x"), lab.Variable(1.0, name="never")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x
        tape.gradient(y, [x, never])
    (line,) = remarks(recording)
    assert "is None" in line


def test_no_remark_without_values() -> None:
    """The form that compares structures has no names, and so no remarks."""
    assert "None" not in detached().to_text(values=False)


def test_a_result_with_the_shape_of_neither_input_is_remarked() -> None:
    """(100, 1) - (100,) is (100, 100), and the loss looks right."""
    y, p = lab.constant(np.arange(100.0), name="y"), lab.Variable(np.zeros((100, 1)), name="p")
    with lab.record() as recording:
        for _ in range(3):
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean(lab.square(p - y))
            tape.gradient(loss, p)
    (line,) = remarks(recording, lines=False)
    assert line == "subtract of shapes (100, 1) and (100,) has shape (100, 100), that of neither: did you mean that?"
    assert re.search(r"did you mean that\? at line \d+$", remarks(recording)[0])
    assert line in recording.to_text(lines=False)


def test_shapes_that_are_stretched_to_one_of_both_are_not_remarked() -> None:
    x = lab.constant(np.ones((3, 4)))
    with lab.record() as recording:
        _ = x + lab.ones([4], "float64"), x * 2.0, x - lab.ones([3, 1], "float64"), x @ lab.ones([4, 2], "float64")
        _ = lab.ones([1, 1]) + lab.ones([1]), lab.where(x > 0.0, x, 0.0)
    assert remarks(recording) == ()
