"""Every op computes what NumPy, SciPy or two lines of Python compute, over shapes, dtypes and layouts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from tests.amputation import EXTRAS
from tests.ops.references import ARRAYS, MATHEMATICS, SIGNALS
from tests.ops.references_networks import NETWORKS
from tests.ops.samples import REFUSES_HALVES, Sample, elementwise, ops_of_the_catalogue, samples

NAMES = ops_of_the_catalogue()
ELEMENTWISE = [name for name in NAMES if REGISTRY[name].elementwise]
# The other ops, by what they are held against: a reference here, or their public functions in tests of their own.
HELD_ELSEWHERE = {
    "adjust_contrast", "as_string", "average_pool", "average_pool_input", "convolve", "convolve_filter",
    "convolve_input", "depthwise", "depthwise_filter", "depthwise_input", "max_pool", "max_pool_input",
    "max_pool_pick", "moments", "normalize_grad", "lstm_grad", "gru_grad", "simple_rnn_grad",
    "reduce_join", "regex_full_match", "regex_replace", "sparse_matmul",
    "string_join", "string_length", "string_lower", "string_strip", "string_upper", "substr", "to_number",
    *REFUSES_HALVES, "band_part", "cross", "diag", "diag_part", "diag_range", "diag_range_part", "einsum",
    "inverse_gaps", "logm", "lu_factors", "permute", "sqrtm", "sylvester", "tridiagonal_solve", "unpermute",
}  # fmt: skip


def _scatter(x: np.ndarray, indices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    total = np.zeros(shape)
    for at in np.ndindex(indices.shape[:-1]):
        total[tuple(indices[at])] += x[at]
    return total


def _update(x: np.ndarray, updates: np.ndarray, indices: np.ndarray) -> np.ndarray:
    result = x.copy()
    for at in np.ndindex(indices.shape[:-1]):
        result[tuple(indices[at])] = updates[at]
    return result


def _gather_nd(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.asarray([x[tuple(row)] for row in indices.reshape(-1, indices.shape[-1])]).reshape(
        *indices.shape[:-1], *x.shape[indices.shape[-1] :]
    )


def _scatter_axis(x: np.ndarray, indices: np.ndarray, axis: int, length: int) -> np.ndarray:
    chosen = np.eye(length)[indices]  # (*indices, length)
    rank = indices.ndim
    first = x.ndim + axis + 1 - rank
    return np.moveaxis(np.tensordot(chosen, x, (range(rank), range(first, first + rank))), 0, axis)


def _index(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item[1] if item[0] == "i" else None if item[0] == "n" else slice(*item[1:]) for item in items)


def _accumulate_parts(*values: np.ndarray, places: Any, shape: tuple[int, ...], onto: bool) -> np.ndarray:
    at = {
        "take": lambda axis, index: (..., index, *[slice(None)] * (-axis - 1)),
        "slice_axis": lambda axis, start, stop: (..., slice(start, stop), *[slice(None)] * (-axis - 1)),
        "slice": _index,
    }
    total = values[0].copy() if onto else np.zeros(shape)
    for part, (op, params) in zip(values[onto:], places, strict=True):
        total[at[op](**dict(params))] += part
    return total


def _unslice(x: np.ndarray, items: tuple[Any, ...], shape: tuple[int, ...]) -> np.ndarray:
    whole = np.zeros(shape)
    whole[_index(items)] = x
    return whole


def _one_hot(x: np.ndarray, depth: int, on: float, off: float, axis: int, dtype: str) -> np.ndarray:
    whole = np.full((*x.shape, depth), off, dtype)
    for at in np.ndindex(x.shape):
        if 0 <= x[at] < depth:
            whole[(*at, x[at])] = on
    return np.moveaxis(whole, -1, axis)


def _power_grad(x: np.ndarray, y: np.ndarray, order: int) -> np.ndarray:
    factor = scipy.special.poch(y - order + 1, order)
    return factor * x ** (y - order)


REFERENCES: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "add": np.add, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "divide": np.divide,
    "equal": np.equal, "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "floordiv": np.floor_divide,
    "floor_quotient": np.floor_divide, "floormod": np.mod, "greater": np.greater, "greater_equal": np.greater_equal,
    "is_finite": np.isfinite, "is_inf": np.isinf, "is_nan": np.isnan, "less": np.less, "less_equal": np.less_equal,
    "log": np.log, "log1p": np.log1p, "logical_and": np.logical_and, "logical_not": np.logical_not,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor, "maximum": np.maximum, "minimum": np.minimum,
    "multiply": np.multiply, "negative": np.negative, "not_equal": np.not_equal, "pow": np.power, "round": np.round,
    "reciprocal": np.reciprocal, "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt,
    "square": np.square, "subtract": np.subtract, "tan": np.tan, "tanh": np.tanh,
    "below": lambda x, y: np.where(x < y, 1.0, 0.0),
    "not_below": lambda x, y: np.where(x < y, 0.0, 1.0),
    "positive": lambda x: np.heaviside(x, 0.0),
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "sigmoid": scipy.special.expit,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "rsqrt": lambda x: x**-0.5,
    "log_where_positive": lambda x: np.where(x > 0, np.log(np.abs(x)), 0.0),
    "reciprocal_where_positive": lambda x: np.where(x > 0, 1 / np.abs(x), 0.0),
    # Ops with parameters.
    "identity": lambda x: x,
    "copy_to_device": lambda x, device: x,
    "after": lambda x, y: x,
    "stop_gradient": lambda x: x,
    "cast": lambda x, dtype: x.astype(dtype),
    "cast_to_discrete": lambda x, dtype: x.astype(dtype),
    "reshape": lambda x, shape: x.reshape(shape),
    "broadcast_to": np.broadcast_to,
    "linspace": lambda x, y, num, axis: np.linspace(x, y, num, axis=axis),
    "transpose": lambda x, perm: x.transpose([p + x.ndim for p in perm]),
    "sum": lambda x, axes, keepdims: x.sum(axes, keepdims=keepdims),
    "mean": lambda x, axes, keepdims: np.mean(x, axes, keepdims=keepdims),
    "extreme_grad": lambda g, best, x, axes: g * (x == best) / (x == best).sum(axes, keepdims=True),
    "max": lambda x, axes, keepdims: x.max(axes, keepdims=keepdims),
    "min": lambda x, axes, keepdims: x.min(axes, keepdims=keepdims),
    "any": lambda x, axes, keepdims: x.any(axes, keepdims=keepdims),
    "all": lambda x, axes, keepdims: x.all(axes, keepdims=keepdims),
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "slice_axis": lambda x, axis, start, stop: np.take(x, range(start, stop), axis),
    "pad_axis": lambda x, axis, before, after: np.pad(
        x, [(before, after) if i - x.ndim == axis else (0, 0) for i in range(x.ndim)]
    ),
    "take": lambda x, axis, index: np.take(x, index, axis),
    "slice": lambda x, items: x[_index(items)],
    "unslice": _unslice,
    "accumulate_parts": _accumulate_parts,
    "gather": np.take,
    "scatter_axis": _scatter_axis,
    "gather_nd": _gather_nd,
    "scatter_nd": _scatter,
    "tensor_scatter_nd_update": _update,
    "kept_mask": lambda indices, shape, dtype: _update(np.ones(shape), np.zeros(len(indices)), indices),
    "select": lambda x, c: x * c,
    "select_not": lambda x, c: x * ~c,
    "where": np.where,
    "where_true": lambda c: np.transpose(np.nonzero(c)),
    "argmax": np.argmax,
    "argmin": np.argmin,
    "shape": lambda x, dtype: np.array(x.shape, dtype),
    "one_hot": _one_hot,
    "power_grad": _power_grad,
    "matmul": np.matmul,
    "softmax": scipy.special.softmax,
    "log_softmax": scipy.special.log_softmax,
    "softmax_grad": lambda g, y, axis: g * y - y * (g * y).sum(axis, keepdims=True),
    "log_softmax_grad": lambda g, y, axis: g - np.exp(y) * g.sum(axis, keepdims=True),
    "sparse_softmax_cross_entropy": lambda x, n: -np.sum(np.eye(4)[n] * scipy.special.log_softmax(x, -1), -1),
    "softmax_minus_label": lambda x, n: scipy.special.softmax(x, -1) - np.eye(4)[n],
    "sparse_softmax_cross_entropy_grad": lambda g, x, n: (
        np.expand_dims(g, -1) * (scipy.special.softmax(x, -1) - np.eye(4)[n])
    ),
    "softmax_cross_entropy_grad": lambda g, x, t: np.expand_dims(g, -1) * (scipy.special.softmax(x, -1) - t),
    "softmax_cross_entropy": lambda x, t: -(t * scipy.special.log_softmax(x, -1)).sum(-1),
    **ARRAYS,
    **MATHEMATICS,
    **SIGNALS,
    **NETWORKS,
}  # fmt: skip


def agrees(sample: Sample) -> None:
    with np.errstate(all="ignore"):
        expected = REFERENCES[sample.op.name](*map(np.asarray, sample.inputs), **sample.params)
    several = isinstance(expected, tuple)
    pairs = zip(outputs(sample(*sample.tensors())), expected if several else (expected,), strict=True)
    for got, part in pairs:
        np.testing.assert_allclose(got.numpy(), part, 1e-12, 1e-14, err_msg=str(sample.params))
        assert got.shape == np.shape(part)


@pytest.mark.extras
def test_every_op_has_a_reference_or_is_held_elsewhere() -> None:
    assert set(NAMES) == set(REFERENCES) | HELD_ELSEWHERE


@pytest.mark.parametrize("name", [name for name in sorted(REFERENCES) if EXTRAS or name in REGISTRY])
def test_the_value_is_that_of_the_reference(name: str) -> None:
    for sample in samples(name):
        agrees(sample)


@pytest.mark.slow(keep=30)
@pytest.mark.parametrize("name", ELEMENTWISE)
@given(data=st.data())
@settings(max_examples=10)
def test_elementwise_values_over_shapes_that_hypothesis_finds(name: str, data: st.DataObject) -> None:
    op = REGISTRY[name]
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=op.arity, max_dims=4, max_side=3, min_side=0))
    agrees(elementwise(op, shapes.input_shapes, np.random.default_rng(data.draw(st.integers(0, 1000)))))


def outputs(result: Any) -> tuple[lab.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_of_rank_0_is_a_numpy_scalar_and_others_are_arrays(name: str) -> None:
    """The fast paths of the sweep tell scalars from arrays by their class."""
    for sample in samples(name):
        for out in outputs(sample(*sample.tensors())):
            array = out._array
            if array.dtype.kind != "O":
                assert isinstance(array, np.ndarray) == (array.ndim > 0), sample.params


WORDS = {"as_string", "to_number"}
INTO_COMPLEX = {"complex", "eig", "fft", "ifft", "irfft", "rfft", "widen"}
INTO_DISCRETE = {
    "all", "any", "argmax", "argmin", "argsort", "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan",
    "isotonic_blocks", "less", "less_equal", "not_equal", "shape", "top_positions", "where_true",
}  # fmt: skip


def floating(sample: Sample) -> bool:
    return all(np.asarray(x).dtype.kind == "f" for x in sample.inputs[:1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in {"cast", "cast_to_discrete"} | WORDS | INTO_COMPLEX])
def test_the_dtype_stays_and_the_value_is_as_exact_as_the_dtype(name: str, dtype: str) -> None:
    for sample in samples(name):
        if not floating(sample) or (name in REFUSES_HALVES and dtype != "float32"):
            return
        results = outputs(sample(*sample.tensors(dtype)))
        if name in INTO_DISCRETE:
            assert not results[0].dtype.is_floating
            continue
        rounded = [
            np.asarray(t.numpy(), np.float64) if t.dtype.is_floating else t.numpy() for t in sample.tensors(dtype)
        ]
        step = float(lab.as_dtype(dtype)._limits().eps)
        for got, whole in zip(results, outputs(sample(*map(lab.constant, rounded))), strict=True):
            if not whole.dtype.is_floating:
                continue
            assert got.dtype == dtype
            exact = np.asarray(whole)
            scale = np.abs(exact) + np.max(np.abs(exact), initial=1.0) * 0.5 + 1
            assert np.all(np.abs(np.asarray(got.numpy(), np.float64) - exact) <= 32 * step * scale), sample.params


@pytest.mark.parametrize("name", [n for n in NAMES if n not in WORDS])
def test_layout_in_memory_makes_no_difference(name: str) -> None:
    """Reversed, strided and Fortran-ordered arrays give what their contiguous copies give."""

    def reversed_view(x: np.ndarray) -> np.ndarray:
        return x[(slice(None, None, -1),) * x.ndim].copy()[(slice(None, None, -1),) * x.ndim]

    def strided(x: np.ndarray) -> np.ndarray:
        return np.repeat(x, 2, -1)[..., ::2] if x.ndim else x

    for sample in samples(name):
        plain = [out.numpy() for out in outputs(sample(*sample.tensors()))]
        for layout in (reversed_view, strided, np.asfortranarray):
            tensors = sample.tensors()
            for tensor in tensors:
                if isinstance(tensor._array, np.ndarray) and tensor._array.ndim:
                    tensor._held = layout(tensor._held)
            for again, before in zip(outputs(sample(*tensors)), plain, strict=True):
                if again.dtype.is_floating:  # vector instructions may round the last digits otherwise
                    np.testing.assert_allclose(again, before, 1e-12, 1e-13)
                else:
                    np.testing.assert_array_equal(again, before)


INTEGERS = {
    "abs": 3, "add": 3, "argmax": 1, "concat": 3, "floormod": 3, "floordiv": 3, "max": 1, "maximum": 3, "mean": 1,
    "min": 1, "minimum": 3, "multiply": 3, "negative": 3, "pow": 3, "sign": 3, "square": 3, "stack": 3, "subtract": 3,
    "sum": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(INTEGERS) - {"argmax"}))
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_ops_on_whole_numbers_keep_their_dtype(name: str, dtype: str) -> None:
    for sample in samples(name):
        arrays = [np.clip(np.abs(np.asarray(x)).astype(dtype), 1, 3) for x in sample.inputs]
        assert sample(*map(lab.constant, arrays)).dtype == dtype


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if REGISTRY[n].arity == 1])
def test_a_unary_op_keeps_whole_numbers_whole_or_refuses_them(name: str) -> None:
    """Never silently another dtype."""
    if name in {"logical_not", *INTO_DISCRETE}:
        return
    sample = elementwise(REGISTRY[name], ((3,),), np.random.default_rng(0))
    whole = lab.constant([1, 2, 3])
    if name in INTEGERS or name in {"ceil", "floor", "not_zero", "positive", "relu", "relu6", "round"}:
        assert sample(whole).dtype == lab.int32
    else:
        with pytest.raises(lab.errors.DtypeMismatch, match=rf"(?s){name}\(i32\[3\]\).*lab.cast"):
            sample(whole)
