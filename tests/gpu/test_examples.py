"""The examples of the documentation, on a GPU: what they print does not depend on the device."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from collections.abc import Iterator
from itertools import zip_longest

import pytest

import autodiff_lab as lab
from tests.gpu.place import CPU, GPU, SCIPY, require

require()

FAMILIES = ("ops", "extras", "transforms", "layers", "engine")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ELSEWHERE = {
    "engine.configuration.simulate_gpu": "a Python of its own, and its GPU",
    "ops.structured.structured": "strings, which live on the CPU",
    "extras.ragged.calls.reduce_join": "strings, which live on the CPU",
}
"""Examples that are about something else, and what."""
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Near(doctest.OutputChecker):
    """Accepts numbers that differ in their last digits, as functions on a GPU round differently."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Compare words and numbers apart."""
        got = got.replace(", device=/GPU:0", "").replace(GPU, CPU)
        if super().check_output(want, got, optionflags):
            return True
        if NUMBER.sub("", want).split() != NUMBER.sub("", got).split():
            return False
        pairs = zip_longest(NUMBER.findall(want), NUMBER.findall(got), fillvalue="nan")
        return all(abs(float(a) - float(b)) <= 1e-4 * max(1.0, abs(float(a))) for a, b in pairs)


def examples() -> Iterator[doctest.DocTest]:
    """Every docstring with an example, of modules about tensors."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for family in FAMILIES:
        package = importlib.import_module(f"autodiff_lab.{family}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for test in finder.find(importlib.import_module(found.name)):
                if test.examples:
                    yield test


TESTS = {test.name.removeprefix("autodiff_lab."): test for test in examples()}


@pytest.mark.parametrize("name", sorted(TESTS.keys() - ELSEWHERE.keys()))
def test_an_example_prints_on_the_gpu_what_it_prints_on_the_cpu(name: str) -> None:
    """Run it in a block of the GPU."""
    told = io.StringIO()
    runner = doctest.DocTestRunner(checker=Near(), optionflags=FLAGS, verbose=False)
    with lab.device(GPU), contextlib.redirect_stdout(io.StringIO()):
        runner.run(TESTS[name], out=told.write, clear_globs=False)
    if runner.failures and not SCIPY and "No module named 'scipy'" in told.getvalue():
        pytest.skip("SciPy is not installed, and this example runs on the CPU")
    assert not runner.failures, told.getvalue()
