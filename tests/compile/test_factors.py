"""QR factors in compiled code: those of LAPACK, in sequences and in loops."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

pytest.importorskip("numba", reason="factors are compiled where Numba is installed")
RNG = np.random.default_rng(8)
TALL = [(5, 2), (12, 4), (8, 8), (1, 1), (4, 1), (32, 32), (3, 6, 3), (2, 3, 5, 5)]


def compiled(function: Any, *given: Any) -> Any:
    made = lab.function(function)
    assert made.compile(*given), made.why()
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", TALL)
def test_factors_and_gradients_are_those_of_lapack(shape: tuple[int, ...], dtype: str) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            q, r = lab.linalg.qr(lab.sin(x) * 2.0)
            value = lab.reduce_sum(lab.sin(q) * 0.3) + lab.reduce_sum(lab.tanh(r) * 0.5)
        return q, r, tape.gradient(value, x)

    x = lab.constant(RNG.normal(size=shape).astype(dtype))
    made = compiled(run, x)
    steps = made.source.rpartition("def program")[2]
    assert "qr_(" not in steps
    assert "qr_packed_(" not in steps
    tolerance = 2e-4 if dtype == "float32" else 1e-10
    for found, wanted in zip(made(x), run(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("bad", [0.0, -0.0, 1e-200, 1e-160, 1e200, np.inf, np.nan])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (slice(1, None), 0), (slice(2, None), 1), slice(None)])
def test_odd_numbers_give_what_lapack_gives(place: Any, bad: float) -> None:
    x = RNG.normal(size=(6, 3))
    x[place] = bad
    made = compiled(lambda x: [factor * 1.0 for factor in lab.linalg.qr(x * 1.0)], lab.constant(x))
    for found, wanted in zip(made(lab.constant(x)), lab.linalg.qr(lab.constant(x)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("shape", "full"), [((2, 5), False), ((5, 2), True), ((40, 36), False), ((60, 32), False)])
def test_other_matrices_are_left_to_lapack(shape: tuple[int, int], full: bool) -> None:
    x = lab.constant(RNG.normal(size=shape))
    made = compiled(lambda x: [factor + 1.0 for factor in lab.linalg.qr(x * 1.0, full)], x)
    assert "qr_(" in made.source.rpartition("def program")[2]
    for found, wanted in zip(made(x), lab.linalg.qr(x, full), strict=True):
        np.testing.assert_allclose(found, wanted + 1.0, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [5, 24])
def test_tangents_that_are_made_orthonormal_again_run_as_a_loop(size: int) -> None:
    """With 24 coordinates the Jacobian of each turn is kept as its diagonals until it is multiplied."""

    def run(x: Any, basis: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            now, total = x, lab.zeros([2], lab.float64)
            for _ in range(9):
                with lab.GradientTape() as inner:
                    inner.watch(now)
                    new = now + 0.05 * ((lab.roll(now, -1, 0) - lab.roll(now, 2, 0)) * lab.roll(now, 1, 0) - now)
                basis, r = lab.linalg.qr(inner.jacobian(new, now) @ basis)
                total += lab.math.log(lab.abs(lab.linalg.diag_part(r)))
                now = new
            value = lab.reduce_sum(lab.nn.softplus(total))
        return total, basis, tape.gradient(value, x)

    given = lab.constant(RNG.normal(size=size)), lab.linalg.qr(lab.constant(RNG.normal(size=(size, 2))))[0]
    made = compiled(run, *given)
    assert "run as loops" in made.why(), made.why()
    for found, wanted in zip(made(*given), run(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
