"""`first_nonfinite` names the op that is planted into a random program, and not one that carries its nan on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.explain.planted import ONE, TWO, program

BAD: dict[str, Callable[[Any], Any]] = {
    "log": lambda x: lab.math.log(lab.abs(x) * 0.0 - 1.0),
    "sqrt": lambda x: lab.sqrt(-lab.abs(x) - 1.0),
    "exp": lambda x: lab.exp(x + 2000.0),
    "divide": lambda x: x / (x - x),
    "reciprocal": lambda x: lab.math.reciprocal(x - x),
}


@pytest.mark.parametrize("kind", BAD)
def test_the_planted_op_is_named(kind: str) -> None:
    """Eight programs of each kind; five hundred give the same."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        made = program(rng)
        at = int(rng.integers(len(made.steps)))
        sources = [lab.Variable(x, name=f"x{i}") for i, x in enumerate(made.inputs)]
        culprit = None
        with lab.record() as recording:
            with lab.GradientTape() as tape:
                values: list[Any] = [lab.identity(source) for source in sources]
                for i, step in enumerate(made.steps):
                    taken = [values[k] + lab.zeros([3, 3], values[k].dtype) for k in step.takes]
                    y = ONE[step.op](*taken) if len(taken) == 1 else TWO[step.op](*taken)
                    y = lab.minimum(lab.maximum(y, -20.0), 20.0)
                    if i == at:
                        y = culprit = BAD[kind](y + 0.1)
                    values.append(y)
                loss = lab.reduce_sum(lab.sin(values[-1]))
            tape.gradient(loss, sources)
        assert culprit is not None
        wanted = next(a for a in recording.applications if culprit._id in a.outputs)
        found = recording.first_nonfinite()
        assert found is not None
        assert found.forward is not None
        assert (found.forward.op, found.forward.place) == (kind, wanted.place), (seed, str(found))
