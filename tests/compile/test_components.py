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

    def regular(self, n: int) -> Any:
        return lab.sin(self.matrix(n, n)) + 4.0 * lab.eye(n, dtype=self.made[0].dtype)

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
            lambda: lab.stack([vector(n) for _ in range(pick([2, 3]))], axis=-1),
            lambda: lab.linalg.det(self.regular(pick([2, 3]))),
            lambda: lab.linalg.inv(self.regular(pick([2, 3]))),
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


def _elements(points: Any, corners: Any, rest: Any) -> Any:
    """The energy of a sheet of elements by their deformation gradients, after a step down its own slope."""
    n = rest.shape[-1]

    def energy(points: Any) -> Any:
        at = lab.gather(points, corners)
        edges = lab.stack([at[:, k + 1] - at[:, 0] for k in range(n)], axis=-1)
        stretch = edges @ rest
        size = lab.linalg.det(stretch)
        turned = lab.linalg.inv(stretch + 2.0 * lab.eye(n, dtype=points.dtype))
        return lab.reduce_sum(stretch * stretch) + lab.reduce_sum(lab.square(size - 1.0)) + lab.reduce_sum(turned[:, 0])

    with lab.GradientTape() as outer:
        outer.watch((points, rest))
        with lab.GradientTape() as inner:
            inner.watch(points)
            first = energy(points)
        value = energy(points - 0.01 * inner.gradient(first, points))
    return value, *outer.gradient(value, (points, rest))


def _sheet(n: int, dtype: str) -> list[Any]:
    draw = np.random.default_rng(n)
    corners = np.stack([draw.permutation(40)[: n + 1] for _ in range(COUNT)])
    return [lab.constant(draw.normal(size=(40, n)), dtype), lab.constant(corners),
            lab.constant(draw.normal(size=(COUNT, n, n)) + 2 * np.eye(n), dtype)]  # fmt: skip


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_determinants_and_inverses_of_small_matrices_are_sums_of_products(n: int, dtype: str) -> None:
    given = _sheet(n, dtype)
    compiled = lab.function(_elements)
    assert compiled.compile(*given), compiled.why()
    for expected, found in zip(_elements(*given), compiled(*given), strict=True):
        scale = float(np.abs(expected).max())
        tolerance = 2e-4 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)
    assert compiled.fallbacks == 0, compiled.why()
    assert not {"det_", "inv_", "matmul_"}.intersection(re.findall(r"\w+_(?=\()", compiled.source)), compiled.source


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
def test_an_inverse_whose_determinant_is_out_of_range_is_left_to_the_op(
    n: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "LEFT", 100.0)

    def program(x: Any) -> Any:
        columns = lab.stack([x[:, k] * 1.0 for k in range(n)], axis=-1)
        return lab.linalg.inv(columns) * lab.linalg.det(columns / size)[:, None, None]

    draw = np.random.default_rng(0)
    regular = lab.constant((draw.normal(size=(COUNT, n, n)) + 3 * np.eye(n)) * size)
    singular = regular.numpy().copy()
    singular[5, :, 1] = singular[5, :, 0]
    compiled = lab.function(program)
    assert compiled.compile(regular)
    np.testing.assert_allclose(compiled(regular), program(regular), rtol=1e-10)
    assert (compiled.fallbacks == 0) == (size == 1.0)
    for _ in range(2):
        with pytest.raises(lab.errors.InvalidArgumentError, match="singular"):
            compiled(lab.constant(singular))
    with pytest.raises(lab.errors.InvalidArgumentError, match="singular"):
        program(lab.constant(singular))


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
