"""Every op gives the same on the GPU as on the CPU, in both modes; its copies are on the list.

This file runs first: on a real GPU its processes compile kernels in parallel, which the other tests then find cached.
"""

import importlib.util
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

import pytest

from autodiff_lab.gpu.hosted import LIVES_ON_CPU, STAYS, WAIT
from tests.gpu.place import MODES, SCIPY, SIMULATED, leave, require
from tests.gpu.table import names, verdict
from tests.gpu.workers import judged

require()
NAMES = names()
JUDGED = MODES[1:] if SIMULATED and importlib.util.find_spec("cupy") else MODES
"""In the simulator, ``tests/simulated/test_forwarding.py`` judges the mode of CuPy, on a stricter stand-in."""


@pytest.fixture(scope="module")
def verdicts() -> Generator[Callable[[str, str], dict[str, Any]]]:
    """Judge ops: all at once in processes of their own on a real GPU, one by one in the simulator; leave what came out.

    The file holds, by op and mode, "native"; "copies" and why; "failed" and how; or "skipped" and why.
    """
    made = {} if SIMULATED else judged((name, mode) for mode in MODES for name in NAMES)

    def of(name: str, mode: str) -> dict[str, Any]:
        if (name, mode) not in made:
            made[name, mode] = verdict(name, mode)
        return made[name, mode]

    yield of
    ops: dict[str, dict[str, Any]] = {}
    for (name, mode), told in made.items():
        ops.setdefault(name, {})[mode] = told
    leave("ops", {"simulated": SIMULATED, "counts": Counter(told["verdict"] for told in made.values()), "table": ops})


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize("mode", JUDGED)
@pytest.mark.parametrize("name", NAMES)
def test_an_op_gives_on_the_gpu_what_it_gives_on_the_cpu(name: str, mode: str, verdicts: Any) -> None:
    """Values, gradients of first and second order, tangents, Jacobians, dtypes, nan and infinities; and its copies."""
    found = verdicts(name, mode)
    if found["verdict"] == "skipped":
        pytest.skip(found["why"][0])
    assert found["verdict"] != "failed", "\n".join(found["why"])


@pytest.mark.skipif(not SCIPY, reason="SciPy is not installed, and the CPU's side of these ops needs it")
@pytest.mark.parametrize("name", sorted(STAYS))
def test_an_op_that_stays_on_the_cpu_is_there_for_the_reason_given(name: str, verdicts: Any) -> None:
    """Whoever brings it to the GPU takes it off the list."""
    assert f"{name}: {STAYS[name]}" in verdicts(name, "numpy")["why"]


def test_every_op_of_the_lists_is_in_the_table() -> None:
    assert (STAYS.keys() | LIVES_ON_CPU.keys() | WAIT.keys()) <= set(NAMES)
