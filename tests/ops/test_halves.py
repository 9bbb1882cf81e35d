"""Reductions, scans and normalizations of half floats: rounded once, at the end, whatever their length.

Each is compared with the same computation in float64, to within two units in the last place of the half dtype: eager
and compiled, on every set of kernels.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.amputation import EXTRAS

HALVES = ("float16", "bfloat16")
LENGTHS = (1, 300, 10_000)
Function = Callable[..., Any]

ids = np.arange(10_000) % 3


def slope(function: Function, x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def jacobian(function: Function, x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.jacobian(y, x)


def slope_by_variable(x: Any) -> Any:
    v = lab.Variable(x[0])
    with lab.GradientTape() as tape:
        y = [v * x[k] for k in range(min(len(x), 400))]
    return tape.gradient(y, v)


def named_many_times(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient([y] * 400, x)


along: dict[str, Function] = {
    "reduce_sum": lab.reduce_sum,
    "reduce_mean": lab.reduce_mean,
    "reduce_variance": lab.math.reduce_variance,
    "reduce_std": lab.math.reduce_std,
    "reduce_logsumexp": lab.reduce_logsumexp,
    "reduce_euclidean_norm": lab.math.reduce_euclidean_norm,
    "moments": lambda x, axis: lab.nn.moments(x, [axis])[1],
    "sufficient statistics": lambda x, axis: lab.nn.sufficient_statistics(x, [axis])[2],
    "softmax": lab.nn.softmax,
    "log_softmax": lab.nn.log_softmax,
    "l2_normalize": lab.math.l2_normalize,
    "cumsum": lab.cumsum,
    "cumsum from the other end": lambda x, axis: lab.cumsum(x, axis, exclusive=True, reverse=True),
    "cumulative_logsumexp": lab.math.cumulative_logsumexp,
    "gradient of max": lambda x, axis: slope(lambda v: lab.reduce_max(v, axis), lab.round(x)),
    "gradient of log-sum-exp": lambda x, axis: slope(lambda v: lab.reduce_logsumexp(v, axis), x),
    "gradient of variance": lambda x, axis: slope(lambda v: lab.math.reduce_variance(v, axis), x),
    "gradient of broadcasting": lambda x, axis: slope(lambda v: v * x, lab.reduce_max(x, axis, keepdims=True)),
}
rows: dict[str, Function] = {
    "segment_sum": lambda x: lab.math.segment_sum(x, np.sort(ids[: len(x)])),
    "segment_mean": lambda x: lab.math.segment_mean(x, np.sort(ids[: len(x)])),
    "unsorted_segment_sum": lambda x: lab.math.unsorted_segment_sum(x, ids[: len(x)], 3),
    "unsorted_segment_mean": lambda x: lab.math.unsorted_segment_mean(x, ids[: len(x)], 3),
    "unsorted_segment_sqrt_n": lambda x: lab.math.unsorted_segment_sqrt_n(x, ids[: len(x)], 3),
    "scatter_nd": lambda x: lab.scatter_nd(ids[: len(x), None], x, [3, *x.shape[1:]]),
    "tensor_scatter_nd_add": lambda x: lab.tensor_scatter_nd_add(x[:3], ids[: len(x), None] // 3, x),
    "gradient of gather": lambda x: slope(lambda v: lab.gather(v, ids[: len(x)]) * x, x[:3]),
    "add_n": lambda x: lab.add_n(lab.unstack(x[:500])),
    "average pooling": lambda x: lab.nn.avg_pool1d(x[None], min(len(x), 500), 1)[:, :3],
    "convolution": lambda x: lab.nn.conv1d(x[None], lab.ones((len(x), x.shape[-1], 1), x.dtype)),
    "gradient of convolution": lambda x: slope(lambda v: lab.nn.conv1d(x[None], v), x[:1, :, None]),
    "layer normalization": lambda x: lab.layers.LayerNormalization(dtype=x.dtype)(lab.transpose(x)),
    "batch normalization": lambda x: lab.layers.BatchNormalization(dtype=x.dtype)(x, training=True),
    "cross entropy": lambda x: lab.nn.softmax_cross_entropy_with_logits(lab.nn.softmax(x, 0)[:, 0], x[:, 0]),
    "cross entropy with numbers": lambda x: lab.nn.sparse_softmax_cross_entropy_with_logits(
        np.zeros(x.shape[1], np.int32), lab.transpose(x)
    ),
    "matmul": lambda x: lab.matmul(x, x, transpose_a=True),
    "a value used many times": lambda x: slope(lambda v: [v * x[k] for k in range(min(len(x), 400))], x[0]),
    "a Jacobian of a value used many times": lambda x: jacobian(
        lambda v: lab.add_n([v * x[k] for k in range(min(len(x), 400))]), x[0]
    ),
    "a variable read many times": slope_by_variable,
    "a target named many times": lambda x: named_many_times(x[0]),
}
if EXTRAS:
    rows["IndexedSlices"] = lambda x: lab.convert_to_tensor(lab.IndexedSlices(x, ids[: len(x)], [3, *x.shape[1:]]))


def drawn(length: int, dtype: str) -> lab.Tensor:
    """Positive numbers around 1, so that sums grow and do not cancel."""
    rng = np.random.default_rng(length)
    return lab.cast(lab.constant(rng.uniform(0.5, 1.5, (length, 3)) * 6 ** (length < 1000)), dtype)


def agrees(function: Function, x: lab.Tensor, result: Any, ulps: float = 2.0) -> None:
    """Compare with the same function of the same numbers in float64."""
    expected = np.asarray(function(lab.cast(x, lab.float64)))
    assert result.dtype == x.dtype
    got = np.asarray(lab.cast(result, lab.float64))
    limits = x.dtype._limits()
    assert got.shape == expected.shape
    fits = np.abs(expected) <= float(limits.max)
    room = np.abs(expected) * float(limits.eps) + float(limits.smallest_subnormal)
    room += 1e-6 * np.max(np.abs(expected), initial=0, where=fits)  # float32 cancels too
    assert np.all(np.abs(got - expected)[fits] <= ulps * room[fits])


far: dict[str, Function] = {
    "variance far from 0": lambda x: lab.math.reduce_variance(lab.round(x) + 200, 0),
    "std far from 0": lambda x: lab.math.reduce_std(lab.round(x) + 200, 0),
    "moments far from 0": lambda x: lab.nn.moments(lab.round(x) + 200, [0])[1],
    "weighted moments far from 0": lambda x: lab.nn.weighted_moments(lab.round(x) + 200, [0], x[:, :1])[1],
    "l2_loss": lab.nn.l2_loss,
}
if EXTRAS:
    far |= {
        "contrast": lambda x: lab.image.adjust_contrast(x[None], 2.0),
        "sparse product": lambda x: lab.sparse.sparse_dense_matmul(
            lab.sparse.SparseTensor([[0, k] for k in range(len(x))], x[:, 0], [1, len(x)]), x
        ),
    }
rows.update(far)


def cases() -> Iterator[tuple[str, Function]]:
    for name, function in along.items():
        yield name, lambda x, f=function: f(x, axis=0)
        yield f"{name}, the last axis", lambda x, f=function: f(lab.transpose(x), axis=1)
    yield from rows.items()


CASES = dict(cases())


@pytest.mark.slow(keep=150)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", CASES)
def test_a_half_float_is_rounded_once(name: str, dtype: str, length: int) -> None:
    x = drawn(length, dtype)
    agrees(CASES[name], x, CASES[name](x))


@pytest.mark.parametrize("name", CASES)
def test_every_set_of_kernels_does_so(name: str) -> None:
    x = drawn(300, "bfloat16")
    with lab.use_kernels("numba"):
        result = CASES[name](x)
    agrees(CASES[name], x, result)


@pytest.mark.parametrize("name", along)
def test_a_compiled_function_does_so(name: str) -> None:
    compiled = lab.function(lambda x: along[name](x, axis=0))
    x = drawn(300, "float16")
    results = [compiled(x) for _ in range(3)]
    agrees(CASES[name], x, results[-1])


CURVES: dict[str, Function] = {
    "sigmoid": lab.sigmoid,
    "softsign": lab.math.softsign,
    "elu": lab.nn.elu,
    "selu": lab.nn.selu,
    "silu": lab.nn.silu,
    "gelu": lab.nn.gelu,
    "mish": lab.activations.mish,
}


@pytest.mark.parametrize("way", ["numpy", "numba", "compiled"])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", CURVES)
def test_an_activation_is_rounded_once(name: str, dtype: str, way: str) -> None:
    """Every number of the dtype whose result is finite, against the same function of it in float64."""
    every = lab.bitcast(lab.constant(np.arange(1 << 16, dtype=np.uint16)), dtype)
    x = every[lab.math.is_finite(every)]
    exact = CURVES[name](lab.cast(x, lab.float64)).numpy()
    function = lab.function(CURVES[name]) if way == "compiled" else CURVES[name]
    with lab.use_kernels("numba" if way == "numba" else "numpy"):
        found = [function(x) for _ in range(2)][-1].numpy()
    with np.errstate(over="ignore"):
        rounded = exact.astype(found.dtype)
        fits = np.isfinite(rounded.astype(np.float64))
        apart = np.abs(found.astype(np.float64) - exact)[fits]
        assert (apart <= np.spacing(np.abs(rounded[fits])).astype(np.float64) * 0.51).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("function", "slope"), [(lab.asinh, lambda x: 1 / np.hypot(1, x)), (lab.math.expm1, np.exp)], ids=["asinh", "expm1"]
)
def test_a_slope_far_out_is_neither_lost_nor_spoilt(function: Function, slope: Any, dtype: str) -> None:
    """A square that overflows made the slope of asinh 0; that of expm1 is nothing beside the 1 in its value."""
    limits = lab.as_dtype(dtype).limits
    x = np.array([0, 0.5, 1, 5, 9, 300, limits[1] / 4, np.inf])
    x = lab.cast(np.concatenate([-x, x[:3]] if function is lab.math.expm1 else [-x, x]), dtype)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    found = tape.gradient(y, x).numpy()
    expected = slope(x.numpy().astype(np.float64)).astype(found.dtype).astype(np.float64)
    spacing = np.spacing(np.abs(expected).astype(found.dtype)).astype(np.float64)
    assert (np.abs(found.astype(np.float64) - expected) <= 3 * spacing).all()
