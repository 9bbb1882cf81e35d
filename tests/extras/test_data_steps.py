"""The less common dataset operations give the same elements as lists, in TensorFlow's order."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

Dataset = lab.data.Dataset


def listed(elements: Any) -> list[Any]:
    """Elements as plain values, data sets in data sets as lists."""
    return [listed(x) if isinstance(x, Dataset) else np.asarray(x.numpy()).tolist() for x in elements]


@pytest.mark.parametrize(("size", "shift", "stride", "drop"), [
    (3, None, 1, False), (3, 1, 1, True), (3, 1, 2, False), (2, 3, 1, False), (5, 1, 3, False), (3, 7, 1, False),
])  # fmt: skip
@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_windows_are_slices(size: int, shift: int | None, stride: int, drop: bool, count: int) -> None:
    numbers = list(range(count))
    starts = range(0, count, shift or size)
    expected = [numbers[a : a + size * stride : stride] for a in starts]
    found = listed(Dataset.range(count).window(size, shift, stride, drop))
    assert found == [part for part in expected if len(part) == size or not drop]


def test_elements_are_cut_off_chosen_and_carried_along() -> None:
    numbers = Dataset.range(6)
    assert listed(numbers.take_while(lambda x: x < 3)) == [0, 1, 2]
    assert listed(Dataset.from_tensor_slices([3, 1, 3, 2, 1]).unique()) == [3, 1, 2]
    assert listed(Dataset.from_tensor_slices(["a", "b", "a"]).unique()) == [b"a", b"b"]
    assert listed(numbers.scan(lab.constant(0, lab.int64), lambda s, x: (s + x, s * x))) == [0, 0, 2, 9, 24, 50]
    assert listed(numbers.shard(4, 1)) == [1, 5]
    assert [len(numbers.shard(4, i)) for i in range(4)] == [2, 2, 1, 1]
    assert listed(Dataset.counter(3, -2).take(3)) == [3, 1, -1]
    assert int(numbers.batch(6).get_single_element()[5]) == 5
    assert listed(Dataset.random(seed=1).take(3)) == listed(Dataset.random(seed=1).take(3))
    assert all(0 <= n < 2**32 for n in listed(Dataset.random().take(5)))


def test_batches_take_other_sizes_and_lengths() -> None:
    sevens = Dataset.range(7).batch(3)
    assert listed(sevens.rebatch(2)) == [[0, 1], [2, 3], [4, 5], [6]]
    assert listed(sevens.rebatch([1, 2], drop_remainder=True)) == [[0], [1, 2], [3], [4, 5], [6]]
    rows = Dataset.from_generator(lambda: iter([[1], [2, 3], [4]]), lab.int32)
    first, rest = rows.ragged_batch(2, row_splits_dtype=lab.int32)
    assert (first.to_list(), rest.to_list(), first.row_splits.dtype) == ([[1], [2, 3]], [[4]], lab.int32)
    assert listed(Dataset.range(3).ragged_batch(2)) == [[0, 1], [2]]


def test_groups_and_buckets_come_when_they_are_full_and_at_the_end_by_key() -> None:
    groups = Dataset.range(8).group_by_window(lambda x: x % 3, lambda key, part: part.batch(2), window_size=2)
    assert listed(groups) == [[0, 3], [1, 4], [2, 5], [6], [7]]
    rows = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
    made = Dataset.from_generator(lambda: iter(rows), lab.int64)
    found = made.bucket_by_sequence_length(lab.size, [3, 5], [2, 2, 2])
    assert [np.shape(batch) for batch in listed(found)] == [(2, 4), (2, 6), (2, 2)]
    wide = made.bucket_by_sequence_length(lab.size, [3, 10], [2, 3, 2], pad_to_bucket_boundary=True)
    assert [np.shape(batch) for batch in listed(wide)] == [(3, 9), (2, 2), (1, 9)]


@pytest.mark.parametrize(("width", "block", "expected"), [
    (2, 1, [1, 2, 2, 3, 3, 3]), (2, 2, [1, 2, 2, 3, 3, 3]), (1, 1, [1, 2, 2, 3, 3, 3]), (3, 1, [1, 2, 3, 2, 3, 3]),
])  # fmt: skip
def test_interleaving_goes_round_the_open_data_sets(width: int, block: int, expected: list[int]) -> None:
    made = Dataset.range(1, 4).interleave(lambda x: Dataset.from_tensors(x).repeat(int(x)), width, block)
    assert listed(made) == expected


def test_mixtures_take_from_the_data_set_that_is_named_or_drawn() -> None:
    parts = [Dataset.range(3), Dataset.range(10, 12)]
    names = Dataset.from_tensor_slices([0, 1, 1, 1, 0])
    assert listed(Dataset.choose_from_datasets(parts, names)) == [0, 10, 11]
    assert listed(Dataset.choose_from_datasets(parts, names, stop_on_empty_dataset=False)) == [0, 10, 11, 1]
    assert listed(Dataset.sample_from_datasets(parts, weights=[1.0, 0.0])) == [0, 1, 2]
    assert sorted(listed(Dataset.sample_from_datasets(parts, seed=3))) == [0, 1, 2, 10, 11]


def test_options_are_kept() -> None:
    options = lab.data.Options()
    options.autotune.enabled = True
    options.deterministic = False
    kept = Dataset.range(2).with_options(options)
    assert (kept.options().deterministic, kept.options().autotune.enabled, listed(kept)) == (False, True, [0, 1])


NUMBERS = Dataset.range(3)


@pytest.mark.parametrize("call", [
    NUMBERS.get_single_element, lambda: NUMBERS.take(0).get_single_element(), lambda: NUMBERS.shard(2, 2),
    lambda: NUMBERS.window(0), lambda: NUMBERS.window(2, stride=0), lambda: NUMBERS.rebatch(0),
    lambda: NUMBERS.rebatch([]), lambda: NUMBERS.ragged_batch(0), lambda: NUMBERS.interleave(lambda x: x, 0),
    lambda: NUMBERS.group_by_window(lambda x: x, lambda k, w: w), lambda: Dataset.choose_from_datasets([], NUMBERS),
    lambda: NUMBERS.bucket_by_sequence_length(lambda x: x, [3], [2]), lambda: list(Dataset.choose_from_datasets(
        [NUMBERS], Dataset.from_tensor_slices([4]))),
    lambda: Dataset.sample_from_datasets([NUMBERS], weights=[-1.0]), lambda: Dataset.counter(step=0.5),
])  # fmt: skip
def test_arguments_without_a_meaning_are_refused(call: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError):
        call()
