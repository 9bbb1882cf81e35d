"""Sparse tensors agree with dense tensors, and gradients reach the stored values."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

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
    parts = min(2, array.shape[1])
    for part, expected in zip(lab.sparse.split(x, parts, axis=1), np.array_split(array, parts, axis=1), strict=True):
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


def test_sampled_products_are_scaled_and_added() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 3, 3))
    places, there = [[0, 1], [2, 2]], lab.constant([1.0, -2.0], lab.float64)

    def program(x: Any, y: Any, old: Any) -> Any:
        return lab.sparse.sampled_addmm(places, old, [3, 3], x, y, beta=0.5, alpha=2.0, output_type=lab.float64)[1]

    np.testing.assert_allclose(program(a, b, there), 2 * (a @ b)[[0, 2], [1, 2]] + [0.5, -1.0])
    check = check_gradient(program, a, b, there)
    assert check, str(check)
    batch = lab.sparse.sampled_addmm(
        [places, places], lab.zeros((2, 2)), [3, 3], np.float32([a, b]), np.float32([b, a])
    )
    np.testing.assert_allclose(batch[1][1], (b @ a)[[0, 2], [1, 2]], rtol=1e-5)
    with refused(lab.errors.ShapeMismatch, "sampled_addmm"):
        lab.sparse.sampled_addmm([0, 1], [1.0], [3, 3], a, b)


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
    assert caught.value.__context__ is None or caught.value.__suppress_context__


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
        (lambda x: lab.SparseTensor([[0.5]], [1.0], [2]), lab.errors.InvalidArgumentError, "indices must be integers"),
        (lambda x: lab.SparseTensor([[0]], [1.0], [-1]), lab.errors.InvalidArgumentError, "negative"),
        (lambda x: lab.sparse.to_dense(row([1, 0])), lab.errors.InvalidArgumentError, "out of order"),
        (lambda x: lab.sparse.to_dense(row([1, 1])), lab.errors.InvalidArgumentError, "repeated"),
        (lambda x: lab.sparse.to_dense(1.0), lab.errors.InvalidArgumentError, "expected a SparseTensor"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, [[1.0]]), lab.errors.ShapeMismatch, "inner sizes"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, [1.0, 2.0, 3.0]), lab.errors.ShapeMismatch, "two matrices"),
        (lambda x: lab.sparse.sparse_dense_matmul(x, lab.ones((3, 1))), lab.errors.DtypeMismatch, "float64"),
        (lambda x: lab.sparse.add(x, lab.sparse.eye(2)), lab.errors.ShapeMismatch, "differ"),
        (lambda x: lab.sparse.add(1.0, 2.0), lab.errors.InvalidArgumentError, "lab.add"),
        (lambda x: lab.sparse.reduce_sum(x, axis=5), lab.errors.InvalidArgumentError, "out of bounds"),
        (lambda x: lab.sparse.transpose(x, [0, 0]), lab.errors.InvalidArgumentError, "permutation of the 2 axes"),
        (lambda x: lab.sparse.reshape(x, [7]), lab.errors.ShapeMismatch, "cannot reshape"),
        (lambda x: lab.sparse.retain(x, [True]), lab.errors.ShapeMismatch, "each of the 5 values"),
        (lambda x: lab.sparse.map_values(lab.add, x, lab.sparse.eye(4, 3)), lab.errors.ShapeMismatch, "coordinates"),
        (lambda x: lab.sparse.concat(0, [x, lab.sparse.eye(2)]), lab.errors.ShapeMismatch, "outside axis 0"),
        (lab.cos, lab.errors.ConversionError, "zeros do not stay zero"),
        (lambda x: x + 1.0, lab.errors.ConversionError, "lab.sparse.add"),
        (lambda x: 1.0 / x, lab.errors.ConversionError, "zeros do not stay zero"),
        (lambda x: lab.matmul(x, x), lab.errors.NotOneTensor, "to_dense"),
        (np.asarray, lab.errors.NotOneTensor, "to_dense"),
        (lab.reduce_mean, lab.errors.NotOneTensor, "to_dense"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call(sparse())


def test_a_sparse_tensor_tells_its_shape_and_keeps_its_places() -> None:
    x = lab.SparseTensor([[0, 1], [2, 0]], [1.0, -5.0], [3, 4])
    assert (lab.shape(x).numpy().tolist(), int(lab.size(x)), int(lab.rank(x))) == ([3, 4], 12, 2)
    assert lab.ones_like(x).values.numpy().tolist() == [1.0, 1.0]
    assert x.consumers() == []
    x.set_shape([None, 4])
    with pytest.raises(lab.errors.ShapeMismatch, match="compatible"):
        x.set_shape([None, 5])


def test_sparse_reductions_keep_zeros_that_are_there_and_give_single_numbers() -> None:
    x = lab.SparseTensor([[0, 0], [0, 1], [2, 1]], [1.0, -1.0, 3.0], [3, 2])
    by_row = lab.sparse.reduce_sum(x, axis=1, output_is_sparse=True)
    assert (by_row.indices.numpy().tolist(), by_row.values.numpy().tolist()) == ([[0], [2]], [0.0, 3.0])
    kept = lab.sparse.reduce_max(x, axis=0, keepdims=True, output_is_sparse=True)
    assert (kept.indices.numpy().tolist(), kept.shape) == ([[0, 0], [0, 1]], (1, 2))
    whole = lab.sparse.reduce_sum(x, output_is_sparse=True)
    assert (whole.shape, whole.values.numpy().tolist(), float(lab.sparse.to_dense(whole))) == ((), [3.0], 3.0)


def test_a_threshold_drops_small_sums_and_no_lone_value() -> None:
    x, y = lab.SparseTensor([[0], [1]], [0.25, 1.0], [3]), lab.SparseTensor([[1], [2]], [-0.75, 0.25], [3])
    found = lab.sparse.add(x, y, threshold=0.5)
    assert (found.indices.numpy().tolist(), found.values.numpy().tolist()) == ([[0], [2]], [0.25, 0.25])


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_products_of_complex_matrices_and_their_gradients(adjoint_a: bool, adjoint_b: bool) -> None:
    values, b = np.array([1 + 2j, 3 - 1j]), np.array([[1 + 1j, 2], [3j, 4 - 1j]])
    dense = np.zeros((2, 2), complex)
    dense[0, 1], dense[1, 0] = values
    left, right = (m.conj().T if turned else m for m, turned in ((dense, adjoint_a), (b, adjoint_b)))

    def program(v: Any, m: Any) -> Any:
        return lab.sparse.sparse_dense_matmul(lab.SparseTensor([[0, 1], [1, 0]], v, [2, 2]), m, adjoint_a, adjoint_b)

    np.testing.assert_allclose(program(lab.constant(values), lab.constant(b)), left @ right)
    check = check_gradient(program, values, b)
    assert check, str(check)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_products_of_matrices_without_elements(shape: tuple[int, int]) -> None:
    x = lab.SparseTensor([], [], shape)
    assert lab.sparse.sparse_dense_matmul(x, lab.ones((shape[1], 2))).numpy().tolist() == [[0.0, 0.0]] * shape[0]
    ones = lab.ones((shape[0], 2))
    assert lab.sparse.sparse_dense_matmul(x, ones, adjoint_a=True).numpy().tolist() == [[0.0, 0.0]] * shape[1]


def test_long_half_precision_rows_add_up() -> None:
    n = 4000
    x = lab.SparseTensor([[0, k] for k in range(n)], lab.ones((n,), lab.bfloat16), [1, n])
    assert float(lab.sparse.sparse_dense_matmul(x, lab.ones((n, 1), lab.bfloat16))[0, 0]) == float(
        lab.cast(4000.0, lab.bfloat16)
    )


X = lab.SparseTensor([[0, 1]], [1.0], [2, 3])


@pytest.mark.parametrize("call", [
    lambda: lab.sparse.reshape(X, [-1, -1]), lambda: lab.sparse.reshape(X, [-2, 3]),
    lambda: lab.sparse.split(X, 0, 0), lambda: lab.sparse.split(X, 3, 0), lambda: lab.sparse.split(X, 2, 7),
    lambda: lab.sparse.concat(2, [X, X]), lambda: lab.sparse.concat(0, []), lambda: lab.sparse.concat(
        0, [X, lab.sparse.reshape(X, [6])]),
    lambda: lab.sparse.slice(X, [0], [1]), lambda: lab.sparse.slice(X, [-1, 0], [1, 1]),
    lambda: lab.sparse.reset_shape(X, [1, 3]), lambda: lab.sparse.reset_shape(X, [6]),
    lambda: lab.sparse.expand_dims(X, 5), lambda: lab.sparse.transpose(X, [0, 0]),
    lambda: lab.sparse.add(X, X, threshold=[1.0]), lambda: lab.sparse.maximum(X * 1j, X * 1j),
    lambda: lab.sparse.to_dense(X, default_value=[1.0, 2.0]), lambda: lab.sparse.reduce_sum(X, axis=2),
    lambda: lab.sparse.retain(X, [True, False]), lambda: lab.sparse.softmax(lab.sparse.reshape(X, [6])),
])  # fmt: skip
def test_arguments_without_a_meaning_are_refused_in_our_words(call: Any) -> None:
    with pytest.raises(lab.errors.LabError):
        call()
