"""Loops that read parts of arrays where they lie, and gradients that are put together from overlapping parts."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

pytest.importorskip("numba", reason="fused loops need Numba")

SHAPES = [(300,), (90_000,), (40, 50), (300, 260), (70, 1100), (20, 4500), (12, 9, 50), (45, 40, 42), (5, 4, 70, 60)]
"""Of small arrays and of large ones, whose loops are shared by threads; some rows are processed in blocks."""


class Walk:
    """Choices from numbers drawn before the program runs, because drawing is a side effect that prevents compiling."""

    def __init__(self, numbers: tuple[int, ...], step: int) -> None:
        self._next, self.step = iter(numbers).__next__, step

    def below(self, limit: int) -> int:
        return self._next() % limit

    def part(self, x: Any) -> Any:
        """A part of the shape that all have: along the last axis every `step`-th element, perhaps backwards."""
        items: list[Any] = []
        for axis, n in enumerate(x.shape):
            by = self.step if axis == len(x.shape) - 1 else 1
            length = (n - 2) // abs(by)
            begin = self.below(3) if abs(by) == 1 else self.below(2)
            at = range(begin, begin + length * abs(by), abs(by))
            items.append(slice(at[0], at[-1] + 1, by) if by > 0 else slice(at[-1], at[0] - 1 if at[0] else None, by))
        return x[tuple(items)]

    def changed(self, x: Any) -> Any:
        """A part of x and what becomes of it."""
        how, y = self.below(6), self.part(x)
        if how == 0:
            return lab.tanh(y)
        if how == 1:
            return y * self.part(x)
        if how == 3:
            return lab.reverse(y, axis=[0])
        if how == 2 and y.ndim > 1:
            return y - lab.reduce_mean(y, axis=-1, keepdims=True)
        return lab.transpose(lab.sin(lab.transpose(y))) if how == 4 and y.ndim > 1 else y

    def joined(self, total: Any, x: Any) -> Any:
        """What is put together with another part, or into zeros."""
        if self.below(3) == 0:
            total = lab.concat([total, self.part(x)], axis=-1)
        return lab.pad(total, [[1, 2]] * total.ndim) * 2.0 if self.below(3) == 0 else total


def _program(seed: int, dtype: str) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function of two arrays that adds and multiplies parts of them, and arrays for it."""
    choice, rng = random.Random(seed), np.random.default_rng(seed)
    shape = choice.choice(SHAPES)
    given = [lab.constant(rng.standard_normal(shape).astype(dtype)) for _ in range(2)]
    step, count = choice.choice((1, 1, 1, 2, -1, 3)), choice.randrange(2, 7)
    numbers = tuple(choice.randrange(1 << 30) for _ in range(400))
    twice = choice.random() < 0.2 and len(shape) < 3

    def forward(*xs: Any) -> Any:
        walk = Walk(numbers, step)
        total = walk.part(xs[0])
        for _ in range(count):
            y = walk.changed(xs[walk.below(2)])
            total = total * y if walk.below(4) == 0 else total + 0.5 * y
        return walk.joined(total, xs[1])

    def run(*xs: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(list(xs))
            with lab.GradientTape() as tape:
                tape.watch(list(xs))
                made = forward(*xs)
                loss = lab.reduce_mean(made * made)
            found = tape.gradient(loss, list(xs), unconnected_gradients="zero")
            if not twice:
                return made, loss, *found
            slope = lab.add_n([lab.reduce_sum(g * lab.cos(x)) for g, x in zip(found, xs, strict=True)])
        return made, loss, *found, *outer.gradient(slope, list(xs), unconnected_gradients="zero")

    return run, given


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(40))
def test_random_parts_give_what_they_give_op_by_op(seed: int) -> None:
    dtype = ("float32", "float64")[seed % 2]
    run, given = _program(seed, dtype)
    compiled = lab.function(run)
    assert compiled.compile(*given), compiled.why()
    tolerance = {"float32": 2e-4, "float64": 1e-11}[dtype]
    for a, b in zip(compiled(*given), run(*given), strict=True):
        scale = float(np.max(np.abs(b), initial=0.0))
        np.testing.assert_allclose(a, b, tolerance, tolerance * scale, err_msg=f"seed {seed}")
    assert compiled.fallbacks == 0


def laplacian(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        made = x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, :-2] - 4.0 * x[1:-1, 1:-1]
        loss = lab.reduce_sum(made * made)
    return loss, tape.gradient(loss, x)


def test_a_stencil_is_one_loop_that_copies_nothing() -> None:
    x = lab.constant(np.random.default_rng(0).standard_normal((400, 300)))
    compiled = lab.function(laplacian)
    assert compiled.compile(x)
    program = compiled.source.partition("def program")[2]
    assert "slice" not in program, program
    assert program.count("loop_") == 1, program
    np.testing.assert_allclose(compiled(x)[1], laplacian(x)[1], 1e-12, 1e-10)


def test_an_angle_too_large_for_a_loop_is_left_to_numpy() -> None:
    x = lab.constant(np.linspace(-1e30, 1e30, 500 * 160).reshape(500, 160))
    compiled = lab.function(lambda x: lab.sin(x[:, ::-1]) * x[:, :])
    assert compiled.compile(x)
    np.testing.assert_allclose(compiled(x), np.sin(x.numpy()[:, ::-1]) * x.numpy(), 1e-12)


@pytest.mark.parametrize("shift", [1, -2])
def test_signs_of_zeros_are_those_of_eager_calls(shift: int) -> None:
    """The sum of parts reads -0 where one of them has nothing."""

    def run(x: Any, g: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            made = lab.stack([x[2:-2, 2:-2], x[2 + shift : 198 + shift, 3:-1], x[4:, 1:-3]])
        return tape.gradient(made, x, output_gradients=g)

    x, g = lab.zeros((200, 200)), lab.constant(np.full((3, 196, 196), -0.0, np.float32))
    compiled = lab.function(run)
    assert compiled.compile(x, g)
    np.testing.assert_array_equal(np.signbit(compiled(x, g)), np.signbit(run(x, g)))
    assert "accumulate_parts" in compiled.source


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_parts_of_empty_arrays_are_put_together(shape: tuple[int, ...]) -> None:
    def slope(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.stack([x[..., None] * float(k) for k in range(6)], axis=-1)
            z = lab.reduce_sum(y * y) + lab.reduce_sum(x[..., :1] * x[..., :1])
        return y, tape.gradient(z, x)

    compiled = lab.function(slope)
    x = lab.zeros(shape)
    assert compiled.compile(x), compiled.why()
    y, gradient = compiled(x)
    assert y.shape == (*shape, 1, 6)
    assert gradient.shape == shape
