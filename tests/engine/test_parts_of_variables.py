"""Part of a variable is a tensor: whatever a tensor does, ``v[1:]`` does, and its gradient reaches the variable."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

NUMBERS = np.arange(24.0).reshape(2, 3, 4)
USES: dict[str, Callable[[Any], Any]] = {
    "indexed": lambda x: x[1],
    "indexed twice": lambda x: x[1][0],
    "indexed by a tensor": lambda x: x[lab.constant(1)],
    "sliced": lambda x: x[:, ::2],
    "with a new axis": lambda x: x[..., None],
    "masked": lambda x: x[x > 10.0],
    "unpacked": lambda x: lab.stack([*x][::-1]),
    "iterated": lambda x: lab.add_n([row * row for row in x]),
    "transposed": lambda x: lab.transpose(x)[0],
    "with an operator": lambda x: 2.0 * x - x[0],
    "gathered": lambda x: lab.gather(x, [1, 0, 1]),
    "in a list": lambda x: lab.concat([x, x[:1]], 0),
    "copied": lambda x: copy.deepcopy(x)[0],
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("use", USES)
def test_part_of_a_variable_is_used_as_a_tensor_is(use: str, compiled: bool) -> None:
    def run(source: Any, part: Callable[[Any], Any]) -> tuple[Any, Any]:
        with lab.GradientTape() as tape:
            tape.watch(source)
            y = USES[use](part(source))
        return y, tape.gradient(y, source)

    variable, tensor = lab.Variable(NUMBERS), lab.constant(NUMBERS)
    run_it = lab.function(run) if compiled else run
    for part in (lambda v: v[1], lambda v: v[:, 1:], lambda v: v[...]):
        value, gradient = run_it(variable, part)
        expected, slope = run(tensor, part)
        np.testing.assert_array_equal(value.numpy(), expected.numpy())
        if use != "copied":
            np.testing.assert_array_equal(gradient.numpy(), slope.numpy())


@pytest.mark.parametrize("index", [slice(None, None, 0), (0, slice(1, 2, 0)), (..., slice(None, None, 0))])
@pytest.mark.parametrize("make", [lab.Variable, lab.constant])
def test_a_step_of_0_is_refused_in_words(make: Any, index: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="the step of a slice must not be 0"):
        make(NUMBERS)[index]
