"""TensorShape: equality, methods, and checks of the shape of a tensor."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, InvalidArgumentError, ShapeMismatch
from tests.refusals import refused

S = lab.TensorShape


@pytest.mark.parametrize("dims", [[], [2, 3], [2, None], [0]])
def test_a_shape_equals_lists_and_tuples_of_its_lengths(dims: list[int | None]) -> None:
    shape = S(dims)
    for other in (dims, tuple(dims), S(dims)):
        assert shape == other
        assert other == shape
        assert not shape != other  # noqa: SIM202 - the other operator
    for other in ([*dims, 1], (9,), None, "ab", S(None), [2, "a"], 1.5):
        assert shape != other
    assert hash(shape) == hash(tuple(dims))
    assert pickle.loads(pickle.dumps(shape)) == shape  # noqa: S301 - our own


def test_a_shape_of_unknown_rank_equals_none_and_has_no_length() -> None:
    unknown = S(None)
    assert unknown == None  # noqa: E711 - the operator is what is tested
    assert unknown != [1]
    assert not unknown
    assert unknown.rank is None
    assert unknown[0] is None
    assert unknown[:2] == [None, None]
    for look in (len, list, S.as_list):
        with pytest.raises(ShapeMismatch):
            look(unknown)
    assert pickle.loads(pickle.dumps(unknown)) == unknown  # noqa: S301 - our own


SAME = [
    (S([2]).__add__([3]), [2, 3]), (S([3]).__radd__([2]), [2, 3]), (S([2]).concatenate(3), [2, 3]),
    (S([2]).concatenate(None), None), (S(None).concatenate([1]), None),
    (S([2, 3]).merge_with([None, 3]), [2, 3]), (S([2, None]).merge_with([2, 5]), [2, 5]),
    (S([2, None]).merge_with(None), [2, None]), (S(None).merge_with([2]), [2]),
    (S([2, 3]).with_rank(2), [2, 3]), (S(None).with_rank(2), [None, None]), (S(None).with_rank_at_least(1), None),
    (S([2, 3]).most_specific_compatible_shape([2, 4]), [2, None]),
    (S([2, 3]).most_specific_compatible_shape([2]), None), (S([2, 3]).most_specific_compatible_shape(None), None),
    (S([1, 2, 3])[1:], [2, 3]), (S(np.array([2, 3])), [2, 3]), (S(lab.constant([2, 3])), [2, 3]), (S(5), [5]),
]  # fmt: skip


@pytest.mark.parametrize(("made", "dims"), SAME)
def test_methods_that_give_a_shape(made: lab.TensorShape, dims: list[int | None] | None) -> None:
    assert isinstance(made, S)
    assert made == dims
    assert repr(made) == f"TensorShape({dims})"


def test_methods_that_answer() -> None:
    assert S([2, 3]).is_compatible_with([None, 3])
    assert not S([2, 3]).is_compatible_with(3)
    assert S([2, 3]).is_subtype_of(S([None, 3]))
    assert not S([2, None]).is_subtype_of(S([2, 3]))
    assert S([2, 3]).num_elements() == 6
    for agreed in (S([2]).assert_has_rank(1), S(None).assert_has_rank(2), S([2]).assert_same_rank([1]),
                   S([2, 3]).assert_is_compatible_with([None, 3]), S([2]).assert_is_fully_defined()):  # fmt: skip
        assert agreed is None


CONTRADICTED: list[Callable[[], object]] = [
    lambda: S([2, None]).merge_with([3, 5]), lambda: S([2, 3]).with_rank(3), lambda: S([2, 3]).with_rank_at_least(3),
    lambda: S([2, 3]).with_rank_at_most(1), lambda: S([2]).assert_has_rank(2), lambda: S([2]).assert_same_rank([1, 2]),
    lambda: S([2, None]).assert_is_fully_defined(), lambda: S([2, 3]).assert_is_compatible_with([None, 4]),
    lambda: lab.ones((2, 3)).set_shape([2, 4]), lambda: lab.ones((2, 3)).set_shape([2]),
    lambda: lab.Variable(lab.ones((2, 3))).set_shape([2, 4]),
]  # fmt: skip


@pytest.mark.parametrize("attempt", CONTRADICTED)
def test_what_contradicts_a_shape_is_a_value_error(attempt: Callable[[], object]) -> None:
    with pytest.raises(ShapeMismatch) as caught:
        attempt()
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("dims", "error"), [("ab", ConversionError), ([1.5], ConversionError), (1.5, ConversionError),
                                             ([-1], InvalidArgumentError), (object(), ConversionError)])  # fmt: skip
def test_what_is_not_a_shape_is_refused(dims: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        S(dims)  # type: ignore[arg-type]


def test_set_shape_checks_a_tensor_and_narrows_an_open_variable() -> None:
    lab.ones((2, 3)).set_shape([None, 3])
    lab.ones((2, 3)).set_shape(None)
    rows = lab.Variable(lab.ones((2, 3)), shape=[None, None])
    rows.set_shape([None, 3])
    assert rows.shape == [None, 3]
    rows.assign(lab.ones((5, 3)))
    with pytest.raises(ShapeMismatch):
        rows.assign(lab.ones((5, 4)))


def test_the_shape_of_a_scalar_becomes_a_vector_of_integers() -> None:
    for shape in (S([]), S([2, 3])):
        assert lab.constant(shape).dtype == lab.int32
        assert lab.constant(shape, lab.int64).numpy().tolist() == shape.as_list()


@pytest.mark.parametrize(("call", "words"), [
    (lambda: lab.layers.Dense(1.5), "Dense: units must be an integer, got 1.5"),
    (lambda: lab.layers.Dense((3, 4)), r"Dense: units must be an integer, got \(3, 4\)"),
    (lambda: lab.layers.LSTM(1.5), "LSTM: units must be an integer, got 1.5"),
    (lambda: lab.layers.GRU(0), "GRU: units must be at least 1, got 0"),
    (lambda: lab.layers.Conv2D(1.5, 3), "Conv2D: filters must be an integer, got 1.5"),
    (lambda: lab.layers.Conv1D(4, 3, groups=0), "Conv1D: groups must be at least 1, got 0"),
    (lambda: lab.layers.Conv2D(1, 3.5), "Conv2D: kernel_size must be integers, got 3.5"),
    (lambda: lab.layers.MaxPool2D(2.5), "MaxPool2D: pool_size must be integers, got 2.5"),
    (lambda: lab.layers.AveragePooling1D(2, strides=0), "strides must be a positive integer"),
    (lambda: lab.layers.Embedding(3.5, 2), "Embedding: input_dim must be an integer, got 3.5"),
    (lambda: lab.layers.GroupNormalization(1.5), "GroupNormalization: groups must be an integer, got 1.5"),
    (lambda: lab.math.bincount([1], maxlength=-1), "bincount: maxlength must be at least 0, got -1"),
    (lambda: lab.tensordot(lab.eye(2), lab.eye(2), axes={}), "tensordot: axes must be an integer, got {}"),
    (lambda: lab.one_hot([0], 2, axis="a"), "one_hot: axis must be an integer, got 'a'"),
    (lambda: lab.math.top_k([1.0], [1, 1]), r"top_k: k must be an integer, got \[1, 1\]"),
    (lambda: lab.reshape([1.0], 1.5), "reshape: shape must be integers, got 1.5"),
])  # fmt: skip
def test_a_refusal_of_one_integer_is_in_the_singular(call: Callable[[], object], words: str) -> None:
    with refused(InvalidArgumentError, words):
        call()


@pytest.mark.parametrize("call", [
    lambda: lab.repeat([1.0, 2.0], 2**62), lambda: lab.repeat([1.0, 2.0], [2**62, 2**62]), lambda: lab.zeros([2**62]),
    lambda: lab.math.bincount([2**62]), lambda: lab.math.bincount([1], minlength=2**62), lambda: lab.zeros(2**46),
    lambda: lab.repeat([1.0, 2.0], 10**30), lambda: lab.random.categorical([[0.0, 1.0]], 2**46),
    lambda: lab.sequence_mask([2**46]), lambda: lab.range(2**46), lambda: lab.dynamic_partition([1.0], [0], 2**46),
    lambda: lab.ragged.segment_ids_to_row_splits([2**46]), lambda: lab.sparse.bincount([2**46]),
    lambda: lab.ragged.range(2**46), lambda: lab.math.unsorted_segment_sum(lab.ragged.constant([[1]]), [0], 2**46),
])  # fmt: skip
def test_a_result_that_no_memory_holds_is_refused(call: Callable[[], object]) -> None:
    with refused(InvalidArgumentError, "do not fit into the memory of this machine"):
        call()


def test_an_index_that_is_missing_is_named_without_making_room_for_all() -> None:
    with refused(InvalidArgumentError, "dynamic_stitch: index 1 is missing"):
        lab.dynamic_stitch([[0], [2**62]], [[1.0], [2.0]])
    assert lab.dynamic_stitch([lab.constant([1, 0], lab.uint8), [1]], [[1.0, 2.0], [3.0]]).numpy().tolist() == [
        2.0,
        3.0,
    ]


def test_arrays_that_dlpack_cannot_share_are_refused() -> None:
    for array in (np.array([object()]), np.array(["2020-01-01"], "M8[D]")):
        with refused(ConversionError, "from_dlpack: the array cannot be shared"):
            lab.from_dlpack(array)


def test_the_message_of_an_assertion_may_be_any_object() -> None:
    """As with the statement `assert`, where an array is a message too."""
    with refused(InvalidArgumentError, r"y is 2\.0 .*\[1\. 1\.\]"):
        lab.debugging.assert_equal(1.0, 2.0, message=np.ones(2))  # type: ignore[arg-type]
