"""What is computed again in a later loop instead of being stored: the same bits, and fewer arrays."""

import math
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program import sinking
from tests.compile.random_programs import outcome, program
from tests.compile.small_programs import mixture

pytest.importorskip("numba", reason="fused loops need Numba")


SHAPES = [(260, 256), (260, 256), (260, 256), (256,), (260, 1), ()]
"""Of values that are large enough, and of others that meet them."""


def huber(x: Any, y: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        away = lab.abs(x - y)
        near = lab.minimum(away, 1.0)
        loss = lab.reduce_mean(near * (away - 0.5 * near)) ** 2.0
    return loss, tape.gradient(loss, x)


def arrays_stored(compiled: Any) -> int:
    """Return how many arrays the loops of a program make."""
    return sum(line.count(" out_") for line in compiled.source.splitlines() if line.startswith("def loop_"))


def test_a_loss_and_its_gradient_store_no_array_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    given = [lab.constant(rng.normal(scale=2, size=(300, 256)).astype(np.float32)) for _ in range(2)]
    again = lab.function(huber)
    assert again.compile(*given)
    monkeypatch.setattr(sinking, "LARGE", math.inf)
    stored = lab.function(huber)
    assert stored.compile(*given)
    for a, b in zip(again(*given), stored(*given), strict=True):
        np.testing.assert_array_equal(a, b)
    assert arrays_stored(again) <= arrays_stored(stored) - 4, again.source
    for a, b in zip(again(*given), huber(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", [2006, 2026, 2035, 2065, 2076, 2086, 2124, 2128, 2138, 2211])
def test_random_programs_that_store_less_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype = ["float32", "float64"][seed % 2]
    made = program(seed, dtype, SHAPES)
    start = made.variable.numpy()
    found, stored = [], []
    for limit in (sinking.LARGE, math.inf):
        monkeypatch.setattr(sinking, "LARGE", limit)
        compiled = lab.function(made.run)
        found.append([outcome(made, compiled, start, made.arguments) for _ in range(2)][1])
        stored.append(arrays_stored(compiled))
        assert compiled.fallbacks == 0, compiled.why()
    assert stored[0] < stored[1], "this seed tries nothing"
    tolerance = {"float32": 2e-4, "float64": 1e-10}[dtype]
    for a, b in zip(*found, strict=True):
        assert (a is None) == (b is None), made.text
        if a is not None:
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
            np.testing.assert_allclose(a, b, tolerance, tolerance * scale, err_msg=made.text)


def test_what_several_later_loops_need_is_right_in_each() -> None:
    rng = np.random.default_rng(1)
    given = [lab.constant(rng.normal(size=s)) for s in ((4, 40), (4000, 4), (4000, 1))]
    compiled = lab.function(mixture)
    assert compiled.compile(*given)
    for a, b in zip(compiled(*given), mixture(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
