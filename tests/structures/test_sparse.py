"""Sparse tensors do what the same dense tensors do, and gradients reach the values that are there."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -3.0, 4.0], [5.0, 0.0, 0.0]])
PLACES = np.argwhere(DENSE)
VALUES = DENSE[DENSE != 0]
matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=1, max_size=4)
)


def sparse(values: Any = VALUES) -> lab.SparseTensor:
    return lab.SparseTensor(PLACES, values, DENSE.shape)


def row(places: list[int]) -> lab.SparseTensor:
    return lab.SparseTensor([[place] for place in places], [1] * len(places), [3])


def dense(x: Any) -> np.ndarray:
    return lab.sparse.to_dense(x).numpy()


def test_it_says_what_it_holds() -> None:
    x = lab.SparseTensor(indices=[[0, 0], [1, 1]], values=[1, 2], dense_shape=[3, 3])
    assert (x.indices.dtype, x.values.dtype, x.dense_shape.dtype) == (lab.int64, lab.int32, lab.int64)
    assert (x.shape, x.rank, x.ndim, x.dtype) == ((3, 3), 2, 2, lab.int32)
    assert " ".join(str(x).split()) == (
        "SparseTensor(indices=Tensor([[0 0] [1 1]], shape=(2, 2), dtype=int64), "
        "values=Tensor([1 2], shape=(2,), dtype=int32), dense_shape=Tensor([3 3], shape=(2,), dtype=int64))"
    )
    assert lab.SparseTensor.from_value(x) is x


@given(rows=matrices)
@settings(max_examples=60, deadline=None)
def test_from_dense_and_to_dense_are_inverse(rows: list[list[int]]) -> None:
    x = lab.sparse.from_dense(rows)
    assert dense(x).tolist() == rows
    assert x.values.numpy().all()


@given(rows=matrices)
@settings(max_examples=60, deadline=None)
def test_rearranging_agrees_with_numpy(rows: list[list[int]]) -> None:
    array, x = np.array(rows, np.int32), lab.sparse.from_dense(rows)
    np.testing.assert_array_equal(dense(lab.sparse.transpose(x)), array.T)
    np.testing.assert_array_equal(dense(lab.sparse.reshape(x, [-1])), array.ravel())
    np.testing.assert_array_equal(dense(lab.sparse.expand_dims(x, 1)), array[:, None])
    np.testing.assert_array_equal(dense(lab.sparse.slice(x, [0, 1], [2, 5])), array[0:2, 1:6])
    np.testing.assert_array_equal(dense(lab.sparse.concat(1, [x, x])), np.concatenate([array, array], axis=1))
    for part, expected in zip(lab.sparse.split(x, 2, axis=1), np.array_split(array, 2, axis=1), strict=True):
        np.testing.assert_array_equal(dense(part), expected)
    np.testing.assert_array_equal(dense(lab.sparse.add(x, x)), array + array)
    np.testing.assert_array_equal(lab.sparse.add(x, lab.ones(array.shape, lab.int32)), array + 1)
    np.testing.assert_array_equal(dense(lab.sparse.maximum(x, lab.sparse.from_dense(-array))), np.abs(array))
    np.testing.assert_array_equal(dense(lab.sparse.minimum(x, lab.sparse.from_dense(-array))), -np.abs(array))
    for axis in (None, 0, 1, -1):
        np.testing.assert_array_equal(lab.sparse.reduce_sum(x, axis), array.sum(axis))
        np.testing.assert_array_equal(lab.sparse.reduce_sum(x, axis, keepdims=True), array.sum(axis, keepdims=True))
        if axis is not None:
            np.testing.assert_array_equal(dense(lab.sparse.reduce_sum(x, axis, output_is_sparse=True)), array.sum(axis))


def test_reduce_max_looks_at_the_values_that_are_there() -> None:
    x = lab.SparseTensor([[0, 0], [0, 1], [2, 1]], [-1.0, -2.0, 3.0], [3, 2])
    assert lab.sparse.reduce_max(x, axis=1).numpy().tolist() == [-1.0, 0.0, 3.0]
    assert float(lab.reduce_max(x)) == 3.0


def test_operators_keep_the_zeros() -> None:
    x = sparse()
    factor = np.arange(12.0).reshape(4, 3) + 1
    np.testing.assert_allclose(dense(x * factor), DENSE * factor)
    np.testing.assert_allclose(dense(lab.constant(factor) * x), DENSE * factor)
    np.testing.assert_allclose(dense(x * [1.0, 2.0, 3.0]), DENSE * [1.0, 2.0, 3.0])
    np.testing.assert_allclose(dense(x / 2.0), DENSE / 2)
    np.testing.assert_allclose(dense(-abs(x)), -np.abs(DENSE))
    np.testing.assert_allclose(dense(lab.sin(x)), np.sin(DENSE))
    assert lab.cast(x, lab.int32).dtype == lab.int32
    np.testing.assert_allclose(dense(lab.sparse.map_values(lab.exp, x))[DENSE != 0], np.exp(VALUES))


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_matrix_products_agree_with_dense_ones(adjoint_a: bool, adjoint_b: bool) -> None:
    b = np.random.default_rng(1).normal(size=(4, 2) if adjoint_a else (3, 2))
    expected = (DENSE.T if adjoint_a else DENSE) @ b
    given = b.T if adjoint_b else b
    product = lab.sparse.sparse_dense_matmul(sparse(), given, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    np.testing.assert_allclose(product, expected)
    left = np.ones((2, 4))
    np.testing.assert_allclose(lab.sparse.sparse_dense_matmul(lab.constant(left), sparse()), left @ DENSE)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32", "complex64"])
def test_matrix_products_take_every_number(dtype: str) -> None:
    x = lab.cast(sparse(), dtype)
    b = lab.cast([[1], [2], [3]], dtype)
    product = lab.sparse.sparse_dense_matmul(x, b)
    assert product.dtype.name == dtype
    np.testing.assert_allclose(lab.cast(product, "complex128"), DENSE @ [[1], [2], [3]])


def _products(values: Any, b: Any) -> Any:
    x = sparse(values)
    return [lab.sparse.sparse_dense_matmul(x, b), lab.sparse.sparse_dense_matmul(lab.sin(x), x_turned(b), True)]


def x_turned(b: Any) -> Any:
    return lab.concat([b, b[:1]], axis=0) ** 2


def _rest(values: Any) -> Any:
    x = sparse(values)
    return [
        lab.sparse.softmax(x).values,
        lab.sparse.to_dense(x, default_value=2.0) ** 2,
        lab.sparse.reduce_sum(x * x, axis=1),
        lab.sparse.reduce_max(x, axis=0) ** 2,
        lab.sparse.transpose(x).values ** 3,
        lab.sparse.add(x, x * x).values,
        lab.sparse.maximum(x, -1 * x).values ** 2,
        lab.sparse.concat(0, [x, x]).values ** 2,
        lab.sparse.slice(x, [1, 0], [3, 2]).values ** 2,
    ]


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_agree_with_differences(order: int) -> None:
    b = np.random.default_rng(2).normal(size=(3, 2))
    for check in (check_gradient(_products, VALUES, b, order=order), check_gradient(_rest, VALUES / 3, order=order)):
        assert check, str(check)


def test_gradients_of_sampled_products() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 3, 3))
    product = lab.sparse.sampled_addmm([[0, 1], [2, 2]], a, b)
    np.testing.assert_allclose(product.values, (a @ b)[[0, 2], [1, 2]])
    check = check_gradient(lambda x, y: lab.sparse.sampled_addmm([[0, 1], [2, 2]], x, y).values, a, b)
    assert check, str(check)


def test_jacobians_of_products_are_those_of_dense_ones() -> None:
    values, b = lab.constant(VALUES), lab.constant(np.ones((3, 2)))
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([values, b])
        product = lab.sparse.sparse_dense_matmul(sparse(values), b)
        full = lab.scatter_nd(PLACES, values, DENSE.shape) @ b
    for source in (values, b):
        np.testing.assert_allclose(tape.jacobian(product, source), tape.jacobian(full, source))


def test_a_product_of_two_keeps_what_both_have() -> None:
    x, y = sparse(), lab.sparse.from_dense(DENSE.T.reshape(4, 3))
    np.testing.assert_allclose(dense(x * y), DENSE * DENSE.T.reshape(4, 3))
    with pytest.raises(lab.errors.ShapeMismatch, match="differ"):
        lab.multiply(x, lab.sparse.eye(2))


def test_refusals_of_structures_have_no_history() -> None:
    with pytest.raises(lab.errors.ConversionError) as caught:
        lab.cos(sparse())
    assert caught.value.__suppress_context__


def test_softmax_leaves_out_what_is_not_there() -> None:
    soft = lab.sparse.softmax(sparse())
    weights = np.where(DENSE != 0, np.exp(DENSE), 0)
    np.testing.assert_allclose(dense(soft)[[0, 2, 3]], (weights / weights.sum(1, keepdims=True).clip(1e-9))[[0, 2, 3]])


def test_a_sparse_source_has_a_sparse_gradient() -> None:
    x = sparse()
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = lab.reduce_sum(lab.sparse.to_dense(x * x))
        unrelated = lab.constant(1.0) * 2.0
    gradient = tape.gradient(y, x)
    assert isinstance(gradient, lab.SparseTensor)
    np.testing.assert_allclose(dense(gradient), 2 * DENSE)
    assert tape.gradient(unrelated, x) is None


def test_small_ones() -> None:
    assert dense(lab.sparse.eye(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert dense(lab.SparseTensor(np.zeros((0, 2), int), [], [2, 2])).tolist() == [[0, 0], [0, 0]]
    kept = lab.sparse.retain(sparse(), VALUES > 1.5)
    np.testing.assert_allclose(dense(kept), np.where(DENSE > 1.5, DENSE, 0))
    assert lab.sparse.reset_shape(kept, [9, 9]).shape == (9, 9)
    assert dense(lab.SparseTensor([[1]], ["a"], [2])).tolist() == [b"", b"a"]
    few = lab.sparse.add(sparse(), sparse(), threshold=5.0)
    np.testing.assert_allclose(dense(few), np.where(np.abs(2 * DENSE) >= 5, 2 * DENSE, 0))
    mixed = lab.SparseTensor([[2], [0]], [1, 2], [3])
    assert lab.sparse.reorder(mixed).indices.numpy().tolist() == [[0], [2]]
    assert lab.sparse.to_dense(mixed, validate_indices=False).numpy().tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: lab.SparseTensor([[0, 3]], [1.0], [2, 2]), lab.errors.InvalidArgumentError, "outside the shape"),
        (lambda x: lab.SparseTensor([[0, 1]], [1.0, 2.0], [2, 2]), lab.errors.ShapeMismatch, r"values \(2,\)"),
        (lambda x: lab.SparseTensor([[0.5]], [1.0], [2]), lab.errors.InvalidArgumentError, "whole numbers"),
        (lambda x: lab.SparseTensor([[0]], [1.0], [-1]), lab.errors.InvalidArgumentError, "negative"),
        (lambda x: lab.sparse.to_dense(row([1, 0])), lab.errors.InvalidArgumentError, "out of order"),
        (lambda x: lab.sparse.to_dense(row([1, 1])), lab.errors.InvalidArgumentError, "repeated"),
        (lambda x: lab.sparse.to_dense(1.0), lab.errors.InvalidArgumentError, "SparseTensor is needed"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, [[1.0]]), lab.errors.ShapeMismatch, "inner sizes"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, [1.0, 2.0, 3.0]), lab.errors.ShapeMismatch, "two matrices"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, lab.ones((3, 1))), lab.errors.DtypeMismatch, "float64"),
        (lambda x: lab.sparse.add(x, lab.sparse.eye(2)), lab.errors.ShapeMismatch, "differ"),
        (lambda x: lab.sparse.add(1.0, 2.0), lab.errors.InvalidArgumentError, "lab.add"),
        (lambda x: lab.sparse.reduce_sum(x, axis=5), lab.errors.InvalidArgumentError, "out of bounds"),
        (lambda x: lab.sparse.transpose(x, [0, 0]), lab.errors.InvalidArgumentError, "each of the 2 axes"),
        (lambda x: lab.sparse.reshape(x, [7]), lab.errors.ShapeMismatch, "do not fit"),
        (lambda x: lab.sparse.retain(x, [True]), lab.errors.ShapeMismatch, "each of the 5 values"),
        (lambda x: lab.sparse.map_values(lab.add, x, lab.sparse.eye(4, 3)), lab.errors.ShapeMismatch, "coordinates"),
        (lambda x: lab.sparse.concat(0, [x, lab.sparse.eye(2)]), lab.errors.ShapeMismatch, "outside axis 0"),
        (lab.cos, lab.errors.ConversionError, "would not stay zero"),
        (lambda x: x + 1.0, lab.errors.ConversionError, "lab.sparse.add"),
        (lambda x: 1.0 / x, lab.errors.ConversionError, "would not stay zero"),
        (lambda x: lab.matmul(x, x), lab.errors.NotOneTensor, "to_dense"),
        (np.asarray, lab.errors.NotOneTensor, "to_dense"),
        (lab.reduce_mean, lab.errors.NotOneTensor, "to_dense"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(sparse())
