"""What the checks of lessons 10 and 13 rely on: reference values without the tape, recognized misconceptions."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.lessons.curvature import Polynomial
from autodiff_lab.lessons.products import explicit, pulled

SEEDS = range(12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_derivatives_of_a_polynomial_agree_with_differences(order: int) -> None:
    f = Polynomial([0.5, -1.0, 2.0, 1.5, 1.0])
    lower, at = f.derivative(order - 1) if order > 1 else f, 1.3
    assert f.derivative(order)(at) == pytest.approx((lower(at + 1e-5) - lower(at - 1e-5)) / 2e-5, rel=1e-7)


def test_a_pulled_cotangent_agrees_with_nudging_every_input() -> None:
    rng = np.random.default_rng(0)
    a, b, g = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    found = pulled(explicit(lab.matmul, {"A": a, "B": b})["B"], g)
    for place in np.ndindex(*b.shape):
        nudge = np.zeros_like(b)
        nudge[place] = 1e-6
        assert found[place] == pytest.approx((g * (a @ (b + nudge) - a @ (b - nudge))).sum() / 2e-6, abs=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lost_transpose_and_a_built_table_are_told_whatever_is_drawn(seed: int) -> None:
    def lost(a: np.ndarray, b: np.ndarray, g: np.ndarray) -> dict[str, np.ndarray]:
        return {"A": g @ b, "B": a.T @ g}

    def built(a: np.ndarray, b: np.ndarray, g: np.ndarray) -> dict[str, np.ndarray]:
        table = np.einsum("ij,lk->iljk", a, np.eye(b.shape[1]))
        return {"A": g @ b.T, "B": np.einsum("il,iljk->jk", g, table)}

    assert lessons.check_matmul_vjp(lost, seed).code == "TRANSPOSE_LOST"
    assert lessons.check_matmul_vjp(built, seed).code == "WHOLE_JACOBIAN"
    assert lessons.check_matmul_vjp(lambda a, b, g: {"A": g @ b.T, "B": a.T @ g}, seed).passed


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_and_products_are_told_whatever_is_drawn(seed: int) -> None:
    def plain(f: lessons.curvature.Function, x: lab.Tensor) -> lab.Tensor:
        return x - lab.gradient(f)(x)

    assert lessons.check_newton(plain, seed).code == "PLAIN_STEP"
    assert lessons.check_hvp(lambda f, x, v: lab.gradient(f)(x) * v, seed).code == "DIRECTION_ONLY"
    assert lessons.check_derivative(lambda f, x: lab.gradient(f)(x) ** 2, 2, seed).code == "SQUARED"
    assert lessons.check_hvp(lab.hvp, seed).passed


def test_a_fourth_derivative_is_drawn_below_the_function() -> None:
    picture = lessons.derivatives(lab.sin, -2.0, 2.0, order=4, at=1.0, name="f")
    assert picture.svg.count('class="lab-curve"') == 5
    last = picture.account.splitlines()[-1]
    told = [float(part.split("= ")[1]) for part in last.split(": ")[1].split(", ")]
    assert np.allclose(told, [np.sin(1), np.cos(1), -np.sin(1), -np.cos(1), np.sin(1)], atol=1e-3)
