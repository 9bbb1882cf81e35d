"""PyTorch programs with one fault each: `explain` names the cause, the op and the line, in PyTorch's words."""

from __future__ import annotations

import inspect

import pytest

from tests.adapters.faults_checking import check

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.torch import record  # noqa: E402
from tests.adapters.programs.torch_faults import FAULTS  # noqa: E402
from tests.adapters.programs.torch_threads import THREADS  # noqa: E402


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(FAULTS))
def test_cause_op_and_line(name: str) -> None:
    cause, op, function = FAULTS[name]
    with record() as recording:
        y, w = function()
    check(function, cause, op, recording.explain(y, w))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(THREADS))
def test_programs_that_users_asked_about(name: str) -> None:
    torch.manual_seed(0)
    _, cause, op, function = THREADS[name]
    with record() as recording:
        y, w = function()
    if cause != "born":
        check(function, cause, op, recording.explain(y, w))
        return
    found = recording.first_nonfinite()
    assert found is not None
    assert found.forward is not None
    lines, start = inspect.getsourcelines(function)
    assert found.forward.op == op
    assert found.forward.place is not None
    assert "# here" in lines[found.forward.place[1] - start]


def test_a_difference_that_broadcasts_is_shown_with_its_shape() -> None:
    """pytorch/pytorch #16045: targets of shape (5,) instead of (5, 1) make 25 differences."""
    w, inputs, targets = torch.ones(2, 1, requires_grad=True), torch.ones(5, 2), torch.zeros(5)
    with record() as recording:
        loss = ((inputs @ w - targets) ** 2).mean()
        loss.backward()
    assert [recording.tensors[x.outputs[0]].snapshot.shape for x in recording.forward if x.op == "sub"] == [(5, 5)]


def test_there_are_twenty_faults() -> None:
    assert len(FAULTS) >= 20


def test_the_masked_branch_is_named_in_the_finding_and_its_rewrite_is_of_torch() -> None:
    with record() as recording:
        FAULTS["masked_branch"][2]()
    found = recording.first_nonfinite()
    assert found is not None
    assert found.backward is not None
    assert (found.backward.op, found.backward.index) == ("sqrt", (1,))
    assert any("torch.where" in line for line in found.rewrite)
    assert "0 times infinity" in recording.to_text()


def test_a_nan_of_the_backward_pass_is_not_blamed_on_what_carries_it() -> None:
    """Anomaly mode names the op at which it noticed the nan; the first one is the square root in front of it."""
    x = torch.zeros(3, requires_grad=True)
    with record() as recording:
        distance = torch.sqrt((x * x).sum())
        scaled = distance * 3.0
        loss = torch.where(scaled > 1.0, scaled, torch.zeros(()))
        loss.backward()
    found = recording.first_nonfinite()
    assert found is not None
    assert found.backward is not None
    assert found.backward.op == "sqrt"
    assert found.backward.value == "nan"
    assert torch.isnan(x.grad).all()


def test_a_gradient_that_is_well_is_connected() -> None:
    w = torch.tensor([1.2, 2.5], requires_grad=True)
    with record() as recording:
        y = (w * w.detach()).sum()
        y.backward()
    assert recording.explain(y, w).cause == "connected"
    assert "backward" in recording.explain(y, w).title or recording.explain(y, w).result == "a number"


def test_an_op_without_gradients_is_not_said_to_have_no_derivative() -> None:
    with record() as recording:
        y, w = FAULTS["forgot_requires_grad"][2]()
    assert recording.explain(y, w).also == ()
    w, v = torch.ones(2), torch.ones(2, requires_grad=True)
    with record() as recording:
        mask = w > 0  # says nothing: no input needs a gradient
        chosen = v > 0
        loss = (chosen * mask * v.detach() * v).sum()
        loss.backward()
    assert not recording.ops["gt"].differentiable
    assert recording.ops["mul"].differentiable


def test_a_leaf_without_a_name_that_was_written_into() -> None:
    w, v = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    with record() as recording:
        h = w * 2
        v.data = h
        loss = (v * v).sum()
        loss.backward()
    told = recording.explain(loss, w)
    assert told.cause == "state_read"
    assert told.what.startswith("Outside of autograd, h was written into the leaf that is read afterwards, so no")
