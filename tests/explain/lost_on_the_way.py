"""More programs that lose a gradient: at an op, outside the tape's block, in a branch, or because there is no path."""

from collections.abc import Callable

import numpy as np

import autodiff_lab as lab
from tests.explain.lost_gradients import Asked, variable


def not_differentiable_floor() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.floor(x) * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def not_differentiable_argmax() -> Asked:
    x, w = lab.Variable([1.0, 5.0, 2.0], name="x"), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            best = lab.argmax(x)  # CUT
            y = lab.cast(best, lab.float32) * w
        assert tape.gradient(y, x) is None
    return recording, y, x


def not_differentiable_comparison() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            mask = x > 1.0  # CUT
            y = lab.where(mask, w, 0.0)
        assert tape.gradient(y, x) is None
    return recording, y, x


def outside_tape_after() -> Asked:
    x, y = variable(), variable(2.0, "y")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            _ = x * y
        z = x * x  # CUT
        assert tape.gradient(z, x) is None
    return recording, z, x


def outside_tape_before() -> Asked:
    x = variable()
    with lab.record() as recording:
        h = x + 1.0  # CUT
        with lab.GradientTape() as tape:
            y = h * h
        assert tape.gradient(y, x) is None
    return recording, y, x


def target_before_tape() -> Asked:
    x = variable()
    with lab.record() as recording:
        y = x * x  # CUT
        with lab.GradientTape() as tape:
            _ = x + 1.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def read_outside_by(read: Callable[[lab.Variable], object]) -> Callable[[], Asked]:
    """A variable that is read before the tape's block begins; the tape sees no read."""

    def program() -> Asked:
        x, w = variable(), variable(2.0, "w")
        with lab.record() as recording:
            value = read(x)
            with lab.GradientTape() as tape:
                y = value * w  # CUT
            assert tape.gradient(y, x) is None
        return recording, y, x

    return program


def read_outside_and_never_asked() -> Asked:
    """The recording has no backward pass from which the missing path could be told."""
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        value = x.value()
        with lab.GradientTape(persistent=True) as tape:
            y = value * w  # CUT
    assert tape.gradient(y, x) is None
    return recording, y, x


def read_outside_in_an_earlier_tape() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as first:
            value = x.value()
            assert first.gradient(value, x) is not None
        with lab.GradientTape() as tape:
            y = value * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def recording_stopped() -> Asked:
    x = variable()
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            with tape.stop_recording():
                h = x * x  # CUT
            y = h * 2.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def tape_reset() -> Asked:
    x = lab.constant(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            h = x * x
            tape.reset()  # CUT
            tape.watch(x)
            y = h * 2.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def inner_gradient_outside() -> Asked:
    x = variable()
    with lab.record() as recording:
        with lab.GradientTape() as outer, lab.GradientTape() as inner:
            y = x * x * x
        slope = inner.gradient(y, x)  # CUT
        assert outer.gradient(slope, x) is None
    return recording, slope, x


def rule_gave_none() -> Asked:
    x = variable()

    @lab.custom_gradient
    def cube(value: object) -> object:
        return value * value * value, lambda upstream: None

    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = cube(x) * 2.0  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def control_flow_on_one_line() -> Asked:
    x, v = lab.constant(1.0, name="x"), variable(2.0, "v")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = v * 3.0 if x > 0.0 else v * v  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def control_flow_in_a_loop() -> Asked:
    x, v = variable(2.5), variable(2.0, "v")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = v * 1.0
            count = 0
            while count < x:  # CUT
                y = y * v
                count += 1
        assert tape.gradient(y, x) is None
    return recording, y, x


def control_flow_by_an_index() -> Asked:
    x, v = variable(1.0), lab.Variable([2.0, 3.0], name="v")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = v[int(x)] * 2.0  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def control_flow_in_a_block() -> Asked:
    x, v = lab.constant(1.0, name="x"), variable(2.0, "v")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            if x > 2.0:  # CUT
                result = v * 3.0
            else:
                result = v * v
            y = result + 1.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def no_path() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            _ = x * x
            if x > 0.0:
                _ = x + 1.0
            y = w * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def no_path_beside_a_print() -> Asked:
    x, w = variable(1.5), variable(2.0, "w")
    data = np.array([4.0, 5.0], np.float32)
    shown = []
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            shown.append(float(x * x))
            y = w * data  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


CASES: list[tuple[Callable[[], Asked], str, str | None]] = [
    (not_differentiable_floor, "not_differentiable", "floor"),
    (not_differentiable_argmax, "not_differentiable", "argmax"),
    (not_differentiable_comparison, "not_differentiable", "greater"),
    (outside_tape_after, "outside_tape", "multiply"),
    (outside_tape_before, "outside_tape", "add"),
    (target_before_tape, "target_before_tape", "multiply"),
    (read_outside_by(lab.Variable.read_value), "read_outside_tape", "multiply"),
    (read_outside_by(lab.Variable.value), "read_outside_tape", "multiply"),
    (read_outside_by(lab.convert_to_tensor), "read_outside_tape", "multiply"),
    (read_outside_and_never_asked, "read_outside_tape", "multiply"),
    (read_outside_in_an_earlier_tape, "read_outside_tape", "multiply"),
    (recording_stopped, "recording_stopped", "multiply"),
    (tape_reset, "tape_reset", None),
    (inner_gradient_outside, "inner_gradient_outside", None),
    (rule_gave_none, "rule_gave_none", None),
    (control_flow_on_one_line, "control_flow", None),
    (control_flow_in_a_loop, "control_flow", None),
    (control_flow_by_an_index, "control_flow", None),
    (control_flow_in_a_block, "control_flow", None),
    (no_path, "no_path", "multiply"),
    (no_path_beside_a_print, "no_path", "multiply"),
]
