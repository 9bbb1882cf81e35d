"""An einsum in a compiled function becomes products and sums that loops can compute, at any order of derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

pytest.importorskip("numba", reason="loops need Numba")

EQUATIONS = (
    "ij,ijk->ik", "ik,ijk->ij", "bij,bjk->bik", "bhqk,bhsk->bhqs", "btd,dhk->bhtk", "ij->ji", "ij,jk->", "i,i->",
    "i,j->ij", "ij,j->i", "bi,ij,bj->b", "ij,kj->ki", "abc,cd->abd", "ij,ij->j", "i,ij->", "a,b,c->abc", "ijk,k->ji",
    "ij,jk,kl->il", "ij,kl->jl", "...ij,jk->...ik", "ijk,ik->j", "ij,ik->ijk", "ij,jk->ki", "ik,jk->i", "kij,k->ij",
)  # fmt: skip


def _with_derivatives(equation: str) -> Any:
    """The contraction, its gradients, and the gradients of their squares."""

    def program(*xs: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(xs)
            with lab.GradientTape() as inner:
                inner.watch(xs)
                y = lab.einsum(equation, *xs)
                value = lab.reduce_sum(lab.sin(y))
            slopes = inner.gradient(value, xs)
            total = lab.add_n([lab.reduce_sum(g * g) for g in slopes])
        return (y, *slopes, *outer.gradient(total, xs))

    return program


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_agrees_with_the_kernel(equation: str, dtype: str) -> None:
    draw = np.random.default_rng(sum(map(ord, equation)))
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    sizes = {c: int(draw.integers(1, 6)) for c in equation if c.isalpha()}
    parts = equation.split("->", maxsplit=1)[0].split(",")
    shapes = [(3,) * s.startswith("...") + tuple(sizes[c] for c in s.strip(".")) for s in parts]
    xs = [lab.constant(draw.standard_normal(shape), dtype) for shape in shapes]
    program = _with_derivatives(equation)
    compiled = lab.function(program)
    for expected, found in zip(program(*xs), (compiled(*xs), compiled(*xs))[1], strict=True):
        assert expected.dtype == found.dtype
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)
    assert compiled.fallbacks == 0, compiled.why()
    assert "einsum" not in compiled.source.split("def program")[-1]


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("most", [4, 13])
def test_complex_ones_agree_with_the_kernel(equation: str, most: int) -> None:
    """With axes of up to four elements, sums of products for each element; with longer ones, products and sums."""
    draw = np.random.default_rng(sum(map(ord, equation)))
    sizes = {c: int(draw.integers(1, most + 1)) for c in equation if c.isalpha()}
    parts = equation.split("->", maxsplit=1)[0].split(",")
    shapes = [(3,) * s.startswith("...") + tuple(sizes[c] for c in s.strip(".")) for s in parts]
    xs = [lab.constant(draw.standard_normal(shape) + 1j * draw.standard_normal(shape)) for shape in shapes]

    def program(*xs: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(xs)
            y = lab.einsum(equation, *xs)
            loss = lab.reduce_sum(lab.abs(y) ** 2)
        return (y, *tape.gradient(loss, list(xs)))

    compiled = lab.function(program)
    compiled.compile(*xs)
    for expected, found in zip(program(*xs), compiled(*xs), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-11, 1e-11 * np.abs(expected.numpy()).max())
    assert compiled.fallbacks == 0, compiled.why()
    assert "einsum" not in compiled.source.split("def program")[-1]


@pytest.mark.parametrize(
    ("left", "right", "left_to_numpy"),
    [
        ((2, 2), (2, 2), False), ((2, 2), (2, 300), False), ((5, 3, 3), (5, 3, 4), False), ((7, 20), (20, 5), False),
        ((64, 64), (64, 64), True), ((5, 2, 3), (3, 4), True), ((2, 3), (5, 3, 4), True), ((1, 2, 3), (5, 3, 4), True),
    ],
)  # fmt: skip
def test_products_of_complex_matrices(left: tuple[int, ...], right: tuple[int, ...], left_to_numpy: bool) -> None:
    draw = np.random.default_rng(0)
    x, y = (lab.constant(draw.standard_normal(s) + 1j * draw.standard_normal(s)) for s in (left, right))
    compiled = lab.function(lambda x, y: 2.0 * lab.matmul(x, y))
    compiled.compile(x, y)
    np.testing.assert_allclose(compiled(x, y).numpy(), 2 * (x.numpy() @ y.numpy()), 1e-12, 1e-12)
    assert ("matmul_(" in compiled.source.split("def program")[-1]) == left_to_numpy


@pytest.mark.slow
def test_a_loop_with_one_runs_as_a_loop() -> None:
    """Bodies that attract one another, with the force written as a contraction."""

    def orbit(position: Any, velocity: Any, mass: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([position, velocity])
            x, v = position, velocity
            for _ in range(20):
                apart = x[None] - x[:, None]
                pull = (lab.reduce_sum(apart * apart, axis=2) + 0.05) ** -1.5
                v = v + 0.01 * lab.einsum("ij,ijk->ik", pull * mass, apart)
                x = x + 0.01 * v
            value = lab.reduce_sum(x * x)
        return value, *tape.gradient(value, [position, velocity])

    draw = np.random.default_rng(0)
    arguments = [lab.constant(draw.standard_normal(s), "float32") for s in ((6, 3), (6, 3), (6,))]
    compiled = lab.function(orbit)
    compiled(*arguments)
    for expected, found in zip(orbit(*arguments), compiled(*arguments), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-4, atol=1e-4)
    assert "iterations, run" in compiled.why()
    assert "stays unrolled" not in compiled.why()


@pytest.mark.parametrize(
    ("equation", "sizes", "loops"),
    [
        ("ik,jk->ijk", {"i": 300, "j": 300, "k": 4}, True), ("bnk,bnk->bn", {"b": 32, "n": 60, "k": 64}, True),
        ("bpc,bpco->bco", {"b": 16, "p": 200, "c": 4, "o": 8}, True), ("i,j->ij", {"i": 300, "j": 400}, True),
        ("bij,bj->bi", {"b": 32, "i": 64, "j": 64}, False), ("bij,bi->bj", {"b": 32, "i": 64, "j": 64}, False),
    ],
)  # fmt: skip
def test_large_ones_are_loops_where_those_are_quicker_than_products(
    equation: str, sizes: dict[str, int], loops: bool
) -> None:
    draw = np.random.default_rng(0)
    x, y = (
        lab.constant(draw.standard_normal([sizes[c] for c in part]))
        for part in equation.split("->", maxsplit=1)[0].split(",")
    )
    compiled = lab.function(lambda x, y: lab.tanh(lab.einsum(equation, x, y)))
    compiled(x, y)
    np.testing.assert_allclose(compiled(x, y).numpy(), np.tanh(np.einsum(equation, x.numpy(), y.numpy())), 1e-11, 1e-12)
    assert ("einsum_(" not in compiled.source) == loops
