"""Compiled functions on a GPU: generated kernels, simulated, agree with the eager functions on the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.cuda.array import DeviceArray
from tests.compile.random_programs import outcome, program
from tests.compile.test_rows import CASES

TOLERANCE = {"float32": 2e-4, "float64": 1e-10}
LARGE = [(), (7,), (300,), (3, 4), (3, 1), (1, 130), (9, 130), (130,), (70, 3), (3,), (2, 5, 33), (5, 33)]
"""Shapes of several simulated blocks, rows shorter and longer than one, and what broadcasts with them."""


def there(value: Any) -> Any:
    """Copy tensors of the CPU to the simulated GPU."""
    with lab.device("/GPU:0"):
        return lab.constant(value.numpy())


def host(tensor: Any) -> Any:
    """Take a tensor's array to the CPU, wherever it lies."""
    array = tensor._array
    return array.to_host() if array.__class__ is DeviceArray else np.asarray(array)


def agree(function: Callable[..., Any], *arguments: Any, kernels: int | None = None) -> Any:
    """Call a function eagerly on the CPU and compiled on the GPU, compare results, give the compiled function."""
    compiled = lab.function(function)
    moved = [there(x) for x in arguments]
    wanted = function(*arguments)
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    for _ in range(2):  # the first call traces, the second runs the program
        found = compiled(*moved)
        found = found if isinstance(found, (tuple, list)) else [found]
        for a, b in zip(wanted, found, strict=True):
            close(host(a), host(b), compiled)
            assert b._array.__class__ is DeviceArray
    assert compiled.fallbacks == 0, compiled.why()
    assert compiled.skipped == ()
    if kernels is not None:
        assert len(compiled.kernels) == kernels, compiled.source
    return compiled


def close(a: Any, b: Any, compiled: Any) -> None:
    """Compare two arrays, to the last few digits of their dtype."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    if a.dtype.kind != "f":
        assert np.array_equal(a, b)
        return
    tolerance = TOLERANCE[a.dtype.name]
    scale = max(1.0, float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a))))
    assert np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True), compiled.source


def with_slopes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function's value and its gradients by all arguments."""

    def both(*xs: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(list(xs))
            y = function(*xs)
        return y, *tape.gradient(y, list(xs))

    return both


def draw(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    """Draw normal numbers."""
    return lab.constant(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def twelve(x: Any) -> Any:
    """Twelve elementwise ops."""
    y = lab.exp(-x * x) * 2.0 + lab.tanh(x)
    return lab.math.log(lab.sqrt(y * y + 1.0) + 2.0) * x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 127, 128, 129, 1000, 9000])
def test_a_chain_forward_and_backward_is_one_launch(size: int, dtype: str) -> None:
    """Below, at and above a block's share of elements, and above what the whole grid takes in one round."""
    agree(with_slopes(twelve), draw(size, dtype=dtype), kernels=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 40), (40, 1), (70, 3), (9, 130), (200, 33), (3, 1000), (2, 3, 40)])
def test_rows_columns_and_sums(shape: tuple[int, ...], dtype: str) -> None:
    """A weight for each column, an offset for each row, their gradients and the loss: one launch, and the folds."""

    def loss(x: Any, w: Any, b: Any) -> Any:
        return lab.reduce_mean(lab.square(lab.tanh(x * w + b)))

    x, w = draw(*shape, dtype=dtype), draw(shape[-1], dtype=dtype, seed=1)
    agree(with_slopes(loss), x, w, draw(shape[-1], dtype=dtype, seed=2), kernels=1)
    agree(with_slopes(loss), x, w, draw(*shape[:-1], 1, dtype=dtype, seed=3))


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", CASES)
def test_reductions_of_rows(name: str) -> None:
    """Softmax, normalisation and each reduction with what depends on it, in rows of any length."""
    for n, shape in enumerate([(3, 20), (2, 3, 33), (70, 17), (2, 300), (1, 40), (40, 1), (7, 3)]):
        x = draw(*shape, dtype=("float32", "float64")[n % 2], seed=n)
        agree(with_slopes(lambda x: lab.reduce_sum(CASES[name](x) ** 2.0)), x)


@pytest.mark.parametrize("place", [0, 130, 199])
def test_angles_of_any_size(place: int) -> None:
    """Quick functions reach 100,000; beyond the library computes, for the four elements of a thread together."""
    values = np.random.default_rng(0).uniform(-99_999, 99_999, 200).astype(np.float32)
    for odd in (1e6, -1e7, 1e30, np.inf, -np.inf, np.nan, 0.0, -0.0, 99_999.0):
        values[place] = odd
        x = lab.constant(values)
        agree(lambda x: lab.sin(x) * 0.5 + lab.cos(x), x)
        agree(lambda x: lab.tan(x) * 1e-3, lab.constant(np.tanh(values)))
        agree(lambda x: lab.sin(x) + 1.0, lab.constant(values.astype(np.float64)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_and_roots_of_any_size(dtype: str) -> None:
    """Infinities, zeros of both signs, subnormal and huge numbers, each by each."""
    limits = np.finfo(dtype)
    least, most = limits.smallest_subnormal, limits.max
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, least, -3 * least, limits.tiny, most, -most, most / 3, 1.0, 3.0, 1e-30]
    x, y = (lab.constant(a.ravel().astype(dtype)) for a in np.meshgrid(odd, odd))
    agree(
        lambda x, y: (x / y, lab.math.reciprocal(y), lab.math.rsqrt(x), lab.sqrt(x), lab.math.divide_no_nan(x, y)), x, y
    )


@pytest.mark.slow(keep=26)
@pytest.mark.parametrize("seed", range(2000, 2060))
def test_random_programs(seed: int) -> None:
    """Programs of many ops and shapes, with a variable that is read and assigned on the GPU."""
    dtype = ["float32", "float64"][seed % 2]
    shapes = LARGE if seed % 3 == 0 else None
    made = program(seed, dtype, shapes)
    start = made.variable.numpy()
    wanted = outcome(made, made.run, start, made.arguments)
    with lab.device("/GPU:0"):
        same = program(seed, dtype, shapes)
        first = lab.constant(start)
    compiled = lab.function(same.run)
    for _ in range(2):
        same.variable.assign(first)
        target, rest = compiled(*same.arguments)
        found = [*[None if r is None else host(r) for r in [target, *rest]], host(same.variable)]
        for a, b in zip(wanted, found, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                close(np.asarray(a), b, compiled)
    assert compiled.fallbacks == 0, compiled.why()


@pytest.mark.parametrize("shape", [(3, 5000), (2, 4097)])
def test_long_rows_are_left_to_kernels_that_read_them_once(shape: tuple[int, ...]) -> None:
    """A softmax of rows that no cache holds stays an op between two kernels."""
    x = draw(*shape)
    f = agree(lambda x: lab.nn.softmax(x * 0.5 + 1.0) * x * 2.0, x, kernels=2)
    assert "softmax_(" in f.source
    g = agree(lambda x: lab.nn.softmax(x * 0.5 + 1.0) * x * 2.0, draw(3, 400), kernels=1)
    assert "softmax_(" not in g.source
