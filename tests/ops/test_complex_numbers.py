"""Gradients of complex tensors are ∂L/∂x + i·∂L/∂y; for holomorphic f that is the conjugate of its derivative."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.amputation import EXTRAS

RNG = np.random.default_rng(11)
Z = 0.6 * np.exp(1j * RNG.uniform(-3, 3, (2, 4))) * RNG.uniform(0.5, 1.5, (2, 4))
W = RNG.normal(size=(4, 2)) + 1j * RNG.normal(size=(4, 2))
STEP = 1e-6


def loss(value: Any) -> Any:
    """A real number that depends on both parts of every element, and bends."""
    weights = np.cos(np.arange(value._array.size)).reshape(value._array.shape)
    real, imag = lab.math.real(value), lab.math.imag(value)
    return lab.reduce_sum(real * real * real * weights + real * imag * 0.7 - imag * (weights + 0.3))


def differences(function: Callable[[np.ndarray], float], z: np.ndarray) -> np.ndarray:
    """Give ∂L/∂x + i·∂L/∂y by central differences."""
    result = np.zeros(z.shape, np.complex128)
    for at in np.ndindex(z.shape):
        for unit in (1, 1j):
            step = np.zeros(z.shape, np.complex128)
            step[at] = STEP * unit
            result[at] += unit * (function(z + step) - function(z - step)) / (2 * STEP)
    return result


def gradient(function: Callable[[Any], Any], z: np.ndarray) -> Any:
    x = lab.constant(z)
    with lab.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
    return tape.gradient(value, x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "real": lab.math.real,
    "imag": lab.math.imag,
    "conj": lambda z: lab.math.conj(z) * z * (1 + 2j),
    "abs": lambda z: lab.abs(z) ** 1.5,
    "sign": lambda z: lab.sign(z) * z,
    "angle": lab.math.angle,
    "complex": lambda z: lab.complex(lab.math.imag(z), lab.math.real(z) * 2) * z,
    "product": lambda z: z * z * (0.3 - 1j) + z,
    "quotient": lambda z: (1 + z) / (z + 2j),
    "exp": lab.exp,
    "log": lab.math.log,
    "sqrt": lab.sqrt,
    "sin": lab.sin,
    "tanh": lab.tanh,
    "reciprocal": lab.math.reciprocal,
    "matmul": lambda z: z @ W,
    "mean": lambda z: lab.reduce_mean(z, 1) * z[:, 0],
    "prod": lambda z: lab.reduce_prod(z, 1),
    "cumprod": lambda z: lab.math.cumprod(z, 1),
    "cast to real": lambda z: lab.cast(z, lab.float64) ** 2.0,
    "variance": lab.math.reduce_variance,
    "std": lambda z: lab.math.reduce_std(z, 1),
    "moments": lambda z: lab.nn.moments(z, [1])[1] * z[:, 0],
    "squared difference": lambda z: lab.math.squared_difference(z, z[:1] * 1j) * (1 - 2j),
    "l2_loss": lab.nn.l2_loss,
    "norm": lambda z: lab.norm(z, axis=1) * z[:, 0],
    "norm 1": lambda z: lab.norm(z, 1, axis=1),
    "norm inf": lambda z: lab.norm(z, np.inf, axis=1),
    "norm 3": lambda z: lab.norm(z, 3, axis=1),
    "norm 1 of matrices": lambda z: lab.norm(z, 1, axis=(0, 1)),
    "norm inf of matrices": lambda z: lab.norm(z, np.inf, axis=(0, 1), keepdims=True),
    "normalize": lambda z: lab.linalg.normalize(z, axis=1)[0],
    "normalize 1": lambda z: lab.linalg.normalize(z, 1)[0],
    "reduce_euclidean_norm": lambda z: lab.math.reduce_euclidean_norm(z, 1) * z[:, 0],
    "adjoint": lambda z: lab.linalg.adjoint(z) * W,
    "matrix_transpose": lambda z: lab.linalg.matrix_transpose(z, conjugate=True) * W,
    "transpose": lambda z: lab.transpose(z, [1, 0], conjugate=True) * W,
    "sigmoid": lab.sigmoid,
    "silu": lab.nn.silu,
    "swish": lambda z: lab.nn.swish(z, 1.5 - 1j),
    "tanh_shrink": lab.nn.tanh_shrink,
    "squareplus": lab.nn.squareplus,
    "acosh": lab.math.acosh,
    "asinh": lab.math.asinh,
    "atanh": lab.math.atanh,
    "acos": lab.math.acos,
    "atan": lab.math.atan,
    "tan": lab.math.tan,
    "log1p": lab.math.log1p,
    "expm1": lab.math.expm1,
    "rsqrt": lab.math.rsqrt,
    "power": lambda z: z ** (0.3 - 0.2j),
    "power of its exponent": lambda z: (z * 0 + (0.5 - 1j)) ** z,
    "xlogy": lambda z: lab.math.xlogy(z[:, :2], z[:, 2:]),
    "xlog1py": lambda z: lab.math.xlog1py(z[:, :2], z[:, 2:]),
    "xdivy": lambda z: lab.math.xdivy(z[:, :2], z[:, 2:]),
    "divide_no_nan": lambda z: lab.math.divide_no_nan(z[:, :2], z[:, 2:]),
    "multiply_no_nan": lambda z: lab.math.multiply_no_nan(z[:, :2], z[:, 2:]),
    "l2_normalize": lambda z: lab.math.l2_normalize(z, 1),
}
if EXTRAS:
    FUNCTIONS.update(
        {
            "fft": lab.signal.fft,
            "ifft": lab.signal.ifft,
            "fft2d": lab.signal.fft2d,
            "irfft": lab.signal.irfft,
            "irfft odd": lambda z: lab.signal.irfft(z, [5]),
            "irfft2d": lab.signal.irfft2d,
            "fftshift": lambda z: lab.signal.fftshift(z) * z,
        }
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_differences_of_both_parts(name: str) -> None:
    def total(z: Any) -> Any:
        value = FUNCTIONS[name](z)
        return loss(value if value.dtype.is_complex else lab.complex(value, value * 0.5))

    expected = differences(lambda z: float(total(lab.constant(z))), Z)
    np.testing.assert_allclose(gradient(total, Z), expected, 1e-6, 1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_agree_with_differences_of_the_first(name: str) -> None:
    def total(z: Any) -> Any:
        value = FUNCTIONS[name](z)
        return loss(value if value.dtype.is_complex else lab.complex(value, value * 0.5))

    def of_gradient(z: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(z)
            value = total(z)
        return loss(tape.gradient(value, z))

    expected = differences(lambda z: float(of_gradient(lab.constant(z))), Z)
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(gradient(of_gradient, Z), expected, 2e-5, 1e-5 + 1e-8 * scale)


def test_the_gradient_of_a_holomorphic_function_is_the_conjugate_of_its_derivative() -> None:
    np.testing.assert_allclose(gradient(lambda z: z * z * z, Z), np.conj(3 * Z**2))
    cotangent = lab.constant(np.full(Z.shape, 2 - 1j))
    z = lab.constant(Z)
    with lab.GradientTape() as tape:
        tape.watch(z)
        y = lab.exp(z)
    np.testing.assert_allclose(tape.gradient(y, z, output_gradients=cotangent), (2 - 1j) * np.conj(np.exp(Z)))


def test_descent_along_the_gradient_finds_the_number_nearest_to_another() -> None:
    goal = 3 - 4j
    z = lab.Variable(0j)
    for _ in range(50):
        with lab.GradientTape() as tape:
            value = lab.abs(z - goal) ** 2.0
        z.assign_sub(tape.gradient(value, z) * 0.25)
    assert abs(complex(z.numpy()) - goal) < 1e-9


def cubed(z: Any) -> Any:
    return z * z * z


@lab.custom_gradient
def cubed_by_hand(z: Any) -> Any:
    return cubed(z), lambda upstream: upstream * lab.math.conj(3.0 * z * z)


@pytest.mark.parametrize(
    "other", [cubed_by_hand, lab.recompute_grad(cubed), lambda z: cubed(lab.with_derivative(z, lambda g: g))]
)
def test_functions_that_users_write_see_the_same_convention(other: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(gradient(lambda z: loss(other(z)), Z), gradient(lambda z: loss(cubed(z)), Z))


def test_surgery_sees_the_gradient_that_the_tape_gives() -> None:
    seen: list[Any] = []
    result = gradient(lambda z: loss(lab.with_derivative(z, seen.append)), Z)
    np.testing.assert_array_equal(seen[0], result)


def test_a_forward_derivative_is_the_product_with_the_derivative() -> None:
    direction = np.conj(Z) + 1
    z = lab.constant(Z)
    with lab.autodiff.ForwardAccumulator(z, lab.constant(direction)) as accumulator:
        y = cubed(z)
    np.testing.assert_allclose(accumulator.jvp(y), 3 * Z**2 * direction)


@pytest.mark.extras
@pytest.mark.parametrize("length", [None, 6, 5, 3])
def test_real_signals_and_their_half_spectra(length: int | None) -> None:
    x = RNG.normal(size=(2, 5))
    cut = None if length is None else [length]
    np.testing.assert_allclose(lab.signal.rfft(x, cut), np.fft.rfft(x, length), atol=1e-12)
    half = np.fft.rfft(x)
    np.testing.assert_allclose(lab.signal.irfft(half, cut), np.fft.irfft(half, length), atol=1e-12)
    whole = lab.constant(x)
    with lab.GradientTape() as tape:
        tape.watch(whole)
        value = loss(lab.signal.rfft(whole, cut))
    ours = tape.gradient(value, whole)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = STEP
        up, down = (float(loss(lab.signal.rfft(x + s, cut))) for s in (step, -step))
        np.testing.assert_allclose(ours[at[0], at[1]], (up - down) / (2 * STEP), 1e-6, 1e-7)


@pytest.mark.extras
def test_transforms_keep_the_width_of_their_numbers() -> None:
    assert lab.signal.rfft([1.0, 2.0]).dtype == lab.complex64
    assert lab.signal.irfft(lab.cast([1.0, 2.0], lab.complex64)).dtype == lab.float32
    assert lab.signal.fft(Z).dtype == lab.complex128


def test_a_complex_number_of_rank_0_and_an_origin() -> None:
    assert complex(gradient(lab.abs, np.array(3 + 4j)).numpy()) == pytest.approx(0.6 + 0.8j)
    assert complex(gradient(lab.abs, np.array(0j)).numpy()) == 0


REAL = {
    name: getattr(lab.nn, name)
    for name in (
        "crelu", "elu", "gelu", "hard_sigmoid", "hard_swish", "hard_tanh", "leaky_relu", "log_softmax", "relu", "relu6",
        "selu", "softmax", "softplus", "softsign",
    )
} | {
    "gelu by tanh": lambda z: lab.nn.gelu(z, approximate=True), "argmax": lab.argmax, "argmin": lab.argmin,
    "argsort": lab.argsort, "reduce_max": lab.reduce_max, "reduce_min": lab.reduce_min, "sort": lab.sort,
    "top_k": lab.math.top_k,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", REAL)
def test_what_orders_numbers_refuses_complex_ones(name: str, dtype: type) -> None:
    with pytest.raises(lab.errors.DtypeMismatch) as caught:
        REAL[name](lab.constant(Z.astype(dtype)))
    assert "complex" in str(caught.value) or f"c{8 * np.dtype(dtype).itemsize}[" in str(caught.value)


def test_lengths_and_distances_agree_with_numpy() -> None:
    for axis in (None, 0, 1):
        np.testing.assert_allclose(lab.norm(Z, axis=axis), np.linalg.norm(Z, axis=axis))
        np.testing.assert_allclose(lab.norm(Z, 1, axis), np.linalg.norm(Z.ravel() if axis is None else Z, 1, axis))
        np.testing.assert_allclose(lab.nn.moments(Z, [1])[1], Z.var(1))
    np.testing.assert_allclose(lab.math.squared_difference(Z, 1j), abs(Z - 1j) ** 2)
    np.testing.assert_allclose(lab.math.reduce_euclidean_norm(Z, 1), np.linalg.norm(Z, axis=1))
    np.testing.assert_allclose(lab.nn.l2_loss(Z), (abs(Z) ** 2).sum() / 2)
    far = np.array([-800.0 + 1j, 800 + 1j, 0])
    np.testing.assert_allclose(lab.nn.silu(far), [0, 800 + 1j, 0], atol=1e-200)


@pytest.mark.extras
@pytest.mark.parametrize(
    "call",
    [
        lambda: lab.complex(lab.constant([1.0]), lab.constant([1.0], lab.float64)),
        lambda: lab.complex([1], [2]),
        lambda: lab.signal.fft([1.0, 2.0]),
        lambda: lab.signal.rfft(Z),
        lambda: lab.signal.rfft([1.0, 2.0], [0]),
        lambda: lab.signal.fft2d(Z[0]),
        lambda: lab.signal.fftshift(Z, 2),
    ],
)
def test_what_does_not_fit_is_refused_in_words(call: Callable[[], Any]) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError):
        call()


@pytest.mark.parametrize("count", [10, 5_000])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_few_and_many_directions_are_those_of_numpy(dtype: str, count: int) -> None:
    rng = np.random.default_rng(0)
    z = (rng.standard_normal(count) + 1j * rng.standard_normal(count)).astype(dtype)
    z[:3] = 0, -2j, 1e-30
    for x in (z, np.concatenate([z, np.array([np.inf, np.nan], dtype)])):
        np.testing.assert_allclose(lab.sign(lab.constant(x)).numpy(), np.sign(x), 1e-6)


@pytest.mark.skipif(not EXTRAS, reason="the extras are hidden")
def test_transforms_are_those_of_scipy_where_its_inner_functions_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = importlib.import_module("autodiff_lab.extras.families.signal")
    x = np.random.default_rng(3).standard_normal((2, 4, 6)).astype(np.float32)
    functions = (
        lab.signal.rfft2d,
        lambda x: lab.signal.fft2d(lab.complex(x, -x)),
        lambda x: lab.signal.ifft(lab.complex(x, x)),
        lambda x: lab.signal.irfft2d(lab.complex(x, -x), [4, 10]),
        lambda x: lab.signal.irfft(lab.complex(x, -x), [7]),
    )
    quick = [function(lab.constant(x)).numpy() for function in functions]
    assert signal._QUICK.get("rfftn") is not None, "this SciPy has them"
    monkeypatch.setattr(signal, "_QUICK", {"": None})
    for function, have in zip(functions, quick, strict=True):
        found = function(lab.constant(x)).numpy()
        assert have.dtype == found.dtype
        np.testing.assert_array_equal(have, found)


@pytest.mark.skipif(not EXTRAS, reason="the extras are hidden")
def test_inner_functions_of_scipy_that_take_other_arguments_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = importlib.import_module("autodiff_lab.extras.families.signal")
    inner = importlib.import_module("scipy.fft._pocketfft.pypocketfft")
    monkeypatch.setattr(inner, "r2c", lambda x, axes, *, forward: x)
    assert signal._below_scipy() == {"": None}
