"""The gradient of the Cholesky factorization, block by block, agrees with the formula, and has a derivative itself."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.matmul import cholesky
from tests.compile.agreement import compiled

SIZES = [1, 63, 64, 65, 128, 200, cholesky.BLOCKED]


def drawn(n: int, *stack: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((*stack, n, n)) / n**0.5
    factor = np.linalg.cholesky(x @ np.swapaxes(x, -1, -2) + np.eye(n))
    return factor.astype(dtype), rng.standard_normal((*stack, n, n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_blocks_give_what_the_formula_gives(n: int, dtype: str) -> None:
    factor, g = drawn(n, dtype=dtype)
    wanted, found = cholesky._whole(factor, np.tril(g)), cholesky._by_blocks(factor, g)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, atol=(2e-6 if dtype == "float32" else 1e-14) * np.abs(wanted).max())
    np.testing.assert_array_equal(found, found.T)


def test_only_the_lower_triangles_are_read() -> None:
    n = cholesky.BLOCKED + 8
    factor, g = drawn(n)
    clean = cholesky.cholesky_gradient(factor, np.tril(g))
    dirty = factor + np.triu(np.full((n, n), np.nan), 1)
    np.testing.assert_array_equal(cholesky.cholesky_gradient(dirty, g), clean)


def test_stacks_are_taken_matrix_by_matrix() -> None:
    factor, g = drawn(cholesky.BLOCKED + 8, 2, 1)
    found = cholesky.cholesky_gradient(factor, g)
    for at in np.ndindex(2, 1):
        np.testing.assert_array_equal(found[at], cholesky.cholesky_gradient(factor[at], g[at]))
    assert cholesky.cholesky_gradient(np.zeros((0, 300, 300)), np.zeros((0, 300, 300))).shape == (0, 300, 300)


def likelihood(x: Any, y: Any) -> Any:
    lower = lab.linalg.cholesky(x)
    scaled = lab.linalg.triangular_solve(lower, y)
    return lab.reduce_sum(scaled * scaled) + 2 * lab.reduce_sum(lab.math.log(lab.linalg.diag_part(lower)))


def test_large_matrices_have_first_and_second_derivatives() -> None:
    """Of yᵀ A⁻¹ y + ln det A the gradient is A⁻¹ - u uᵀ with u = A⁻¹ y; times V its derivative is known too."""
    n = cholesky.BLOCKED + 8
    factor, given = drawn(n)
    a, y, v = factor @ factor.T, given[:, :1], given + given.T
    x = lab.constant(a)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            value = likelihood(x, lab.constant(y))
        gradient = inner.gradient(value, x)
        along = lab.reduce_sum(gradient * v)
    inverse = np.linalg.inv(a)
    u = inverse @ y
    np.testing.assert_allclose(gradient.numpy(), inverse - u @ u.T, atol=1e-9 * np.abs(inverse).max())
    turned = inverse @ v
    wanted = -turned @ inverse + turned @ u @ u.T + (turned @ u @ u.T).T
    np.testing.assert_allclose(outer.gradient(along, x).numpy(), wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("n", [cholesky.BLOCKED - 1, cholesky.BLOCKED])
def test_compiled_programs_agree(n: int) -> None:
    factor, given = drawn(n)

    def run(x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            value = likelihood(x, y)
        return value, tape.gradient(value, [x, y])

    made = compiled(run, lab.constant(factor @ factor.T), lab.constant(given[:, :2]), tolerance=1e-10)
    assert ("cholesky_grad" in made.source) == (n >= cholesky.BLOCKED)


def test_complex_matrices_and_stacks_of_cotangents_keep_to_the_formula() -> None:
    n = cholesky.BLOCKED
    factor, _ = drawn(n)
    x = lab.constant((factor @ factor.T).astype("complex128"))
    with lab.GradientTape() as tape:
        tape.watch(x)
        value = lab.reduce_sum(lab.math.real(lab.linalg.diag_part(lab.linalg.cholesky(x))))
    real = cholesky.cholesky_gradient(factor, np.eye(n))
    np.testing.assert_allclose(tape.gradient(value, x).numpy(), real, atol=1e-12)
    x = lab.constant(factor @ factor.T)
    with lab.GradientTape() as tape:
        tape.watch(x)
        corner = lab.linalg.cholesky(x)[-1, -2:]
    found = tape.jacobian(corner, x).numpy()
    for k, row in enumerate(found):
        g = np.zeros((n, n))
        g[-1, k - 2] = 1
        np.testing.assert_allclose(row, cholesky.cholesky_gradient(factor, g), atol=1e-12)
