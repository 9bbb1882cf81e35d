"""Random programs with one fault, and where it is: for `compare` and for `first_nonfinite`.

A program is a list of steps; each takes values made before and adds one. It runs once as it is and once with one step
changed, or with one rule or the accumulation of its backward pass replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.recording import Recording

ONE: dict[str, Callable[[Any], Any]] = {
    "sin": lab.sin, "cos": lab.cos, "tanh": lab.tanh, "sigmoid": lab.sigmoid, "exp": lab.exp,
    "square": lab.square, "abs": lab.abs, "relu": lab.nn.relu, "softplus": lab.nn.softplus, "negative": lambda x: -x,
    "sum": lambda x: lab.reduce_sum(x, axis=-1, keepdims=True), "mean": lambda x: lab.reduce_mean(x, keepdims=True),
    "max": lambda x: lab.reduce_max(x, axis=0, keepdims=True), "softmax": lab.nn.softmax, "cumsum": lab.cumsum,
}  # fmt: skip
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / (lab.square(y) + 1.0), "maximum": lab.maximum,
    "matmul": lambda x, y: lab.reshape(x, [3, 3]) @ lab.reshape(y, [3, 3]),
}  # fmt: skip
ALIKE = {
    "sin": "cos", "cos": "sin", "tanh": "sigmoid", "sigmoid": "tanh", "exp": "square", "square": "exp", "abs": "relu",
    "relu": "softplus", "softplus": "tanh", "negative": "abs", "sum": "mean", "mean": "sum", "max": "sum",
    "softmax": "sigmoid", "cumsum": "sin", "add": "subtract", "subtract": "add", "multiply": "add",
    "maximum": "multiply",
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One op: its name and the positions of the values that it takes."""

    op: str
    takes: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Inputs and steps."""

    inputs: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]


def program(rng: np.random.Generator) -> Program:
    """Make a program of 4 to 12 steps on 3 × 3 matrices, of which every step uses the one before it."""
    inputs = tuple(rng.uniform(-1.5, 1.5, (3, 3)) for _ in range(2))
    steps: list[Step] = []
    for _ in range(int(rng.integers(4, 13))):
        last = len(inputs) + len(steps) - 1
        other = int(rng.integers(0, last + 1))
        if rng.random() < 0.5:
            steps.append(Step(str(rng.choice(list(ONE))), (last,)))
        else:
            steps.append(Step(str(rng.choice(list(TWO))), (last, other) if rng.random() < 0.5 else (other, last)))
    return Program(inputs, tuple(steps))


def run(
    made: Program,
    dtype: str = "float64",
    engine: lab.Engine | None = None,
    extra: Callable[[int, Any], Any] | None = None,
) -> tuple[Recording, list[int]]:
    """Run a program with its gradient; returns the recording and, for each step, the index of its last op."""
    values: list[Any] = [lab.Variable(x, dtype=dtype, name=f"x{i}") for i, x in enumerate(made.inputs)]
    sources, ends = list(values), []
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            values = [lab.identity(value) for value in values]
            for step in made.steps:
                taken = [values[at] for at in step.takes]
                if len(taken) == 1:
                    result = ONE[step.op](taken[0])
                else:
                    whole = [t + lab.zeros([3, 3], dtype) for t in taken]
                    result = TWO[step.op](*whole)
                result = lab.minimum(lab.maximum(result, -20.0), 20.0)
                values.append(result)
                ends.append(result)
            loss = lab.reduce_sum(lab.sin(values[-1]))
        tape.gradient(loss, sources, engine=engine) if engine is not None else tape.gradient(loss, sources)
    made_by = {t: a.index for a in recording.applications for t in a.outputs}
    return recording, [made_by[end._id] for end in ends]


def changed(made: Program, at: int, rng: np.random.Generator) -> Program | None:
    """Return the program with another op at one step; None if this op has no like."""
    step = made.steps[at]
    if step.op not in ALIKE:
        return None
    return replace(made, steps=(*made.steps[:at], replace(step, op=ALIKE[step.op]), *made.steps[at + 1 :]))
