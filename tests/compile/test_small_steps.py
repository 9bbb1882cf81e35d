"""Orders, positions, short rows and functions of the C library as steps of a sequence, with eager results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest

pytest.importorskip("numba", reason="sequences need Numba")
DRAW = np.random.default_rng(11)
TOLERANCE = {"float32": 2e-5, "float64": 1e-13}
sparse_loss, dense_loss = (
    lab.nn.sparse_softmax_cross_entropy_with_logits, lab.nn.softmax_cross_entropy_with_logits
)  # fmt: skip


def normal(*shape: int, dtype: str = "float32") -> Any:
    return DRAW.standard_normal(shape).astype(dtype)


def in_one_call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function, compare it with the eager one, and check that NumPy only takes views."""
    given = [lab.constant(x) for x in arguments]
    made = lab.function(function)
    expected = nest.flatten(function(*given))
    for _ in range(2):
        for a, b in zip(nest.flatten(made(*given)), expected, strict=True):
            a, b = a.numpy(), b.numpy()
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if b.dtype.kind in "iub":
                np.testing.assert_array_equal(a, b)
            else:
                tolerance = TOLERANCE[b.dtype.name]
                scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
                np.testing.assert_allclose(a, b, tolerance, tolerance * scale)
    assert made.fallbacks == 0
    assert not made.skipped
    outside = [row for row in made.source.rpartition("def program")[2].splitlines() if "(" in row and "# " in row]
    assert not [row for row in outside if not any(word in row for word in ("sequence_", "loop_", ".T "))]
    return made


def second(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the value and its first and second derivatives with respect to the first argument."""

    def run(x: Any, *rest: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = function(x, *rest)
                value = lab.reduce_sum(lab.sin(y))
            first = inner.gradient(value, x)
            size = lab.reduce_sum(first * first)
        return y, first, outer.gradient(size, x)

    return run


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_orders_are_those_of_the_eager_ops(dtype: str) -> None:
    x = np.round(4 * normal(5, 7, 40)).astype(dtype)  # many are equal
    x[0, 0, [3, 8]], x[1, 2, :4], x[2, :, 5] = np.nan, [np.inf, -np.inf, 0.0, -0.0], -np.inf

    def run(x: Any) -> Any:
        found = [lab.argsort(x, axis, way) for axis in (0, 1, 2) for way in ("ASCENDING", "DESCENDING")]
        return found, lab.sort(x, 1, "DESCENDING"), [lab.math.top_k(x, k) for k in (1, 3, 16, 17, 40)]

    in_one_call(run, x)


@pytest.mark.parametrize("length", [1, 2, 16, 17, 64, 300])
def test_the_largest_of_rows_of_any_length(length: int) -> None:
    x = np.round(normal(4, length), 1)
    in_one_call(lambda x: [lab.math.top_k(x, k) for k in (1, 5, 16) if k <= length], x)
    made = lab.function(lab.argsort)
    for _ in range(2):
        np.testing.assert_array_equal(made(lab.constant(x)).numpy(), np.argsort(x, kind="stable"))


def test_sorted_elements_hand_their_gradients_back() -> None:
    in_one_call(second(lambda x: lab.concat([lab.sort(x, 1), lab.math.top_k(x, 3).values], 1)), normal(4, 9))


def test_a_mixture_of_experts_is_one_call() -> None:
    def run(gates: Any, experts: Any, x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([gates, experts])
            best, at = lab.math.top_k(x @ gates, 2)
            out = lab.einsum("nw,nkwh->nkh", x, lab.gather(experts, at))
            loss = lab.reduce_mean(lab.reduce_sum(lab.nn.softmax(best)[:, :, None] * out, axis=1) ** 2)
        return loss, *tape.gradient(loss, [gates, experts])

    in_one_call(run, normal(5, 6, dtype="float64"), normal(6, 5, 4, dtype="float64"), normal(8, 5, dtype="float64"))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_chosen_and_limited(dtype: str) -> None:
    x = DRAW.integers(-5, 6, (3, 3, 2)).astype(dtype)
    in_one_call(lambda x: (lab.clip_by_value(x, 0, 2) + 1, lab.maximum(x, 1), lab.minimum(x, x[0]), x[:, 1] * x[0]), x)


def test_softmaxes_of_many_short_rows_are_lines() -> None:
    def run(w: Any, x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(w)
            shares, means = lab.split(x @ w, 2, axis=1)
            loss = -lab.reduce_mean(lab.reduce_logsumexp(lab.nn.log_softmax(shares) - (y - means) ** 2, axis=1))
        return loss, tape.gradient(loss, w)

    made = in_one_call(run, normal(4, 20), normal(1000, 4), normal(1000, 1))
    assert not {"logsumexp_", "log_softmax_"} & set(made.source.replace("(", " ").split())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_the_c_library_are_steps_and_parts_of_loops(dtype: str) -> None:
    def run(x: Any) -> Any:
        y = 0.3 * x
        ops = lab.acos, lab.acosh, lab.asin, lab.asinh, lab.atan, lab.atanh, lab.cosh, lab.sinh
        numbers = lab.atan(lab.reduce_sum(x[2])), lab.atan2(x[2, 0], lab.reduce_max(x[3]))
        return [op(y) for op in ops], lab.acosh(1.0 + y * y), lab.atan2(y, x[::-1]), lab.atan2(y[0], x[1:2]), numbers

    x = normal(6, 5, dtype=dtype)
    x[0], x[1, :4] = [np.inf, -np.inf, np.nan, 0.0, -0.0], [300.0, -300.0, 80.0, 1e30]
    in_one_call(run, x)
    in_one_call(second(lambda x: lab.sinh(lab.atan(x)) + lab.atan2(x, 2.0 + x * x)), normal(4, 3, dtype=dtype))

    def tracked(x: Any, seen: Any) -> Any:
        loss = lab.reduce_sum(x * 0.0)
        for t in range(8):
            x = x + 0.1 * lab.sinh(x)
            loss += lab.reduce_sum(lab.square(lab.atan2(x[:, 1], x[:, 0]) - seen[t]))
        return loss

    made = lab.function(second(tracked))
    given = [lab.constant(normal(3, 2, dtype=dtype)), lab.constant(normal(8, 3, dtype=dtype))]
    made(*given)
    for a, b in zip(made(*given), second(tracked)(*given), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-3 if dtype == "float32" else 1e-10)
    assert "unrolled" not in made.why()


def test_many_elements_are_left_to_the_functions_of_numpy() -> None:
    made = lab.function(lambda x: lab.atan(x) + 1.0)
    x = lab.constant(normal(2000))
    made(x)
    np.testing.assert_array_equal(made(x).numpy(), np.arctan(x.numpy()) + np.float32(1))
    assert "np.arctan(" in made.source
