"""What a program does compiled is what it does eagerly, for the scenarios of strangers' programs."""

import importlib
import pkgutil

import pytest

from tests.compile import scenarios
from tests.compile.scenarios import SCENARIOS, Compiler, watched

for _module in pkgutil.iter_modules(scenarios.__path__):
    importlib.import_module(f"{scenarios.__name__}.{_module.name}")


@pytest.mark.parametrize("name", SCENARIOS)
def test_compiled_and_eager_programs_do_the_same(name: str) -> None:
    """Results, exceptions and state at the end; and the program is compiled where it says so."""
    scenario, compiler = SCENARIOS[name], Compiler()
    eager = watched(scenario.program, lambda function: function)
    assert watched(scenario.program, compiler) == eager
    assert not eager or eager[-1][0] != "raised", eager[-1]
    if scenario.compiles:
        assert sum(f.fallbacks for f in compiler.made) <= scenario.building, [f.why() for f in compiler.made]
        assert any(f.compiled for f in compiler.made)


def test_there_are_enough_of_them() -> None:
    """All-eager would pass the others: this many scenarios have to be compiled."""
    assert len(SCENARIOS) >= 338
    assert sum(s.compiles for s in SCENARIOS.values()) >= 60
