"""Ragged tensors store, slice, pad and return the same as plain lists of rows, and gradients have the same rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

ROWS = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]]
FLAT = [x for row in ROWS for x in row]
MAKERS: dict[str, Any] = {
    "from_row_lengths": [2, 0, 1, 3],
    "from_row_splits": [0, 2, 2, 3, 6],
    "from_row_starts": [0, 2, 2, 3],
    "from_row_limits": [2, 2, 3, 6],
    "from_value_rowids": [0, 0, 2, 3, 3, 3],
}
nested = st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=5)


@pytest.mark.parametrize(("name", "cut"), MAKERS.items())
def test_every_way_of_cutting_gives_the_same_rows(name: str, cut: list[int]) -> None:
    made = getattr(lab.RaggedTensor, name)(FLAT, cut)
    assert made.to_list() == ROWS
    assert made.row_splits.numpy().tolist() == MAKERS["from_row_splits"]
    assert made.row_lengths().numpy().tolist() == MAKERS["from_row_lengths"]
    assert made.row_starts().numpy().tolist() == MAKERS["from_row_starts"]
    assert made.row_limits().numpy().tolist() == MAKERS["from_row_limits"]
    assert made.value_rowids().numpy().tolist() == MAKERS["from_value_rowids"]


def test_it_says_its_shape_dtype_and_values() -> None:
    x = lab.ragged.constant([[1, 2, 3], [4, 5], [6]])
    assert repr(x) == str(x) == "<RaggedTensor [[1, 2, 3], [4, 5], [6]]>"
    assert x.shape == (3, None)
    assert x.get_shape() == (3, None)
    assert x.dtype == lab.int32
    assert (x.ndim, x.ragged_rank, len(x), int(x.nrows())) == (2, 1, 3, 3)
    assert x.bounding_shape().numpy().tolist() == [3, 3]
    assert int(x.bounding_shape(axis=1)) == 3


def test_a_large_one_prints_its_first_and_last_numbers() -> None:
    assert repr(lab.ragged.range([2000])) == "<RaggedTensor [[0, 1, 2, ..., 1997, 1998, 1999]]>"
    rows = lab.ragged.range([3, 0, 1, 2000, 2, 9, 1, 8])
    assert repr(rows) == (
        "<RaggedTensor [[0, 1, 2], [], [0], ..., [0, 1, 2, ..., 6, 7, 8], [0], [0, 1, 2, ..., 5, 6, 7]]>"
    )
    deep = lab.RaggedTensor.from_row_lengths(rows, [1, 7])
    assert repr(deep).startswith("<RaggedTensor [[[0, 1, 2]], [[], [0], [0, 1, 2, ..., 1997, 1998, 1999], ...")


def test_rows_that_hold_rows_and_rows_that_hold_vectors() -> None:
    deep = lab.ragged.constant([[[1, 2], [3]], [[4]], []])
    assert deep.shape == (3, None, None)
    assert deep.row_lengths(axis=2).to_list() == [[2, 1], [1], []]
    assert [s.numpy().tolist() for s in deep.nested_row_splits] == [[0, 2, 3, 3], [0, 2, 3, 4]]
    again = lab.RaggedTensor.from_nested_row_splits(deep.flat_values, deep.nested_row_splits)
    assert again.to_list() == deep.to_list()
    lengths = lab.RaggedTensor.from_nested_row_lengths([1, 2, 3, 4], [[2, 1, 0], [2, 1, 1]])
    assert lengths.to_list() == deep.to_list()
    vectors = lab.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert vectors.shape == (2, None, 2)
    assert vectors.to_tensor().shape == (2, 2, 2)


@given(rows=nested)
@settings(max_examples=60, deadline=None)
def test_padding_and_cutting_are_inverse(rows: list[list[int]]) -> None:
    x = lab.ragged.constant(rows, dtype=lab.int32, ragged_rank=1)
    dense = x.to_tensor(default_value=99)
    width = max(map(len, rows), default=0)
    assert dense.numpy().tolist() == [row + [99] * (width - len(row)) for row in rows]
    assert lab.RaggedTensor.from_tensor(dense, padding=99).to_list() == rows
    assert lab.RaggedTensor.from_tensor(dense, lengths=x.row_lengths()).to_list() == rows
    assert lab.RaggedTensor.from_sparse(x.to_sparse()).to_list() == rows


@given(rows=nested.filter(bool), key=st.slices(5), inner=st.slices(4))
@settings(max_examples=100, deadline=None)
def test_slices_are_those_of_lists(rows: list[list[int]], key: slice, inner: slice) -> None:
    x = lab.ragged.constant(rows, dtype=lab.int32, ragged_rank=1)
    assert x[key].to_list() == rows[key]
    assert x[key, inner].to_list() == [row[inner] for row in rows[key]]
    assert x[-1].numpy().tolist() == rows[-1]


def test_parts_of_deeper_ones() -> None:
    deep = lab.ragged.constant([[[1, 2], [3]], [[4]], []])
    assert deep[0].to_list() == [[1, 2], [3]]
    assert int(deep[0, 0, 1]) == 2
    assert deep[:, :, 1:].to_list() == [[[2], []], [[]], []]
    assert deep[..., :1].to_list() == [[[1], [3]], [[4]], []]
    assert [row.to_list() for row in deep] == [[[1, 2], [3]], [[4]], []]
    assert deep.merge_dims(0, 1).to_list() == [[1, 2], [3], [4]]
    assert deep.merge_dims(1, 2).to_list() == [[1, 2, 3], [4], []]
    assert deep.merge_dims(0, 2).numpy().tolist() == [1, 2, 3, 4]


def test_rows_are_joined_and_gathered() -> None:
    x, y = lab.ragged.constant([[1], [2, 3]]), lab.ragged.constant([[4, 5], []])
    assert lab.concat([x, y], axis=0).to_list() == [[1], [2, 3], [4, 5], []]
    assert lab.concat([x, y, x], axis=1).to_list() == [[1, 4, 5, 1], [2, 3, 2, 3]]
    assert lab.concat([x, lab.constant([[7, 8]])], axis=0).to_list() == [[1], [2, 3], [7, 8]]
    deep = lab.ragged.constant([[[1, 2], [3]], [[4]], []])
    assert lab.concat([deep, deep], axis=2).to_list() == [[[1, 2, 1, 2], [3, 3]], [[4, 4]], []]
    assert lab.concat([deep, deep], axis=1).to_list() == [[[1, 2], [3], [1, 2], [3]], [[4], [4]], []]
    assert lab.gather(deep, [2, 0]).to_list() == [[], [[1, 2], [3]]]
    assert lab.gather(x, [[1, 0], [0, 0]]).to_list() == [[[2, 3], [1]], [[1], [1]]]
    assert lab.gather(x, 1).numpy().tolist() == [2, 3]
    values = lab.Variable([1.0, 2.0, 3.0])
    with lab.GradientTape() as tape:
        rows = lab.RaggedTensor.from_row_lengths(values, [1, 2])
        total = lab.reduce_sum(lab.concat([rows, rows * rows], axis=1)) + lab.reduce_sum(lab.gather(rows, [0, 0]))
    assert tape.gradient(total, values).numpy().tolist() == [5.0, 5.0, 7.0]


def test_operators_act_on_the_values_and_keep_the_rows() -> None:
    x = lab.ragged.constant(ROWS)
    assert (x + 1).to_list() == [[v + 1 for v in row] for row in ROWS]
    assert (2**x - x).to_list() == [[2**v - v for v in row] for row in ROWS]
    assert (-x * x).to_list() == [[-v * v for v in row] for row in ROWS]
    assert (x > 2.0).to_list() == [[v > 2 for v in row] for row in ROWS]
    assert (x == 3.0).to_list() == [[v == 3 for v in row] for row in ROWS]
    assert (x != 3.0).dtype == lab.bool
    assert lab.cast(x, lab.int32).to_list() == [[int(v) for v in row] for row in ROWS]
    assert lab.maximum(x, 3.0).to_list() == [[max(v, 3.0) for v in row] for row in ROWS]


def test_a_column_meets_each_row() -> None:
    column = lab.constant([[10.0], [20.0], [30.0], [40.0]])
    expected = [[v * 10 * (i + 1) for v in row] for i, row in enumerate(ROWS)]
    assert (lab.ragged.constant(ROWS) * column).to_list() == expected
    assert (column * lab.ragged.constant(ROWS)).to_list() == expected


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min"])
def test_reductions_agree_with_numpy_row_by_row(name: str) -> None:
    reduce, numpy_reduce = getattr(lab, name), getattr(np, name.removeprefix("reduce_"))
    rows = [row for row in ROWS if row]
    x = lab.ragged.constant(rows)
    np.testing.assert_allclose(reduce(x, axis=1), [numpy_reduce(row) for row in rows])
    np.testing.assert_allclose(reduce(x, axis=1, keepdims=True), [[numpy_reduce(row)] for row in rows])
    columns = [[row[k] for row in rows if len(row) > k] for k in range(3)]
    np.testing.assert_allclose(reduce(x, axis=0), [numpy_reduce(column) for column in columns])
    np.testing.assert_allclose(reduce(x), numpy_reduce(FLAT))


def test_reductions_of_rows_of_rows() -> None:
    deep = lab.ragged.constant([[[1, 2], [3]], [[4]], []])
    assert lab.reduce_sum(deep, axis=2).to_list() == [[3, 3], [4], []]
    assert lab.reduce_sum(deep, axis=1).to_list() == [[4, 2], [4], []]
    assert lab.reduce_sum(deep, axis=0).to_list() == [[5, 2], [3]]
    assert lab.reduce_max(deep, axis=1, keepdims=True).to_list() == [[[3, 2]], [[4]], [[]]]
    truth = deep > 2
    assert lab.reduce_any(truth, axis=-1).to_list() == [[False, True], [True], []]
    assert lab.reduce_all(truth, axis=-1).to_list() == [[False, True], [True], []]


def test_an_empty_row_sums_to_zero_and_has_no_mean() -> None:
    x = lab.ragged.constant(ROWS)
    assert float(lab.reduce_sum(x, axis=1)[1]) == 0.0
    assert np.isnan(float(lab.reduce_mean(x, axis=1)[1]))
    assert float(lab.reduce_max(x, axis=1)[1]) == lab.float32.min


def _program(values: Any) -> Any:
    x = lab.RaggedTensor.from_row_lengths(values, [2, 0, 1, 3])
    y = lab.sin(x) * x + [[1.0], [2.0], [3.0], [4.0]]
    return [lab.reduce_sum(y * y, axis=1), lab.reduce_sum(y[:, :2] ** 2, axis=0), y.to_tensor(default_value=2.0) ** 3,
            lab.reduce_max(y, axis=1)[2:]]  # fmt: skip


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_flow_through_the_flat_values(order: int) -> None:
    check = check_gradient(_program, [0.3, -1.2, 0.8, 2.0, 0.1, -0.7], order=order)
    assert check, str(check)


def test_a_ragged_source_has_a_ragged_gradient() -> None:
    x = lab.ragged.constant(ROWS)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        unrelated = lab.constant(1.0) * 2.0
    assert tape.gradient(y, x).to_list() == [[2 * v for v in row] for row in ROWS]
    assert tape.gradient(y, {"x": x})["x"].to_list() == [[2 * v for v in row] for row in ROWS]
    assert tape.gradient(unrelated, x) is None
    zero = tape.gradient(unrelated, x, unconnected_gradients=lab.UnconnectedGradients.ZERO)
    assert zero.to_list() == [[0.0 for _ in row] for row in ROWS]


def test_strings_can_be_ragged() -> None:
    x = lab.ragged.constant([["a", "b"], ["c"]])
    assert x.to_tensor().numpy().tolist() == [[b"a", b"b"], [b"c", b""]]
    assert (x + "!").to_list() == [[b"a!", b"b!"], [b"c!"]]


def test_numpy_gives_rows_as_arrays() -> None:
    rows = lab.ragged.constant([[1, 2], [3]]).numpy()
    assert [row.tolist() for row in rows] == [[1, 2], [3]]
    assert lab.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: lab.matmul(x, x), lab.errors.ShapeMismatch, "rows of equal length"),
        (lab.linalg.det, lab.errors.NotOneTensor, "to_tensor"),
        (lab.constant, lab.errors.NotOneTensor, "RaggedTensor"),
        (np.asarray, lab.errors.NotOneTensor, "flat_values"),
        (lambda x: x + lab.ragged.constant([[1.0], [2.0]]), lab.errors.ShapeMismatch, "do not broadcast"),
        (lambda x: lab.add(x, [1.0, 2.0, 3.0]), lab.errors.ShapeMismatch, "do not broadcast"),
        (lambda x: x[7], lab.errors.InvalidArgumentError, "out of bounds"),
        (lambda x: x[:, 0], lab.errors.InvalidArgumentError, "too short"),
        (lambda x: x[0, 0, 0], lab.errors.InvalidArgumentError, "only 2 dims"),
        (lambda x: x["a"], lab.errors.InvalidArgumentError, "expected integers, slices"),
        (bool, ValueError, "ambiguous"),
        (lambda x: lab.gather(x, [4]), lab.errors.InvalidArgumentError, r"\[0, 4\)"),
        (lambda x: lab.gather(x, [0], axis=1), lab.errors.InvalidArgumentError, "not in"),
        (lambda x: lab.gather(x, [0], axis=2), lab.errors.InvalidArgumentError, "axis 2"),
        (lambda x: lab.concat([x, x[:2]], axis=1), lab.errors.ShapeMismatch, "same number of rows"),
        (lambda x: lab.reduce_sum(x, axis=2), lab.errors.InvalidArgumentError, "out of bounds"),
        (lambda x: x.with_values([1.0]), lab.errors.InvalidArgumentError, "expected 6 values"),
        (lambda x: x.to_tensor(shape=[4, 3, 2]), lab.errors.ShapeMismatch, "a shape with the 2 axes"),
        (lambda x: lab.RaggedTensor.from_row_splits(FLAT, [1, 6]), lab.errors.InvalidArgumentError, "start with 0"),
        (lambda x: lab.RaggedTensor.from_row_lengths(FLAT, [7, -1]), lab.errors.InvalidArgumentError, "negative"),
        (lambda x: lab.RaggedTensor.from_value_rowids([3, 4], [1, 0]), lab.errors.InvalidArgumentError, "sorted"),
        (lambda x: lab.RaggedTensor.from_row_lengths(3.0, [1]), lab.errors.ShapeMismatch, "got a scalar"),
        (lambda x: lab.RaggedTensor.from_row_lengths(FLAT, [[6]]), lab.errors.InvalidArgumentError, "vector"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call(lab.ragged.constant(ROWS))


def test_public_functions_hand_all_their_arguments_to_ragged_tensors() -> None:
    numbers, mask = lab.ragged.constant([[1, 1], [0]]), lab.ragged.constant([[True, False], [True]])
    assert lab.math.bincount(numbers, minlength=3, axis=-1).numpy().tolist() == [[0, 2, 0], [1, 0, 0]]
    assert lab.boolean_mask(numbers, mask).to_list() == [[1], [0]]
    with pytest.raises(lab.errors.InvalidArgumentError, match="expected axis=None"):
        lab.boolean_mask(numbers, mask, axis=1)
