"""JAX functions with one fault each: `explain` names the cause, the op and the line, in JAX's words."""

from __future__ import annotations

import pytest

from tests.adapters.faults_checking import check

jax = pytest.importorskip("jax", reason="JAX is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.jax import record  # noqa: E402
from tests.adapters.programs.jax_faults import FAULTS  # noqa: E402


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(FAULTS))
def test_cause_op_and_line(name: str) -> None:
    cause, op, function, args, source, wrt = FAULTS[name]
    recording, _, _ = record(function, *args, wrt=wrt)
    check(function, cause, op, recording.explain(recording.sweeps[0].targets[0], source))


def test_there_are_twenty_faults() -> None:
    assert len(FAULTS) >= 20
