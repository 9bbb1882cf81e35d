"""Arrays of which a program takes one column after the other are copied, so that columns lie in one piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

STEPS = 50


def over(columns: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            state: Any = None
            for column in columns(x):
                state = lab.tanh(column) if state is None else lab.tanh(0.9 * state + column)
            loss = lab.reduce_sum(state * state)
        return loss, tape.gradient(loss, x)

    return run


def both_neighbours(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        total = lab.zeros([x.shape[0]], x.dtype)
        for t in range(1, STEPS):
            total = lab.exp(-0.1 * (x[:, t] - x[:, t - 1]) ** 2.0) * (1.0 + 0.5 * total)
        loss = lab.reduce_mean(total)
    return loss, tape.gradient(loss, x)


def scans(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        state, kept = lab.zeros([x.shape[0]], x.dtype), []
        for t in range(STEPS):
            state = 0.8 * state + lab.sin(x[:, t])
            kept.append(state)
        loss = lab.reduce_sum(lab.stack(kept, axis=1) * x)
    return loss, tape.gradient(loss, x)


COPIED: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "columns": ((300, STEPS), over(lambda x: [x[:, t] for t in range(STEPS)])),
    "backwards": ((300, STEPS), over(lambda x: [x[:, -1 - t] for t in range(STEPS)])),
    "every other one": ((300, STEPS + 20), over(lambda x: [x[:, t] for t in range(0, STEPS + 20, 2)])),
    "unstacked": ((300, STEPS), over(lambda x: lab.unstack(x, axis=1))),
    "transposed": ((300, STEPS), over(lambda x: [lab.transpose(x)[t] for t in range(STEPS)])),
    "steps of a few features": ((100, STEPS, 3), over(lambda x: [x[:, t] for t in range(STEPS)])),
    "the last of three axes": ((30, 10, STEPS), over(lambda x: [x[..., t] for t in range(STEPS)])),
    "both neighbours": ((300, STEPS), both_neighbours),
    "scan": ((300, STEPS), scans),
}
LEFT: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "rows": ((STEPS, 300), over(lambda x: [x[t] for t in range(STEPS)])),
    "steps of many features": ((20, STEPS, 20), over(lambda x: [x[:, t] for t in range(STEPS)])),
    "few elements": ((40, STEPS), over(lambda x: [x[:, t] for t in range(STEPS)])),
    "few columns": ((3000, 5), over(lambda x: [x[:, t] for t in range(5)])),
    "few of many columns": ((100, 300), over(lambda x: [x[:, t] for t in range(40)])),
    "parts of columns": ((300, STEPS), over(lambda x: [x[1:, t] for t in range(STEPS)])),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*COPIED, *LEFT])
def test_columns_are_copied_where_their_elements_lie_apart(name: str, dtype: str) -> None:
    shape, program = (COPIED | LEFT)[name]
    x = lab.constant(np.random.default_rng(0).normal(size=shape).astype(dtype))
    function = lab.function(program)
    assert function.compile(x), function.why()
    for found, wanted in zip(function(x), program(x), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=2e-4, atol=1e-5 if dtype == "float32" else 1e-12)
    if dtype == "float32":
        assert ("in_order" in function.source) == (name in COPIED)
