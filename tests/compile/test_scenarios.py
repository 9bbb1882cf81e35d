"""Programs do the same compiled as eagerly, for all scenarios of users' programs."""

import builtins
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.amputation import marked
from tests.compile import scenarios
from tests.compile.scenarios import SCENARIOS, Compiler, watched

for _module in pkgutil.iter_modules(scenarios.__path__):
    importlib.import_module(f"{scenarios.__name__}.{_module.name}")

NEED_EXTRAS = {
    "engine: scattered update", "hidden: data behind a dataset", "iterators: dataset",
    "iterators: batches of a dataset", "nested: cond on a tensor", "nested: cond on a python bool", "nested: strings",
    "output: lab.print",
}  # fmt: skip
"""Scenarios of control flow, data sets, strings and `lab.print`."""


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Put back what a program did to the process: one module left behind that raises can fail the tests after it."""
    mappings = (sys.modules, vars(builtins), os.environ)
    before = [dict(mapping) for mapping in mappings]
    path, folder = sys.path[:], Path.cwd()
    yield
    for mapping, values in zip(mappings, before, strict=True):
        for name in set(mapping) - set(values):
            # Modules of libraries that a program was the first to import stay: others hold references to them.
            if mapping is not sys.modules or name.startswith("scenario_"):
                del mapping[name]
        mapping.update({name: value for name, value in values.items() if mapping.get(name) is not value})
    sys.path[:] = path
    os.chdir(folder)


@pytest.mark.slow(keep=80)
@pytest.mark.parametrize("name", marked(SCENARIOS, NEED_EXTRAS.__contains__))
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
    assert set(SCENARIOS) > NEED_EXTRAS
    assert len(SCENARIOS) >= 338
    assert sum(s.compiles for s in SCENARIOS.values()) >= 60
