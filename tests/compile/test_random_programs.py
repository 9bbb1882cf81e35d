"""Compiled random programs agree with eager ones: the same bits with NumPy, within a few ulp with fused loops."""

from collections.abc import Callable

import numpy as np
import pytest

import autodiff_lab as lab
from tests.compile.random_programs import Made, outcome, program

PROGRAMS, WHOLE = 200, 190


def compare(made: Made, backend: str, close: Callable[[np.ndarray, np.ndarray], bool]) -> lab.function:
    """Call three times, the last with other numbers, and compare each result with the eager one."""
    compiled = lab.function(made.run, backend=backend)
    start = made.variable.numpy()
    others = [lab.constant((x.numpy() * 0.75 + 0.1).astype(x.numpy().dtype)) for x in made.arguments]
    for arguments in (made.arguments, made.arguments, others):
        expected = outcome(made, made.run, start, arguments)
        found = outcome(made, compiled, start, arguments)
        for a, b in zip(expected, found, strict=True):
            assert (a is None) == (b is None), made.text
            if a is not None:
                assert a.shape == b.shape, made.text
                assert a.dtype == b.dtype, made.text
                assert close(a, b), f"{made.text}\n{a}\n{b}\n{compiled.source}"
    return compiled


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


@pytest.mark.slow
def test_random_programs_give_the_bits_of_the_eager_function(figure: Callable[[str, str], None]) -> None:
    dtypes = ["float32", "float64"]
    whole = 0
    for seed in range(PROGRAMS):
        compiled = compare(program(seed, dtypes[seed % 2]), "numpy", same_bits)
        whole += compiled.fallbacks == 0
    figure("random programs compiled whole", f"{whole} of {PROGRAMS}")
    assert whole >= WHOLE


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("seed", range(1000, 1024))
def test_fused_loops_agree_with_eager_ops(seed: int) -> None:
    pytest.importorskip("numba", reason="fused loops need Numba")
    dtype = ["float32", "float64"][seed % 2]
    tolerance = {"float32": 2e-4, "float64": 1e-10}[dtype]

    def close(a: np.ndarray, b: np.ndarray) -> bool:
        scale = max(1.0, float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a))))
        return np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)

    compiled = compare(program(seed, dtype), "auto", close)
    assert compiled.fallbacks == 0
    assert not compiled.skipped
