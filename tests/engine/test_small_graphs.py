"""Small random programs: reused values, broadcasting, branches on values; and their Hessians."""

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient

PROGRAMS = 400
STEP_FROM_A_BRANCH = 1e-3
"""Programs whose branch would turn within a difference's step have no derivative to compare."""

UNARY = [lab.sin, lab.cos, lab.tanh, lab.exp, lab.nn.softplus, lab.nn.sigmoid, lab.square, lab.math.expm1]
BINARY = [lab.add, lab.subtract, lab.multiply, lambda x, y: x / (1.5 + y * y), lambda x, y: lab.pow(1.5 + x * x, y)]
SHAPES = [(), (1,), (2,), (2, 1), (1, 2), (2, 2)]


class NearABranch(Exception):
    """The condition of a branch is too close to its threshold."""


def program_of(seed: int) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a program of two to nine ops on one to three inputs, and where to differentiate it."""
    choices = np.random.default_rng(seed)
    inputs = [choices.normal(size=SHAPES[choices.integers(len(SHAPES))]) for _ in range(choices.integers(1, 4))]
    length = int(choices.integers(2, 10))

    def program(*xs: Any) -> Any:
        rng = np.random.default_rng(seed + 1)
        values = list(xs)

        def pick() -> Any:
            return values[rng.integers(len(values))]

        for _ in range(length):
            kind = rng.random()
            if kind < 0.4:
                made = UNARY[rng.integers(len(UNARY))](pick())
            elif kind < 0.85:
                made = BINARY[rng.integers(len(BINARY))](pick(), pick())
            else:
                condition = float(lab.reduce_mean(pick())) - 0.1
                if abs(condition) < STEP_FROM_A_BRANCH:
                    raise NearABranch
                made = pick() * 2.0 if condition > 0 else lab.sin(pick()) * pick()
            values.append(lab.tanh(made))
        return sum(lab.reduce_sum(value) for value in values[len(xs) :])

    return program, inputs


def test_gradients_of_small_programs_equal_central_differences() -> None:
    compared, seed = 0, 0
    while compared < PROGRAMS:
        seed += 1
        program, inputs = program_of(seed)
        try:
            check = check_gradient(program, *inputs, rtol=1e-5, atol=1e-6)
        except NearABranch:
            continue
        assert check, f"program {seed}: {check}"
        compared += 1
    assert seed < 1.2 * PROGRAMS, "few programs were put aside"


def test_second_derivatives_of_small_programs_are_symmetric() -> None:
    bent = 0
    for seed in range(1, 200):
        program, inputs = program_of(seed)
        x = lab.constant(np.concatenate([a.ravel() for a in inputs]))
        edges = np.cumsum([0, *(a.size for a in inputs)])

        def whole(x: Any, program: Any = program, inputs: Any = inputs, edges: Any = edges) -> Any:
            parts = zip(inputs, edges[:-1], edges[1:], strict=True)
            return program(*[lab.reshape(x[a:b], part.shape) for part, a, b in parts])

        try:
            hessian = lab.hessian(whole)(x).numpy()
        except NearABranch:
            continue
        np.testing.assert_allclose(hessian, hessian.T, 1e-9, 1e-9, err_msg=f"program {seed}")
        bent += bool(np.abs(hessian).max() > 1e-6)
    assert bent > 150, "the programs are curved, so symmetry says something"
