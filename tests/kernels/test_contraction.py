"""Contractions: NumPy's values whether they become a matrix product or not, with nan, infinities and derivatives."""

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.matmul import contraction

EQUATIONS = [
    "ij,jk->ik", "ij,jk->ki", "ji,jk->ik", "ij,kj->ki", "ijk,kl->ijl", "ijk,jkl->il", "ijk,jkl->li", "bij,bjk->bik",
    "bij,bjk->ikb", "ibj,kjb->bki", "ij,j->i", "i,ij->j", "ij,ij->", "bi,bi->b", "i,j->ij", "ij,jk->i", "ijab,abk->jik",
]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 3, 26])
@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.float16, np.int32])
def test_values_are_those_of_einsum(equation: str, size: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    left, output = equation.split("->")
    sizes = {c: size + n for n, c in enumerate(sorted(set(left) - {","}))} if size else dict.fromkeys(left, 0)
    inputs = tuple(left.split(","))
    xs = [rng.integers(-3, 4, [sizes[c] for c in s]).astype(dtype) for s in inputs]
    want = np.einsum(equation, *xs)
    got = contraction.contract(*xs, inputs=inputs, output=output)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)  # integers: exact in any order, below 2048 even in float16


@pytest.mark.parametrize("lead", [((), (5,)), ((5,), ()), ((5,), (5,)), ((2, 1), (5,)), ((2, 1), (1, 5))])
def test_stacks_broadcast(lead: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(*lead[0], 4, 30, 31)), rng.normal(size=(*lead[1], 4, 31, 20))
    got = contraction.contract(x, y, inputs=("bij", "bjk"), output="kbi")
    np.testing.assert_allclose(got, np.einsum("...bij,...bjk->...kbi", x, y), atol=1e-12)


def test_large_products_go_to_the_matrix_kernel_and_small_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ...]] = []

    def multiply(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        assert np.shares_memory(x, left)  # a view: nothing was copied
        seen.append(x.shape)
        return x @ y

    monkeypatch.setattr(contraction, "matmul", multiply)
    for n in (4, 16, 100):
        left, right = np.ones((n, n)), np.ones((n, n))
        contraction.contract(left, right, inputs=("ji", "jk"), output="ki")
    assert seen == [(16, 16), (100, 100)]


def test_nan_and_infinity_travel() -> None:
    x, y = np.ones((40, 40)), np.ones((40, 40))
    x[3, 4], x[5, 6], y[6, 7] = np.nan, np.inf, 0.0
    with np.errstate(invalid="ignore"):
        got = contraction.contract(x, y, inputs=("ij", "jk"), output="ik")
        np.testing.assert_array_equal(got, x @ y)


@pytest.mark.parametrize("equation", ["ij,jk->ik", "bij,bkj->bki", "ijk,kj->i"])
def test_derivatives_agree_with_differences_at_sizes_that_become_products(equation: str) -> None:
    rng = np.random.default_rng(0)
    left = equation.split("->", maxsplit=1)[0].split(",")
    sizes = {"b": 3, "i": 30, "j": 31, "k": 32}
    x, y = (lab.Variable(rng.normal(size=[sizes[c] for c in s])) for s in left)
    direction = rng.normal(size=x.shape)
    with lab.GradientTape() as tape:
        value = lab.reduce_sum(lab.sin(lab.einsum(equation, x, y)))
    derivative = float((tape.gradient(value, x).numpy() * direction).sum())

    def at(step: float) -> float:
        return float(np.sin(np.einsum(equation, x.numpy() + step * direction, y.numpy())).sum())

    assert abs((at(1e-5) - at(-1e-5)) / 2e-5 - derivative) < 1e-5 * max(1.0, abs(derivative))
