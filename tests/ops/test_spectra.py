"""Eigenvalues and singular values also have derivatives where two of them coincide, or one is 0."""

from typing import Any

import numpy as np

import autodiff_lab as lab


def slope(function: Any, x: np.ndarray) -> np.ndarray:
    tensor = lab.constant(x)
    with lab.GradientTape() as tape:
        tape.watch(tensor)
        value = function(tensor)
    return tape.gradient(value, tensor).numpy()


def test_the_sum_of_equal_eigenvalues_has_the_slope_of_the_trace() -> None:
    found = slope(lambda x: lab.reduce_sum(lab.linalg.eigvalsh(x)), 2 * np.eye(3))
    np.testing.assert_allclose(found, np.eye(3), atol=1e-12)


def test_the_nuclear_norm_of_a_rotation_has_the_rotation_as_slope() -> None:
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    np.testing.assert_allclose(slope(lambda x: lab.reduce_sum(lab.linalg.svd(x)[0]), turn), turn, atol=1e-12)


def test_the_largest_singular_value_of_a_singular_matrix_has_a_slope() -> None:
    x = np.outer([3.0, 4.0], [1.0, 0.0])
    found = slope(lambda x: lab.linalg.svd(x)[0][0], x)
    np.testing.assert_allclose(found, np.outer([0.6, 0.8], [1.0, 0.0]), atol=1e-12)
