"""Tensors without elements: every op gives an empty result, zeros, or what TensorFlow gives; no op a NumPy error.

`NOTHING` holds calls of the ops whose samples always have an element.  `CALLS` holds public functions, with the shapes
that TensorFlow 2.21 gives.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base.choose import CHOSEN
from autodiff_lab.testing import weighted_sum
from tests.amputation import EXTRAS
from tests.ops.samples import Sample, ops_of_the_catalogue, samples

NAMES = ops_of_the_catalogue()
Shape = tuple[int, ...]


def z(*shape: int) -> np.ndarray:
    return np.zeros(shape)


def i(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int64)


def t(*shape: int) -> np.ndarray:
    return np.full(shape, b"", object)


window: dict[str, Any] = {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
same: dict[str, Any] = {"strides": (1, 1), "padding": ((0, 1), (0, 1)), "dilations": (1, 1)}
pool: dict[str, Any] = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
around: dict[str, Any] = {"window": (2, 2), "strides": (1, 1), "padding": ((0, 1), (0, 1))}
linear: dict[str, Any] = {"method": "bilinear", "antialias": False}
every = ("s", None, None, None)
last: dict[str, Any] = {"axes": (-1,), "keepdims": False}
SEQUENCES = ((0, 2), (2, 0))
PLACES = (("take", (("axis", -1), ("index", 1))),) * 2
Row = tuple[tuple[Any, ...], dict[str, Any], Any]
ROWS: dict[str, list[Row]] = {
    "broadcast_to": [((z(1, 3),), {"shape": (2, 0, 3)}, (2, 0, 3))],
    "scatter_axis": [((z(0, 3), i(0)), {"axis": -2, "length": 4}, (4, 3))],
    "gather_nd": [
        ((z(2, 3), i(0, 2)), {}, (0,)),
        ((z(0, 3), i(0, 1)), {}, (0, 3)),
        ((z(2, 3), i(4, 0)), {}, (4, 2, 3)),
    ],
    "scatter_nd": [((z(0, 3), i(0, 1)), {"shape": (2, 3)}, (2, 3)), ((z(4, 3), i(4, 0)), {"shape": (3,)}, (3,))],
    "tensor_scatter_nd_update": [((z(2, 3), z(0, 3), i(0, 1)), {}, (2, 3))],
    "kept_mask": [((i(0, 1),), {"shape": (4,), "dtype": "float64"}, (4,))],
    "argmax argmin": [((z(0, 3),), {"axis": 1}, (0,))],
    "tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min": [
        ((z(2, 3), z(0, 3), i(0, 1)), {}, (2, 3)),
        ((z(2, 3), z(0), i(0, 2)), {}, (2, 3)),
        ((z(2, 3), z(4, 2, 3), i(4, 0)), {}, (2, 3)),
    ],
    "one_hot": [((i(0, 2),), {"depth": 3, "on": 1, "off": 0, "axis": -1, "dtype": "float32"}, (0, 2, 3))],
    "take_along": [((z(0, 3), i(0, 3)), {"axis": -1}, (0, 3)), ((z(3, 0), i(3, 0)), {"axis": -1}, (3, 0))],
    "put_along": [
        ((z(0, 3), i(0, 3)), {"axis": -1, "length": 4}, (0, 4)),
        ((z(3, 0), i(3, 0)), {"axis": -1, "length": 4}, (3, 4)),
    ],
    "top_positions": [((z(0, 3),), {"k": 2}, (0, 2)), ((z(3, 0),), {"k": 0}, (3, 0))],
    "searchsorted": [
        ((z(0), z(2)), {"side": "left"}, (2,)),
        ((z(3, 0), z(3, 2)), {"side": "left"}, (3, 2)),
        ((z(0, 3), z(0, 2)), {"side": "right"}, (0, 2)),
    ],
    "reverse": [((z(0, 3),), {"axes": (-2, -1)}, (0, 3))],
    "slice": [
        ((z(0, 3),), {"items": (("s", None, None, 2), every)}, (0, 3)),
        ((z(4),), {"items": (("s", 2, 2, None),)}, (0,)),
    ],
    "accumulate_parts": [((z(0), z(0)), {"places": PLACES, "shape": (0, 3), "onto": False}, (0, 3))],
    "unslice": [((z(0, 3),), {"items": (("s", 2, 2, None), every), "shape": (4, 3)}, (4, 3))],
    "slice_axis": [((z(0, 3),), {"axis": -2, "start": 0, "stop": 0}, (0, 3))],
    "take": [((z(3, 0),), {"axis": -2, "index": 1}, (0,))],
    "widen real_part imaginary_part conj angle": [((z(0, 3),), {}, (0, 3))],
    "complex nextafter": [((z(0, 3), z(3)), {}, (0, 3))],
    "power_grad": [((z(0, 3), z(3)), {"order": 1}, (0, 3))],
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift": [((i(0, 3), i(3)), {}, (0, 3))],
    "invert population_count": [((i(0, 3),), {}, (0, 3))],
    "bitcast": [((z(0, 3),), {"dtype": "int64"}, (0, 3))],
    "extreme_grad": [
        ((z(0, 1), z(0, 1), z(0, 3)), {"axes": (-1,)}, (0, 3)),
        ((z(3, 1), z(3, 1), z(3, 0)), {"axes": (-1,)}, (3, 0)),
    ],
    "sum mean prod max min euclidean_norm logsumexp": [
        ((z(0, 3),), last, (0,)),
        ((z(3, 0),), last, (3,)),
        ((z(0),), {"axes": (-1,), "keepdims": True}, (1,)),
        ((z(2, 0, 3),), {"axes": (-3, -2), "keepdims": False}, (3,)),
    ],
    "any all": [((np.zeros((3, 0), bool),), last, (3,)), ((np.zeros((0, 3), bool),), last, (0,))],
    "clip": [((z(0, 3), z(3), z()), {}, (0, 3))],
    "invert_permutation": [((i(0),), {}, (0,))],
    "in_top_k": [((i(0), z(0, 3)), {"k": 1}, (0,)), ((i(2), z(2, 0)), {"k": 1}, (2,))],
    "cumsum cumprod": [((z(3, 0),), {"axis": -1, "exclusive": True, "reverse": True}, (3, 0))],
    "cumulative_logsumexp running_top": [((z(3, 0),), {"axis": -1, "reverse": r}, (3, 0)) for r in (True, False)],
    "polygamma zeta igamma igammac gamma_quantile": [((z(0, 3), z(3)), {}, (0, 3))],
    "igamma_grad": [((z(0, 3), z(3)), {"order": 1}, (0, 3))],
    "betainc": [((z(0, 3), z(3), z()), {}, (0, 3))],
    "bessel_iv bessel_ive bessel_jv": [((z(0, 3),), {"order": 1}, (0, 3))],
    "einsum": [((z(2, 0), z(0, 3)), {"inputs": ("ij", "jk"), "output": "ik"}, (2, 3))],
    "cross": [((z(0, 3), z(0, 3)), {}, (0, 3))],
    "diag": [
        ((z(0),), {"k": 0, "rows": 0, "columns": 0}, (0, 0)),
        ((z(0, 2),), {"k": 0, "rows": 2, "columns": 3}, (0, 2, 3)),
    ],
    "diag_part": [((z(0, 3, 3),), {"k": 0}, (0, 3)), ((z(0, 0),), {"k": 0}, (0,))],
    "band_part": [((z(0, 3, 3),), {"lower": 1, "upper": 0}, (0, 3, 3))],
    "inv cholesky expm logm sqrtm": [((z(0, 2, 2),), {}, (0, 2, 2)), ((z(0, 0),), {}, (0, 0))],
    "det": [((z(0, 2, 2),), {}, (0,)), ((z(3, 0, 0),), {}, (3,))],
    "slogdet": [((z(0, 2, 2),), {}, ((0,), (0,)))],
    "solve": [((z(0, 2, 2), z(0, 2, 3)), {}, (0, 2, 3)), ((z(2, 2) + np.eye(2), z(2, 0)), {}, (2, 0))],
    "cholesky_grad": [((z(0, 2, 2), z(0, 2, 2)), {}, (0, 2, 2)), ((z(0, 0), z(0, 0)), {}, (0, 0))],
    "cholesky_solve": [((z(0, 2, 2), z(0, 2, 3)), {}, (0, 2, 3)), ((z(2, 2) + np.eye(2), z(2, 0)), {}, (2, 0))],
    "triangular_solve": [((z(0, 2, 2), z(0, 2, 3)), {"lower": True}, (0, 2, 3))],
    "inverse_gaps": [((z(0, 3),), {}, (0, 3, 3))],
    "svd": [((z(0, 3, 2),), {"full": False}, ((0, 2), (0, 3, 2), (0, 2, 2)))],
    "qr": [((z(0, 3, 2),), {"full": False}, ((0, 3, 2), (0, 2, 2)))],
    "pinv": [((z(0, 3, 2),), {"rcond": 1e-6}, (0, 2, 3))],
    "tridiagonal_solve": [((z(0, 3, 4), z(0, 4, 2)), {}, (0, 4, 2))],
    "diag_range_part": [((z(0, 3, 4),), {"low": -1, "high": 2, "align": "RIGHT_LEFT"}, (0, 4, 3))],
    "diag_range": [((z(0, 3, 3),), {"low": -1, "high": 1, "rows": 3, "columns": 4, "align": "RIGHT_LEFT"}, (0, 3, 4))],
    "eigh eig": [((z(0, 2, 2),), {}, ((0, 2), (0, 2, 2)))],
    "lu lu_factors": [((z(0, 2, 2),), {}, ((0, 2, 2), (0, 2)))],
    "permute unpermute": [((z(0, 2), i(0)), {}, (0, 2))],
    "expm_frechet": [((z(0, 2, 2), z(0, 2, 2)), {}, (0, 2, 2)), ((z(0, 0), z(0, 0)), {}, (0, 0))],
    "sylvester": [((z(0, 2, 2), z(0, 2, 2)), {}, (0, 2, 2))],
    "convolve": [
        ((z(0, 4, 4, 2), z(2, 2, 2, 3)), window, (0, 3, 3, 3)),
        ((z(1, 0, 4, 2), z(2, 2, 2, 3)), same, (1, 0, 4, 3)),
        ((z(1, 4, 4, 0), z(2, 2, 0, 3)), window, (1, 3, 3, 3)),
        ((z(1, 4, 4, 2), z(2, 2, 2, 0)), window, (1, 3, 3, 0)),
    ],
    "convolve_input": [((z(0, 3, 3, 3), z(2, 2, 2, 3)), {"shape": (0, 4, 4, 2), **window}, (0, 4, 4, 2))],
    "convolve_filter": [((z(0, 4, 4, 2), z(0, 3, 3, 3)), {"window": (2, 2), **window}, (2, 2, 2, 3))],
    "depthwise": [
        ((z(0, 4, 4, 2), z(2, 2, 2, 3)), window, (0, 3, 3, 6)),
        ((z(1, 0, 4, 2), z(2, 2, 2, 3)), same, (1, 0, 4, 6)),
    ],
    "depthwise_input": [((z(0, 3, 3, 6), z(2, 2, 2, 3)), {"shape": (0, 4, 4, 2), **window}, (0, 4, 4, 2))],
    "depthwise_filter": [((z(0, 4, 4, 2), z(0, 3, 3, 6)), {"window": (2, 2), **window}, (2, 2, 2, 3))],
    "normalize": [((z(0, 3), z(3), z(3)), {"axes": (-1,), "epsilon": 0.1}, (0, 3))],
    "normalize_grad": [((z(0, 3), z(0, 3), z(3)), {"axes": (-1,), "epsilon": 0.1}, ((0, 3), (3,), (3,)))],
    "lstm": [
        ((z(b, t, 2), z(b, 3), z(b, 3), z(2, 12), z(3, 12), z(12)), {}, ((b, t, 3), (b, t, 3), (b, t, 12)))
        for b, t in SEQUENCES
    ],
    "gru": [((z(b, t, 2), z(b, 3), z(2, 9), z(3, 9), z(2, 9)), {}, ((b, t, 3), (b, t, 12))) for b, t in SEQUENCES],
    "simple_rnn": [((z(b, t, 2), z(b, 3), z(2, 3), z(3, 3), z(3)), {}, (b, t, 3)) for b, t in SEQUENCES],
    "lstm_grad": [
        (
            (*[z(b, t, 3), z(b, t, 3), z(b, t, 12)] * 2, z(b, t, 2), z(b, 3), z(b, 3), z(2, 12), z(3, 12)),
            {"wanted": (0, 1, 5)},
            ((b, t, 2), (b, 3), (12,)),
        )
        for b, t in SEQUENCES
    ],
    "gru_grad": [
        (
            (*[z(b, t, 3), z(b, t, 12)] * 2, z(b, t, 2), z(b, 3), z(2, 9), z(3, 9)),
            {"wanted": (1, 3, 4)},
            ((b, 3), (3, 9), (2, 9)),
        )
        for b, t in SEQUENCES
    ],
    "simple_rnn_grad": [
        ((z(b, t, 3), z(b, t, 3), z(b, t, 2), z(b, 3), z(2, 3), z(3, 3)), {"wanted": (0, 2)}, ((b, t, 2), (2, 3)))
        for b, t in SEQUENCES
    ],
    "isotonic_blocks": [((z(0, 3),), {}, (0, 3))],
    "block_mean": [((z(0, 3), np.zeros((0, 3), np.int32)), {}, (0, 3))],
    "softmax log_softmax": [
        ((z(0),), {"axis": -1}, (0,)),
        ((z(3, 0),), {"axis": -1}, (3, 0)),
        ((z(0, 3),), {"axis": -2}, (0, 3)),
    ],
    "softmax_cross_entropy": [((z(0, 3), z(0, 3)), {}, (0,)), ((z(3, 0), z(3, 0)), {}, (3,))],
    "softmax_cross_entropy_grad": [((z(0), z(0, 3), z(0, 3)), {}, (0, 3)), ((z(3), z(3, 0), z(3, 0)), {}, (3, 0))],
    "ctc_loss": [((z(2, 0, 3), i(0, 2), i(0), i(0)), {"blank": 0}, (0,))],
    "softmax_minus_occupancy": [
        ((z(2, 0, 3), i(0, 2), i(0), i(0)), {"blank": 0}, (2, 0, 3)),
        ((z(0, 2, 3), i(2, 1), i(2), i(2)), {"blank": 0}, (0, 2, 3)),
    ],
    "max_pool average_pool": [
        ((z(0, 4, 4, 1),), pool, (0, 2, 2, 1)),
        ((z(1, 4, 4, 0),), pool, (1, 2, 2, 0)),
        ((z(1, 0, 4, 1),), around, (1, 0, 4, 1)),
    ],
    "max_pool_input": [
        ((z(0, 2, 2, 1), z(0, 4, 4, 1)), pool, (0, 4, 4, 1)),
        ((z(1, 0, 4, 1), z(1, 0, 4, 1)), around, (1, 0, 4, 1)),
    ],
    "max_pool_pick": [
        ((z(0, 4, 4, 1), z(0, 4, 4, 1)), pool, (0, 2, 2, 1)),
        ((z(1, 0, 4, 1), z(1, 0, 4, 1)), around, (1, 0, 4, 1)),
    ],
    "average_pool_input": [((z(0, 2, 2, 1),), {"shape": (0, 4, 4, 1), **pool}, (0, 4, 4, 1))],
    "resize resize_input": [((z(0, 2, 2, 1),), {"height": 4, "width": 3, **linear}, (0, 4, 3, 1))],
    "fft ifft": [((z(0, 4),), {"rank": 1}, (0, 4))],
    "rfft": [((z(0, 4),), {"rank": 1}, (0, 3))],
    "irfft": [((z(0, 3),), {"rank": 1, "length": 4}, (0, 4))],
    "mirror_weights": [((z(0, 3),), {"length": 4, "count": 4}, (0, 3))],
    "adjust_contrast": [((z(0, 2, 2), z()), {}, (0, 2, 2))],
    "sparse_matmul": [
        ((z(0), z(2, 4), i(0, 2)), {"rows": 3}, (3, 4)),
        ((z(1), z(2, 0), i(1, 2)), {"rows": 3}, (3, 0)),
        ((z(0), z(0, 4), i(0, 2)), {"rows": 3}, (3, 4)),
    ],
    "as_string": [((i(0, 3),), {"pattern": "%d"}, (0, 3))],
    "to_number": [((t(0, 3),), {"dtype": "float32"}, (0, 3))],
    "string_join": [((t(0, 3), t(3)), {"separator": "-"}, (0, 3))],
    "reduce_join": [((t(0, 3),), {"axes": (-1,), "keepdims": False, "separator": "+"}, (0,))],
    "string_length string_lower string_upper": [((t(0, 3),), {"characters": True}, (0, 3))],
    "string_strip": [((t(0, 3),), {}, (0, 3))],
    "substr": [((t(0, 3), i(), i()), {"characters": True}, (0, 3))],
    "regex_replace": [((t(0, 3),), {"pattern": "a", "rewrite": "b", "everywhere": True}, (0, 3))],
    "regex_full_match": [((t(0, 3),), {"pattern": "a"}, (0, 3))],
}
NOTHING = {name: rows for names, rows in ROWS.items() for name in names.split()}


@pytest.mark.extras
def test_every_op_is_tried_with_nothing() -> None:
    sampled = {name for name in NAMES if any(0 in np.shape(x) for s in samples(name) for x in s.inputs)}
    assert not set(NAMES) - sampled - set(NOTHING)
    assert not set(NOTHING) - set(NAMES)


def gradients(sample: Sample, recorded: bool, dtype: str | None) -> Iterator[tuple[lab.Tensor, lab.Tensor]]:
    tensors = sample.tensors(dtype)
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape() as outer:
        outer.watch(sources)
        with lab.GradientTape() as tape:
            tape.watch(sources)
            total = weighted_sum(sample(*tensors))
        found = tape.gradient(total, sources) if recorded else None
    yield from zip(tape.gradient(total, sources) if found is None else found, sources, strict=True)


def shapes(result: Any) -> tuple[Shape, ...]:
    return tuple(tuple(out.shape) for out in (result if isinstance(result, tuple) else (result,)))


SETS = [
    (name, mode) for name in NOTHING if EXTRAS or name in REGISTRY
    for mode in ("numpy", "numba") if mode == "numpy" or name in CHOSEN
]  # fmt: skip


@pytest.mark.slow(keep=30)
@pytest.mark.parametrize(("name", "mode"), SETS)
def test_an_op_on_nothing(name: str, mode: str) -> None:
    dtype = "float32" if mode == "numba" else None  # the kernels that other tests compile too
    for inputs, params, expected in NOTHING[name]:
        sample = Sample(REGISTRY[name], inputs, params)
        with lab.use_kernels(mode):
            made = shapes(sample(*sample.tensors(dtype)))
            assert made in (expected, (expected,))
            for recorded in (False, True) if sample.differentiable else ():
                for g, source in gradients(sample, recorded, dtype):
                    assert g.shape == source.shape
                    assert g.dtype == source.dtype


f = lab.zeros
CALLS: dict[str, tuple[Callable[[], Any], Shape]] = {
    "largest of nothing": (lambda: lab.reduce_max(f([3, 0]), axis=1), (3,)),
    "argsort": (lambda: lab.argsort(f([3, 0])), (3, 0)),
    "sort": (lambda: lab.sort(f([0, 3])), (0, 3)),
    "top_k of none": (lambda: lab.math.top_k(f([3, 0]), 0)[0], (3, 0)),
    "repeat": (lambda: lab.repeat(f([0]), []), (0,)),
    "repeat along an axis": (lambda: lab.repeat(f([0, 2]), [], axis=0), (0, 2)),
    "variance": (lambda: lab.math.reduce_variance(f([3, 0]), axis=1), (3,)),
    "std": (lambda: lab.math.reduce_std(f([0, 3]), axis=1), (0,)),
    "norm": (lambda: lab.norm(f([3, 0]), axis=1), (3,)),
    "norm of order inf": (lambda: lab.norm(f([3, 0]), ord=np.inf, axis=1), (3,)),
    "l2_normalize": (lambda: lab.math.l2_normalize(f([3, 0]), axis=1), (3, 0)),
    "moments": (lambda: lab.nn.moments(f([0, 3]), [0])[1], (3,)),
    "zero_fraction": (lambda: lab.math.zero_fraction(f([0])), ()),
    "segment_sum": (lambda: lab.math.segment_sum(f([0, 3]), i(0)), (0, 3)),
    "segment_max": (lambda: lab.math.segment_max(f([0, 3]), i(0)), (0, 3)),
    "segment_prod": (lambda: lab.math.segment_prod(f([0, 3]), i(0)), (0, 3)),
    "unsorted_segment_max": (lambda: lab.math.unsorted_segment_max(f([0, 3]), i(0), 2), (2, 3)),
    "unsorted_segment_mean": (lambda: lab.math.unsorted_segment_mean(f([0, 3]), i(0), 2), (2, 3)),
    "max_pool2d": (lambda: lab.nn.max_pool2d(f([0, 4, 4, 1]), 2, 2, "VALID"), (0, 2, 2, 1)),
    "avg_pool2d, SAME": (lambda: lab.nn.avg_pool2d(f([1, 0, 4, 1]), 2, 2, "SAME"), (1, 0, 2, 1)),
    "avg_pool2d, VALID": (lambda: lab.nn.avg_pool2d(f([1, 0, 4, 1]), 2, 2, "VALID"), (1, 0, 2, 1)),
    "conv2d": (lambda: lab.nn.conv2d(f([0, 4, 4, 1]), f([2, 2, 1, 3]), 1, "VALID"), (0, 3, 3, 3)),
    "conv2d, SAME": (lambda: lab.nn.conv2d(f([1, 0, 4, 1]), f([2, 2, 1, 3]), 1, "SAME"), (1, 0, 4, 3)),
    "depthwise_conv2d": (lambda: lab.nn.depthwise_conv2d(f([0, 4, 4, 1]), f([2, 2, 1, 3])), (0, 3, 3, 3)),
    "in_top_k": (lambda: lab.math.in_top_k(i(0), f([0, 3]), 1), (0,)),
    "bincount": (lambda: lab.math.bincount(i(0)), (0,)),
    "histogram": (lambda: lab.histogram_fixed_width(f([0]), [0.0, 1.0]), (100,)),
    "unique": (lambda: lab.unique(f([0]))[0], (0,)),
    "where": (lambda: lab.where(lab.cast(f([0]), lab.bool)), (0, 1)),
    "tile": (lambda: lab.tile(f([0, 3]), [2, 0]), (0, 0)),
    "matmul": (lambda: lab.matmul(f([2, 0]), f([0, 3])), (2, 3)),
    "add_n": (lambda: lab.add_n([f([0]), f([0]), f([0])]), (0,)),
    "lrn": (lambda: lab.nn.lrn(f([0, 2, 2, 3])), (0, 2, 2, 3)),
    "exclusive running log-sum-exp": (lambda: lab.math.cumulative_logsumexp(f([3, 0]), 1, exclusive=True), (3, 0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_of_nothing_has_the_shape_that_tensorflow_gives(name: str) -> None:
    call, shape = CALLS[name]
    assert call().shape == shape


def test_the_extremes_of_nothing_change_no_comparison() -> None:
    for dtype in (lab.float32, lab.bfloat16):
        nothing = lab.zeros((2, 0), dtype)
        assert lab.reduce_max(nothing, axis=1).numpy().tolist() == [-np.inf, -np.inf]
        assert lab.reduce_min(nothing).numpy() == np.inf
    for dtype in (lab.int8, lab.uint16, lab.int64):
        assert lab.reduce_max(lab.zeros((0,), dtype)).numpy() == dtype.min
        assert lab.reduce_min(lab.zeros((0,), dtype)).numpy() == dtype.max


def test_to_choose_from_nothing_is_an_error() -> None:
    with pytest.raises(lab.errors.LabError, match="axis of length 0"):
        lab.argmax(f([3, 0]), axis=1)
    with pytest.raises(lab.errors.InvalidArgumentError, match="k=1"):
        lab.math.top_k(f([3, 0]), 1)
