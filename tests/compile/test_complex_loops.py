"""Complex numbers in fused loops: values and gradients are those of the eager ops, and no op is left outside.

A twentieth of FUZZ_COUNT in the environment says how many random programs are tried, if it is more than a dozen.
"""

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.loops.source import Kernel

pytest.importorskip("numba", reason="loops need Numba")

conj, real, imag = lab.math.conj, lab.math.real, lab.math.imag


def drawn(seed: int, *shape: int, dtype: str = "complex64") -> Any:
    """A tensor of complex numbers, none of them near 0."""
    draw = np.random.default_rng(seed)
    return lab.constant((draw.uniform(0.5, 2, shape) * np.exp(1j * draw.uniform(-3, 3, shape))).astype(dtype))


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "products": lambda x, y: x * y - 2.0 * conj(x) * y + lab.square(y),
    "quotients": lambda x, y: (x + y) / (y * y) - 1.0 / x,
    "sizes and directions": lambda x, y: lab.sign(x * y) * lab.cast(lab.abs(x - y), x.dtype),
    "waves": lambda x, y: lab.exp(1j * x) * y + lab.exp(-lab.square(y)),
    "parts": lambda x, y: lab.complex(real(x) * imag(y), lab.sin(real(y)) + imag(x)) + x,
    "angles": lambda x, y: lab.math.angle(x * y) * lab.math.angle(conj(x)),
    "real numbers beside": lambda x, y: lab.sqrt(lab.abs(x) ** 2 + lab.abs(y) ** 2 + 0.1) * lab.exp(-lab.abs(x)),
}


def gradients(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return what gives the value of a function and the gradients of the sum of its squared sizes."""

    def run(x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            value = function(x, y)
            loss = lab.reduce_sum(lab.abs(value) ** 2)
        return [value, loss, *tape.gradient(loss, [x, y])]

    return run


def loops_of(function: Callable[[Any, Any], Any], x: Any, y: Any) -> list[Kernel]:
    """Compare a compiled function with the eager one, and return its loops."""
    compiled = lab.function(function)
    compiled.compile(x, y)
    rtol = 2e-5 if x.dtype == lab.complex64 else 1e-12
    for found, wanted in zip(compiled(x, y), function(x, y), strict=True):
        assert found.dtype == wanted.dtype
        scale = np.abs(wanted.numpy()).max(initial=1)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol, rtol * scale)
    assert not compiled.skipped
    assert not compiled.fallbacks
    return list(compiled.kernels)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_one_loop(name: str, dtype: str) -> None:
    x, y = drawn(1, 300, 70, dtype=dtype), drawn(2, 300, 70, dtype=dtype)
    kernels = loops_of(gradients(PROGRAMS[name]), x, y)
    assert len(kernels) <= 2  # a gradient may wait for nothing but the sum


@pytest.mark.parametrize("shape", [(), (1,), (70,), (300, 1), (1, 70), (300, 70)])
@pytest.mark.parametrize("name", ["products", "quotients", "parts"])
def test_operands_broadcast(name: str, shape: tuple[int, ...]) -> None:
    loops_of(gradients(PROGRAMS[name]), drawn(1, 300, 70), drawn(2, *shape))


def test_parts_are_read_where_they_lie() -> None:
    def differences(x: Any, y: Any) -> Any:
        return [lab.abs(x[:, 1:] - x[:, :-1]), x[1:] * conj(y[:-1]), lab.reduce_sum(real(x[2:, 3:] * y[:-2, :-3]))]

    x, y = drawn(1, 300, 70), drawn(2, 300, 70)
    compiled = lab.function(differences)
    compiled.compile(x, y)
    assert loops_of(differences, x, y)
    assert "slice_" not in compiled.source.split("def program")[-1]


def test_large_arrays_and_views_that_lie_otherwise() -> None:
    x, y = drawn(1, 200, 500), drawn(2, 500, 200)
    loops_of(gradients(lambda x, y: x * lab.transpose(y) + conj(x)), x, y)


def test_angles_too_large_for_a_loop_are_numpys() -> None:
    x = drawn(1, 100, 20)
    far = lab.constant(np.where(np.arange(2000).reshape(100, 20) == 77, 1e9j, x.numpy()).astype("complex64"))
    compiled = lab.function(lambda x, y: [lab.exp(x) * 2.0 + y])
    compiled.compile(x, x)
    for one in (x, far):
        np.testing.assert_allclose(compiled(one, x)[0].numpy(), np.exp(one.numpy()) * 2 + x.numpy(), 2e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_single_numbers_are_given_to_a_sequence(dtype: str) -> None:
    """Each takes as many places as it has bytes."""

    def run(z: Any, a: Any, b: Any, c: Any) -> Any:
        w = z * a + b
        return [w - lab.reduce_mean(w, axis=-1, keepdims=True), w * c, a * b]

    numbers = [drawn(k, dtype=dtype) for k in range(3)]
    z = drawn(9, 6, 5, dtype=dtype)
    compiled = lab.function(run)
    compiled.compile(z, *numbers)
    for found, wanted in zip(compiled(z, *numbers), run(z, *numbers), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), 2e-6)
    assert "sequence_1(" in compiled.source


@pytest.mark.parametrize("backend", ["auto", "numpy"])
def test_numbers_that_are_not_finite(backend: str) -> None:
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e-30]
    x = lab.constant(np.array([complex(a, b) for a in parts for b in parts], "complex128"))
    compiled = lab.function(lambda x, y: [x * y, lab.abs(x) + 1.0, conj(x) + y, lab.sign(x) * 1.0], backend=backend)
    compiled.compile(x, x)
    for found, wanted in zip(compiled(x, x), [x * x, lab.abs(x) + 1.0, conj(x) + x, lab.sign(x) * 1.0], strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), 0, 1e-75)  # NumPy's products round once less


def test_second_derivatives() -> None:
    def curvature(x: Any, y: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                loss = lab.reduce_sum(lab.abs(x * y) ** 2 * real(x))
            slope = inner.gradient(loss, x)
            size = lab.reduce_sum(lab.square(lab.abs(slope)))
        return [loss, slope, outer.gradient(size, x)]

    loops_of(curvature, drawn(1, 80, 90), drawn(2, 80, 90))


COUNT = max(12, int(os.environ.get("FUZZ_COUNT", "0")) // 20)
TO_COMPLEX: list[Callable[[Any], Any]] = [
    conj, lab.square, lab.negative, lab.identity, lab.stop_gradient, lambda z: lab.exp(lab.sign(z)),
    lambda z: z / (1.0 + lab.cast(lab.abs(z), z.dtype)), lambda z: 1j * z, lambda z: lab.complex(imag(z), real(z)),
    lambda z: lab.transpose(lab.transpose(z)), lambda z: z[..., ::-1], lambda z: lab.roll(z, 1, axis=-1),
    lambda z: z - lab.reduce_mean(z, axis=-1, keepdims=True), lambda z: lab.concat([z[:1], z[1:]], axis=0),
]  # fmt: skip
OF_TWO: list[Callable[[Any, Any], Any]] = [
    lambda z, w: z + w, lambda z, w: z - w, lambda z, w: z * w, lambda z, w: z * conj(w),
    lambda z, w: z / (2.0 + lab.cast(lab.square(lab.abs(w)), z.dtype)),
    lambda z, w: lab.cast(real(z) * imag(w), z.dtype) + w,
]  # fmt: skip


def random_program(seed: int, shape: tuple[int, ...]) -> tuple[Callable[..., Any], list[Any]]:
    """Return a program of complex numbers with gradients, and its arguments, some of which broadcast."""
    choice = random.Random(seed)
    dtype = choice.choice(["complex64", "complex128"])
    smaller = [shape, shape, shape[-1:], (shape[0], *(1,) * (len(shape) - 1)), ()]
    arguments = [drawn(seed + k, *choice.choice(smaller if k else [shape]), dtype=dtype) for k in range(3)]
    steps = [(choice.random(), choice.randrange(100), choice.randrange(100), choice.randrange(100)) for _ in range(9)]

    def run(*given: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(given)
            made = [given[0], *[given[0] * one for one in given[1:]]]  # all of the shape
            for kind, which, left, right in steps:
                z, w = made[left % len(made)], made[right % len(made)]
                one, two = TO_COMPLEX[which % len(TO_COMPLEX)], OF_TWO[which % len(OF_TWO)]
                made.append(one(z) if kind < 0.5 else two(z, w))
            last = made[-1] / (1.0 + lab.cast(lab.abs(made[-1]), made[-1].dtype))
            loss = lab.reduce_sum(lab.abs(last) ** 2) + lab.reduce_sum(lab.math.angle(made[0]) * real(last))
        return [last, loss, *tape.gradient(loss, list(given), unconnected_gradients="zero")]

    return run, arguments


@pytest.mark.parametrize("shape", [(6, 5), (3, 4, 7), (70, 60), (2, 50, 40)])
@pytest.mark.parametrize("part", range(4))
def test_random_programs_agree_with_the_eager_ops(part: int, shape: tuple[int, ...]) -> None:
    for seed in range(part, COUNT, 4):
        program, arguments = random_program(seed, shape)
        compiled = lab.function(program)
        compiled.compile(*arguments)
        rtol = 3e-4 if arguments[0].dtype == lab.complex64 else 1e-10
        for found, wanted in zip(compiled(*arguments), program(*arguments), strict=True):
            scale = np.abs(wanted.numpy()).max(initial=1)
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol, rtol * scale, err_msg=f"seed {seed}")
        assert not compiled.fallbacks, compiled.why()
