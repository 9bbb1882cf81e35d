"""Nested structures, assertions, printing and specs."""

import io
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

nest, debugging, errors = lab.nest, lab.debugging, lab.errors


class Point(NamedTuple):
    x: Any
    y: Any


STRUCTURE: Any = {"b": [1, (2, 3)], "a": Point(4, {"z": 5})}


def test_leaves_come_in_the_order_of_sorted_keys_and_go_back_to_their_places() -> None:
    assert nest.flatten(STRUCTURE) == [4, 5, 1, 2, 3]
    again = nest.pack_sequence_as(STRUCTURE, nest.flatten(STRUCTURE))
    assert again == STRUCTURE
    assert isinstance(again["a"], Point)
    assert list(again) == ["b", "a"], "the order of the keys themselves stays"
    assert isinstance(nest.pack_sequence_as(OrderedDict(b=1, a=2), [3, 4]), OrderedDict)
    assert nest.flatten(7) == [7]
    assert nest.pack_sequence_as(0, [7]) == 7


def test_a_tensor_an_array_and_a_string_are_leaves() -> None:
    leaves = [lab.constant([1, 2]), np.ones(2), "text", None, lab.ragged.constant([[1], [2, 3]])]
    assert all(a is b for a, b in zip(nest.flatten(leaves), leaves, strict=True))
    assert not any(nest.is_nested(leaf) for leaf in leaves)


def test_a_function_is_mapped_over_structures_that_are_alike() -> None:
    assert nest.map_structure(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}]) == [11, {"x": 22}]
    with refused(errors.ShapeMismatch, "map_structure"):
        nest.map_structure(max, [1], [1, 2])


def test_structures_that_differ_are_told_apart() -> None:
    nest.assert_same_structure([1, (2,)], [3, (4,)])
    nest.assert_same_structure([1], (1,), check_types=False)
    for first, other, error in (
        ([1], [1, 2], ValueError), ([1], [[1]], ValueError), ({"a": 1}, {"b": 1}, ValueError), ([1], (1,), TypeError),
    ):  # fmt: skip
        with pytest.raises(error, match="the structures differ"):
            nest.assert_same_structure(first, other)
    with pytest.raises(errors.ShapeMismatch, match="expected 3 values, one for each leaf, got 1"):
        nest.pack_sequence_as([1, [2, 3]], [1])


# An assertion, arguments with which it holds, and arguments with which it does not.
ASSERTIONS: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "equal": (debugging.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3])),
    "none equal": (debugging.assert_none_equal, ([1, 2], [2, 1]), ([1, 2], [2, 2])),
    "less": (debugging.assert_less, ([1, 2], 3), ([1, 3], 3)),
    "less or equal": (debugging.assert_less_equal, ([1, 3], 3), ([1, 4], 3)),
    "greater": (debugging.assert_greater, (4.0, [1.0, 3.0]), (3.0, [1.0, 3.0])),
    "greater or equal": (debugging.assert_greater_equal, (3.0, [1.0, 3.0]), (2.0, [1.0, 3.0])),
    "positive": (debugging.assert_positive, ([0.1],), ([0.0],)),
    "negative": (debugging.assert_negative, ([-0.1],), ([0.0],)),
    "not negative": (debugging.assert_non_negative, ([0.0],), ([-0.1],)),
    "not positive": (debugging.assert_non_positive, ([0.0],), ([0.1],)),
    "near": (debugging.assert_near, (1.0, 1.0 + 1e-7), (1.0, 1.001)),
    "nearer": (debugging.assert_near, (1.0, 1.05, 0.0, 0.1), (1.0, 1.2, 0.0, 0.1)),
    "finite": (debugging.assert_all_finite, ([1.0, 2.0], "loss"), ([1.0, np.nan], "loss")),
    "numerics": (debugging.check_numerics, ([1.0], "loss"), ([np.inf], "loss")),
    "condition": (debugging.Assert, (True, ["data"]), (False, ["data"])),
    "rank": (debugging.assert_rank, ([[1.0]], 2), ([1.0], 2)),
    "rank at least": (debugging.assert_rank_at_least, ([[1.0]], 1), ([1.0], 2)),
    "rank in": (debugging.assert_rank_in, ([[1.0]], (0, 2)), ([1.0], (0, 2))),
    "one number": (debugging.assert_scalar, (1.0,), ([1.0],)),
    "shapes": (debugging.assert_shapes, ([(lab.ones((2, 3)), ("n", 3))],), ([(lab.ones((2, 3)), ("n", "n"))],)),
    "any axes first": (debugging.assert_shapes, ([(lab.ones((2, 3)), ("*", 3))],), ([(lab.ones((2, 3)), (..., 2))],)),
    "letters across": (
        debugging.assert_shapes,
        ([(lab.ones((2, 3)), "nk"), (lab.ones(3), "k")],),
        ([(lab.ones((2, 3)), "nk"), (lab.ones(2), "k")],),
    ),
    "type": (debugging.assert_type, (lab.constant(1), lab.int32), (lab.constant(1.0), lab.int32)),
    "whole": (debugging.assert_integer, (lab.constant(1),), (lab.constant(1.0),)),
    "one dtype": (
        debugging.assert_same_float_dtype,
        ([lab.constant(1.0), lab.constant(2.0)],),
        ([lab.constant(1.0), lab.constant(1.0, lab.float64)],),
    ),
}


@pytest.mark.parametrize("name", ASSERTIONS)
def test_an_assertion_holds_or_raises_with_its_name(name: str) -> None:
    function, good, bad = ASSERTIONS[name]
    function(*good)
    with pytest.raises(errors.InvalidArgumentError, match=rf"^{function.__name__}: "):
        function(*bad)


def test_an_assertion_says_where_and_what() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"at \[1, 0\]: x is 3 and y is 4 \(1 of 4.*mine"):
        debugging.assert_equal([[1, 2], [3, 4]], [[1, 2], [4, 4]], message="mine")
    with pytest.raises(errors.InvalidArgumentError, match=r"1 nan and 1 infinite of 3 elements, the first at \[1\]"):
        debugging.check_numerics([1.0, np.nan, np.inf], "loss")
    with pytest.raises(errors.ShapeMismatch, match="do not broadcast"):
        debugging.assert_equal([1, 2], [1, 2, 3])


def test_a_checked_tensor_is_the_tensor_itself_so_gradients_pass() -> None:
    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = debugging.check_numerics(x * x, "square")
    assert float(tape.gradient(y, x)) == 6.0


def test_values_are_printed_bare_in_structures_and_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    lab.print("x:", lab.constant([1.0, 2.0]), {"a": lab.constant(3)}, sep="|")
    assert capsys.readouterr().out == "x:|[1. 2.]|{'a': 3}\n"
    lab.print(lab.range(100))
    assert capsys.readouterr().out == "[ 0  1  2 ... 97 98 99]\n"
    lab.print(lab.range(20), summarize=-1)
    assert "10 11 12" in capsys.readouterr().out
    stream = io.StringIO()
    lab.print(lab.constant(1), output_stream=stream, end="")
    assert stream.getvalue() == "1"


def test_printing_does_not_take_a_tensor_off_the_tape(capsys: pytest.CaptureFixture[str]) -> None:
    x = lab.Variable(2.0)
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x * x
        lab.print(y)
        z = y * y
    assert capsys.readouterr().out == "4.0\n"
    assert "left" not in {note.kind for note in recording.notes}
    assert float(tape.gradient(z, x)) == 32.0


def test_a_spec_fits_the_tensors_it_describes() -> None:
    spec = lab.TensorSpec([None, 3], lab.float32, name="x")
    assert spec.is_compatible_with(lab.ones((7, 3)))
    assert not spec.is_compatible_with(lab.ones((7, 2)))
    assert not spec.is_compatible_with(lab.ones((7, 3), lab.float64))
    assert lab.TensorSpec(None).is_compatible_with(lab.ones((1, 2, 3)))
    assert lab.TensorSpec.from_tensor(lab.ones((2,))) == lab.TensorSpec((2,))
    assert len({spec, lab.TensorSpec([None, 3], lab.float32, name="x")}) == 1
    wider = lab.TensorSpec((2, 3)).most_specific_compatible_type(lab.TensorSpec((2, 4)))
    assert wider == lab.TensorSpec((2, None))
