"""Jacobians: one stacked sweep, equal to rows one by one, for ops that take stacks and for those that do not."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


def test_the_jacobian_of_an_elementwise_function_is_diagonal() -> None:
    x = lab.Variable([1.0, 2.0])
    with lab.GradientTape() as tape:
        y = x * x
    assert tape.jacobian(y, x).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]
    with pytest.raises(lab.errors.TapeSpent):
        tape.jacobian(y, x)


def layer(x: Any, w: Any) -> Any:
    return lab.tanh(lab.nn.softmax(x @ w) * lab.reduce_sum(x, axis=-1, keepdims=True))


@pytest.mark.parametrize("stacked", [True, False])
def test_it_equals_the_rows_that_single_sweeps_give(stacked: bool) -> None:
    rng = np.random.default_rng(0)
    x, w = lab.constant(rng.normal(size=(2, 3))), lab.constant(rng.normal(size=(3, 4)))

    @lab.custom_gradient
    def unstackable(t: Any) -> Any:
        return lab.sin(t), lambda upstream: upstream * lab.cos(t)

    with lab.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = layer(x, w)
        y = lab.sin(y) if stacked else unstackable(y)
    for source, jacobian in zip((x, w), tape.jacobian(y, [x, w]), strict=True):
        assert jacobian.shape == (*y.shape, *source.shape)
        for at in np.ndindex(tuple(y.shape)):
            unit = np.zeros(y.shape)
            unit[at] = 1
            row = tape.gradient(y, source, output_gradients=lab.constant(unit))
            np.testing.assert_allclose(jacobian.numpy()[at], row, 1e-10, 1e-12)


@pytest.mark.parametrize("stacked", [True, False])
def test_rows_of_a_batch_have_jacobians_of_their_own(stacked: bool) -> None:
    rng = np.random.default_rng(1)
    x, w = lab.constant(rng.normal(size=(5, 3))), lab.constant(rng.normal(size=(3, 2)))

    @lab.custom_gradient
    def unstackable(t: Any) -> Any:
        return lab.sin(t), lambda upstream: upstream * lab.cos(t)

    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = lab.sin(x @ w) if stacked else unstackable(x @ w)
    found = tape.batch_jacobian(y, x)
    assert found.shape == (5, 2, 3)
    whole = tape.jacobian(y, x).numpy()
    np.testing.assert_allclose(found, [whole[i, :, i] for i in range(5)], 1e-10, 1e-12)
    with pytest.raises(ValueError, match=r"target \(2, 1\) and source \(5, 3\) must have the same first axis"):
        tape.batch_jacobian(lab.ones((2, 1), "float64"), x)


def test_a_jacobian_under_an_outer_tape_is_differentiated_again() -> None:
    x = lab.constant([1.2, 0.8], "float64")
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            a, b = x[0], x[1]
            y = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        g = inner.gradient(y, x)
    hessian = outer.jacobian(g, x)
    np.testing.assert_allclose(hessian, [[2 - 400 * (0.8 - 3 * 1.44), -480], [-480, 200]])


def test_no_path_gives_none_or_zeros_of_the_whole_shape() -> None:
    x, y = lab.Variable([1.0, 2.0]), lab.Variable([1.0, 2.0, 3.0])
    with lab.GradientTape(persistent=True) as tape:
        z = y * y
    assert tape.jacobian(z, x) is None
    assert tape.jacobian(z, x, unconnected_gradients="zero").shape == (3, 2)
    assert tape.batch_jacobian(lab.ones((3, 4)), lab.ones((3, 2))).shape == (3, 4, 2)


def test_an_empty_target_has_an_empty_jacobian() -> None:
    x = lab.Variable(np.zeros((0, 2), np.float32))
    with lab.GradientTape() as tape:
        y = x * x
    assert tape.jacobian(y, x).shape == (0, 2, 0, 2)


def test_a_list_of_targets_is_refused() -> None:
    x = lab.Variable([1.0])
    with lab.GradientTape() as tape:
        y = x * x
    with pytest.raises(lab.errors.ShapeMismatch, match="a single target tensor"):
        tape.jacobian([y, y], x)
