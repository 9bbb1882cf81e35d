"""Ops that read only shapes, literals or Python values must not prevent compilation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest
from tests.amputation import marked

X = lab.constant([1.0, 2.0])
V = lab.Variable([1.0, 2.0])
TABLE = lab.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
MATRIX = lab.constant([[2.0, 0.5], [0.5, 3.0]])


def _forward(x: Any) -> Any:
    with lab.autodiff.ForwardAccumulator(x, lab.ones_like(x)) as accumulator:
        y = x * lab.sin(x)
    return accumulator.jvp(y)


def _array(x: Any) -> Any:
    return lab.TensorArray(lab.float32, 2).write(0, x).write(1, x * 2.0).stack()


def _spaced(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.linspace(x[0], x[1], 5) ** 2
    return tape.gradient(y, x)


def _silent() -> float:
    with np.errstate(all="ignore"):
        return float(np.exp(np.float32(1.0)))


ARRAY = np.array([0.5, 4.0], np.float32)


class Holder:
    """An object with NumPy values."""

    scale = np.float32(3.0)
    rows = np.arange(2.0, dtype=np.float32)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "NumPy numbers": lambda x: x / np.sqrt(x.shape[0]) + 0.5 * np.log(2 * np.pi) - np.float32(np.pi**2) * x,
    "a NumPy array from outside": lambda x: x * ARRAY,
    "NumPy arrays made inside": lambda x: lab.constant(np.eye(2, dtype=np.float32)) @ x[:, None] + np.linspace(0, 1, 2),
    "linear algebra of NumPy": lambda x: x * float(np.linalg.det(np.linalg.inv(np.eye(2) * 4.0))),
    "least squares of NumPy": lambda x: x * float(np.linalg.lstsq(np.eye(2), np.ones(2))[0].sum()),
    "a pseudo-inverse of NumPy": lambda x: x * float(np.convolve(np.linalg.pinv(np.eye(2))[0], [1.0, 2.0]).sum()),
    "an inverted permutation": lambda x: lab.gather(x, lab.math.invert_permutation(lab.argsort(x))),
    "a block in which NumPy is silent": lambda x: x * _silent(),
    "NumPy values of an object": lambda x: x * Holder.scale + Holder.rows[1] + [np.float32(1), 2.0],
    "an array as weights of an initializer": lambda x: lab.constant_initializer(ARRAY)((2,)) * x,
    "the gradient of a linspace": _spaced,
    "ones_like": lambda x: x + lab.ones_like(x),
    "zeros_like": lambda x: x + lab.zeros_like(x),
    "zeros_like of another dtype": lambda x: lab.zeros_like(x, dtype="int32"),
    "ones_like of a list": lambda x: x + lab.cast(lab.ones_like([1, 2]), lab.float32),
    "ones_like of a variable": lambda x: lab.ones_like(V) + x,
    "a row of a variable": lambda x: TABLE[1] * x + TABLE[-1],
    "columns of a variable": lambda x: TABLE[:, 0][:2] + TABLE[1:, 1] * x,
    "a variable with a new axis": lambda x: TABLE[None, ..., ::-1][0, 0] * x,
    "masked rows of a variable": lambda x: TABLE[np.array([True, False, True])] * x,
    "fill": lambda x: lab.fill(x.shape, 3.0) + x,
    "zeros and ones": lambda x: lab.zeros(x.shape) + lab.ones((2,)) + x,
    "eye": lambda x: lab.eye(x.shape[0]) * x,
    "range": lambda x: lab.cast(lab.range(2), lab.float32) + x,
    "linspace": lambda x: lab.linspace(0.0, 1.0, 2) + x,
    "shape, size and rank": lambda x: x * lab.cast(lab.size(x) + lab.rank(x) + lab.shape(x)[0], lab.float32),
    "zeros of a tensor's shape": lambda x: lab.zeros(lab.shape(x)) + x,
    "reshape by a tensor's shape": lambda x: lab.reshape(x * 2.0, [lab.shape(x)[0], 1]),
    "repeat": lambda x: lab.repeat(x, 2),
    "repeat by counts": lambda x: lab.repeat(x, [1, 2], axis=0),
    "tile": lambda x: lab.tile(x, [2]),
    "reverse_sequence": lambda x: lab.reverse_sequence(lab.stack([x, x]), [1, 2]),
    "segment_sum": lambda x: lab.math.segment_sum(x, [0, 1]),
    "segment_mean": lambda x: lab.math.segment_mean(x, [0, 0]),
    "segment_max": lambda x: lab.math.segment_max(x, [0, 0]),
    "segment_min": lambda x: lab.math.segment_min(x, [0, 1]),
    "segment_prod": lambda x: lab.math.segment_prod(x, [0, 0]),
    "unsorted_segment_sum": lambda x: lab.math.unsorted_segment_sum(x, [1, 0], 3),
    "unsorted_segment_sum of negative numbers": lambda x: lab.math.unsorted_segment_sum(x, [1, -1], 3),
    "unsorted_segment_mean": lambda x: lab.math.unsorted_segment_mean(x, [0, 0], 2),
    "unsorted_segment_sqrt_n": lambda x: lab.math.unsorted_segment_sqrt_n(x, [0, 0], 2),
    "unsorted_segment_max": lambda x: lab.math.unsorted_segment_max(x, [0, 0], 2),
    "unsorted_segment_prod": lambda x: lab.math.unsorted_segment_prod(x, [0, 0], 2),
    "clip_by_norm": lambda x: lab.clip_by_norm(x, 1.0),
    "clip_by_global_norm": lambda x: lab.clip_by_global_norm([x, x * 2.0], 1.0),
    "clip_by_average_norm": lambda x: lab.clip_by_average_norm(x, 1.0),
    "jvp": lambda x: lab.jvp(lambda v: v * lab.sin(v), [x], [x]),
    "ForwardAccumulator": _forward,
    "cond on a Python bool": lambda x: lab.cond(x.shape[0] > 1, lambda: x * 2.0, lambda: x),
    "cond on a constant": lambda x: lab.cond(lab.constant(True), lambda: x * 2.0, lambda: x),
    "case": lambda x: lab.case([(x.shape[0] > 5, lambda: x * 2.0)], default=lambda: x),
    "switch_case": lambda x: lab.switch_case(1, {0: lambda: x, 1: lambda: x * 3.0}),
    "while_loop over a counter": lambda x: lab.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, x]),
    "map_fn and scan": lambda x: (lab.map_fn(lambda v: v * 2.0, x), lab.scan(lambda a, v: a + v, x)),
    "TensorArray": _array,
    "boolean_mask by a list": lambda x: lab.boolean_mask(x, [True, False]),
    "sequence_mask": lambda x: lab.cast(lab.sequence_mask([1, 2], 3), lab.float32) * x[0],
    "moments": lambda x: lab.nn.moments(x, [0]),
    "weighted_moments": lambda x: lab.nn.weighted_moments(x, [0], lab.ones(2)),
    "in_top_k": lambda x: lab.math.in_top_k(lab.cast(x, lab.int32), lab.stack([x, x, x], 1), 1),
    "confusion_matrix": lambda x: lab.math.confusion_matrix([0, 1], [0, 1]) + 1,
    "bincount of a list": lambda x: lab.cast(lab.math.bincount([0, 1]), lab.float32) * x,
    "weighted bincount": lambda x: lab.math.bincount([0, 1], weights=x),
    "histogram_fixed_width_bins": lambda x: lab.histogram_fixed_width_bins(x, [0.0, 5.0], nbins=5),
    "gather and scatter": lambda x: lab.tensor_scatter_nd_add(lab.gather(x, [1, 0]), [[0]], [1.0]),
    "assertions on shapes": lambda x: (lab.debugging.assert_rank(x, 1), lab.ensure_shape(x, (2,)))[1],
    "linear algebra": lambda x: (lab.linalg.inv(MATRIX * x), lab.linalg.slogdet(MATRIX), lab.linalg.diag(x)),
    "IndexedSlices": lambda x: lab.convert_to_tensor(lab.IndexedSlices(x, lab.constant([0, 1]), lab.constant([2]))),
    "losses": lambda x: (lab.losses.Huber()([1.0, -1.0], x), lab.losses.Hinge()([1.0, -1.0], x)),
    "a weighted loss": lambda x: lab.losses.MeanSquaredError()([[1.0], [-1.0]], x[:, None], sample_weight=[1.0, 0.5]),
    "dropout at rate 0": lambda x: lab.nn.dropout(x, 0.0) * 2.0,
}  # fmt: skip

NEED_EXTRAS = {
    "cond on a Python bool", "cond on a constant", "case", "switch_case", "while_loop over a counter",
    "map_fn and scan", "TensorArray", "assertions on shapes", "IndexedSlices",
}  # fmt: skip


SHAPED: dict[str, Callable[[Any], Any]] = {
    "by where": lambda x: x * float(lab.where(x > 1.5).shape[0]),
    "by unique": lambda x: x * float(lab.unique(lab.round(x))[0].shape[0]),
    "by a tensor of a shape": lambda x: x * lab.cast(lab.shape(lab.where(x > 1.5))[0], lab.float32),
    "by an op that fails": lambda x: (lab.linalg.cholesky(lab.linalg.diag(x)), x)[1],
    "by an index out of range": lambda x: (lab.gather([1.0, 2.0], lab.cast(x, lab.int32)), x)[1],
    "by a whole quotient": lambda x: (3 // lab.cast(x, lab.int32), x)[1],
}


@pytest.mark.parametrize("name", SHAPED)
def test_a_value_that_only_python_looked_at_still_decides(name: str) -> None:
    """Ops whose shapes or failures depend on values stay in a program, though nothing uses what they give."""
    program = SHAPED[name]
    compiled = lab.function(program, backend="numpy")
    for k in (0.5, 0.9, -1.0, 0.0, 5.0, 0.5):
        outcomes: list[Any] = []
        for f in (program, compiled):
            try:
                outcomes.append(f(X * k).numpy().tolist())
            except lab.errors.InvalidArgumentError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("name", marked(PROGRAMS, NEED_EXTRAS.__contains__))
def test_the_program_is_compiled_and_gives_the_eager_bits(name: str) -> None:
    program = PROGRAMS[name]
    compiled = lab.function(program, backend="numpy")
    for k in (1.0, 2.0, 0.5):
        expected, found = (nest.flatten(f(X * k))[0] for f in (program, compiled))
        for a, b in zip(expected, found, strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a.numpy(), b.numpy())
    assert compiled.fallbacks == 0, compiled.why()
