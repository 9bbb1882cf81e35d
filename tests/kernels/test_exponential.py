"""Exponentials of matrices and their Fréchet derivatives, beside SciPy's."""

import warnings

import numpy as np
import pytest
import scipy.linalg

import autodiff_lab as lab
from autodiff_lab.kernels.matmul.exponential import exponential_derivatives, exponentials
from tests.kernels.agreement import agree, declined

DTYPES = ["float32", "float64", "complex64", "complex128"]


def drawn(n: int, dtype: str, *norms: float) -> np.ndarray:
    """Draw a stack of matrices, normal ones, of these norms."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(len(norms), n, n)) + (1j * rng.normal(size=(len(norms), n, n)) if dtype[0] == "c" else 0)
    x -= np.swapaxes(np.conj(x), -1, -2)
    return (x * (np.array(norms) / np.abs(x).sum(-2).max(-1).clip(1e-30))[:, None, None]).astype(dtype)


def near(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, tolerance, tolerance * np.abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 3, 17, 70])
def test_values_and_derivatives_agree_with_scipy_whatever_the_norm(n: int, dtype: str) -> None:
    x = drawn(n, dtype, 0, 1e-9, 0.01, 0.25, 0.3, 0.9, 1.1, 1.5, 3.1, 12, 90)
    e = drawn(n, dtype, *range(1, len(x) + 1))
    wide = "complex128" if dtype[0] == "c" else "float64"
    step = float(np.finfo(dtype).eps)
    found, slopes = exponentials(x), exponential_derivatives(x, e)
    assert found.dtype == slopes.dtype == x.dtype
    for k, (a, direction) in enumerate(zip(x, e, strict=True)):
        value, slope = scipy.linalg.expm_frechet(a.astype(wide), direction.astype(wide))
        within = step * (30 + 10 * np.abs(a).sum(0).max())
        near(found[k], value, within)
        near(slopes[k], slope, within)
        near(exponentials(a), value, within)
        near(exponential_derivatives(a, direction), slope, within)


@pytest.mark.parametrize("dtype", DTYPES)
def test_edges(dtype: str) -> None:
    zero = np.zeros((2, 3, 3), dtype)
    assert np.array_equal(exponentials(zero), zero + np.eye(3))
    for shape in ((0, 3, 3), (2, 0, 0), (0, 0), (0, 1, 1)):
        empty = np.zeros(shape, dtype)
        assert exponentials(empty).shape == exponential_derivatives(empty, empty).shape == shape
    one = np.array([[2.5]], dtype)
    assert np.array_equal(exponentials(one), np.exp(one))
    assert np.array_equal(exponential_derivatives(one, 3 * one), np.exp(one) * 3 * one)
    decay = np.array([[-1e4, 0], [0, -1e4]], dtype)
    assert np.array_equal(exponentials(decay), zero[0, :2, :2])


def test_a_matrix_that_is_not_finite_spoils_no_other() -> None:
    x = drawn(3, "float64", *[1.0] * 5)
    x[1, 0, 2], x[3, 1, 1] = np.nan, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, slopes = exponentials(x), exponential_derivatives(x, np.ones_like(x))
    for made in (found, slopes):
        assert np.isfinite(made).all((1, 2)).tolist() == [True, False, True, False, True]
        assert np.isnan(made[[1, 3]]).all()


@pytest.mark.parametrize("b", [1e2, 1e4, 1e6, 1e8, 1e100, 1e200])
def test_a_large_norm_alone_costs_no_digits(b: float) -> None:
    """Of [[1, b], [0, -1]], far from normal, the exponential is known; scaled by its norm it loses half its digits."""
    if b < 1e10:
        expected = np.array([[np.e, b * np.sinh(1)], [0, 1 / np.e]])
        np.testing.assert_allclose(exponentials(np.array([[1, b], [0, -1]])), expected, 5e-13, 1e-13)
    nilpotent = np.array([[0, b, 0], [0, 0, 3], [0, 0, 0]])
    near(exponentials(nilpotent), np.eye(3) + nilpotent + nilpotent @ nilpotent / 2, 1e-15)


@pytest.mark.parametrize("what", [np.nan, np.inf, 1e4])
def test_compiled_functions_leave_to_numpy_what_loops_decline(what: float) -> None:
    pytest.importorskip("numba", reason="sequences need Numba")
    compiled = lab.function(lambda x: lab.linalg.expm(2.0 * x) + 1.0)
    x = drawn(3, "float64", *[0.5] * 20)
    for _ in range(2):
        near(compiled(lab.constant(x)).numpy(), exponentials(2 * x) + 1, 1e-14)
    x[4, 0, 1] = what
    np.testing.assert_allclose(compiled(lab.constant(x)).numpy(), exponentials(2 * x) + 1, 1e-12, 1e-12)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_agree_with_numpy_in_every_layout(dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    near = 2e-5 if dtype == "float32" else 1e-13
    for n in (1, 2, 3, 5, 6, 20):
        for norms in ((1.0,), (0.1, 3.0), np.linspace(0, 9, 37)):
            x, e = drawn(n, dtype, *norms) + 0, drawn(n, dtype, *norms) + np.eye(n, dtype=dtype)
            for left in (x, x.swapaxes(-1, -2), x[..., ::-1, ::-1], x[0]):
                agree("exponentials", left, tolerance=near)
            for right in (e, e.swapaxes(-1, -2), e[..., ::-1]):
                agree("exponential_derivatives", x, right, tolerance=near)
    assert declined("exponentials", np.full((3, 2, 2), np.nan))
    assert declined("exponential_derivatives", x, e[0])
