"""Fourier transforms and complex numbers as steps of a sequence, with eager results."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest
from tests.compile.test_small_steps import in_one_call, normal

pytest.importorskip("numba", reason="sequences need Numba")


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 60, 64, 77, 128, 169, 240, 512])
def test_transforms_of_smooth_lengths(length: int, dtype: str) -> None:
    def run(x: Any) -> Any:
        spectrum = lab.signal.rfft(x)
        both = lab.signal.fft(lab.complex(x, 2.0 * x)), lab.signal.ifft(lab.complex(x, -x))
        return spectrum, lab.signal.irfft(spectrum, [length]), both

    in_one_call(run, normal(512 // length if length > 150 else 3, length, dtype=dtype))


@pytest.mark.parametrize("length", [7, 10, 12, 16])
def test_what_is_not_finite_stays_in_its_row(length: int) -> None:
    """All rows are transformed together."""
    x = normal(32, length, dtype="float64")
    x[3, 2], x[15, 0], x[16, 1], x[31, 3] = np.nan, np.inf, -np.inf, np.nan
    made = lab.function(lambda x: lab.signal.irfft(lab.signal.rfft(x) * 2.0, [length]))
    made(lab.constant(x))
    found, whole = made(lab.constant(x)).numpy(), [n for n in range(32) if np.isfinite(x[n]).all()]
    assert "rfft_by_roots_(" in made.source
    np.testing.assert_allclose(found[whole], 2.0 * x[whole], 1e-12, 1e-12)
    assert not np.isfinite(np.delete(found, whole, axis=0)).any()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_numbers_that_are_not_finite_are_transformed_as_eagerly(value: float) -> None:
    def run(x: Any, y: Any) -> Any:
        made = lab.signal.fft(lab.complex(x, y)), lab.signal.ifft(lab.complex(y, x)), lab.signal.rfft(x + y)
        return [part(one) for one in made for part in (lab.math.real, lab.math.imag)] + [lab.signal.irfft(made[0])]

    compiled = lab.function(run)
    for length in (4, 6, 8):
        x, y = normal(2, length), normal(2, length)
        for at in range(3):
            y[at % 2, at] = value
            given = lab.constant(x), lab.constant(y)
            compiled.compile(*given)
            for found, wanted in zip(compiled(*given), run(*given), strict=True):
                np.testing.assert_allclose(found.numpy(), wanted.numpy(), 1e-4, 1e-5)
    assert "fft_by_roots_(" in compiled.source


def test_a_length_with_a_large_factor_is_left_to_scipy() -> None:
    made = lab.function(lambda x: lab.math.real(lab.signal.rfft(lab.sin(x))))
    x = lab.constant(normal(2, 34))
    made(x)
    np.testing.assert_allclose(made(x).numpy(), np.fft.rfft(np.sin(x.numpy())).real, 1e-4, 1e-4)
    assert "rfft_(" in made.source


@pytest.mark.parametrize("length", [12, 45])
def test_a_filter_of_frequencies_and_its_gradient_are_one_call(length: int) -> None:
    def run(real: Any, imaginary: Any, x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([real, imaginary, x])
            y = lab.signal.irfft(lab.signal.rfft(x) * lab.complex(real, imaginary), [length])
            loss = lab.reduce_mean(lab.square(y - 1.0))
        return loss, *tape.gradient(loss, [real, imaginary, x])

    parts = [normal(length // 2 + 1, dtype="float64") for _ in range(2)]
    in_one_call(run, *parts, normal(3, length, dtype="float64"))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_arithmetic_is_part_of_a_sequence(dtype: str) -> None:
    a, b = ((normal(4, 5, dtype="float64") + 1j * normal(4, 5, dtype="float64")).astype(dtype) for _ in range(2))

    def run(a: Any, b: Any) -> Any:
        parts = lab.math.real(a * b), lab.math.imag(a), lab.math.conj(a) * b
        parts = *parts, lab.math.angle(a), a / b, lab.exp(a), lab.cast(a, b.dtype), lab.cast(lab.abs(a), a.dtype)
        return a - b[0], -a, parts, lab.reduce_sum(a, 0), lab.reduce_mean(a * b, 1), lab.concat([a, b], 0), -a[1:, ::-2]

    in_one_call(run, a, b)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sizes_directions_and_rows_of_complex_numbers_are_part_of_a_sequence(dtype: str) -> None:
    a = (normal(4, 6, dtype="float64") + 1j * normal(4, 6, dtype="float64")).astype(dtype)
    a[0, 0] = 0
    kind, rows = "float32" if dtype == "complex64" else "float64", np.array([3, 0, 3, 1])

    def run(a: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(a)
            picked = lab.gather(a * 2.0, rows) * lab.sign(a)
            loss = lab.reduce_sum(lab.tanh(lab.abs(picked)) * lab.abs(a[:, ::-1]))
        return lab.cast(loss, kind), lab.sign(a), lab.abs(a), tape.gradient(loss, a)

    in_one_call(run, a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sizes_and_directions_of_what_is_not_finite_are_those_of_the_eager_ops(dtype: str) -> None:
    parts = [0.0, -0.0, 1.0, -2.0, 1e-30, np.inf, -np.inf, np.nan]
    a = lab.constant(np.array([complex(x, y) for x in parts for y in parts], dtype))
    run = lab.function(lambda a: (lab.abs(a) * 1.0, lab.sign(a) - 0.0))
    run(a)
    with np.errstate(all="ignore"):
        for one, other in zip(run(a), (np.abs(a.numpy()), np.sign(a.numpy())), strict=True):
            finite = np.isfinite(a.numpy())
            np.testing.assert_allclose(one.numpy()[finite], other[finite], 1e-6)
            assert np.array_equal(np.isfinite(one.numpy()) | ~finite, np.isfinite(other) | ~finite)


@pytest.mark.parametrize("shape", [(4, 6), (2, 8, 8), (3, 5, 2), (1, 1, 7)])
def test_transforms_of_planes_are_part_of_a_sequence(shape: tuple[int, ...]) -> None:
    a = normal(*shape, dtype="float64") * (1 + 2j)

    def run(a: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(a)
            loss = lab.reduce_sum(lab.math.real(lab.signal.fft2d(a * a) * lab.signal.ifft2d(a)))
        return loss, tape.gradient(loss, a)

    in_one_call(run, a)


@pytest.mark.parametrize("shape", [(4, 6), (2, 8, 8), (3, 5, 2), (1, 1, 7), (6, 1)])
def test_transforms_of_real_planes_are_part_of_a_sequence(shape: tuple[int, ...]) -> None:
    x = normal(*shape, dtype="float64")

    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            spectrum = lab.signal.rfft2d(x * x) * lab.complex(lab.cast(0.5, x.dtype), lab.cast(0.3, x.dtype))
            back = lab.signal.irfft2d(spectrum, shape[-2:])
            loss = lab.reduce_sum(back * lab.sin(x))
        return spectrum, back, tape.gradient(loss, x)

    in_one_call(run, x)


def test_contractions_of_complex_numbers_are_part_of_a_sequence() -> None:
    a, b = (normal(*shape, dtype="float64") * (1 - 2j) for shape in ((2, 3, 5), (3, 4, 5)))

    def run(a: Any, b: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([a, b])
            made = lab.einsum("bim,iom->bom", a * 1.5, b), lab.einsum("bim,jom->bj", a, b)
            loss = lab.add_n([lab.reduce_sum(lab.math.imag(x * x)) for x in made])
        return made, tape.gradient(loss, [a, b])

    made = lab.function(run)
    given = lab.constant(a), lab.constant(b)
    made(*given)
    for one, other in zip(nest.flatten(made(*given)), nest.flatten(run(*given)), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12, 1e-12)
    assert "einsum_(" not in made.source


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_circuit_of_gates_on_many_axes_is_one_call(dtype: str) -> None:
    """Axes that lie side by side count as one, so a gate on one of seven takes three loops."""
    qubits, letters = 7, "abcdefg"
    state = np.zeros([2] * qubits, "complex64" if dtype == "float32" else "complex128")
    state[(0,) * qubits] = 1
    start = lab.constant(state)

    def energy(angles: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(angles)
            now = start
            for q, letter in enumerate(letters):
                cosine, sine = lab.cos(angles[q]), lab.sin(angles[q])
                gate = lab.cast(lab.stack([lab.stack([cosine, -sine]), lab.stack([sine, cosine])]), start.dtype)
                phase = lab.exp(lab.complex(lab.zeros_like(cosine), angles[q]))
                now = lab.einsum(f"z{letter},{letters}->{letters.replace(letter, 'z')}", gate, now) * phase
            now = now / lab.cast(2.0, start.dtype)
            turned = lab.reverse(now, axis=[2])
            value = lab.math.real(lab.reduce_sum(lab.math.conj(now) * turned)) + lab.reduce_sum(lab.abs(now) ** 4)
        return value, tape.gradient(value, angles)

    compiled = in_one_call(energy, normal(qubits, dtype=dtype))
    assert "einsum" not in compiled.source.split("def program")[-1]


ODD = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e-30, 710.0, -710.0]


@pytest.mark.parametrize("more", [[], [1e30]])  # an angle for which a loop leaves all to NumPy
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_exponentials_and_quotients_of_odd_numbers_are_those_of_numpy(dtype: str, more: list[float]) -> None:
    parts = [*ODD, *more]
    odd = np.array([complex(a, b) for a in parts for b in parts])
    x, y = (
        np.append(one, normal(200, dtype="float64") * (1 + 2j)).astype(dtype)
        for one in (np.repeat(odd, odd.size), np.tile(odd, odd.size))
    )
    compiled = lab.function(lambda x, y: (lab.exp(x), x / y))
    compiled(lab.constant(x), lab.constant(y))
    found = compiled(lab.constant(x), lab.constant(y))
    assert "loop_1(x, y)" in compiled.source.split("def program")[-1]
    with np.errstate(all="ignore"):
        wanted = np.exp(x), x / y
    rtol = 1e-5 if dtype == "complex64" else 1e-13
    for one, other in zip(found, wanted, strict=True):
        ordinary = np.isfinite(other) & np.isfinite(np.abs(other))
        for part in ("real", "imag"):
            mine, theirs = getattr(one.numpy(), part), getattr(other, part)
            off = np.abs(mine[ordinary] - theirs[ordinary])
            assert np.all(off <= rtol * np.abs(other[ordinary]) + 1e-37)
            np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
            infinite = np.isinf(theirs)
            np.testing.assert_array_equal(mine[infinite], theirs[infinite])
