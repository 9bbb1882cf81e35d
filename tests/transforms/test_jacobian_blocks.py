"""Jacobians swept in blocks of cotangents equal those of one sweep, and count as one use of a one-shot tape."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.transforms import jacobians


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every block be as small as blocks get."""
    monkeypatch.setattr(jacobians, "BLOCK_BYTES", 1)


def problem() -> tuple[Any, Any, Any]:
    """Return a function with an odd number of outputs, its argument, and weights that it reads."""
    rng = np.random.default_rng(3)
    x, w = lab.constant(rng.normal(size=(4, 3))), lab.Variable(rng.normal(size=(3, 5)))
    return lambda x: lab.tanh(x @ w) * lab.reduce_sum(x, axis=-1, keepdims=True), x, w


def both(function: Any, x: Any, w: Any) -> list[Any]:
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    return [tape.batch_jacobian(y, x), *tape.jacobian(y, [x, w])]


def test_blocks_give_what_one_sweep_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = both(*problem())
    monkeypatch.setattr(jacobians, "BLOCK_BYTES", 1)
    for found, expected in zip(both(*problem()), whole, strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-12, 1e-14)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_spend_a_one_shot_tape_once() -> None:
    function, x, _ = problem()
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.batch_jacobian(y, x) is not None
    with pytest.raises(lab.errors.TapeSpent):
        tape.gradient(y, x)


@pytest.mark.usefixtures("small_blocks")
def test_a_source_that_no_path_reaches_has_none_in_every_block() -> None:
    function, x, _ = problem()
    other = lab.constant([[1.0], [2.0], [3.0], [4.0]])
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = function(x)
    assert tape.jacobian(y, other) is None
    assert tape.jacobian(y, other, unconnected_gradients="zero").numpy().shape == (4, 5, 4, 1)


@pytest.mark.usefixtures("small_blocks")
def test_a_recorded_jacobian_is_one_backward_pass() -> None:
    function, x, _ = problem()
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        tape.batch_jacobian(y, x)
    assert len(recording.sweeps) == 1


@pytest.mark.usefixtures("small_blocks")
def test_jacobians_of_jacobians_are_not_cut() -> None:
    x = lab.constant(np.array([[0.3, 0.7], [1.1, -0.4]]))
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.batch_jacobian(y, x)
    second = outer.gradient(first, x)
    np.testing.assert_allclose(second.numpy(), 6 * x.numpy(), 1e-12)


@pytest.mark.parametrize("size", [0, 1])
def test_a_target_without_elements_has_an_empty_jacobian(size: int) -> None:
    @lab.custom_gradient
    def unstackable(t: Any) -> Any:
        return lab.sin(t), lambda upstream: upstream * lab.cos(t)

    x = lab.constant(np.zeros((size,)))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = unstackable(x)
    assert tape.jacobian(y, x).shape == (size, size)
