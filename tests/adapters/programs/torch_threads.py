"""PyTorch programs like those that users have asked about in public, each with its fault: cause, op and marked line."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

from tests.adapters.programs.torch_faults import leaf

THREADS = {}


def thread(where, cause, op=None):
    """Enter a program, its thread, and what `explain` finds, or for ``"born"`` what `first_nonfinite` finds."""

    def enter(function):
        THREADS[function.__name__] = (where, cause, op, function)
        return function

    return enter


@thread("ronghuaiyang/arcface-pytorch #56", "left_engine")
def the_flag_is_set_on_the_loss():
    model = nn.Linear(2, 3)
    scores = model(torch.ones(4, 2))
    loss = torch.tensor(F.cross_entropy(scores, torch.tensor([0, 1, 2, 0])).item())  # here
    loss.requires_grad_()  # "element 0 of tensors does not require grad" is gone, and nothing is learned
    loss.backward()
    return loss, model.weight


@thread("pytorch/pytorch #19806", "not_watched", "mul")
def element_0_does_not_require_grad():
    w, x = torch.tensor([0.5, -1.0]), torch.tensor([2.0, 3.0])
    loss = (w * x).sum()  # here
    with contextlib.suppress(RuntimeError):
        loss.backward()
    return loss, w


@thread("pytorch/pytorch #160016", "born", "sqrt")
def a_root_of_a_negative_number_blamed_on_the_second_root():
    x = leaf(1.0)
    inner = torch.sqrt(x - 2)  # here
    y = torch.sqrt(inner)
    y.backward()
    return y, x


@thread("pytorch/pytorch #160016", "born", "log")
def a_nan_loss_with_a_finite_gradient():
    x = leaf(1.0)
    y = torch.log(-x)  # here
    y.backward()
    return y, x


@thread("pytorch/pytorch #11192", "graph_freed")
def a_hidden_state_from_the_batch_before():
    cell, state = nn.RNNCell(2, 3), torch.zeros(1, 3)
    for _ in range(2):
        state = cell(torch.ones(1, 2), state)
        loss = (state * state).sum()
        with contextlib.suppress(RuntimeError):
            loss.backward()  # here
    return loss, cell.weight_hh


@thread("pytorch/pytorch #134398", "stop_gradient", "detach")
def the_gradient_of_a_value_on_the_way():
    w = leaf(2.0)
    features = (w * 3).detach()  # here
    features.requires_grad_()
    loss = features**2
    loss.backward()
    return loss, w


@thread("pytorch/pytorch #114234", "zero", "relu")
def relu_exactly_at_its_corner():
    w = leaf(0.0, 0.0)
    loss = F.relu(w).sum()  # here
    loss.backward()
    return loss, w
