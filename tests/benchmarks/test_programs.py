"""The programs agree with what their text for JAX computes on NumPy, with derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.benchmarks.check import error, oracle, prepare
from tests.benchmarks.libraries import PEERS
from tests.benchmarks.programs import KINDS, TESTED
from tests.benchmarks.programs.numeric import Numeric
from tests.benchmarks.programs.program import SCALES, TEST


@pytest.mark.slow(keep=16)
@pytest.mark.parametrize("name", TESTED)
def test_values_and_gradients_are_those_of_differences(name: str, figure: Callable[[str, str], None]) -> None:
    program, library = TESTED[name], PEERS["lab"].library()
    data = program.data(small=True)
    run = prepare(program, library, data)
    wanted = oracle(program, data, Numeric())
    off = max(error(program, library, run, wanted) for _ in range(2))
    figure(f"{name}", f"error {off:.1e}")


def test_there_are_three_sizes_of_each() -> None:
    for kind in KINDS:
        assert list(kind.sizes) == [TEST, *SCALES]
        measures = [list(kind.sizes[scale].values()) for scale in SCALES]
        assert measures[0] < measures[1] < measures[2] or kind.program == "nbody", kind.program
