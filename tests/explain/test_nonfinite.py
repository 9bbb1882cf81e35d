"""Where nan and infinity first appeared: op, line, element and reason, and code that avoids it."""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording


def recorded(function: Callable[[lab.Variable], object], value: object) -> Recording:
    """Record ``function(x)`` and its gradient with respect to x."""
    x = lab.Variable(value, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    return recording


def line_of(marked: Callable[..., object]) -> int:
    lines, start = inspect.getsourcelines(marked)
    return start + next(i for i, line in enumerate(lines) if "# HERE" in line)


def masked_root(x: lab.Variable) -> object:
    y = lab.where(x > 0.0, lab.sqrt(x), 0.0)  # HERE
    return y  # noqa: RET504 - the name is what the rewrite assigns


def test_zero_times_infinity_in_the_branch_not_taken() -> None:
    """``where(x > 0, sqrt(x), 0)`` at 0: forward is fine, sqrt's backward is 0 times infinity, by `where`."""
    found = recorded(masked_root, [4.0, 0.0, 0.0]).first_nonfinite()
    assert found is not None
    assert found.forward is None
    bad = found.backward
    assert bad is not None
    assert (bad.op, bad.index, bad.value, bad.trigger) == ("sqrt", (1,), "nan", "x[1] = 0")
    assert bad.place is not None
    assert bad.place[1] == line_of(masked_root)
    assert dict(bad.values) == {"x[1]": "0", "incoming gradient": "0", "derivative": "inf"}
    assert "0 times infinity" in bad.what
    assert "`where`" in bad.what
    assert "2 of 3 elements" in bad.what


def test_the_safe_rewrite_runs_and_has_a_finite_gradient() -> None:
    """The lines that are shown are run as they are."""
    found = recorded(masked_root, [4.0, 0.0]).first_nonfinite()
    assert found is not None
    x = lab.Variable([4.0, 0.0], name="x")
    names: dict[str, object] = {"lab": lab, "x": x}
    with lab.GradientTape() as tape:
        exec("\n".join(found.rewrite), names)
    np.testing.assert_allclose(tape.gradient(names["y"], x).numpy(), [0.25, 0.0])
    assert found.rewrite == ("safe = lab.where(x > 0.0, x, 1.0)", "y = lab.where(x > 0.0, lab.sqrt(safe), 0.0)")


def test_the_scalar_program_of_the_comparison() -> None:
    """The same at a scalar x = 0, whose element has no index."""
    bad = recorded(masked_root, 0.0).first_nonfinite().backward
    assert (bad.op, bad.index, bad.trigger) == ("sqrt", None, "x = 0")


@pytest.mark.parametrize(
    ("function", "value", "op"),
    [
        (lambda x: lab.where(x > 0.0, lab.math.log(x), 0.0), [1.0, 0.0], "log"),
        (lambda x: lab.where(x == 0.0, 1.0, lab.sin(x) / x), [1.0, 0.0], "divide"),
        (lambda x: lab.where(x < 5.0, x, lab.exp(x * 100.0)), [1.0, 2.0], "exp"),
        (lambda x: lab.where(x > 0.0, x**0.5, 0.0), [1.0, 0.0], "pow"),
        (lambda x: lab.where(x < 1.0, lab.acos(x), 0.0), [0.5, 1.0], "acos"),
    ],
    ids=["log", "divide", "exp", "pow", "acos"],
)
def test_other_masked_branches(function: Callable[[lab.Variable], object], value: object, op: str) -> None:
    """Division, logarithm, overflow, a power, an arc cosine: the same fault, the op named."""
    found = recorded(function, value).first_nonfinite()
    assert found is not None
    assert found.backward is not None
    assert found.backward.op == op
    assert "where" in found.backward.what or found.backward.value == "nan"
    assert found.rewrite[-2 if found.rewrite[0].startswith("safe") else 1].startswith("safe = lab.where(")


def norm(x: lab.Variable) -> object:
    n = lab.sqrt(lab.reduce_sum(x * x))  # HERE
    return n  # noqa: RET504 - the name is what the rewrite assigns


def test_the_norm_at_zero() -> None:
    """Its slope is infinite at 0, and one multiplication further back infinity meets 0."""
    found = recorded(norm, [0.0, 0.0]).first_nonfinite()
    assert found is not None
    bad = found.backward
    assert bad is not None
    assert (bad.op, bad.value) == ("sqrt", "inf")
    assert "in multiply, it meets a 0" in bad.what
    x = lab.Variable([0.0, 0.0], name="x")
    names: dict[str, object] = {"lab": lab, "x": x}
    with lab.GradientTape() as tape:
        exec("\n".join(found.rewrite), names)
    np.testing.assert_array_equal(tape.gradient(names["n"], x).numpy(), [0.0, 0.0])


def wrong_line(x: lab.Variable) -> object:
    ratio = x / x  # HERE
    shifted = ratio * 2.0
    return lab.reduce_sum(shifted)


def test_a_nan_is_blamed_on_the_line_where_it_began_and_not_on_those_that_carry_it() -> None:
    """0/0 in the first of three lines; the later ones only pass it on."""
    found = recorded(wrong_line, [1.0, 0.0]).first_nonfinite()
    assert found is not None
    forward = found.forward
    assert forward is not None
    assert (forward.op, forward.index, forward.value) == ("divide", (1,), "nan")
    assert forward.place is not None
    assert forward.place[1] == line_of(wrong_line)


def test_a_loss_that_is_nan_while_every_gradient_is_finite_is_found() -> None:
    """A nan that is only added has the slope 1: the backward pass sees nothing wrong, the forward pass does."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            penalty = lab.math.log(lab.constant(-1.0))
            loss = x * x + penalty
        slope = tape.gradient(loss, x)
    assert float(slope) == 4.0
    found = recording.first_nonfinite()
    assert found is not None
    assert found.backward is None
    assert found.forward is not None
    assert found.forward.op == "log"
    assert "log" in repr(recording)


def test_values_that_come_in_bad_are_told_as_such() -> None:
    """A nan in the data was made by no op."""
    found = recorded(lambda x: x * lab.constant([1.0, float("nan")]), [1.0, 2.0]).first_nonfinite()
    assert found is not None
    assert found.forward is not None
    assert found.forward.op is None
    assert found.forward.index == (1,)


def test_infinities_count_as_well() -> None:
    """exp(1000) overflows."""
    found = recorded(lab.exp, 1000.0).first_nonfinite()
    assert found is not None
    assert found.forward is not None
    assert (found.forward.op, found.forward.value, found.forward.trigger) == ("exp", "inf", "x = 1000")


def test_large_arrays_have_their_first_bad_element_too() -> None:
    """Beyond 64 elements only a summary is kept, and with it where the first bad element stands."""
    value = np.ones((20, 10), np.float32)
    value[7, 3] = value[9, 9] = 0.0
    found = recorded(lambda x: lab.reduce_sum(lab.where(x > 0.0, lab.sqrt(x), 0.0)), value).first_nonfinite()
    assert found is not None
    assert found.backward is not None
    assert (found.backward.index, found.backward.op) == ((7, 3), "sqrt")
    assert "0 times infinity" in found.backward.what


def test_finite_programs_have_none() -> None:
    """Nothing is found where nothing is."""
    assert recorded(lambda x: x * x, [1.0, 2.0]).first_nonfinite() is None


def test_a_saved_recording_gives_the_same_answer(tmp_path: object) -> None:
    """Summaries, local derivatives and lines survive the file."""
    value = np.ones((20, 10), np.float32)
    value[7, 3] = 0.0
    recording = recorded(lambda x: lab.reduce_sum(lab.where(x > 0.0, lab.sqrt(x), 0.0)), value)
    recording.save(tmp_path / "r.json")
    assert str(lab.load_recording(tmp_path / "r.json").first_nonfinite()) == str(recording.first_nonfinite())


DTYPES = [lab.float16, lab.bfloat16, lab.float32, lab.float64, lab.complex64, lab.complex128]
SHAPES = [(), (5,), (64,), (65,), (3, 50), (101, 100)]
PLANTED: dict[str, tuple[Callable[[lab.Tensor], object], float]] = {
    "log": (lab.math.log, 0.0),
    "reciprocal": (lab.math.reciprocal, 0.0),
    "exp": (lambda x: lab.exp(x * 200.0), 5.0),
    "divide": (lambda x: lab.constant(1.0, x.dtype) / x, 0.0),
}


@pytest.mark.parametrize("op", PLANTED)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_dtype_and_size_is_looked_at(op: str, dtype: lab.DType) -> None:
    """The op that made the first bad value is named with its element, and not the sum that carries it on."""
    function, at = PLANTED[op]
    for shape in SHAPES:
        value = np.full(shape, 0.015625)
        place = tuple(length // 2 for length in shape)
        value[place] = at
        x = lab.cast(lab.constant(value), dtype)
        with lab.record() as recording:
            y = lab.reduce_sum(lab.identity(function(x)))
        found = recording.first_nonfinite()
        assert found is not None, (shape, y)
        assert found.forward is not None
        assert (found.forward.op, found.forward.index) == (op, place or None), (shape, str(found))
        assert "not finite" in repr(recording)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_nan_that_only_the_gradient_has_is_found(dtype: lab.DType, shape: tuple[int, ...]) -> None:
    """0 times infinity, in the gradient of every dtype and size."""
    value = np.full(shape, 4.0)
    place = tuple(length // 2 for length in shape)
    value[place] = 0.0
    x = lab.Variable(lab.cast(lab.constant(value), dtype), name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(lab.sqrt(x) * 0.0)
        tape.gradient(y, x)
    found = recording.first_nonfinite()
    assert found is not None
    assert found.forward is None
    assert found.backward is not None
    assert (found.backward.op, found.backward.index) == ("sqrt", place or None)
    assert "nan" in found.backward.value
    assert "gradient of x is" in repr(recording)


@pytest.mark.parametrize("dtype", [lab.int8, lab.uint64, lab.bool], ids=lambda dtype: dtype.name)
def test_whole_numbers_are_never_blamed(dtype: lab.DType) -> None:
    """They have no nan, whatever their size."""
    with lab.record() as recording:
        lab.identity(lab.cast(np.arange(100), dtype))
    assert recording.first_nonfinite() is None


def test_a_nan_in_stacked_cotangents_is_found() -> None:
    """The sweep of a Jacobian carries many cotangents at once."""
    x = lab.Variable([0.0, 4.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.sqrt(x) * 0.0
        tape.jacobian(y, x)
    found = recording.first_nonfinite()
    assert found is not None
    assert found.backward is not None
    assert found.backward.op == "sqrt"


def test_no_advice_names_a_value_that_the_program_does_not_have() -> None:
    """What to try is written with the program's own names, or with none."""
    speed = lab.Variable([0.0, -1.0], name="speed")
    for function in (lab.math.log, lab.sqrt, lambda v: 1.0 / v, lambda v: lab.exp(1000.0 - v)):
        with lab.record() as recording:
            function(speed)
        found = recording.first_nonfinite()
        assert found is not None
        assert not re.findall(r"\b[a-uw-z]\b(?!')", found.fix.replace(" a ", " ")), found.fix


@pytest.mark.parametrize("made", [math.nan, math.inf])
def test_a_gradient_function_that_makes_nan_has_no_infinite_derivative(made: float) -> None:
    """Only a derivative that is known to be infinite is called so."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.custom_gradient(lambda v: (v * v, lambda upstream: upstream * made))(x)
        tape.gradient(y, x)
    found = recording.first_nonfinite()
    assert found is not None
    assert "infinite" not in f"{found}{recording!r}".replace("infinite value", "")
    assert "what the backward pass of <lambda> does" in found.fix


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("function", [lab.square, lab.sqrt, lab.math.log, lab.exp], ids=lambda f: f.__name__)
def test_a_derivative_is_not_blamed_for_a_nan_that_was_there_before(function: Any, dtype: str) -> None:
    x = lab.Variable([1.0, math.nan], dtype=dtype, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    found = recording.first_nonfinite()
    assert found is not None
    assert found.forward is not None
    assert found.forward.what.startswith("x[1] is nan")
    if found.backward is not None:
        assert found.fix == "x[1] is already not finite in the forward pass: fix that first."


def test_a_literal_is_called_a_constant() -> None:
    with lab.record() as recording:
        lab.where([True], 1.0, -math.inf)
    assert "A constant is -inf when it enters the program" in str(recording.first_nonfinite())
