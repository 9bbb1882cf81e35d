"""Queries about the rows of a ragged tensor, in the dtype of its splits, and all kinds of indexing and operators."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

DEEP = [[[1, 2], [3]], [[4]], []]


def test_nested_rows_are_told_and_taken_in_every_form() -> None:
    x = lab.ragged.constant(DEEP)
    forms = {
        "row_splits": x.nested_row_splits,
        "row_lengths": x.nested_row_lengths(),
        "value_rowids": x.nested_value_rowids(),
    }
    assert [n.numpy().tolist() for n in forms["row_lengths"]] == [[2, 1, 0], [2, 1, 1]]
    assert [n.numpy().tolist() for n in forms["value_rowids"]] == [[0, 0, 1], [0, 0, 1, 2]]
    for name, numbers in forms.items():
        more = {"nested_nrows": [3, 3]} if name == "value_rowids" else {}
        made = getattr(lab.RaggedTensor, f"from_nested_{name}")(x.flat_values, numbers, **more)
        assert made.to_list() == DEEP
    with pytest.raises(lab.errors.InvalidArgumentError, match="got 1 for 2"):
        lab.RaggedTensor.from_nested_value_rowids([1], [[0], [0]], [1])


@pytest.mark.parametrize("dtype", [lab.int32, lab.int64])
def test_splits_keep_the_dtype_asked_for(dtype: Any) -> None:
    x = lab.ragged.constant(DEEP, row_splits_dtype=dtype)
    y = x.with_row_splits_dtype(dtype)
    part = lab.concat([x[1:], lab.expand_dims(x[0], 0)], axis=0)
    for made in (x, y, x + 1, part, lab.gather(x, [0]), lab.reverse(x, [1])):
        told = [made.row_splits, made.row_lengths(), made.value_rowids(), made.nrows(), made.bounding_shape()]
        assert {t.dtype for t in told} == {dtype}
    assert x.bounding_shape(out_type=lab.int32).dtype == lab.int32
    assert x.bounding_shape(axis=[0, 2]).numpy().tolist() == [3, 2]
    assert lab.ragged.range([2], row_splits_dtype=dtype).row_splits.dtype == dtype
    made = lab.RaggedTensor.from_row_lengths([1, 2], np.array([2], dtype.name))
    assert made.row_splits.dtype == dtype
    assert lab.ragged.row_splits_to_segment_ids([0, 2], out_type=dtype).dtype == dtype
    with pytest.raises(lab.errors.DtypeMismatch, match="int32 or int64"):
        x.with_row_splits_dtype(lab.float32)


def test_every_operator_takes_ragged_tensors_on_either_side() -> None:
    x = lab.ragged.constant([[1, 2], [3]])
    assert (~(x > 1)).to_list() == [[True, False], [False]]
    assert (~x).to_list() == [[-2, -3], [-4]]
    assert ((x > 1) & (x < 3) | (x == 3)).to_list() == [[False, True], [True]]
    assert ((x > 1) ^ True).to_list() == [[True, False], [False]]
    assert (x & 1).to_list() == [[1, 0], [1]]
    assert (lab.bitwise.left_shift(x, x)).to_list() == [[2, 8], [24]]
    assert (7 // x).to_list() == [[7, 3], [2]]
    assert (x // 2 + x % 2).to_list() == [[1, 1], [2]]
    assert abs(-x).to_list() == [[1, 2], [3]]
    assert (lab.constant([[1], [2]]) + x).to_list() == [[2, 3], [5]]
    assert (lab.ragged.constant([[1, 2], [3, 4]]) @ lab.constant([[1], [1]])).numpy().tolist() == [[3], [7]]
    sparse = lab.SparseTensor([[0]], [2.0], [2])
    assert abs(-sparse).values.numpy().tolist() == [2.0]


def test_brackets_take_tensors_and_every_kind_of_whole_number() -> None:
    x = lab.ragged.constant(DEEP)
    one = (1, np.int64(1), lab.constant(1), lab.Variable(1))
    for index in one:
        assert x[index].to_list() == [[4]]
        assert x[0, index].numpy().tolist() == [3]
        assert x[:index].to_list() == DEEP[:1]
        assert x[:, index:].to_list() == [row[1:] for row in DEEP]
    assert x[..., -1:].to_list() == [[[2], [3]], [[4]], []]
    assert x[None].shape == (1, 3, None, None)
    assert x[:, None].to_list() == [[row] for row in DEEP]
    assert x[::-1, ::-1].to_list() == [row[::-1] for row in DEEP[::-1]]
    uniform = lab.RaggedTensor.from_uniform_row_length(lab.ragged.constant([[1], [2, 3], [4], []]), 2)
    assert uniform[:, 1].to_list() == [[2, 3], []]
    assert uniform[1:].shape == (1, 2, None)
    inner = lab.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert inner[..., 1].to_list() == [[2], [4, 6]]
    for bad in (1.5, True, "a", [[1]], lab.constant([0, 1])):
        with pytest.raises(lab.errors.InvalidArgumentError, match=r"expected integers, slices|Index out of range"):
            x[:, bad]
    with pytest.raises(lab.errors.InvalidArgumentError, match="step of 0"):
        x[::0]


@pytest.mark.parametrize("order", [1, 2])
def test_a_default_value_has_a_gradient(order: int) -> None:
    rows = lab.ragged.constant([[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], lab.float64, ragged_rank=1)
    sparse = lab.SparseTensor([[0, 1], [2, 0]], lab.constant([1.0, 5.0], lab.float64), [3, 2])
    found = {
        "to_tensor": (lambda d: rows.to_tensor(default_value=d), [0.5, -1.0]),
        "to_tensor of one number": (lambda d: rows.to_tensor(default_value=d), 0.5),
        "to_dense": (lambda d: lab.sparse.to_dense(sparse, default_value=d), 0.5),
        "fill_empty_rows": (lambda d: lab.sparse.fill_empty_rows(sparse, d)[0].values, 0.5),
    }
    for name, (program, value) in found.items():
        check = lab.testing.check_gradient(lambda d, program=program: program(d) ** 3, value, order=order)
        assert check, f"{name}: {check}"
    fill = lab.Variable(0.5, dtype=lab.float64)
    with lab.GradientTape() as tape:
        made = rows.to_tensor(default_value=fill, shape=[None, 4, None])
    assert float(tape.gradient(made, fill)) == 8.0
    with refused(lab.errors.DtypeMismatch, "default_value"):
        rows.to_tensor(default_value=lab.constant(1))
    with refused(lab.errors.ShapeMismatch, "default_value"):
        rows.to_tensor(default_value=[1.0, 2.0, 3.0])


def test_the_shape_of_a_ragged_tensor_is_told_axis_by_axis() -> None:
    shape = lab.shape(lab.ragged.constant([[1, 2], [3]]))
    assert (int(shape[0]), shape.rank, len(shape), shape.num_row_partitions) == (2, 2, 2, 1)
    assert shape.static_lengths() == [2, (2, 1)]
    assert shape.to_shape() == (2, None)
    assert shape.inner_shape.numpy().tolist() == [3]
    assert shape == lab.shape(lab.ragged.constant([["a", "b"], ["c"]]))
    with pytest.raises(lab.errors.InvalidArgumentError, match="axis 1 is ragged"):
        shape[1]


def test_strings_in_rows_go_through_the_functions_of_strings() -> None:
    x = lab.ragged.constant([["ab", "C"], [" d "]])
    assert lab.strings.upper(x).to_list() == [[b"AB", b"C"], [b" D "]]
    assert lab.strings.length(x).to_list() == [[2, 1], [3]]
    assert lab.strings.strip(x).to_list() == [[b"ab", b"C"], [b"d"]]
    assert lab.strings.substr(x, 0, 1).to_list() == [[b"a", b"C"], [b" "]]
    assert lab.strings.join([x, "-", x]).to_list() == [[b"ab-ab", b"C-C"], [b" d - d "]]
    assert lab.strings.reduce_join(x, axis=1, separator="+").numpy().tolist() == [b"ab+C", b" d "]
    assert lab.strings.reduce_join(x, axis=0).numpy().tolist() == [b"ab d ", b"C"]
    assert lab.strings.as_string(lab.ragged.constant([[1], [2, 3]])).to_list() == [[b"1"], [b"2", b"3"]]
    assert lab.strings.regex_replace(x, "[a-z]", "x").to_list() == [[b"xx", b"C"], [b" x "]]
