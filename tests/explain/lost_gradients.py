"""Programs that lose a gradient at the source, outside the engine or in a dtype; the line is marked ``# CUT``."""

from collections.abc import Callable

import numpy as np

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.amputation import EXTRAS

Asked = tuple[Recording, object, object]


DTYPE: list[lab.DType] = [lab.float32]
"""The dtype of the variables of every program: tests put others in its place."""


def variable(value: float = 3.0, name: str = "x", trainable: bool = True) -> lab.Variable:
    return lab.Variable(lab.cast(value, DTYPE[0]), name=name, trainable=trainable)


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


def left_engine_from_a_watched_constant() -> Asked:
    x, w = lab.constant(1.7, name="x"), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = np.cos(x) * w  # CUT
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


def left_engine_in_a_comprehension() -> Asked:
    """The name that the line assigns is the comprehension's own; nothing is overwritten."""
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            parts = [float(v) for v in x.numpy()]  # CUT
            y = lab.reduce_sum(lab.constant(parts) * 2.0)
        assert tape.gradient(y, x) is None
    return recording, y, x


def left_engine_into_a_running_total() -> Asked:
    """What the line assigns and reads is the total, not the tensor that left."""
    x, w = variable(1.25), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = x * x
            total = 1.0
            total = total + h.numpy()  # CUT
            y = w * total
        assert tape.gradient(y, x) is None
    return recording, y, x


def source_by_itself() -> Asked:
    x = lab.constant(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            _ = x * 3.0  # CUT
        assert tape.gradient(x, x) is None
    return recording, x, x


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


def drawn_from_a_dataset() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            data = lab.data.Dataset.from_tensor_slices([x * 2.0])  # CUT
            y = next(iter(data)) * w
        assert tape.gradient(y, x) is None
    return recording, y, x


def drawn_from_a_queue() -> Asked:
    x = variable()
    queue = lab.queue.FIFOQueue(3, [lab.float32], shapes=[()])
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            queue.enqueue(x * x)  # CUT
            y = queue.dequeue() * 2.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def through_strings() -> Asked:
    x, w = variable(), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            written = lab.strings.as_string(x)  # CUT
            y = lab.strings.to_number(written) * w
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


CASES: list[tuple[Callable[[], Asked], str, str | None]] = [
    (not_watched, "not_watched", "multiply"),
    (watched_too_late, "watched_too_late", "multiply"),
    (not_trainable, "not_trainable", "multiply"),
    (watching_off, "watching_off", "multiply"),
    (left_engine_by_numpy, "left_engine", None),
    (left_engine_by_float, "left_engine", None),
    (left_engine_by_a_numpy_function, "left_engine", None),
    (left_engine_in_a_function, "left_engine", None),
    (left_engine_from_a_watched_constant, "left_engine", None),
    (overwritten, "overwritten", None),
    (left_engine_in_a_comprehension, "left_engine", None),
    (left_engine_into_a_running_total, "left_engine", None),
    (source_by_itself, "not_watched", None),
    (replaced, "replaced", "add"),
    (integer_variable, "integer", "cast_to_discrete"),
    (integer_constant, "integer", "multiply"),
    (integer_by_cast, "integer", "cast_to_discrete"),
    (state_read, "state_read", None),
    (state_of_a_new_variable, "state_read", None),
    (stop_gradient, "stop_gradient", "stop_gradient"),
]
if EXTRAS:
    CASES.extend(
        [
            (drawn_from_a_dataset, "state_read", None),
            (drawn_from_a_queue, "state_read", None),
            (through_strings, "not_differentiable", "as_string"),
        ]
    )
