"""Seventy PyTorch programs: the same numbers as without a recorder, autograd's own gradients, shares that add up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.adapters.checking import everything, same_bits, share_sums

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.torch import record  # noqa: E402
from autodiff_lab.adapters.torch.values import array_of  # noqa: E402
from tests.adapters.programs import (  # noqa: E402
    making,
    torch_arithmetic,
    torch_derivatives,
    torch_networks,
    torch_objectives,
    torch_optimizers,
)

torch.set_num_threads(1)
FAMILIES = (torch_arithmetic, torch_derivatives, torch_networks, torch_objectives, torch_optimizers)
CHANGED_BY_HOOKS = {"tensor_hooks"}
"""Programs in which a hook of the user's changes an adjoint, which then is not the sum of its contributions."""


def plainly(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values and gradients of a program that nobody records."""
    torch.manual_seed(7)
    leaves = making.PROGRAMS[name]()()
    return {k: array_of(v) for k, v in leaves.items()}, {k: array_of(v.grad) for k, v in leaves.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(making.PROGRAMS))
def test_numbers_gradients_and_shares(name: str) -> None:
    values, grads = plainly(name)
    torch.manual_seed(7)
    run = making.PROGRAMS[name]()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The recording stopped early")
        with record(policy=everything) as recording:
            leaves = run()
    assert recording.sweeps
    for leaf, tensor in leaves.items():
        assert same_bits(array_of(tensor), values[leaf]), f"recording changed {leaf}"
        if tensor.grad is None:
            assert grads[leaf] is None
            continue
        assert same_bits(array_of(tensor.grad), grads[leaf]), f"recording changed the gradient of {leaf}"
        found = recording.__dict__["_find"](tensor.grad)
        recorded = recording.tensors[found].snapshot.array
        assert same_bits(np.asarray(recorded), grads[leaf]), f"the recorded gradient of {leaf} is another"
    right, all_, wrong = share_sums(recording)
    assert right == all_ - (name in CHANGED_BY_HOOKS), wrong
    assert recording.to_text()


def test_there_are_sixty_programs(figure: Callable[[str, str], None]) -> None:
    figure("recorded PyTorch programs", f"{len(making.PROGRAMS)} in {len(FAMILIES)} files")
    assert len(making.PROGRAMS) >= 60


def test_plain_runs_after_the_block_have_no_hooks_left() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with record():
        y = x * x
        y.backward(retain_graph=True)
    hooks = torch.nn.modules.module
    assert not hooks._global_forward_hooks
    assert not hooks._global_forward_pre_hooks
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda shares, arrived: seen.append(arrived))
    y.backward()
    assert len(seen) == 1
    assert x.grad == 8.0
