"""Mathematical functions that are composed of several ops, and their values at the edges of their domains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.amputation import EXTRAS
from tests.refusals import refused

RNG = np.random.default_rng(8)
X = RNG.normal(size=(3, 4))
IDS = [[1, 0, -1, 1], [0, 3, 3, 1], [-1, 0, 1, 3]]

SMOOTH: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "reduce_std": (lambda x: lab.math.reduce_std(x, 1), (X,)),
    "reduce_variance": (lambda x: lab.math.reduce_variance(x, 0, True), (X,)),
    "l2_normalize": (lambda x: lab.math.l2_normalize(x, -1), (X,)),
    "exclusive log-sum-exp": (lambda x: lab.math.cumulative_logsumexp(x, 1, exclusive=True)[:, 1:], (X,)),
    "reverse log-sum-exp": (lambda x: lab.math.cumulative_logsumexp(x, 1, exclusive=True, reverse=True)[:, :-1], (X,)),
    "lbeta": (lab.math.lbeta, (np.abs(X) + 0.3,)),
    "polyval": (lambda a, b, x: lab.math.polyval([a, b, 0.5], x), (X[0], X[1], X[2])),
    "clip_by_norm": (lambda x: lab.clip_by_norm(x, 0.5, 1), (X,)),
    "clip_by_average_norm": (lambda x: lab.clip_by_average_norm(x, 0.05), (X,)),
    "clip_by_global_norm": (lambda a, b: lab.clip_by_global_norm([a, None, b], 1.0)[0][2], (X, X[0])),
    "global_norm": (lambda a, b: lab.linalg.global_norm([a, b]), (X, X[0])),
    "segment_mean": (lambda x: lab.math.segment_mean(x, [0, 0, 2]), (X,)),
    "segment_prod": (lambda x: lab.math.segment_prod(x, [0, 0, 2]), (X,)),
    "unsorted_segment_sum": (lambda x: lab.math.unsorted_segment_sum(x, IDS, 5), (X,)),
    "unsorted_segment_mean": (lambda x: lab.math.unsorted_segment_mean(x, [2, 0, 2], 4), (X,)),
    "unsorted_segment_sqrt_n": (lambda x: lab.math.unsorted_segment_sqrt_n(x, IDS, 4), (X,)),
    "unsorted_segment_max": (lambda x: lab.math.unsorted_segment_max(x, IDS, 4)[::3], (X,)),
    "unsorted_segment_prod": (lambda x: lab.math.unsorted_segment_prod(x, IDS, 4), (X,)),
    "bincount": (lambda w: lab.math.bincount([2, 0, 2, 5], w, maxlength=4), (X[0],)),
    "confusion_matrix": (lambda w: lab.math.confusion_matrix([2, 0], [1, 0], weights=w, dtype="float64"), (X[0, :2],)),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_agree_with_differences(name: str, order: int) -> None:
    function, inputs = SMOOTH[name]
    check = check_gradient(function, *inputs, order=order)
    assert check, check


def value(name: str) -> np.ndarray:
    function, inputs = SMOOTH[name]
    return np.asarray(function(*map(lab.constant, inputs)))


def by_segment(reduce: Callable[..., Any], count: int, empty: float = 0.0) -> list[Any]:
    ids = np.asarray(IDS)
    return [reduce(X[ids == k]) if np.any(ids == k) else empty for k in range(count)]


def test_values_are_those_of_numpy() -> None:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    whole = np.sqrt((X * X).sum() + (X[0] * X[0]).sum())
    expected = {
        "reduce_std": X.std(1),
        "reduce_variance": X.var(0, keepdims=True),
        "l2_normalize": X / norms,
        "exclusive log-sum-exp": np.logaddexp.accumulate(X, 1)[:, :-1],
        "lbeta": scipy.special.gammaln(np.abs(X) + 0.3).sum(-1) - scipy.special.gammaln((np.abs(X) + 0.3).sum(-1)),
        "polyval": X[0] * X[2] ** 2 + X[1] * X[2] + 0.5,
        "clip_by_norm": X * np.minimum(1, 0.5 / norms),
        "clip_by_global_norm": X[0] / whole,
        "global_norm": whole,
        "segment_mean": [X[:2].mean(0), np.zeros(4), X[2]],
        "segment_prod": [X[0] * X[1], np.ones(4), X[2]],
        "unsorted_segment_sum": by_segment(np.sum, 5),
        "unsorted_segment_sqrt_n": by_segment(lambda v: v.sum() / np.sqrt(v.size), 4),
        "unsorted_segment_max": by_segment(np.max, 4)[::3],
        "unsorted_segment_prod": by_segment(np.prod, 4, 1.0),
        "bincount": [X[0, 1], 0, X[0, 0] + X[0, 2], 0],
        "confusion_matrix": [[X[0, 1], 0, 0], [0, 0, 0], [0, X[0, 0], 0]],
    }
    for name, array in expected.items():
        np.testing.assert_allclose(value(name), array, 1e-12, err_msg=name)


def gradients(function: Callable[..., Any], *inputs: Any) -> list[Any]:
    tensors = [lab.constant(x, lab.float64) for x in inputs]
    with lab.GradientTape() as tape:
        tape.watch(tensors)
        result = function(*tensors)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(result, tensors)]


inf, nan = float("inf"), float("nan")
EDGES: list[tuple[str, Callable[..., Any], tuple[Any, ...], list[Any]]] = [
    ("xlogy at 0, 0", lab.math.xlogy, (0.0, 0.0), [0.0, 0.0]),
    ("xlogy at 0, -1", lab.math.xlogy, (0.0, -1.0), [0.0, 0.0]),
    ("xlog1py at 0, -1", lab.math.xlog1py, (0.0, -1.0), [0.0, 0.0]),
    ("xdivy at 0, 0", lab.math.xdivy, (0.0, 0.0), [0.0, 0.0]),
    ("divide_no_nan by 0", lab.math.divide_no_nan, (3.0, 0.0), [0.0, 0.0]),
    ("multiply_no_nan by 0", lab.math.multiply_no_nan, (inf, 0.0), [0.0, inf]),
    ("reciprocal_no_nan of 0", lab.math.reciprocal_no_nan, (0.0,), [0.0]),
    ("atan2 at the origin", lab.atan2, (0.0, 0.0), [nan, nan]),
    ("norm of 0", lab.math.reduce_euclidean_norm, ([0.0, 0.0],), [[nan, nan]]),
    ("clip_by_norm of 0", lambda x: lab.clip_by_norm(x, 2.0), ([0.0, 0.0],), [[1.0, 1.0]]),
    ("std of equal numbers", lab.math.reduce_std, ([2.0, 2.0],), [[nan, nan]]),
    ("clip at a bound", lambda x: lab.clip_by_value(x, 0.0, 1.0), ([0.0, 1.0, 2.0],), [[1.0, 1.0, 0.0]]),
    ("product with one 0", lab.reduce_prod, ([2.0, 0.0, 3.0],), [[0.0, 6.0, 0.0]]),
    ("product with two 0", lab.reduce_prod, ([2.0, 0.0, 0.0],), [[0.0, 0.0, 0.0]]),
    ("running product with a 0", lambda x: lab.math.cumprod(x)[2], ([2.0, 0.0, 3.0],), [[0.0, 6.0, 0.0]]),
    ("ties in segments", lambda x: lab.math.segment_max(x, [0, 0, 1]), ([1.0, 1.0, 5.0],), [[0.5, 0.5, 1.0]]),
    ("log-sum-exp of -inf", lab.reduce_logsumexp, ([-inf, -inf],), [[0.0, 0.0]]),
    ("log-sum-exp with -inf", lab.reduce_logsumexp, ([-inf, 0.0],), [[0.0, 1.0]]),
    ("running log-sum-exp from -inf", lambda x: lab.math.cumulative_logsumexp(x)[1], ([-inf, 0.0],), [[0.0, 1.0]]),
    ("softsign at 0", lab.math.softsign, (0.0,), [1.0]),
    ("igamma at 0 with a = 1", lab.math.igamma, (1.0, 0.0), [0.0, 1.0]),
    ("erfinv at its end", lab.math.erfinv, (1.0,), [inf]),
]
if EXTRAS:
    EDGES.extend(
        [
            ("i1 at 0", lab.math.bessel_i1, (0.0,), [0.5]),
            ("j1 at 0", lab.math.special.bessel_j1, (0.0,), [0.5]),
            ("spence at 1", lab.math.special.spence, (1.0,), [-1.0]),
        ]
    )


@pytest.mark.parametrize(("name", "function", "inputs", "expected"), EDGES)
def test_gradients_at_edges(name: str, function: Callable[..., Any], inputs: Any, expected: list[Any]) -> None:
    for got, wanted in zip(gradients(function, *inputs), expected, strict=True):
        np.testing.assert_allclose(got, wanted, 1e-12, err_msg=name)


def test_orders_have_no_gradient_and_arguments_have() -> None:
    assert gradients(lab.math.polygamma, 1.0, 2.0)[0] is None
    assert gradients(lab.math.zeta, 2.0, 2.0)[0] is None
    assert gradients(lab.math.betainc, 2.0, 2.0, 0.5)[:2] == [None, None]
    assert gradients(lab.math.betainc, 2.0, 2.0, 0.5)[2] == pytest.approx(1.5)


@pytest.mark.parametrize(("a", "x"), [(0.5, 0.01), (3.0, 80.0), (200.0, 180.0), (1e4, 1.01e4), (2.0, 1e5)])
def test_the_slope_of_igamma_by_a_holds_far_out(a: float, x: float) -> None:
    step = 1e-4 * a
    rough = (scipy.special.gammainc(a + step, x) - scipy.special.gammainc(a - step, x)) / (2 * step)
    assert gradients(lab.math.igamma, a, x)[0] == pytest.approx(rough, rel=1e-4, abs=1e-12)


def test_a_norm_that_is_not_finite_makes_everything_nan() -> None:
    tensors, norm = lab.clip_by_global_norm([[1.0], [inf]], 1.0)
    assert np.isinf(norm)
    assert all(np.isnan(t.numpy()).all() for t in tensors)
    assert lab.clip_by_global_norm([[0.0]], 1.0)[0][0].numpy().tolist() == [0.0]


def test_casts_saturate_at_what_the_dtype_holds() -> None:
    assert lab.saturate_cast([-1e20, 1e20, 7.9], lab.int32).numpy().tolist()[::2] == [-(2**31), 7]
    assert lab.saturate_cast([-1e20, 1e20, 7.9], lab.int32).numpy()[1] > 2**31 - 1000
    assert lab.saturate_cast(lab.constant([-5, 300, 7]), lab.uint8).numpy().tolist() == [0, 255, 7]
    assert lab.saturate_cast([1e20], lab.float16).numpy().tolist() == [65504.0]


def test_a_float32_range_is_what_the_long_way_gives() -> None:
    for limits in ((-2.0, 3.0), (0, 1, 0.1), (0.3, 7, 0.7), (5.0, -5, -1.3), (3.0, 3.0), (1.0, 0.0), (2.5,)):
        given = [lab.constant(float(value)) for value in limits]
        np.testing.assert_array_equal(lab.range(*limits).numpy(), lab.range(*given).numpy())
        assert lab.range(*limits).dtype == lab.float32


def test_counts() -> None:
    assert lab.math.bincount([[1, 2], [1, 1]], axis=-1).numpy().tolist() == [[0, 1, 1], [0, 2, 0]]
    assert lab.math.bincount([1, 1, 3], minlength=6, binary_output=True).numpy().tolist() == [0, 1, 0, 1, 0, 0]
    assert lab.math.count_nonzero([[0.0, 1.0], [2.0, 3.0]], axis=0).numpy().tolist() == [1, 2]
    assert float(lab.math.zero_fraction([0, 0, 1, 2])) == 0.5
    assert lab.math.in_top_k([0, 1], [[nan, 1.0], [2.0, 2.0]], 1).numpy().tolist() == [False, True]
    assert lab.truncatediv([-7, 7], [2, 2]).numpy().tolist() == [-3, 3]
    assert lab.bitwise.left_shift(1, 40).dtype == lab.int32


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("axis", lambda: lab.cumsum(X, axis=2)),
    ("bool", lambda: lab.cumsum([True])),
    ("floating", lambda: lab.reduce_logsumexp([1, 2])),
    ("floating", lambda: lab.math.lgamma([1, 2])),
    ("floating", lambda: lab.math.igamma(1, 2)),
    ("lab.cast", lambda: lab.atan2(lab.constant(1.0), lab.constant(1.0, lab.float64))),
    ("sorted", lambda: lab.math.segment_sum([1.0, 2.0], [1, 0])),
    ("begin", lambda: lab.math.segment_sum([1.0, 2.0], [0, 0, 1])),
    ("below num_segments", lambda: lab.math.unsorted_segment_sum([1.0], [2], 2)),
    ("negative", lambda: lab.math.bincount([-1])),
    ("classes", lambda: lab.math.confusion_matrix([3], [0], num_classes=2)),
    ("permutation", lambda: lab.math.invert_permutation([0, 0])),
    ("integer tensors", lambda: lab.bitwise.bitwise_and(1.0, 2.0)),
    ("integer tensors", lambda: lab.bitwise.invert(1.0)),
    ("last axis", lambda: lab.bitcast([1.0, 2.0, 3.0], lab.float64)),
    ("list", lambda: lab.clip_by_global_norm(lab.constant([1.0]), 1.0)),
    ("list of coefficients", lambda: lab.math.polyval(lab.constant([1.0]), 2.0)),
    ("rank 0", lambda: lab.scalar_mul([1.0, 2.0], X)),
    ("range", lambda: lab.histogram_fixed_width([1.0], [2.0, 1.0])),
]


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_wrong_arguments_are_refused_in_words(words: str, call: Callable[[], Any]) -> None:
    with refused(lab.errors.InvalidArgumentError, words):
        call()
