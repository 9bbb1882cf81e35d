"""Remarks without a query: one line for each missing or non-finite gradient, in repr and in the printed form."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.explain import remarks
from autodiff_lab.recording import Recording
from autodiff_lab.recording.model import Note


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
    assert re.fullmatch(r"gradient of w1 is None: stop_gradient \(line \d+\)", line)
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
        r"gradient of x is nan: 0 times infinity in the backward pass of sqrt \(x = 0\) \(line \d+\)", line
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
    assert (
        line
        == "subtract: shapes (100, 1) and (100,) broadcast to (100, 100), which neither input has. Is that intended?"
    )
    assert re.search(r"Is that intended\? \(line \d+\)$", remarks(recording)[0])
    assert line in recording.to_text(lines=False)


def test_shapes_that_are_stretched_to_one_of_both_are_not_remarked() -> None:
    x = lab.constant(np.ones((3, 4)))
    with lab.record() as recording:
        _ = x + lab.ones([4], "float64"), x * 2.0, x - lab.ones([3, 1], "float64"), x @ lab.ones([4, 2], "float64")
        _ = lab.ones([1, 1]) + lab.ones([1]), lab.where(x > 0.0, x, 0.0)
    assert remarks(recording) == ()


def descent(turns: int, update: Callable[[lab.Variable, Any, Any], Any]) -> Recording:
    """Train a variable; `update` gets the sum so far and the new gradient, changes the variable, returns the sum."""
    w, total = lab.Variable([1.0, 2.0], name="w"), None
    with lab.record() as recording:
        for _ in range(turns):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum(w * w)
            total = update(w, total, tape.gradient(loss, w))
    return recording


def never_reset(w: lab.Variable, total: Any, g: Any) -> Any:
    total = g if total is None else total + g
    w.assign_sub(0.1 * total)
    return total


def never_reset_with_an_optimizer(w: lab.Variable, total: Any, g: Any) -> Any:
    total = g if total is None else lab.add_n([total, g])
    lab.optimizers.Adam(0.1).apply_gradients([(total, w)])
    return total


def never_reset_by_assign(w: lab.Variable, total: Any, g: Any) -> Any:
    total = g if total is None else g + total
    w.assign(w - 0.1 * total)
    return total


@pytest.mark.parametrize("update", [never_reset, never_reset_with_an_optimizer, never_reset_by_assign])
def test_a_sum_of_gradients_that_is_never_reset_is_named_unasked(update: Any) -> None:
    recording = descent(4, update)
    (line,) = remarks(recording)
    assert re.fullmatch(
        r"4 gradients of w were added up, so each update repeated the earlier ones: "
        r"was the sum to be reset in each step\? \(line \d+\)",
        line,
    )
    assert int(line.rpartition(" ")[2].rstrip(")")) == update.__code__.co_firstlineno + 1
    assert line in repr(recording)
    assert line in recording.to_text()


def plain(w: lab.Variable, total: Any, g: Any) -> Any:
    w.assign_sub(0.1 * g)


def momentum(w: lab.Variable, total: Any, g: Any) -> Any:
    total = g if total is None else 0.9 * total + g
    w.assign_sub(0.1 * total)
    return total


def every_second(w: lab.Variable, total: Any, g: Any) -> Any:
    """Gradient accumulation over two parts of a batch."""
    if total is None:
        return g
    w.assign_sub(0.1 * (total + g))
    return None


def heun(w: lab.Variable, total: Any, g: Any) -> Any:
    """A trial step, undone, and a step by the mean of two gradients."""
    if total is None:
        w.assign_sub(0.1 * g)
        return g
    w.assign_add(0.1 * total)
    w.assign_sub(0.05 * (total + g))
    return None


def averaged_beside(w: lab.Variable, total: Any, g: Any) -> Any:
    """The mean of all gradients is watched; the update is plain."""
    total = g if total is None else total + g
    lab.norm(total / 4.0)
    w.assign_sub(0.1 * g)
    return total


START = lab.constant([1.0, 2.0])


def dual_averaging(w: lab.Variable, total: Any, g: Any) -> Any:
    """Every value is computed from the first one and the sum of all gradients, as it should be."""
    total = g if total is None else total + g
    w.assign(START - 0.1 * total)
    return total


def adagrad(w: lab.Variable, total: Any, g: Any) -> Any:
    total = g * g if total is None else total + g * g
    w.assign_sub(0.1 * g / lab.sqrt(total))
    return total


def two_losses(w: lab.Variable, total: Any, g: Any) -> Any:
    """The sum of two gradients at one value: what the gradient of the sum of two losses is."""
    with lab.GradientTape() as tape:
        other = lab.reduce_sum(w)
    w.assign_sub(0.1 * (g + tape.gradient(other, w)))


@pytest.mark.parametrize(
    "update", [plain, momentum, every_second, heun, averaged_beside, dual_averaging, adagrad, two_losses]
)
def test_sums_of_gradients_that_are_meant_are_left_alone(update: Any) -> None:
    assert not remarks(descent(8, update))


def test_each_variable_of_a_model_is_judged_by_itself() -> None:
    """An optimizer that updates two variables, one of them by a sum that only grows; values too large to be kept."""
    a, b = lab.Variable(lab.ones([200]), name="a"), lab.Variable(lab.ones([200]), name="b")
    optimizer, total = lab.optimizers.SGD(0.001), lab.zeros([200])
    with lab.record() as recording:
        for _ in range(5):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum(a * b)
            first, second = tape.gradient(loss, [a, b])
            total = total + second
            optimizer.apply_gradients([(first, a), (total, b)])
    (line,) = remarks(recording, lines=False)
    assert line.startswith("5 gradients of b were added up")


def test_two_updates_are_not_enough_to_be_certain() -> None:
    assert not remarks(descent(2, never_reset))


def test_what_an_adapter_found_is_named_unasked() -> None:
    """PyTorch's `.grad`, which still held the gradient of the turn before."""
    recording = descent(1, plain)
    w = next(key for key, record in recording.tensors.items() if record.variable is not None)
    note = Note("fault grad_not_cleared", w, "", ("train.py", 7))
    found = replace(recording, notes=(*recording.notes, note, note), framework="torch")
    assert remarks(found, lines=False) == (
        "`.grad` of w still held the gradient of the turn before, and backward() added to it",
    )


def test_a_source_that_no_op_used_has_its_name(tmp_path: Path) -> None:
    named, w, unnamed = lab.Variable(1.0, name="scale"), lab.Variable(2.0), lab.constant(3.0)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            loss = w * w
        tape.gradient(loss, [w, named, unnamed, lab.Variable(1.0)])
    names = ("", "scale", "unnamed", "")
    assert recording.sweeps[0].names == names
    told = [line.partition(" (line")[0] for line in remarks(recording)]
    assert told == [f"gradient of {name} is None: no op used it" for name in ("scale", "unnamed", "source 4")]
    assert "scale: no gradient" in recording.to_text()
    assert "scale" not in recording.to_text(values=False)
    recording.save(tmp_path / "run.json")
    assert lab.load_recording(tmp_path / "run.json").sweeps[0].names == names
