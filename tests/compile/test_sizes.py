"""Small random programs take the ways of large arrays: every size "from which on" is lowered, see `tests.thresholds`.

A twentieth of FUZZ_COUNT in the environment says how many are tried, if it is more than twenty.
"""

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
import autodiff_lab.compile
import autodiff_lab.kernels.base
from tests.compile.random_programs import outcome, program
from tests.compile.recurrent_programs import recurrence
from tests.compile.small_programs import small_program
from tests.thresholds import lower

pytest.importorskip("numba", reason="loops need Numba")
COUNT = max(20, int(os.environ.get("FUZZ_COUNT", "0")) // 20)
TOLERANCE = {"float32": 2e-3, "float64": 1e-8}


# Real sizes never compute values again within a sequence: `sinking.LARGE` is where sequences end. Here they do, and
# where a sequence cannot be planned its steps run one by one, which must give the same.
@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lower(monkeypatch, autodiff_lab.compile, autodiff_lab.kernels.base) > 30


def same(found: list[Any], expected: list[Any], tolerance: float) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
            np.testing.assert_allclose(a, b, tolerance, tolerance * scale)


@pytest.mark.usefixtures("all_is_large")
@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("seed", range(5, 5 + COUNT))
@pytest.mark.parametrize("kind", ["lines", "loops", "loops that move"])
def test_random_programs_agree(kind: str, seed: int) -> None:
    dtype = ["float32", "float64"][seed % 2]
    made = program(4000 + seed, dtype) if kind == "lines" else recurrence(seed, dtype, moves=kind != "loops")
    compiled, start = lab.function(made.run), made.variable.numpy()
    for _ in range(2):
        expected, found = (outcome(made, f, start, made.arguments) for f in (made.run, compiled))
        same(found, expected, TOLERANCE[dtype])
    assert compiled.fallbacks == 0, compiled.why()


def _looks(choice: random.Random) -> list[Callable[[Any], Any]]:
    """Ways to read a matrix or a vector."""
    if choice.random() < 0.5:
        return [
            lab.transpose,
            lambda x: x[:, None] if x.ndim == 1 else x[:, :1],
            lambda x: lab.reshape(x, (-1, 2)),
            lab.tanh,
        ]
    return [lab.transpose, lambda x: x[::-1], lambda x: x[None], lambda x: x * 0.5, lambda x: lab.expand_dims(x, -1)]


def products(seed: int) -> tuple[Callable[..., Any], list[Any]]:
    """Products of matrices, vectors and stacks, read as they are, turned, as columns or in other shapes."""
    choice, draw = random.Random(seed), np.random.default_rng(seed)
    a, b, c = (choice.choice([2, 4, 6]) for _ in range(3))
    stack = choice.choice([(), (), (3,)])
    shapes = [(*stack, a, b), choice.choice([(b,), (b, c), (*stack, b, c)]), (a, 2)]
    given = [lab.constant(draw.standard_normal(shape) * 0.5) for shape in shapes]
    looks = [choice.choice(_looks(choice)) for _ in range(3)]
    reduces = choice.choice([lab.math.reduce_variance, lab.reduce_sum, lambda y: lab.reduce_max(y) * 0.5])

    def forward(x: Any, y: Any, z: Any) -> Any:
        made = lab.linalg.matvec(x, y) if y.ndim == 1 else x @ y
        seen = looks[0](made)
        loss = reduces(lab.sin(seen)) + lab.reduce_sum(looks[1](z) ** 2.0)
        return loss + lab.reduce_sum(lab.cos(looks[2](made)) * 0.3)

    def run(*xs: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(xs)
            loss = forward(*xs)
        return [loss, *tape.gradient(loss, xs)]

    return run, given


@pytest.mark.usefixtures("all_is_large")
@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("seed", range(3 * COUNT))
@pytest.mark.parametrize("made", [products, lambda seed: small_program(seed, "float64")], ids=["products", "steps"])
def test_random_steps_agree(made: Callable[[int], Any], seed: int) -> None:
    run, given = made(seed)
    compiled = lab.function(run)
    expected = [x.numpy() for x in lab.nest.flatten(run(*given))]
    for _ in range(2):
        found = [x.numpy() for x in lab.nest.flatten(compiled(*given))]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-6, 1e-6 * max(1.0, float(np.abs(b).max(initial=0.0))))
    assert compiled.fallbacks == 0, compiled.why()
