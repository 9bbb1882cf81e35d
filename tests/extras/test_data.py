"""Datasets give what Python's own iteration would give, as tensors, and their iterators stop gradients."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from tests.refusals import refused

Dataset = lab.data.Dataset
UNEVEN = Dataset.from_generator(lambda: iter([(1, 2)]), (lab.int32,))


class Point(NamedTuple):
    x: Any
    y: Any


def plain(dataset: Any) -> list[Any]:
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def test_slices_of_tensors_and_structures() -> None:
    assert plain(Dataset.from_tensor_slices([1, 2, 3])) == [1, 2, 3]
    pairs = list(Dataset.from_tensor_slices(([1, 2], {"name": ["a", "b"]})))
    assert int(pairs[1][0]) == 2
    assert pairs[1][1]["name"].numpy() == b"b"
    first = next(iter(Dataset.from_tensor_slices(Point([1.0], [2.0]))))
    assert type(first) is Point
    assert float(first.y) == 2.0
    rows = list(Dataset.from_tensor_slices(lab.ragged.constant([[1, 2], [3]])))
    assert [row.numpy().tolist() for row in rows] == [[1, 2], [3]]


def test_elements_can_be_ragged_or_sparse() -> None:
    deep = Dataset.from_tensor_slices(lab.ragged.constant([[[1], [2, 3]], [[4]]])).map(lambda row: row * 10)
    assert [row.to_list() for row in deep] == [[[10], [20, 30]], [[40]]]
    assert next(iter(deep.batch(2))).to_list() == [[[10], [20, 30]], [[40]]]
    parts = list(Dataset.range(2).map(lambda i: lab.SparseTensor([[0]], [i], [2])))
    assert lab.sparse.to_dense(parts[1]).numpy().tolist() == [1, 0]
    with lab.record() as recording:
        list(deep)
    assert not recording.applications


def test_a_single_element_and_a_generator() -> None:
    assert plain(Dataset.from_tensors([1, 2])) == [[1, 2]]
    made = Dataset.from_generator(lambda n: ((i, [i, i]) for i in range(n)), (lab.float32, lab.int64), args=(2,))
    for _ in range(2):  # the generator starts again
        pairs = list(made)
        assert [(float(x), y.numpy().tolist(), y.dtype) for x, y in pairs] == [
            (0.0, [0, 0], lab.int64),
            (1.0, [1, 1], lab.int64),
        ]


@given(n=st.integers(0, 9), size=st.integers(1, 4), take=st.integers(-1, 6), skip=st.integers(0, 6))
@settings(max_examples=50, deadline=None)
def test_sizes_are_known_and_agree_with_iterating(n: int, size: int, take: int, skip: int) -> None:
    numbers = Dataset.range(n)
    end = n if take < 0 else take
    for dataset, expected in [
        (numbers, list(range(n))),
        (numbers.take(take), list(range(n))[:end]),
        (numbers.skip(skip), list(range(n))[skip:]),
        (numbers.repeat(2), [*range(n), *range(n)]),
        (numbers.concatenate(numbers), [*range(n), *range(n)]),
        (numbers.batch(size), [list(range(n))[i : i + size] for i in range(0, n, size)]),
        (
            numbers.batch(size, drop_remainder=True),
            [list(range(n))[i : i + size] for i in range(0, n - size + 1, size)],
        ),
        (numbers.map(lambda x: x * x), [i * i for i in range(n)]),
        (numbers.enumerate(5).map(lambda i, x: i - x), [5] * n),
    ]:
        assert plain(dataset) == expected
        assert len(dataset) == int(dataset.cardinality()) == len(expected)
    assert sorted(plain(numbers.shuffle(3))) == list(range(n))
    assert plain(numbers.batch(size).unbatch()) == list(range(n))
    assert plain(numbers.filter(lambda x: x % 2 == 0)) == list(range(0, n, 2))
    assert plain(numbers.flat_map(lambda x: Dataset.range(int(x)))) == [j for i in range(n) for j in range(i)]


def test_lengths_that_are_not_known_or_have_no_end() -> None:
    endless = Dataset.range(2).repeat()
    assert int(endless.cardinality()) == lab.data.INFINITE_CARDINALITY
    assert plain(endless.take(5)) == [0, 1, 0, 1, 0]
    assert len(endless.take(5)) == 5
    some = Dataset.range(5).filter(lambda x: x > 2)
    assert int(some.cardinality()) == lab.data.UNKNOWN_CARDINALITY
    for dataset in (endless, some):
        with pytest.raises(TypeError, match="length"):
            len(dataset)
    assert plain(Dataset.range(0).repeat()) == []
    assert repr(endless) == "<Dataset of infinite length>"


def test_zip_stops_with_the_shortest() -> None:
    together = Dataset.zip((Dataset.range(3), Dataset.range(10, 12)))
    assert [(int(a), int(b)) for a, b in together] == [(0, 10), (1, 11)]
    assert len(together) == 2
    assert len(Dataset.zip(Dataset.range(2).repeat(), Dataset.range(3))) == 3


def test_shuffling_repeats_with_a_seed_and_changes_from_round_to_round() -> None:
    def rounds(seed: int | None, again: bool = True) -> list[list[int]]:
        dataset = Dataset.range(20).shuffle(20, seed=seed, reshuffle_each_iteration=again)
        return [plain(dataset), plain(dataset)]

    assert rounds(1) == rounds(1)
    assert rounds(1) != rounds(2)
    first, second = rounds(1)
    assert first != second
    first, second = rounds(1, again=False)
    assert first == second
    lab.random.set_seed(3)
    one = rounds(None)
    lab.random.set_seed(3)
    assert rounds(None) == one


def test_padded_batches() -> None:
    words = Dataset.from_generator(lambda: iter([[1], [2, 3], [4, 5, 6]]), output_types=lab.int32)
    assert plain(words.padded_batch(2)) == [[[1, 0], [2, 3]], [[4, 5, 6]]]
    assert plain(words.padded_batch(3, padded_shapes=[4], padding_values=-1))[0][0] == [1, -1, -1, -1]
    with pytest.raises(lab.errors.ShapeMismatch, match="does not fit"):
        plain(words.padded_batch(3, padded_shapes=[2]))
    with pytest.raises(lab.errors.ShapeMismatch, match="padded_batch"):
        plain(words.batch(3))


def test_cache_keeps_the_elements() -> None:
    calls: list[int] = []
    dataset = Dataset.range(3).map(lambda x: calls.append(int(x)) or x).cache().prefetch(lab.data.AUTOTUNE)
    assert plain(dataset) == plain(dataset) == [0, 1, 2]
    assert calls == [0, 1, 2]


def test_reduce_and_apply() -> None:
    total = Dataset.range(4).apply(lambda d: d.skip(1)).reduce(lab.constant(0, lab.int64), lambda a, b: a + b)
    assert int(total) == 6


def test_gradients_stop_and_a_recording_hears_of_it() -> None:
    x = lab.Variable([2.0, 3.0])
    weight = lab.Variable(5.0)
    with lab.record() as recording, lab.GradientTape(persistent=True) as tape:
        y = x * 2.0
        item = next(iter(Dataset.from_tensor_slices(y).map(lambda element: element * weight)))
        z = item * 3.0
        w = item * weight
    assert float(z) == 60.0
    assert tape.gradient(z, x) is None
    assert tape.gradient(z, weight) is None  # what `map` runs belongs to the pipeline
    assert float(tape.gradient(w, weight)) == 20.0
    assert [note.detail for note in recording.notes if note.kind == "left"] == ["dataset"]


def test_an_iterator_keeps_its_place_and_ends() -> None:
    iterator = iter(Dataset.range(2))
    assert int(next(iterator)) == 0
    assert int(iterator.get_next()) == 1
    with pytest.raises(lab.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_change_of_the_array_does_not_reach_the_data_set() -> None:
    array = np.array([1.0, 2.0])
    dataset = Dataset.from_tensor_slices(array)
    array[0] = 9.0
    assert plain(dataset) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Dataset.from_tensor_slices(3.0), lab.errors.ShapeMismatch, "got a scalar"),
        (lambda: Dataset.from_tensor_slices(([1], [1, 2])), lab.errors.ShapeMismatch, "same number of rows"),
        (lambda: Dataset.range(3).batch(0), lab.errors.InvalidArgumentError, "at least 1"),
        (lambda: Dataset.range(3).shuffle(0), lab.errors.InvalidArgumentError, "at least 1"),
        (lambda: list(UNEVEN), lab.errors.InvalidArgumentError, "got 2"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()
