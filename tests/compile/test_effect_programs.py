"""Random programs with effects and state do the same compiled as eagerly, and compile if they only read state."""

import os
from collections.abc import Callable

import pytest

import autodiff_lab as lab
from tests.compile.effect_programs import program, watched

COUNT = int(os.environ.get("FUZZ_COUNT", "300"))
PARTS = 6


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_do_the_same(part: int, figure: Callable[[str, str], None]) -> None:
    """Results, exceptions and the world afterwards; nine of ten programs without effects never fall back."""
    plain = whole = 0
    for seed in range(part, COUNT, PARTS):
        made = program(seed)
        expected, _ = watched(made, lambda f: f)
        found, compiled = watched(made, lambda f: lab.function(f, backend="numpy"))
        for n, (a, b) in enumerate(zip(expected, found, strict=True)):
            assert a == b, f"seed {seed}, {n}\n{made.text}\n{made.outside}\n{compiled.why()}"
        plain += made.plain
        whole += made.plain and compiled.fallbacks == 0
    figure(f"programs without effects, compiled in every call, part {part}", f"{whole} of {plain}")
    assert whole >= 0.9 * plain
