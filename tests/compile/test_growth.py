"""Finding regions makes a bounded number of calls for each line, however long an unrolled loop is."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest
from autodiff_lab.compile.program.finding import find_regions
from autodiff_lab.compile.program.registers import MOST


def recurrent(x: Any, w: Any, u: Any) -> Any:
    """The gradient of a gated recurrence, unrolled over the second axis of x."""
    with lab.GradientTape() as tape:
        tape.watch([w, u])
        h = c = lab.zeros([2, 3])
        for t in range(x.shape[1]):
            i, f, g, o = lab.split(x[:, t] @ w + h @ u, 4, axis=1)
            c = lab.sigmoid(f) * c + lab.sigmoid(i) * lab.tanh(g)
            h = lab.sigmoid(o) * lab.tanh(c)
        loss = lab.reduce_sum(h * h)
    return tape.gradient(loss, [w, u])


def branches(x: Any, w: Any, u: Any) -> Any:
    """Many values of one shape that share no input beside a common one."""
    return lab.add_n([lab.reduce_sum(lab.sin(x[:, t] * 2.0) + w[0, 0]) for t in range(x.shape[1])]) + u[0, 0]


def calls(function: Callable[[], Any]) -> int:
    """Count the calls of Python functions."""
    met: list[str] = []
    sys.setprofile(lambda frame, event, argument: met.append(event) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return len(met)


@pytest.mark.parametrize("function", [recurrent, branches])
def test_the_work_grows_with_the_lines(function: Callable[..., Any]) -> None:
    work: list[float] = []
    for steps in (8, 32):
        compiled = lab.function(function, backend="numpy")
        numbers = np.random.default_rng(0).normal(size=(2, steps, 3)).astype("f")
        w, u = (lab.constant(np.full((3, 12), 0.1 * n, "f")) for n in (1, 2))
        compiled(lab.constant(numbers), w, u)
        program = compiled.program
        work.append(calls(lambda: find_regions(program)) / len(program.lines))  # noqa: B023 - called at once
    assert work[1] < 1.3 * work[0]


@pytest.mark.parametrize("function", [recurrent, branches])
def test_the_frame_of_a_program_does_not_grow_with_its_lines(function: Callable[..., Any]) -> None:
    """CPython maps a new piece of stack in every call out of a frame of many kilobytes."""
    numbers = np.random.default_rng(0).normal(size=(2, 60, 3)).astype("f")
    arguments = [lab.constant(numbers), *(lab.constant(np.full((3, 12), 0.1 * n, "f")) for n in (1, 2))]
    expected = function(*arguments)
    compiled: Any = lab.function(function, backend="numpy")
    compiled(*arguments)
    for a, b in zip(nest.flatten(compiled(*arguments)), nest.flatten(expected), strict=True):
        assert a is b or np.array_equal(a.numpy(), b.numpy())
    assert len(compiled.program.lines) > 2 * MOST
    assert compiled._latest.code.run.__code__.co_nlocals <= len(arguments) + MOST + 1
