"""Functions of ``lab.ragged`` agree with plain Python, and refuse arguments that have no meaning."""

import math
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused


@pytest.mark.parametrize(
    ("rows", "shape"),
    [([[1, 2], [3]], (2, None)), ([[], [1.0]], (2, None)), ([[[1], []], []], (2, None, None)), ([[]], (1, None))],
)
def test_constant_keeps_the_rows_and_makes_every_inner_axis_ragged(rows: Any, shape: Any) -> None:
    x = lab.ragged.constant(rows)
    assert x.to_list() == rows
    assert x.shape == shape


def test_constant_takes_dtype_rank_and_inner_shape() -> None:
    assert lab.ragged.constant([[1], [2, 3]], dtype=lab.float64).dtype == lab.float64
    assert lab.ragged.constant([[[1, 2]], []], inner_shape=(2,)).shape == (2, None, 2)
    plain = lab.ragged.constant([1, 2])
    assert isinstance(plain, lab.Tensor)


@pytest.mark.parametrize("rows", [[1, [2]], [[1], 2], [[[1]], [2]], 3])
def test_constant_refuses_numbers_at_different_depths(rows: Any) -> None:
    with pytest.raises(lab.errors.ConversionError, match=r"depth|nested"):
        lab.ragged.constant(rows)


def test_constant_packs_tensors_differentiably() -> None:
    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.ragged.constant([[x * x, 1.0], [x]]))
    assert float(tape.gradient(y, x)) == 7.0


def test_map_flat_values_runs_any_function_that_keeps_the_first_axis() -> None:
    x = lab.ragged.constant([[1.0, 2.0], [3.0]])
    assert lab.ragged.map_flat_values(lambda a, b: a * b, x, x).to_list() == [[1.0, 4.0], [9.0]]
    assert lab.ragged.map_flat_values(lab.one_hot, lab.ragged.constant([[0], [1, 0]]), 2).shape == (2, None, 2)
    assert float(lab.ragged.map_flat_values(lab.square, 3.0)) == 9.0
    with pytest.raises(lab.errors.ShapeMismatch, match="first axis"):
        lab.ragged.map_flat_values(lab.reduce_sum, x)


def test_range_counts_like_python() -> None:
    starts, limits, deltas = [0, 5, 7], [3, 5, 1], [1, 1, -2]
    expected = [list(range(*row)) for row in zip(starts, limits, deltas, strict=True)]
    assert lab.ragged.range(starts, limits, deltas).to_list() == expected
    assert lab.ragged.range([0.0], [1.0], 0.5).dtype == lab.float32
    with pytest.raises(lab.errors.InvalidArgumentError, match="delta"):
        lab.ragged.range([1], [2], 0)


@pytest.mark.parametrize(
    "numbers", [(math.nan, 5.0), (0.0, math.nan), (0.0, math.inf), (0.0, -math.inf), (math.inf, 5.0)]
)
@pytest.mark.parametrize("delta", [1.0, -1.0])
def test_a_range_without_a_finite_length_is_refused(numbers: tuple[float, float], delta: float) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="infinite or do not fit"):
        lab.ragged.range(*numbers, delta)


def test_stack_and_dynamic_partitions() -> None:
    parts = [[1, 2], [3]]
    assert lab.ragged.stack(parts).to_list() == parts
    ragged = [lab.ragged.constant([[1], [2, 3]]), [[4, 5]]]
    assert lab.ragged.stack(ragged).to_list() == [[[1], [2, 3]], [[4, 5]]]
    rows = lab.ragged.stack_dynamic_partitions([10, 20, 30, 40], [2, 0, 2, 0], 3)
    assert rows.to_list() == [[20, 40], [], [10, 30]]
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"\[0, 2\)"):
        lab.ragged.stack_dynamic_partitions([10], [5], 2)
    assert lab.ragged.stack([[1, 2], [3, 4]], axis=1).numpy().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(lab.errors.InvalidArgumentError, match="axis 2"):
        lab.ragged.stack(parts, axis=2)


def test_masks_pick_rows_and_elements() -> None:
    x = lab.ragged.constant([[1, 2, 3], [4], [5, 6]])
    assert lab.ragged.boolean_mask(x, [True, False, True]).to_list() == [[1, 2, 3], [5, 6]]
    assert lab.ragged.boolean_mask(x, x % 2 == 0).to_list() == [[2], [4], [6]]
    data = np.arange(6).reshape(2, 3)
    mask = data % 2 == 1
    expected = [row[m].tolist() for row, m in zip(data, mask, strict=True)]
    assert lab.ragged.boolean_mask(data, mask).to_list() == expected
    deep = lab.ragged.constant([[[1, 2], [3]], [[4]]])
    assert lab.ragged.boolean_mask(deep, deep > 1).to_list() == [[[2], [3]], [[4]]]
    with pytest.raises(lab.errors.ShapeMismatch, match="different rows"):
        lab.ragged.boolean_mask(x, lab.ragged.constant([[True], [True], [True]]))
    with refused(lab.errors.InvalidArgumentError, "bool"):
        lab.ragged.boolean_mask(x, [1, 0, 1])


def test_splits_and_segment_ids_are_inverse() -> None:
    splits = [0, 3, 3, 5]
    ids = lab.ragged.row_splits_to_segment_ids(splits)
    assert ids.numpy().tolist() == [0, 0, 0, 2, 2]
    assert lab.ragged.segment_ids_to_row_splits(ids).numpy().tolist() == splits
    assert lab.ragged.segment_ids_to_row_splits(ids, num_segments=4).numpy().tolist() == [*splits, 5]
    with pytest.raises(lab.errors.InvalidArgumentError, match="nrows is 1"):
        lab.ragged.segment_ids_to_row_splits(ids, num_segments=1)


def test_gradients_pass_through_what_picks_and_puts_together() -> None:
    def program(values: Any) -> Any:
        x = lab.RaggedTensor.from_row_lengths(values, [1, 3, 2])
        both = lab.ragged.stack([values[:2], values[2:] ** 2])
        picked = lab.ragged.boolean_mask(x * x, x > 0.0)
        return [picked.flat_values, both.to_tensor(), x.to_sparse().values ** 3, x.merge_dims(0, 1) ** 2]

    check = check_gradient(program, [0.5, -1.0, 2.0, 0.3, -0.2, 1.5])
    assert check, str(check)


def test_from_tensor_of_more_axes() -> None:
    data = np.arange(8).reshape(2, 2, 2)
    x = lab.RaggedTensor.from_tensor(data, ragged_rank=2)
    assert x.shape == (2, None, None)
    assert x.to_list() == data.tolist()
    with pytest.raises(lab.errors.ShapeMismatch, match="cannot have 3 ragged axes"):
        lab.RaggedTensor.from_tensor(data, ragged_rank=3)
    with pytest.raises(lab.errors.InvalidArgumentError, match="cannot be combined"):
        lab.RaggedTensor.from_tensor(data, lengths=[1, 1], padding=0)
