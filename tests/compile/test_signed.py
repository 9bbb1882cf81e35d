"""`lab.function` with the arguments that TensorFlow's programs pass, and what it says when a function runs eagerly."""

import logging
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, DtypeMismatch, InvalidArgumentError, ShapeMismatch

ROWS = lab.TensorSpec([None, 2], lab.float32, name="rows")


@lab.function(input_signature=[ROWS])
def total(rows: Any) -> Any:
    return lab.reduce_sum(rows)


@pytest.mark.parametrize(
    "given",
    [
        lab.ones((3, 2)), [[1.0, 1.0]] * 3, [[1, 1]] * 3, np.ones((3, 2)), np.ones((3, 2), int),
        lab.Variable(lab.ones((3, 2))), [lab.ones(2)] * 3,
    ],
)  # fmt: skip
def test_what_has_the_shape_is_converted_to_the_dtype(given: Any) -> None:
    assert float(total(given)) == float(total(rows=given)) == 6.0
    assert total(given).dtype == lab.float32


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lab.ones((2, 3)), ShapeMismatch, "must be float32 of shape (None, 2), got shape (2, 3)"),
        (lab.ones(2), ShapeMismatch, "got shape (2,)"),
        (np.ones((2, 3)), ShapeMismatch, "got shape (2, 3)"),
        (lab.ones((2, 2), "float64"), DtypeMismatch, "got float64 of shape (2, 2). Try lab.cast(x, lab.float32)"),
        ([lab.ones(2, "float64")], DtypeMismatch, "got float64 of shape (1, 2)"),
        ("text", ConversionError, "got 'text'"),
        (None, ConversionError, "got None"),
    ],
)
def test_what_does_not_match_is_refused_with_what_was_given(given: Any, error: type, words: str) -> None:
    with pytest.raises(error) as raised:
        total(given)
    assert "total: argument 'rows'" in str(raised.value)
    assert words in str(raised.value)


def test_too_many_and_too_few_arguments_are_type_errors() -> None:
    with pytest.raises(TypeError, match=r"total\(\) missing a required argument: 'rows'"):
        total()
    with pytest.raises(TypeError, match=r"total\(\) too many positional arguments"):
        total(lab.ones((1, 2)), 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'columns'"):
        total(lab.ones((1, 2)), columns=2)


def test_each_length_of_an_open_axis_has_a_program() -> None:
    @lab.function(input_signature=[ROWS])
    def squares(rows: Any) -> Any:
        return rows * rows

    for length in (1, 2, 2, 1, 5):
        assert squares(lab.ones((length, 2))).shape == (length, 2)
    assert squares.fallbacks == 0
    assert "3 signatures" in repr(squares)


def test_keywords_and_positions_share_a_program() -> None:
    function = lab.function(lambda x, y: x - y, input_signature=[lab.TensorSpec([])] * 2)
    assert float(function(3.0, 1.0)) == float(function(y=1, x=3)) == float(function(3.0, y=np.float64(1.0))) == 2.0
    assert "1 signatures" in repr(function)


def test_defaults_behind_the_signature_are_fixed() -> None:
    function = lab.function(lambda x, y=2.0: x * y, input_signature=[lab.TensorSpec([])])
    assert float(function(3.0)) == float(function(3.0, 2.0)) == 6.0
    with pytest.raises(InvalidArgumentError, match=r"'y' is fixed to 2.0 by the input_signature, got 3.0"):
        function(3.0, 3.0)


class Pair(NamedTuple):
    first: Any
    second: Any


def test_structures_are_matched_part_by_part() -> None:
    scalar = lab.TensorSpec([])

    @lab.function(input_signature=[{"a": scalar, "b": [lab.TensorSpec([2])]}, Pair(scalar, (scalar,))])
    def mixed(parts: Any, pair: Pair) -> Any:
        return parts["a"] + parts["b"][0] + pair.first * pair.second[0]

    given = {"b": [[1, 2]], "a": 1.0}
    np.testing.assert_array_equal(mixed(given, Pair(2, [3])), [8.0, 9.0])
    with pytest.raises(InvalidArgumentError, match="must be a dict with the keys 'a', 'b', got the keys 'a'"):
        mixed({"a": 1.0}, Pair(2, [3]))
    with pytest.raises(InvalidArgumentError, match="must be a list of 1, got 3"):
        mixed({"a": 1.0, "b": 3}, Pair(2, [3]))
    with pytest.raises(ShapeMismatch, match=r"argument 'parts'\['b'\]\[0\] must be float32 of shape \(2,\)"):
        mixed({"a": 1.0, "b": [[1.0]]}, Pair(2, [3]))


def test_a_method_has_a_signature_for_what_follows_its_object() -> None:
    class Line(lab.Module):
        def __init__(self, slope: float) -> None:
            self.slope = lab.Variable(slope)

        @lab.function(input_signature=[lab.TensorSpec([None])])
        def at(self, x: Any) -> Any:
            return self.slope * x

    assert Line(2.0).at([1, 2]).numpy().tolist() == [2.0, 4.0]
    assert Line(3.0).at(x=[1.0]).numpy().tolist() == [3.0]


def test_any_rank_is_taken_where_the_shape_is_none() -> None:
    function = lab.function(lambda x: lab.size(x) + 0, input_signature=[lab.TensorSpec(None)])
    assert int(function(1.0)) == 1
    assert int(function(lab.ones((2, 3)))) == 6


def test_extra_arguments_have_an_entry_each() -> None:
    function = lab.function(lambda *parts: lab.add_n(list(parts)), input_signature=[lab.TensorSpec([])] * 3)
    assert float(function(1, 2, 3)) == 6.0


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ([3], "must hold lab.TensorSpec objects, or structures of them, got 3"),
        (lab.TensorSpec([]), "must be a list or tuple"),
        ([], "has no entry for 'rows'"),
        ([ROWS, ROWS], "has 2 entries, but .* takes 1 arguments"),
    ],
)
def test_a_signature_that_does_not_describe_the_parameters_is_refused(signature: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        lab.function(lambda rows: rows, input_signature=signature)


def test_gradients_pass_through_a_function_with_a_signature() -> None:
    x = lab.constant([[1.0, 2.0]])
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = total(x * x)
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 4.0]]


def test_a_concrete_function_takes_what_it_was_made_for() -> None:
    power = lab.function(lambda x, n: x**n)
    cube = power.get_concrete_function(lab.TensorSpec([None]), 3)
    assert cube([2]).numpy().tolist() == cube(lab.constant([2.0]), 3).numpy().tolist() == [8.0]
    with pytest.raises(InvalidArgumentError, match="'n' is fixed to 3"):
        cube([2.0], 2)
    with pytest.raises(ShapeMismatch):
        cube(2.0)
    like = power.get_concrete_function(lab.ones((2, 2)), n=2)
    with pytest.raises(DtypeMismatch):
        like(lab.ones((2, 2), "float64"))
    assert total.get_concrete_function() is total
    with pytest.raises(TypeError, match="missing a required argument"):
        power.get_concrete_function()


def test_jit_compile_false_generates_no_machine_code() -> None:
    plain = lab.function(lambda x: lab.sin(x) * x, jit_compile=False, autograph=False, reduce_retracing=True)
    assert float(plain(lab.constant(0.0))) == 0.0
    assert "np.sin" in plain.source
    assert not plain.kernels
    with pytest.raises(InvalidArgumentError, match="jit_compile must be True, False or None"):
        lab.function(total, jit_compile="yes")  # type: ignore[call-overload]


def test_functions_can_run_eagerly_for_a_while() -> None:
    @lab.function
    def double(x: Any) -> Any:
        return x * 2.0

    x = lab.constant(2.0)
    double(x)
    double(x)
    count = _python_calls(lambda: double(x))
    lab.config.run_functions_eagerly(True)
    try:
        assert lab.config.functions_run_eagerly()
        assert (count, _python_calls(lambda: double(x))) == (0, 1)
    finally:
        lab.config.run_functions_eagerly(False)
    double(x)
    assert _python_calls(lambda: double(x)) == 0
    assert double.fallbacks == 0


def _python_calls(call: Callable[[], Any]) -> int:
    """Return how often the Python function below was entered: ops report to a recording only when Python runs them."""
    entered = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal entered
        entered += event == "call" and frame.f_code.co_name == "double"

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def test_a_function_that_runs_eagerly_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    @lab.function
    def halved(x: Any) -> Any:
        return x / 2.0 if float(x) > 1.0 else x  # the reason

    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        for value in (4.0, 0.5, 3.0):
            halved(lab.constant(value))
        halved(lab.ones(()))
        with pytest.raises(Exception, match="float"):
            halved(lab.ones(3))
    (record,) = caplog.records
    text = record.getMessage()
    assert text.startswith("halved runs eagerly: the value of a tensor leaves the ops through float. Try to keep")
    assert f"of {__file__}" in text
    assert text.endswith("(reported once; halved.why() says it again)")


def test_a_function_that_compiles_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    model = lab.Sequential([lab.layers.Dense(3), lab.layers.Dropout(0.5), lab.layers.Dense(1)])
    optimizer = lab.optimizers.Adam(lab.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9))
    mean = lab.metrics.Mean()

    @lab.function
    def step(x: Any) -> None:
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean(model(x, training=True) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        mean(loss)

    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        for _ in range(4):
            step(lab.ones((4, 2)))
    assert step.compiled
    assert not caplog.records, step.why()
