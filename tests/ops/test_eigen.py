"""Eigenvalues and eigenvectors of matrices that are not symmetric, complex ones included."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

A = np.array([[0.3, -1.2, 0.5], [0.9, 0.4, -0.7], [-0.2, 0.8, 1.5]])


def squares(z: Any) -> Any:
    """Return the squared sizes, which do not depend on the phase of a vector."""
    return lab.square(lab.math.real(z)) + lab.square(lab.math.imag(z))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sizes of eigenvalues": lambda x: squares(lab.eigvals(x)),
    "parts of eigenvalues": lambda x: [lab.math.real(lab.eigvals(x)), lab.math.imag(lab.eigvals(x)) * 0.3],
    "sizes of the elements of eigenvectors": lambda x: squares(lab.eig(x)[1]),
}


def test_the_matrix_here_has_complex_eigenvalues() -> None:
    assert np.abs(lab.eigvals(A).numpy().imag).max() > 0.5


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_agree_with_differences(name: str, order: int) -> None:
    assert check_gradient(FUNCTIONS[name], A, order=order)


def test_the_pairs_are_eigenpairs_of_length_1() -> None:
    for x in (A, A + 0.3j * A.T, np.stack([A, 2 * A])):
        w, v = (tensor.numpy() for tensor in lab.eig(x))
        np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1)


def test_the_gradient_by_a_complex_matrix_agrees_with_differences() -> None:
    def function(real: Any, imaginary: Any) -> Any:
        z = lab.complex(real, imaginary)
        return [squares(lab.eigvals(z)), squares(lab.eig(z)[1])]

    assert check_gradient(function, A, 0.4 * A.T)


def test_the_sum_of_coinciding_eigenvalues_has_the_slope_of_the_trace() -> None:
    x = lab.constant(2 * np.eye(3))
    with lab.GradientTape() as tape:
        tape.watch(x)
        total = lab.reduce_sum(lab.math.real(lab.eigvals(x)))
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), np.eye(3), atol=1e-12)


def test_nan_goes_in_and_nan_comes_out() -> None:
    w, v = lab.eig([[np.nan, 1.0], [0.0, 1.0]])
    assert np.isnan(w.numpy()).all()
    assert np.isnan(v.numpy()).all()


def test_what_is_no_square_matrix_of_numbers_is_refused() -> None:
    with refused(lab.errors.ShapeMismatch, "eig"):
        lab.eig([[1.0, 2.0]])
    with refused(lab.errors.DtypeMismatch, "eig"):
        lab.eig([[1, 2], [3, 4]])
