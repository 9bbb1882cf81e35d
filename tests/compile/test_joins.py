"""Stencils in loops: parts that are joined are read where they lie, and results are those of eager calls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.recurrences import joins

pytest.importorskip("numba", reason="loops are compiled where Numba is installed")
TURNS = 6


def spread(u: Any, c: Any) -> Any:
    return u + c * (lab.roll(u, 1, axis=0) + lab.roll(u, -1, axis=0) + lab.roll(u, 1, axis=1) - 3.0 * u)


def far(u: Any, c: Any) -> Any:
    return u - 0.1 * lab.sin(lab.roll(u, 3, axis=0) * c) + 0.1 * lab.roll(u, -5, axis=0)


def measured(u: Any, c: Any) -> Any:
    near = lab.roll(u, 1, axis=-1) - u
    return u + c * near / (1.0 + lab.reduce_sum(near * near, axis=1, keepdims=True))


def joined(u: Any, c: Any) -> Any:
    """Parts of two arrays, one of them a whole, and a constant."""
    edge = lab.zeros((2, u.shape[1]))
    return 0.5 * u + 0.2 * lab.concat([edge, c[2:30] * u[4:32], u[30:]], axis=0)


def twice(u: Any, c: Any) -> Any:
    """A join that a product reads as well, and joins of joins; what is cut is in the backward loop."""
    moved = lab.roll(lab.roll(u, 1, axis=0), 1, axis=1)
    return 0.9 * u + 0.1 * moved * c - 0.01 * lab.linalg.matmul(moved, moved, transpose_b=True)[:, : u.shape[1]]


def three(u: Any, c: Any) -> Any:
    """More cells than are made."""
    flat = lab.reshape(u, [4, 16, 32])
    made = (
        lab.roll(flat, 1, axis=0) + lab.roll(flat, 1, axis=1) + lab.roll(flat, 2, axis=2) - lab.roll(flat, -1, axis=2)
    )
    return u + 0.1 * c * lab.reshape(made, u.shape)


def run(step: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def whole(u: Any, c: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([u, c])
            v = u
            for _ in range(TURNS):
                v = step(v, c)
            loss = lab.reduce_mean(v * v)
        return v, loss, *tape.gradient(loss, [u, c])

    return whole


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("step", "cuts"), [(spread, True), (far, True), (measured, True), (joined, True), (twice, True), (three, False)]
)
def test_stencils_give_what_they_give_eagerly(
    step: Any, cuts: bool, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if step is joined and dtype == "float64":
        return  # its zeros are float32
    told: list[int] = []
    cut = joins._cut
    monkeypatch.setattr(joins, "_cut", lambda *given: (told.append(len(given[2])), cut(*given))[1])
    draw = np.random.default_rng(0)
    shape = (64, 32) if step is three else (32, 40) if step is joined else (48, 40)
    u, c = (lab.constant(draw.uniform(0.1, 0.5, shape).astype(dtype)) for _ in range(2))
    compiled = lab.function(run(step))
    compiled(u, c)
    found = compiled(u, c)
    assert compiled.fallbacks == 0
    assert bool(told) == cuts
    assert all(1 < cells <= joins.MOST_CELLS for cells in told)
    with lab.use_kernels("numpy"):
        wanted = run(step)(u, c)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=3e-5 if dtype == "float32" else 1e-12, atol=1e-8)


def test_small_grids_keep_their_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "_cut", lambda *given: pytest.fail("cut"))
    u, c = lab.ones((8, 8)), lab.ones((8, 8))
    compiled = lab.function(run(spread))
    compiled(u, c)
    assert compiled.compile(u, c)
