"""The numbers that colour the nodes of the explorer: norms, bytes, and those that users give."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.scene import scene
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.recording import Recording


@pytest.fixture
def recording() -> Recording:
    x = lab.Variable([3.0, 4.0], name="x")
    with lab.record() as made:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(x * x, name="y")
        tape.gradient(y, x)
    return made


def measure(recording: Recording, what: str, color: Any = None) -> dict[str, float]:
    """Return a measure by the name of the value, as the explorer gets it."""
    shown = scene(recording, color=color)
    names = {number: row[0] or row[6] for number, row in shown["tensors"].items()}
    return {names[number]: value for number, value in shown["measures"][what].items()}


def test_norms_of_values_and_gradients_and_bytes(recording: Recording) -> None:
    assert measure(recording, "value norm") == pytest.approx({"x": 5, "x * x": np.hypot(9, 16), "y": 25}, rel=1e-3)
    assert measure(recording, "gradient norm") == pytest.approx({"x": 10, "x * x": np.sqrt(2), "y": 1}, rel=1e-3)
    assert measure(recording, "bytes") == {"x": 8, "x * x": 8, "y": 4}


def test_the_gradient_norm_is_that_of_the_whole_sum() -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as made:
        with lab.GradientTape() as tape:
            y = x * x + 5.0 * x
        tape.gradient(y, x)
    assert measure(made, "gradient norm")["x"] == 11.0


def test_what_has_no_norm_is_left_out() -> None:
    with lab.record() as made:
        lab.identity(lab.constant([1.0, np.nan], name="nan"))
        lab.identity(lab.constant(np.zeros((0, 3)), name="empty"))
        lab.reduce_sum(lab.constant(np.ones(200), name="long") * 2.0)
        lab.identity(lab.constant([True, False], name="mask"))
        lab.identity(lab.constant([1 + 1j], lab.complex64, name="i"))
    norms, sizes = measure(made, "value norm"), measure(made, "bytes")
    assert "nan" not in norms
    assert "empty" not in norms
    assert "long * 2.0" not in norms  # more than 64 elements: only a summary was kept
    assert norms["i"] == pytest.approx(np.sqrt(2), rel=1e-3)
    assert (norms["mask"], sizes["mask"], sizes["i"], sizes["empty"], sizes["long * 2.0"]) == (1, 2, 8, 0, 1600)


def elements(record: Any) -> int | None:
    return record.snapshot.size if record.name else None


@pytest.mark.parametrize(
    ("color", "name", "expected"),
    [
        (elements, "elements", {"x": 2, "y": 1}),
        (partial(elements), "color", {"x": 2, "y": 1}),
        (lambda record: record.snapshot.size, "color", {"x": 2, "x * x": 2, "y": 1}),
        ({"x": 1, "y": np.float32(-2.5)}, "color", {"x": 1, "y": -2.5}),
        ({"x": None, "%1": 3}, "color", {"x * x": 3}),
        ({}, "color", {}),
    ],
)
def test_a_measure_of_the_user(recording: Recording, color: Any, name: str, expected: dict[str, float]) -> None:
    assert measure(recording, name, color) == expected
    assert recording.explore(color=color).scene["measures"][name] or not expected


def test_a_tensor_or_variable_as_key_and_a_name_that_is_taken() -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as made:
        y = x * x

    def taken(record: Any) -> float:
        return 2.0 if record.variable else 1.0

    taken.__name__ = "bytes"
    assert measure(made, "color", {x: 1.0, y: 2.0}) == {"x": 1.0, "y": 2.0}
    assert measure(made, "bytes (own)", taken) == {"x": 2.0, "y": 1.0}
    assert measure(made, "bytes", taken) == {"x": 4, "y": 4}


@pytest.mark.parametrize(
    "color", ["x", 3, [1.0], lab.constant(1.0), np.ones(2)], ids=lambda color: type(color).__name__
)
def test_a_color_that_is_neither_a_dict_nor_a_function_is_refused(recording: Recording, color: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="color must be a dict of numbers or a function"):
        recording.explore(color=color)


@pytest.mark.parametrize("number", ["1", "<b>", float("nan"), float("inf"), 1j, [1.0], 10**400, object()])
@pytest.mark.parametrize("wrapped", [lambda number: {"x": number}, lambda number: lambda record: number])
def test_what_is_no_finite_number_is_refused(recording: Recording, number: Any, wrapped: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"finite real number or None .* for x"):
        recording.explore(color=wrapped(number))


@pytest.mark.parametrize("who", ["z", "", None, -1, ("x",), lab.Variable(1.0)], ids=repr)
def test_keys_that_are_not_in_the_recording_are_refused_by_name(recording: Recording, who: Any) -> None:
    with pytest.raises(NotInRecording, match="color: "):
        recording.explore(color={who: 1.0})


def test_costs_colour_nodes_by_their_times(recording: Recording) -> None:
    found = lab.costs(recording)
    forward, backward = (measure(recording, f"{way} time", found) for way in ("forward", "backward"))
    assert set(forward) == {"x * x", "y"}
    assert all(seconds > 0 for seconds in forward.values())
    assert list(forward.values()) == [row.seconds for row in found.rows]
    assert list(backward.values()) == [row.backward for row in found.rows if row.backward is not None]


def test_costs_of_another_recording_are_refused(recording: Recording) -> None:
    with lab.record() as other:
        lab.exp(lab.constant(1.0))
    with pytest.raises(InvalidArgumentError, match="not the rows of this recording"):
        other.explore(color=lab.costs(recording))
    with pytest.raises(InvalidArgumentError, match="not the rows"):
        recording.explore(color=lab.costs(recording).by_op())
