"""Ops that select among their inputs: unselected ones have a gradient of 0, even where the cotangent is infinite."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

KEPT = [[-1.0, 0.0], [-2.0, -3.0]]
"""All but one element are negative, so that 0 is chosen where they meet it."""
CHOICES: dict[str, Callable[[Any], Any]] = {
    "maximum": lambda x: lab.maximum(0.0, x),
    "maximum, the other way": lambda x: lab.maximum(x, 0.0)[1:],
    "minimum": lambda x: -lab.minimum(0.0, -x),
    "clip_by_value": lambda x: lab.clip_by_value(x, 0.0, 2.0)[1:],
    "clip_by_value, above": lambda x: 1.0 + lab.clip_by_value(-x, -4.0, -1.0)[1:],
    "relu": lab.nn.relu,
    "relu6": lab.nn.relu6,
    "leaky_relu": lambda x: lab.nn.leaky_relu(x, 0.0),
    "hard_sigmoid": lambda x: lab.nn.hard_sigmoid(x - 3.0),
    "hard_tanh": lambda x: lab.nn.hard_tanh(x - 1.0) + 1.0,
    "hard_shrink": lambda x: lab.nn.hard_shrink(lab.maximum(x, -0.1)),
    "where": lambda x: lab.where(x > 0.0, x, 0.0),
    "reduce_max": lambda x: lab.reduce_max(x, axis=1)[:1],
    "reduce_min": lambda x: -lab.reduce_min(-x, axis=1)[:1],
    "reduce_max of all": lab.reduce_max,
    "segment_max": lambda x: lab.math.segment_max(x, [0, 0])[:, 1:],
    "unsorted_segment_min": lambda x: -lab.math.unsorted_segment_min(-x, [0, 0], 1)[:, 1:],
    "tensor_scatter_nd_max": lambda x: lab.tensor_scatter_nd_max(x, [[0], [1]], lab.zeros_like(x))[1:],
    "tensor_scatter_nd_update": lambda x: lab.tensor_scatter_nd_update(x, [[1]], [[0.0, 0.0]])[1:],
    "angle": lambda x: lab.cast(lab.math.angle(lab.cast(x, "float64")), x.dtype)[:1, 1:],
    "sign": lambda x: lab.sign(x)[:1, 1:],
    "top_k": lambda x: lab.math.top_k(x, 1)[0][:1],
    "max_pool": lambda x: lab.nn.max_pool1d(lab.reshape(x, [1, 4, 1]), 2, 2, "VALID")[:, :1],
}


def derivatives(name: str, x: Any) -> tuple[Any, Any]:
    """Both derivatives of the square root, whose slope at 0 is infinite: times a mask of 0 it would be nan."""
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.sqrt(CHOICES[name](x))
        first = tape.gradient(y, x)
    return first, outer.gradient(first, x)


def check(first: Any, second: Any) -> None:
    negative = np.asarray(KEPT) < 0
    assert not np.isnan(first.numpy()).any(), first
    assert not first.numpy()[negative].any()
    assert second is None or not second.numpy()[negative].any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CHOICES)
def test_what_was_not_chosen_has_a_gradient_of_zero(name: str, dtype: str) -> None:
    check(*derivatives(name, lab.constant(KEPT, dtype)))


FUSED = ("maximum", "clip_by_value", "relu6", "reduce_max")


def test_fused_loops_choose_alike() -> None:
    @lab.function
    def all_of_them(x: Any) -> Any:
        return {name: derivatives(name, x) for name in FUSED}

    all_of_them(lab.constant(KEPT))
    found = all_of_them(lab.constant(KEPT))
    assert all_of_them.fallbacks == 0, all_of_them.why()
    for first, second in found.values():
        check(first, second)
