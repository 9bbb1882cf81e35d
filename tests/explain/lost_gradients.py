"""One program for each way to lose a gradient; the line that loses it is marked ``# CUT``."""

from collections.abc import Callable

import numpy as np

import autodiff_lab as lab
from autodiff_lab.recording import Recording

Asked = tuple[Recording, object, object]


def variable(value: float = 3.0, name: str = "x", trainable: bool = True) -> lab.Variable:
    return lab.Variable(value, name=name, trainable=trainable)


def not_watched() -> Asked:
    x = lab.constant(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def watched_too_late() -> Asked:
    x = lab.constant(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x  # CUT
            tape.watch(x)
        assert tape.gradient(y, x) is None
    return recording, y, x


def not_trainable() -> Asked:
    x, w = variable(trainable=False), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def watching_off() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(w)
            y = x * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def left_engine_by_numpy() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            inner = x.numpy()  # CUT
            y = w * inner
        assert tape.gradient(y, x) is None
    return recording, y, x


def left_engine_by_float() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = w * float(x)  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def left_engine_by_a_numpy_function() -> Asked:
    x = lab.Variable([[1.0, 2.0], [3.0, 4.0]], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            x2 = x**2
            y = np.mean(x2, axis=0)  # CUT
            y = lab.reduce_mean(y, axis=0)
        assert tape.gradient(y, x) is None
    return recording, y, x


def left_engine_in_a_function() -> Asked:
    x, w = variable(1.7), variable(2.0, "w")

    def outside(value: object) -> object:
        return np.sin(value) + 1  # CUT

    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = outside(x) * w
        assert tape.gradient(y, x) is None
    return recording, y, x


def overwritten() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = x * 2.0
            h = np.maximum(h, 0.0)  # CUT
            y = w * h
        assert tape.gradient(y, x) is None
    return recording, y, x


def replaced() -> Asked:
    x = source = variable(2.0)
    y = slope = None
    with lab.record() as recording:
        for _ in range(2):
            with lab.GradientTape() as tape:
                y = x + 1.0
            slope, source = tape.gradient(y, x), x
            x = x + 1.0  # CUT
        assert slope is None
    return recording, y, source


def integer_variable() -> Asked:
    x, w = lab.Variable(4, name="x"), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.cast(x, lab.float32) * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def integer_constant() -> Asked:
    x = lab.constant(10, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x * x  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def integer_by_cast() -> Asked:
    x = variable()
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = lab.cast(x, lab.int32)  # CUT
            y = lab.cast(h, lab.float32) * 2.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def state_read() -> Asked:
    x, state = variable(), variable(0.0, "state")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            state.assign_add(x)  # CUT
            y = state**2
        assert tape.gradient(y, x) is None
    return recording, y, x


def state_of_a_new_variable() -> Asked:
    x = variable()
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            v = lab.Variable(x * 2.0, name="v")  # CUT
            y = v * v
        assert tape.gradient(y, x) is None
    return recording, y, x


def stop_gradient() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = lab.math.tanh(x)
            h = lab.stop_gradient(h)  # CUT
            y = h * w
        assert tape.gradient(y, x) is None
    return recording, y, x


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
            h = x * x  # CUT
            tape.reset()
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
    (not_watched, "not_watched", "multiply"),
    (watched_too_late, "watched_too_late", "multiply"),
    (not_trainable, "not_trainable", "multiply"),
    (watching_off, "watching_off", "multiply"),
    (left_engine_by_numpy, "left_engine", None),
    (left_engine_by_float, "left_engine", None),
    (left_engine_by_a_numpy_function, "left_engine", None),
    (left_engine_in_a_function, "left_engine", None),
    (overwritten, "overwritten", None),
    (replaced, "replaced", "add"),
    (integer_variable, "integer", "cast_to_discrete"),
    (integer_constant, "integer", "multiply"),
    (integer_by_cast, "integer", "cast_to_discrete"),
    (state_read, "state_read", None),
    (state_of_a_new_variable, "state_read", None),
    (stop_gradient, "stop_gradient", "stop_gradient"),
    (not_differentiable_floor, "not_differentiable", "floor"),
    (not_differentiable_argmax, "not_differentiable", "argmax"),
    (not_differentiable_comparison, "not_differentiable", "greater"),
    (outside_tape_after, "outside_tape", "multiply"),
    (outside_tape_before, "outside_tape", "add"),
    (target_before_tape, "target_before_tape", "multiply"),
    (recording_stopped, "recording_stopped", "multiply"),
    (tape_reset, "tape_reset", "multiply"),
    (inner_gradient_outside, "inner_gradient_outside", None),
    (rule_gave_none, "rule_gave_none", None),
    (control_flow_on_one_line, "control_flow", None),
    (control_flow_in_a_block, "control_flow", None),
    (no_path, "no_path", "multiply"),
    (no_path_beside_a_print, "no_path", "multiply"),
]
