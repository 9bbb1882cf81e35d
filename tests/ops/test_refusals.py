"""Ops refuse invalid arguments with an error that names the op, the shapes, the user's line, and something to try."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, DtypeMismatch, InvalidArgumentError, LabError, ShapeMismatch

M23, M32, V3 = lab.ones((2, 3)), lab.ones((3, 2)), lab.ones(3)
WHOLE, TRUE = lab.constant([1, 2, 3]), lab.constant([True, False])

# What is tried, the class, and words that the text must have in this order.
REFUSED: list[tuple[str, Callable[[], object], type[LabError], list[str]]] = [
    ("broadcast", lambda: M23 * M32, ShapeMismatch, ["multiply(f32[2,3], f32[3,2])", "axis -1 has 3 and 2", "Try"]),
    ("inner sizes", lambda: M23 @ M23, ShapeMismatch, ["matmul(f32[2,3], f32[2,3])", "3 and 2", "transpose_b=True"]),
    ("inner sizes, left", lambda: M32 @ M32, ShapeMismatch, ["inner dimensions differ: 2 and 3", "Try"]),
    ("product of a scalar", lambda: lab.constant(2.0) @ M23, ShapeMismatch, ["matmul(f32[], f32[2,3])", "x * y"]),
    ("mixed floats", lambda: V3 + lab.ones(3, "float64"), DtypeMismatch, ["add(f32[3], f64[3])", "lab.cast"]),
    ("sine of whole numbers", lambda: lab.sin(WHOLE), DtypeMismatch, ["sin(i32[3])", "floating-point", "lab.cast"]),
    ("softmax of whole numbers", lambda: lab.nn.softmax(WHOLE), DtypeMismatch, ["softmax(i32[3])", "lab.cast"]),
    ("minus true", lambda: -TRUE, InvalidArgumentError, ["negative(bool[2])"]),
    ("whole to a negative power", lambda: WHOLE**-1, InvalidArgumentError, ["pow(i32[3], i32[])", "negative"]),
    ("sum of bools", lambda: lab.reduce_sum(TRUE), DtypeMismatch, ["reduce_sum", "lab.cast", "reduce_any"]),
    ("axis too far", lambda: lab.reduce_mean(M23, 2), InvalidArgumentError, ["reduce_mean: axis 2", "(2, 3)", "[0,"]),
    ("axis twice", lambda: lab.reduce_sum(M23, [0, -2]), InvalidArgumentError, ["reduce_sum", "duplicates"]),
    ("axis with a fraction", lambda: lab.reduce_sum(M23, 0.5), InvalidArgumentError, ["reduce_sum", "0.5"]),
    ("place of the greatest of nothing", lambda: lab.argmax(lab.zeros(0)), ShapeMismatch, ["argmax(f32[0])"]),
    ("reshape", lambda: lab.reshape(M23, (4, 2)), ShapeMismatch, ["reshape", "6 elements", "(2, 3)", "(4, 2)", "-1"]),
    ("reshape, two free", lambda: lab.reshape(M23, (-1, -1)), InvalidArgumentError, ["reshape: only one", "-1"]),
    ("reshape by a fraction", lambda: lab.reshape(M23, 1.5), InvalidArgumentError, ["reshape", "1.5"]),
    ("transpose", lambda: lab.transpose(M23, (0, 5)), InvalidArgumentError, ["transpose: perm", "0 to 1", "(0, 5)"]),
    ("transpose a vector", lambda: lab.linalg.matrix_transpose(V3), InvalidArgumentError, ["matrix_transpose", "(3,)"]),
    ("squeeze", lambda: lab.squeeze(M23, 0), InvalidArgumentError, ["squeeze", "length 1", "(2, 3)"]),
    ("squeeze too far", lambda: lab.squeeze(M23, 7), InvalidArgumentError, ["squeeze: axis 7", "rank 2"]),
    ("expand too far", lambda: lab.expand_dims(V3, 3), InvalidArgumentError, ["expand_dims: axis 3", "rank 1"]),
    ("broadcast to fewer", lambda: lab.broadcast_to(M23, (3,)), ShapeMismatch, ["broadcast_to(f32[2,3])"]),
    ("concat", lambda: lab.concat([M23, M32], 0), ShapeMismatch, ["concat(f32[2,3], f32[3,2])"]),
    ("concat nothing", lambda: lab.concat([], 0), InvalidArgumentError, ["concat: expected", "empty list"]),
    ("concat dtypes", lambda: lab.concat([V3, WHOLE], 0), DtypeMismatch, ["concat", "float32, int32", "lab.cast"]),
    ("stack", lambda: lab.stack([M23, V3]), ShapeMismatch, ["stack(f32[2,3], f32[3])"]),
    ("stack too far", lambda: lab.stack([V3], 3), InvalidArgumentError, ["stack: axis 3", "rank 2"]),
    ("split unevenly", lambda: lab.split(V3, 2), InvalidArgumentError, ["split", "3 elements", "2 equal parts"]),
    ("split too much", lambda: lab.split(V3, [1, 3]), InvalidArgumentError, ["split: sizes", "3", "[1, 3]"]),
    ("unstack", lambda: lab.unstack(V3, 4), InvalidArgumentError, ["unstack", "num=4", "length 3"]),
    ("gather beyond", lambda: lab.gather(V3, [0, 3]), InvalidArgumentError, ["gather: index 3", "[0, 3)"]),
    ("gather by floats", lambda: lab.gather(V3, [0.0]), DtypeMismatch, ["gather: indices", "float32", "lab.cast"]),
    ("gather too deep", lambda: lab.gather_nd(V3, [[0, 0]]), InvalidArgumentError, ["gather_nd: rows of 2", "rank 1"]),
    ("scatter beyond", lambda: lab.scatter_nd([[3]], [1.0], [3]), InvalidArgumentError, ["scatter_nd", "[0, 3)"]),
    ("scatter shape", lambda: lab.scatter_nd([[1]], M23, [3]), ShapeMismatch, ["scatter_nd", "(1,)", "got (2, 3)"]),
    ("update one by many", lambda: lab.tensor_scatter_nd_update(V3, [[1]], [1.0, 2.0]), ShapeMismatch, ["(2,)"]),
    ("where by numbers", lambda: lab.where(V3, V3, V3), DtypeMismatch, ["where: the condition", "float32", "Try"]),
    ("where half", lambda: lab.where(TRUE, V3), InvalidArgumentError, ["where: expected both"]),
    ("argmax too far", lambda: lab.argmax(V3, 1), ShapeMismatch, ["argmax(f32[3])", "axis 1"]),
    ("endless range", lambda: lab.range(0, 5, 0), InvalidArgumentError, ["range: delta must not be 0"]),
    ("linspace of fewer than nothing", lambda: lab.linspace(0.0, 1.0, -1), InvalidArgumentError, ["linspace: num"]),
    ("one hot of floats", lambda: lab.one_hot([0.5], 3), DtypeMismatch, ["one_hot", "float32", "lab.cast"]),
    ("labels out of range", lambda: lab.nn.softmax_cross_entropy([[0.0, 0.0]], [2]), LabError, ["[0, 2)"]),
    ("labels of another shape", lambda: lab.nn.softmax_cross_entropy(logits=[[0.0, 0.0]], labels=[[1.0]]), LabError,
     ["softmax_cross_entropy", "(1, 1)", "(1, 2)"]),
    ("text among numbers", lambda: lab.constant([1.0, "a"]), ConversionError, ["Cannot convert 1.0", "strings"]),
    ("an object", lambda: lab.constant(object()), ConversionError, ["Cannot convert", "object", "Try"]),
    ("None", lambda: V3 + None, ConversionError, ["Cannot convert None to Tensor"]),
    ("a date", lambda: lab.constant(np.array(["2020-01-01"], "datetime64[D]")), ConversionError, ["datetime64", "Try"]),
    ("no fraction", lambda: lab.constant(1.5, lab.int32), ConversionError, ["Cannot convert 1.5", "int32", "lab.cast"]),
    ("too large", lambda: lab.constant(10**30), ConversionError, ["Cannot convert"]),
    ("another dtype", lambda: lab.convert_to_tensor(V3, "float64"), DtypeMismatch, ["float64", "float32", "lab.cast"]),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "error", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_it_is_refused_in_our_words(attempt: Callable[[], object], error: type[LabError], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        attempt()
    text, at = str(caught.value), 0
    for word in words:
        assert word in text[at:], f"{word!r} in {text!r} after {text[:at]!r}"
        at = text.index(word, at) + len(word)


def test_a_failed_op_names_the_line_of_the_user() -> None:
    with pytest.raises(ShapeMismatch) as caught:
        _ = M23 + M32  # the line in question
    assert f"at {Path(__file__)}, line " in str(caught.value)
    assert "M23 + M32  # the line in question" in str(caught.value)


def test_no_error_shows_a_traceback_of_numpys() -> None:
    """The chain of causes ends with our error: what NumPy said is part of its text or is not said."""
    with pytest.raises(LabError) as caught:
        _ = M23 @ M23
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
