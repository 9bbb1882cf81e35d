"""Gradients of layers against differences: with respect to the input and to every weight."""

from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient, weighted_sum

STEP = 1e-6


def weight_errors(layer: Any, *call: Any, **how: Any) -> list[str]:
    """Return a sentence for each trainable weight whose gradient disagrees with central differences."""
    with lab.GradientTape() as tape:
        total = weighted_sum(layer(*call, **how))
    gradients = tape.gradient(total, layer.trainable_variables)
    return [
        f"{v.name}: {error:.1e}"
        for v, g in zip(layer.trainable_variables, gradients, strict=True)
        if (error := _distance(layer, v, g, call, how)) > 1e-6
    ]


def _distance(layer: Any, variable: Any, gradient: Any, call: tuple[Any, ...], how: dict[str, Any]) -> float:
    assert gradient is not None, f"{variable.name} has no gradient"
    start = variable.numpy()
    expected = np.zeros(start.shape)
    for at in np.ndindex(start.shape):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[at] += sign * STEP
            variable.assign(moved)
            values.append(float(weighted_sum(layer(*call, **how))))
        expected[at] = (values[0] - values[1]) / (2 * STEP)
    variable.assign(start)
    return float(np.max(np.abs(np.asarray(gradient) - expected) / (1 + np.abs(expected)), initial=0.0))


def input_agrees(layer: Any, x: Any, **how: Any) -> Any:
    """Compare the gradient with respect to the input with differences."""
    return check_gradient(lambda t: layer(t, **how), x)
