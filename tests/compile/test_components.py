"""Compiled programs of small vectors and matrices, stacked and taken apart, agree with those that run op by op."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program import components

pytest.importorskip("numba", reason="loops need Numba")

COUNT = components.FEWEST + 7


class Drawn:
    """A random program of vectors (..., n) and matrices (..., m, n) for some numbers each; made from a seed."""

    def __init__(self, seed: int) -> None:
        draw = self.draw = random.Random(seed)
        self.lead = draw.choice([(COUNT,), (COUNT,), (8, 9), (3, 31)])
        self.steps = [self._step() for _ in range(draw.randrange(4, 14))]
        self.last = draw.randrange(3)

    def _step(self) -> Callable[[list[Any], list[Any]], Any]:
        """Return a function that makes a value of those that there are."""
        numbers = [self.draw.random() for _ in range(300)]
        return lambda made, shared: _Choice(numbers, made, shared, self.lead).value()

    def arguments(self, dtype: str) -> list[Any]:
        numbers = np.random.default_rng(len(self.steps))
        shapes = [self.lead, self.lead, (*self.lead, 3), (*self.lead, 3, 3), (3, 3), (3,), ()]
        return [lab.constant(numbers.uniform(-1, 1, shape), dtype) for shape in shapes]

    def __call__(self, *xs: Any) -> Any:
        def loss(made: list[Any]) -> Any:
            for step in self.steps:
                made = [*made, step(made, xs[4:])]
            total = lab.reduce_sum(lab.sin(made[-1]))
            return made, total + sum(lab.reduce_mean(lab.square(x)) for x in made[4::2])

        with lab.GradientTape(persistent=True) as outer:
            outer.watch(xs)
            with lab.GradientTape() as inner:
                inner.watch(xs)
                made, value = loss(list(xs[:4]))
            slopes = inner.gradient(value, xs)
            again = sum(lab.reduce_sum(lab.sin(g)) for g in slopes[:2] if g is not None)
        seconds = outer.gradient(again, xs) if self.last else ()
        return value, made[-1], *slopes, *seconds


class _Choice:
    """Chooses an op and its operands, among those that there are and new stacks, by numbers drawn before."""

    def __init__(self, numbers: list[float], made: list[Any], shared: list[Any], lead: tuple[int, ...]) -> None:
        self.number, self.made, self.shared, self.rank = iter(numbers).__next__, made, shared, len(lead)
        self.own = [x for x in made if tuple(x.shape[: len(lead)]) == lead]

    def pick(self, items: Any) -> Any:
        return items[int(self.number() * len(items))]

    def scalar(self) -> Any:
        x = self.pick(self.own)
        while len(x.shape) > self.rank:
            x = x[..., self.pick(range(x.shape[-1]))]
        return self.pick([lab.sin, lab.cos, lambda v: 0.5 * v, lab.zeros_like, lab.ones_like, lab.negative])(x)

    def known(self, *last: int) -> Any:
        found = [x for x in self.own if tuple(x.shape[self.rank :]) == last]
        return self.pick(found) if found and self.number() < 0.6 else None

    def vector(self, n: int) -> Any:
        known = self.known(n)
        return lab.stack([self.scalar() for _ in range(n)], axis=-1) if known is None else known

    def matrix(self, m: int, n: int) -> Any:
        known = self.known(m, n)
        return lab.stack([self.vector(n) for _ in range(m)], axis=-2) if known is None else known

    def value(self) -> Any:
        pick, vector, matrix, scalar, rank = self.pick, self.vector, self.matrix, self.scalar, self.rank
        n, m, p = pick([2, 3, 3, 4]), pick([1, 2, 3, 3]), pick([1, 2, 3])
        axis, swapped = pick([0, rank]), (*range(rank), rank + 1, rank)
        return pick([
            lambda: lab.matmul(matrix(m, n), matrix(n, p)),
            lambda: lab.matmul(matrix(3, 3), lab.transpose(matrix(p, 3), swapped)),
            lambda: lab.transpose(matrix(m, n), swapped),
            lambda: matrix(m, n)[..., pick([slice(None), slice(1), slice(None, None, -1), 0])],
            lambda: matrix(m, n)[..., pick([0, -1, slice(0, 1)]), :],
            lambda: pick([lab.add, lab.multiply])(matrix(3, 3), pick([matrix(3, 3), *self.shared])),
            lambda: matrix(m, n) - scalar()[..., None, None],
            lambda: lab.reduce_sum(matrix(m, n), axis=pick([-1, -2]), keepdims=n == m),
            lambda: lab.reduce_mean(vector(n), axis=-1, keepdims=True) * vector(n)[..., :1],
            lambda: lab.concat([vector(n), pick([vector(m), scalar()[..., None]])], axis=-1),
            lambda: lab.linalg.matvec(matrix(m, n), vector(n)),
            lambda: lab.where(vector(n) > 0.0, vector(n), vector(n)[..., ::-1]),
            lambda: lab.matmul(vector(3), self.shared[0]),
            lambda: lab.reverse(vector(n), axis=[axis]),
            lambda: vector(n)[::-1] * lab.roll(vector(n), 2, axis),
        ])()  # fmt: skip


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("seed", range(100))
def test_components_give_what_stacks_give(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "LEFT", 100.0)
    dtype = ["float32", "float64"][seed % 2]
    drawn = Drawn(seed)
    given = drawn.arguments(dtype)
    traced = lab.function(drawn, backend="numpy")
    traced(*given)
    program = traced.program
    found = components.in_components(program)
    assert found is not program
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    arrays = [x.numpy() for x in given]
    for one, other in zip(program.run(*arrays), found.run(*arrays), strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        scale = max(1.0, float(np.abs(one).max()))
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * scale)


def _rotations(angle: Any) -> Any:
    c, s, zero, one = lab.cos(angle), lab.sin(angle), lab.zeros_like(angle), lab.ones_like(angle)
    rows = [[c, -s, zero], [s, c, zero], [zero, zero, one]]
    return lab.stack([lab.stack(row, axis=-1) for row in rows], axis=-2)


def _chain(angles: Any, points: Any) -> Any:
    """Where joints turn points, with the gradient and that of its square."""
    with lab.GradientTape() as outer:
        outer.watch(angles)
        with lab.GradientTape() as inner:
            inner.watch((angles, points))
            turned = _rotations(angles[:, 0])
            for k in range(1, 4):
                turned = turned @ _rotations(angles[:, k])
            value = lab.reduce_sum(lab.sin(lab.linalg.matvec(turned, points)) * points)
        slopes = inner.gradient(value, (angles, points))
        total = lab.reduce_sum(lab.square(slopes[0]))
    return value, *slopes, outer.gradient(total, angles)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_of_rotations_is_computed_without_matrices(dtype: str) -> None:
    draw = np.random.default_rng(3)
    angles, points = (lab.constant(draw.normal(size=(COUNT, n)), dtype) for n in (4, 3))
    compiled = lab.function(_chain)
    compiled(angles, points)
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    for expected, found in zip(_chain(angles, points), compiled(angles, points), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance * 10)
    assert compiled.fallbacks == 0, compiled.why()
    assert not compiled.skipped
    assert not {"matmul_", "take_"}.intersection(re.findall(r"\w+_(?=\()", compiled.source))


def test_zeros_of_a_matrix_keep_nan() -> None:
    angles = np.linspace(0, 1, 4 * COUNT, dtype=np.float32).reshape(COUNT, 4)
    angles[5, 2] = np.inf
    angles, points = lab.constant(angles), lab.ones((COUNT, 3))
    compiled = lab.function(_chain)
    compiled(angles, points)
    for expected, found in zip(_chain(angles, points), compiled(angles, points), strict=True):
        np.testing.assert_array_equal(np.isnan(found.numpy()), np.isnan(expected.numpy()))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", range(4))
def test_components_run_as_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "LEFT", 100.0)
    drawn = Drawn(seed)
    given = drawn.arguments("float64")
    compiled = lab.function(drawn)
    compiled(*given)
    for expected, found in zip(drawn(*given), compiled(*given), strict=True):
        if expected is not None:
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)
    assert compiled.fallbacks == 0, compiled.why()
    assert not compiled.skipped


def test_few_elements_and_wide_stacks_stay() -> None:
    def program(x: Any) -> Any:
        return lab.reduce_sum(lab.stack([x, x * x, lab.sin(x)], axis=-1)[..., 1])

    def kept(count: int) -> bool:
        traced = lab.function(program, backend="numpy")
        traced(lab.ones(count))
        return components.in_components(traced.program) is traced.program

    assert kept(components.FEWEST - 1)
    assert not kept(components.FEWEST)
