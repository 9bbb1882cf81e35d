"""Cumulative log-sum-exps in programs: written as lines that the derivative shares, in sequences and in loops."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.compile.test_small_steps import in_one_call

pytest.importorskip("numba", reason="sequences need Numba")


def with_gradient(x: Any, **how: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.math.cumulative_logsumexp(x, **how)
        loss = lab.reduce_sum(lab.sin(y))
    return y, tape.gradient(loss, x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients_agree(dtype: str, axis: int, reverse: bool) -> None:
    x = (5.0 * np.random.default_rng(axis + 2).standard_normal((3, 4, 5))).astype(dtype)
    f = in_one_call(lambda x: with_gradient(x, axis=axis, reverse=reverse), x)
    assert f.source.count(" = exp(") == 2, "the derivative takes the exponentials of the value"
    in_one_call(lambda x: with_gradient(x, axis=axis, reverse=reverse, exclusive=True), x)


@pytest.mark.parametrize("kind", ["-inf", "inf", "nan", "far apart"])
def test_what_is_not_finite_goes_where_the_op_puts_it(kind: str) -> None:
    draw = np.random.default_rng(3)
    for axis in (0, 1):
        x = draw.standard_normal((4, 6)).astype(np.float32)
        if kind == "far apart":
            x[:, ::2] *= np.float32(1e30)
        else:
            x[draw.random(x.shape) < 0.3] = np.float32(kind)
        f = lab.function(lambda x, axis=axis: with_gradient(x, axis=axis))
        f(lab.constant(x))
        for made, expected in zip(f(lab.constant(x)), with_gradient(lab.constant(x), axis=axis), strict=True):
            np.testing.assert_allclose(made.numpy(), expected.numpy(), rtol=2e-5, atol=1e-5)
        assert not f.fallbacks, f.why()


def test_a_lattice_row_by_row_is_a_loop() -> None:
    """The recursion of a transducer: each row starts from the one before, with a sum along the labels."""

    def loss(emitted: Any, blank: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch((emitted, blank))
            path = lab.cumsum(emitted, axis=2)
            alpha = path[:, 0]
            for t in range(1, 12):
                alpha = path[:, t] + lab.math.cumulative_logsumexp(alpha + blank[:, t - 1] - path[:, t], axis=1)
            total = lab.reduce_sum(alpha[:, -1])
        return total, tape.gradient(total, (emitted, blank))

    draw = np.random.default_rng(5)
    given = [lab.constant(draw.standard_normal((3, 12, 4)).astype(np.float32)) for _ in range(2)]
    f = lab.function(loss)
    f(*given)
    expected, made = lab.nest.flatten(loss(*given)), lab.nest.flatten(f(*given))
    for one, other in zip(made, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-5, atol=2e-5)
    assert not f.fallbacks, f.why()
    assert "no form" not in f.why()


def test_long_rows_without_a_gradient_stay_one_op() -> None:
    f = lab.function(lambda x: lab.math.cumulative_logsumexp(x, axis=1))
    x = lab.ones((8, 1000))
    f(x)
    assert "cumulative_logsumexp" in f.source
    np.testing.assert_allclose(f(x).numpy(), lab.math.cumulative_logsumexp(x, axis=1).numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_added_up_at_positions_in_a_sequence(dtype: str) -> None:
    """As where rows that occur several times are numbered; sums beyond the range wrap as those of NumPy do."""
    place = np.array([[3], [0], [3], [6], [3]])
    for values in (np.array([1, -2, 30, 4, 500], dtype), np.full(5, np.iinfo(dtype).max, dtype)):
        in_one_call(lambda v, at: lab.cumsum(lab.scatter_nd(at, v, [7])) - 1, values, place)
        in_one_call(lambda v, at: lab.tensor_scatter_nd_add(v[:4] * 2, at, v), values, place // 2)
