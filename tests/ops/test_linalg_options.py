"""Options of linear algebra: formats, ranges of diagonals, selections, precision, and what is refused."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

L = lab.linalg
rng = np.random.default_rng(8)
ALIGNMENTS = ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"]
RANGES = [(0, 0), (-1, -1), (2, 2), (-1, 1), (0, 2), (-2, 0), (-1, 3), (1, 2), (-2, -1)]


def packed(x: np.ndarray, low: int, high: int, align: str, padding: float) -> np.ndarray:
    """The diagonals of a matrix, the highest first, by the words of TensorFlow's page."""
    diagonals = [np.diagonal(x, k, -2, -1) for k in range(high, low - 1, -1)]
    if low == high:
        return diagonals[0]
    width = max(d.shape[-1] for d in diagonals)
    above, below = align.split("_")
    rows = []
    for k, d in zip(range(high, low - 1, -1), diagonals, strict=True):
        left = (k >= 0 and above == "LEFT") or (k <= 0 and below == "LEFT")
        pad = np.full((*d.shape[:-1], width - d.shape[-1]), padding)
        rows.append(np.concatenate([d, pad] if left else [pad, d], -1))
    return np.stack(rows, -2)


@pytest.mark.parametrize("shape", [(3, 4), (4, 4), (2, 5, 4)])
@pytest.mark.parametrize("k", RANGES)
@pytest.mark.parametrize("align", ALIGNMENTS)
def test_ranges_of_diagonals(shape: tuple[int, ...], k: tuple[int, int], align: str) -> None:
    x = rng.normal(size=shape)
    asked = k if k[0] != k[1] else k[0]
    got = L.diag_part(x, k=asked, padding_value=7.0, align=align)
    np.testing.assert_array_equal(got, packed(x, *k, align, 7.0))
    rows, columns = shape[-2:]
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = (distance >= k[0]) & (distance <= k[1])
    whole = L.diag(got, k=asked, num_rows=rows, num_cols=columns, padding_value=-1.0, align=align)
    np.testing.assert_array_equal(whole, np.where(inside, x, -1.0))
    other = rng.normal(size=shape)
    np.testing.assert_array_equal(L.set_diag(other, got, k=asked, align=align), np.where(inside, x, other))


def test_gradients_through_ranges_of_diagonals() -> None:
    x, other = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4))
    for align, order in product(ALIGNMENTS, (1, 2)):

        def turned(a: Any, b: Any, align: str = align) -> Any:
            part = L.diag_part(a * a, k=(-1, 2), align=align)
            return L.set_diag(b, part * part, k=(-1, 2), align=align) + L.diag(
                part, k=(-1, 2), num_rows=3, num_cols=4, align=align
            )

        check = check_gradient(turned, x, other, order=order)
        assert check, str(check)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 1, 3), (0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool"])
def test_tensor_diagonals(shape: tuple[int, ...], dtype: str) -> None:
    x = rng.integers(0, 9, shape).astype(dtype)
    want = np.zeros((*shape, *shape), dtype)
    for at in np.ndindex(shape):
        want[at + at] = x[at]
    whole = L.tensor_diag(x)
    np.testing.assert_array_equal(whole, want)
    assert whole.dtype.name == dtype
    np.testing.assert_array_equal(L.tensor_diag_part(whole), x)


def test_gradients_of_tensor_diagonals() -> None:
    check = check_gradient(lambda x: L.tensor_diag_part(L.tensor_diag(x * x) * 3.0), rng.normal(size=(2, 3)))
    assert check, str(check)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_tridiagonal_formats(batch: tuple[int, ...], n: int, dtype: str) -> None:
    def numbers(*shape: int) -> np.ndarray:
        x = rng.normal(size=shape)
        return (x + 1j * rng.normal(size=shape) if dtype == "complex128" else x).astype(dtype)

    upper, middle, lower = numbers(*batch, n), numbers(*batch, n) + 5, numbers(*batch, n)
    whole = np.zeros((*batch, n, n), dtype)
    at = np.arange(n)
    whole[..., at, at] = middle
    whole[..., at[:-1], at[1:]] = upper[..., :-1]
    whole[..., at[1:], at[:-1]] = lower[..., 1:]
    b = numbers(*batch, n, 2)
    hidden = [np.where(at == n - 1, np.nan, upper), middle, np.where(at == 0, np.nan, lower)]
    given: dict[str, Any] = {
        "compact": np.stack(hidden, -2),
        "sequence": hidden,
        "short": [upper[..., :-1], middle, lower[..., 1:]],
        "matrix": whole,
    }
    for form, diagonals in given.items():
        kind = "sequence" if form == "short" else form
        np.testing.assert_allclose(L.tridiagonal_matmul(diagonals, b, kind), whole @ b, 1e-12, 1e-12)
        x = np.linalg.solve(whole, b)
        np.testing.assert_allclose(L.tridiagonal_solve(diagonals, b, kind), x, 1e-11, 1e-11)
        np.testing.assert_allclose(L.tridiagonal_solve(diagonals, b[..., 0], kind), x[..., 0], 1e-11, 1e-11)
        turned = np.conj(np.swapaxes(b, -1, -2))
        back = L.tridiagonal_solve(diagonals, turned, kind, transpose_rhs=True, conjugate_rhs=True)
        np.testing.assert_allclose(back, x, 1e-11, 1e-11)


def test_tridiagonal_gradients_reach_diagonals_and_right_hand_sides() -> None:
    diagonals, b = rng.normal(size=(2, 3, 4)) + np.array([[0.0], [5.0], [0.0]]), rng.normal(size=(2, 4, 2))
    for function, order in product((L.tridiagonal_solve, L.tridiagonal_matmul), (1, 2)):
        check = check_gradient(function, diagonals, b, order=order)
        assert check, str(check)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5), (3, 1), (3, 2)])
def test_a_tridiagonal_product_at_once_is_that_of_ops_one_by_one(shape: tuple[int, ...]) -> None:
    packed, b = lab.constant(rng.normal(size=shape)), lab.constant(rng.normal(size=(*shape[:-2], shape[-1], 2)))

    def run() -> list[Any]:
        with lab.GradientTape() as tape:
            tape.watch([packed, b])
            y = L.tridiagonal_matmul(packed, b)
            loss = lab.reduce_sum(y * y * y)
        return [y, *tape.gradient(loss, [packed, b])]

    quick = run()
    with lab.record():
        slow = run()
    for one, other in zip(quick, slow, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12, 1e-12)


def test_a_singular_tridiagonal_system_has_no_solution() -> None:
    assert np.isnan(L.tridiagonal_solve(np.zeros((3, 4)), np.ones(4))).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_selected_eigenvalues_of_tridiagonal_matrices(dtype: str) -> None:
    alpha, beta = rng.normal(size=6), rng.normal(size=5) + (1j * rng.normal(size=5) if dtype == "complex128" else 0)
    whole = np.diag(alpha) + np.diag(np.conj(beta), 1) + np.diag(beta, -1)
    values = np.linalg.eigvalsh(whole)
    for select, chosen in (("a", None), ("i", (1, 3)), ("v", (values[1:3].mean(), values[4:].mean()))):
        kept = {"a": slice(None), "i": slice(1, 4), "v": slice(2, 5)}[select]
        w, v = L.eigh_tridiagonal(alpha.astype(dtype), beta.astype(dtype), False, select, chosen)
        np.testing.assert_allclose(w, values[kept], 1e-10, 1e-10)
        assert w.dtype == lab.float64
        np.testing.assert_allclose(whole @ v.numpy(), v.numpy() * w.numpy(), 1e-9, 1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("stack", [(), (2,), (70,)])
@pytest.mark.parametrize("lower", [True, False])
def test_substitution_is_accurate_in_every_component(dtype: str, stack: tuple[int, ...], lower: bool) -> None:
    n = 40
    a = rng.uniform(-1, 1, (*stack, n, n)).astype(dtype)
    b = rng.uniform(-1, 1, (*stack, n, 1)).astype(dtype)
    x = L.triangular_solve(a, b, lower=lower).numpy()
    exact = np.longdouble if dtype != "complex128" else np.clongdouble
    cut = (np.tril(a) if lower else np.triu(a)).astype(exact)
    left = abs(cut @ x.astype(exact) - b)
    bound = abs(cut) @ abs(x).astype(exact)
    assert (left <= 4 * n * np.finfo(dtype).eps * bound).all()  # the bound of substitution (Higham 2002, 8.5)
    np.testing.assert_array_equal(L.triangular_solve(np.zeros((2, 2)), np.ones((2, 1)))[0], [np.inf])


def test_triangles_and_right_hand_sides_broadcast_and_nan_is_not_read_in_the_other_half() -> None:
    a = np.tril(rng.normal(size=(2, 1, 3, 3))) + 3 * np.eye(3)
    b = rng.normal(size=(4, 3, 2))
    torn = np.where(np.tril(np.ones((3, 3))) > 0, a, np.nan)
    np.testing.assert_allclose(L.triangular_solve(torn, b), np.linalg.solve(a, b), 1e-12, 1e-12)


def test_least_squares_of_wide_matrices_and_small_penalties() -> None:
    a, b = rng.uniform(-1, 1, (2, 5)), rng.uniform(-1, 1, (2, 3))
    want = np.linalg.lstsq(a, b, rcond=None)[0]
    for more in ({}, {"l2_regularizer": 1e-6}, {"fast": False}):
        np.testing.assert_allclose(L.lstsq(np.float32(a), np.float32(b), **more), want, 2e-5, 2e-5)
    np.testing.assert_allclose(L.lstsq([[1.0, 1.0], [1.0, 1.0]], [[2.0], [2.0]], fast=False), [[1], [1]], 1e-6)


def test_products_take_adjoints_and_other_result_types() -> None:
    a, b = (rng.normal(size=(2, 3, 3)) + 1j * rng.normal(size=(2, 3, 3)) for _ in range(2))
    turn: dict[str, Callable[[Any], Any]] = {
        "": lambda x: x,
        "transpose": lambda x: np.swapaxes(x, -1, -2),
        "adjoint": lambda x: np.conj(np.swapaxes(x, -1, -2)),
    }
    for first, second in product(turn, turn):
        named = {f"{name}_{side}": True for name, side in ((first, "a"), (second, "b")) if name}
        np.testing.assert_allclose(lab.matmul(a, b, **named), turn[first](a) @ turn[second](b), 1e-12)
        if not second:
            np.testing.assert_allclose(L.matvec(a, b[..., 0], **named), (turn[first](a) @ b[..., :1])[..., 0], 1e-12)
    assert lab.matmul(a, b, False, True, True, False, True, True).shape == (2, 3, 3)
    small = np.full((2, 100), 127, np.int8)
    wide = lab.matmul(small, small, transpose_b=True, output_type=lab.int32)
    assert wide.dtype == lab.int32
    assert (wide.numpy() == 127 * 127 * 100).all()
    half = lab.matmul(lab.ones((1, 5), lab.bfloat16), lab.ones((5, 1), lab.bfloat16), output_type=lab.float32)
    assert half.dtype == lab.float32


def test_identities_come_in_batches() -> None:
    np.testing.assert_array_equal(lab.eye(2, 3, [2], lab.float64, "I"), np.stack([np.eye(2, 3)] * 2))
    assert lab.eye(2, batch_shape=[]).shape == (2, 2)
    assert lab.eye(lab.constant(2), batch_shape=lab.constant([3, 1])).shape == (3, 1, 2, 2)


def test_factors_of_batches() -> None:
    a, b = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 2))
    for kind in ("int32", "int64"):
        packed_lu, order = L.lu(a, kind)
        assert order.dtype.name == kind
        np.testing.assert_allclose(L.lu_matrix_inverse(packed_lu, order, validate_args=True), np.linalg.inv(a), 1e-9)
        np.testing.assert_allclose(L.lu_solve(packed_lu, order, b[:1]), np.linalg.solve(a, b[:1]), 1e-9, 1e-9)
        np.testing.assert_allclose(L.lu_reconstruct(packed_lu, order), a, 1e-12, 1e-12)


def test_the_pseudoinverse_takes_limits_and_has_a_gradient_where_singular_values_coincide() -> None:
    a = np.stack([np.diag([1.0, 0.1]), np.diag([1.0, 0.1])])
    np.testing.assert_allclose(
        L.pinv(a, rcond=[0.5, 0.01]), np.stack([np.diag([1.0, 0.0]), np.diag([1.0, 10.0])]), atol=1e-12
    )
    for order in (1, 2):
        check = check_gradient(L.pinv, np.eye(3), order=order)
        assert check, str(check)


EQUATIONS = {
    "...ij,...jk->...ik": ((1, 3, 2, 5), (4, 1, 5, 6)),
    "...i,...->...i": ((3, 1, 4), (2, 3, 5)),
    "i...,...i->...": ((2, 1, 3), (4, 1, 2)),
    "...ij,jk->...ik": ((2, 3, 4), (4, 5)),
    "... i j, ... -> j ...": ((1, 2, 3), (5,)),
    "...ii->...i": ((2, 3, 3),),
    "iij,j->i": ((2, 2, 3), (3,)),
    "ij,kj,lk->il": ((2, 3), (4, 3), (5, 4)),
    "ij->": ((2, 3),),
    "ba": ((2, 3),),
    ",ij->ji": ((), (2, 3)),
    "Ab,bA->A": ((2, 3), (3, 2)),
    "...,...->...": ((0, 1), (1, 3)),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int32", "int8"])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_agrees_with_numpy(equation: str, dtype: str) -> None:
    inputs = [rng.integers(-2, 3, shape) for shape in EQUATIONS[equation]]
    want = np.einsum(equation.replace(" ", ""), *inputs)
    got = lab.einsum(equation, *(lab.cast(lab.constant(x), dtype) for x in inputs))
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy().astype(want.dtype if dtype != "complex64" else complex), want)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_gradients_of_einsum_agree_with_differences(equation: str) -> None:
    inputs = [rng.normal(size=shape) for shape in EQUATIONS[equation]]
    check = check_gradient(lambda *xs: lab.einsum(equation, *xs), *inputs)
    assert check, str(check)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_einsum_of_halves_adds_up_in_float32(dtype: str) -> None:
    ones = lab.ones((10_000,), dtype)
    assert abs(float(lab.cast(lab.einsum("i,i->", ones, ones), "float32")) - 10_000) <= 16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("equation", ["ii", "ii->i", "iij->j", "iji->ij", "bii->b", "iii->i", "ii,i->"])
def test_einsum_reads_diagonals_and_nothing_beside_them(equation: str, dtype: str) -> None:
    """Infinities off a diagonal neither enter the result nor the gradient, eager or compiled."""
    letters = equation.partition("->")[0].split(",")
    inputs = [rng.integers(1, 4, [2 + (c == "j") for c in s]).astype("float32") for s in letters]
    want = np.einsum(equation, *inputs)
    places = [at for at, c in zip(np.indices(inputs[0].shape), letters[0], strict=True) if c == "i"]
    beside = np.any([place != places[0] for place in places], axis=0)
    inputs[0][beside] = rng.choice([np.inf, -np.inf, np.nan], np.count_nonzero(beside))
    tensors = [lab.cast(lab.constant(x), dtype) for x in inputs]
    for function in (lab.einsum, lab.function(lab.einsum)):
        with lab.GradientTape() as tape:
            tape.watch(tensors[0])
            got = function(equation, *tensors)
        np.testing.assert_array_equal(lab.cast(lab.math.real(got), "float32"), want)
        gradient = lab.cast(lab.math.real(tape.gradient(got, tensors[0])), "float32").numpy()
        assert not np.any(gradient[beside])
        assert np.all(gradient[~beside] > 0)


COMPILED: dict[str, Callable[[Any], Any]] = {
    "set_diag": lambda x: L.set_diag(x, L.diag_part(x, k=(0, 1)), k=(0, 1)) + L.set_diag(x, x[0]),
    "diag_part": lambda x: L.diag_part(x, k=(0, 1), padding_value=3.0),
    "diag": lambda x: L.diag(x[0], padding_value=3.0),
    "lu_solve": lambda x: L.lu_solve(*L.lu(x), x) + L.lu_matrix_inverse(*L.lu(x)),
    "pinv": lambda x: L.pinv(x, rcond=1e-3) + L.pinv(x),
    "lstsq": lambda x: L.lstsq(x, x, l2_regularizer=0.1) + L.lstsq(x, x, fast=False),
    "tridiagonal": lambda x: L.tridiagonal_solve(x, x) + L.tridiagonal_matmul(x, x),
    "eigh_tridiagonal": lambda x: L.eigh_tridiagonal(x[0], x[1, :2], select="i", select_range=(0, 1)),
    "norm": lambda x: lab.norm(x, 2, axis=[0, 1]) + lab.norm(x, 1, axis=[0, 1]),
    "einsum": lambda x: lab.einsum("...ii,ij->...i", x, x),
    "tensor_diag": lambda x: L.tensor_diag_part(L.tensor_diag(x)),
    "svd": lambda x: L.svd(x[:2], full_matrices=True)[0],
    "qr": lambda x: L.qr(x[:2])[1],
    "triangular_solve": lambda x: L.triangular_solve(x, x, adjoint=True) + L.cholesky_solve(x, x),
    "moments": lambda x: lab.nn.moments(x, [0])[1] + lab.nn.l2_loss(x),
}


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_functions_agree_and_do_not_fall_back(name: str) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            value = COMPILED[name](x)
        return value, tape.gradient(value, x)

    compiled = lab.function(run)
    x = lab.constant(rng.normal(size=(3, 3)) + 3 * np.eye(3))
    for _ in range(3):
        for got, want in zip(compiled(x), run(x), strict=True):
            np.testing.assert_allclose(got, want, 1e-9, 1e-9)
    assert not compiled.fallbacks, compiled.why()


A, T = np.ones((3, 3)), np.ones((4, 3))
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: L.diag_part(A, k=3), "out of bounds for a matrix"),
    (lambda: L.diag_part(A, k=(1, 0)), "lowest, highest"),
    (lambda: L.diag_part(A, k=(0, 1), align="MIDDLE"), "align must be 'RIGHT_LEFT', "),
    (lambda: L.diag([1.0, 2.0], num_rows=4, num_cols=5), "do not fit a matrix"),
    (lambda: L.set_diag(A, [1.0]), r"have shape \(3,\), got \(1,\)"),
    (lambda: L.tensor_diag(1.0), "scalar"),
    (lambda: L.tensor_diag_part(T), r"\(\*s, \*s\)"),
    (lambda: L.tensor_diag_part(np.ones((3, 3, 3))), r"\(\*s, \*s\)"),
    (lambda: L.tridiagonal_solve(np.ones((2, 4)), np.ones(4)), r"\(\*b, 3, n\)"),
    (lambda: L.tridiagonal_matmul(A, A, "dense"), "'compact', 'sequence' or 'matrix'"),
    (lambda: L.tridiagonal_matmul(A, T), "expected right-hand sides"),
    (lambda: L.eigh_tridiagonal([1.0, 2.0], [1.0], select="x"), "'a', 'i' or 'v'"),
    (lambda: L.eigh_tridiagonal([1.0, 2.0], [1.0], select="i"), "pair"),
    (lambda: L.lu(A, "float32"), "int32 or int64"),
    (lambda: L.lu_solve(A, [0, 1], A), "perm must be integers"),
    (lambda: L.lu_solve(A, [0, 1, 2], T), "right-hand sides"),
    (lambda: lab.matmul([[True]], [[True]]), "not defined for bool"),
    (lambda: lab.matmul(A, A, transpose_a=True, adjoint_a=True), "not both"),
    (lambda: lab.tensordot(A, A, -1), "rank 2 and 2"),
    (lambda: lab.tensordot(A, A, 3), "rank 2 and 2"),
    (lambda: lab.tensordot(A, A, [1]), "two lists"),
    (lambda: lab.tensordot(A, A, [[2], [0]]), "out of bounds"),
    (lambda: lab.tensordot(A, A, [[0, 0], [0, 1]]), "duplicates"),
    (lambda: lab.einsum("ij->ii", A), "contains i twice"),
    (lambda: lab.einsum("ij->ik", A), "subscript k"),
    (lambda: lab.einsum("ij->i->j", A), "invalid subscripts"),
    (lambda: lab.einsum("i.j->ij", A), "invalid subscripts"),
    (lambda: lab.einsum("i1->i", A), "invalid subscripts"),
    (lambda: lab.einsum("......ij->ij", A), "invalid subscripts"),
    (lambda: lab.einsum("...ij,...jk->ik", A[None], A[None]), "has no '...'"),
    (lambda: lab.einsum("ij->i", [[True]]), "bool"),
    (lambda: lab.einsum("...ij->ij", [1.0]), "2 subscripts"),
    (lambda: L.svd(np.ones((2, 2), np.float16)), "float16"),
    (lambda: L.pinv(lab.constant([[1]])), "int32"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_in_words(number: int) -> None:
    call, words = REFUSED[number]
    with refused(lab.errors.InvalidArgumentError, words):
        call()


def test_substitution_is_that_of_scipy() -> None:
    own = np.random.default_rng(3)  # the condition of such a matrix varies too much to share the draws of other tests
    a, b = np.tril(own.uniform(-1, 1, (40, 40))), own.uniform(-1, 1, (40, 1))
    want = scipy.linalg.solve_triangular(a, b, lower=True)
    assert abs(L.triangular_solve(a, b).numpy() / want - 1).max() < 1e-13
