"""docs/differences.md lists every difference from torch at the edges of domains, and nothing else."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording.numbers import short
from autodiff_lab.testing import weighted_sum
from tests.tree import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed, so there is no peer to compare with")
from tests.peers.edges import EDGES, Edge  # noqa: E402 - it needs torch
from tests.peers.test_table import weights  # noqa: E402 - it needs torch

ROW = re.compile(r"^\| `(?P<edge>[^`]+)` \| (?P<ours>[^|]+) \| (?P<theirs>[^|]+) \| (?P<why>[^|]+) \|$", re.MULTILINE)


def described(value: Any, grads: list[Any]) -> str:
    """Return value and gradients as the page writes them."""
    return "; ".join([shown(value), *(f"gradient {shown(grad)}" for grad in grads)])


def shown(value: Any) -> str:
    if value is None:
        return "None"
    array = np.asarray(value)
    if array.ndim:
        return f"[{', '.join(shown(item) for item in array)}]"
    return short(array + 0.0)


def ours(edge: Edge) -> str:
    tensors = [lab.constant(x, lab.float64) for x in edge.at]
    with lab.GradientTape() as tape:
        tape.watch(tensors)
        value = edge.ours(*tensors)
        total = weighted_sum(value)
    try:
        found = tape.gradient(total, tensors)
    except lab.errors.LabError as error:
        return f"{shown(value.numpy())}; gradient raises {type(error).__name__}"
    return described(value.numpy(), [None if g is None else g.numpy() for g in found])


def theirs(edge: Edge) -> str:
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in edge.at]
    value = edge.theirs(*tensors)
    found = torch.autograd.grad((value * weights(value.shape, value.dtype)).sum(), tensors, allow_unused=True)
    return described(value.detach().numpy(), [None if g is None else g.numpy() for g in found])


def listed() -> dict[str, tuple[str, str]]:
    """Return what the page says, by edge."""
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    return {row["edge"]: (row["ours"], row["theirs"]) for row in ROW.finditer(page)}


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.label)
def test_an_edge_is_as_it_is_in_torch_or_as_the_page_says(edge: Edge) -> None:
    mine, other = ours(edge), theirs(edge)
    expected = listed().get(edge.label)
    if mine == other:
        assert expected is None, f"{edge.label} does not differ any more: take it off docs/differences.md"
    else:
        assert expected == (mine, other), f"| `{edge.label}` | {mine} | {other} | why? |"


def test_the_page_lists_edges_that_are_compared(figure: Callable[[str, str], None]) -> None:
    assert set(listed()) <= {edge.label for edge in EDGES}
    figure("edges that differ from torch", f"{len(listed())} of {len(EDGES)}")
