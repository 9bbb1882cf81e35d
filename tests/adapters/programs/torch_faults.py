"""PyTorch programs with one fault each: the cause that is to be found, the op, and the line (marked) of the fault."""

import contextlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FAULTS = {}


def fault(cause, op=None):
    def enter(function):
        FAULTS[function.__name__] = (cause, op, function)
        return function

    return enter


def leaf(*values):
    return torch.tensor(values[0] if len(values) == 1 else values, requires_grad=True)


@fault("stop_gradient", "detach")
def detached():
    w, v = leaf(0.5), leaf(2.0)
    y = torch.tanh(w).detach() * v  # here
    y.backward()
    return y, w


@fault("stop_gradient", "data")
def by_data():
    w, v = leaf(0.5), leaf(2.0)
    h = torch.tanh(w)
    y = h.data * v  # here
    y.backward()
    return y, w


@fault("recording_stopped", "mul")
def inside_no_grad():
    w, v = leaf(1.0, 2.0), leaf(1.0, 3.0)
    with torch.no_grad():
        h = w * 3  # here
    y = (h * v).sum()
    y.backward()
    return y, w


@fault("not_watched", "mul")
def forgot_requires_grad():
    w = torch.tensor(3.0)
    y = w * w  # here
    with contextlib.suppress(RuntimeError):
        y.backward()
    return y, w


@fault("not_trainable", "linear")
def frozen_module():
    layer, head = nn.Linear(2, 2), nn.Linear(2, 1)
    layer.requires_grad_(False)
    h = layer(torch.ones(1, 2))  # here
    y = head(h).sum()
    y.backward()
    return y, layer.weight


@fault("stop_gradient", "detach")
def through_numpy():
    w, v = leaf(1.0, 2.0), leaf(1.0)
    z = torch.tensor(np.tanh(w.detach().numpy()))  # here
    y = (z * v).sum()
    y.backward()
    return y, w


@fault("left_engine")
def through_item():
    w, v = leaf(1.5), leaf(2.0)
    scale = torch.exp(w).item()  # here
    y = v * scale
    y.backward()
    return y, w


@fault("integer", "long")
def cast_to_whole_numbers():
    w, v = leaf(1.2, 2.0), leaf(1.0)
    y = (w.long() * v).sum()  # here
    y.backward()
    return y, w


@fault("not_differentiable", "argmax")
def by_argmax():
    w, v = leaf(1.2, 2.0), leaf(1.0, 3.0)
    best = w.argmax()  # here
    y = v[best] * 2
    y.backward()
    return y, w


@fault("not_differentiable", "gt")
def by_comparison():
    w, v = leaf(1.2, 2.0), leaf(1.0, 3.0)
    y = ((w > 1.5) * v).sum()  # here
    y.backward()
    return y, w


@fault("control_flow")
def decided_only():
    w, v = leaf(1.2), leaf(2.0)
    y = v * 3
    if w > 1:  # here
        y = v * 2
    y.backward()
    return y, w


@fault("no_path", "mul")
def unused():
    w, v = leaf(1.2), leaf(2.0)
    w * 2
    y = v * v  # here
    y.backward()
    return y, w


@fault("zero", "relu")
def dead_relu():
    w = leaf(-1.2)
    y = torch.relu(w) * 2  # here
    y.backward()
    return y, w


@fault("not_finite", "sqrt")
def masked_branch():
    x = leaf(4.0, 0.0)
    y = torch.where(x > 0, torch.sqrt(x), 0.0).sum()  # here
    y.backward()
    return y, x


@fault("not_finite", "sqrt")
def norm_at_zero():
    x = leaf(0.0, 0.0)
    squares = (x * x).sum()
    y = torch.sqrt(squares) * 0.0  # here
    y.backward()
    return y, x


@fault("not_leaf", "sub")
def leaf_replaced():
    w = leaf(2.0)
    (w * w).backward()
    w = w - 0.1 * w.grad  # here
    y = w * w
    y.backward()
    return y, w


@fault("graph_freed")
def backward_twice():
    w = leaf(2.0)
    y = torch.exp(w)
    y.backward()  # here
    with contextlib.suppress(RuntimeError):
        y.backward()
    return y, w


@fault("saved_value_changed", "add_")
def written_over_a_saved_value():
    w = leaf(0.5, 1.0)
    h = torch.tanh(w)
    h.add_(1.0)  # here
    y = h.sum()
    with contextlib.suppress(RuntimeError):
        y.backward()
    return y, w


@fault("zero", "mul")
def half_precision_underflow():
    w = torch.tensor(1.0, dtype=torch.float16, requires_grad=True)
    small = torch.tensor(1e-4, dtype=torch.float16)
    h = w * small  # here
    y = h * torch.tensor(1e-4, dtype=torch.float16)
    y.backward()
    return y, w


@fault("grad_not_cleared")
def forgot_zero_grad():
    w = leaf(2.0)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(2):
        y = w * w
        y.backward()  # here
        optimizer.step()
    return y, w


@fault("grad_cleared_too_soon")
def cleared_before_the_step():
    w = leaf(2.0)
    optimizer = torch.optim.SGD([w], lr=0.1)
    y = w * w
    y.backward()
    optimizer.zero_grad()  # here
    optimizer.step()
    return y, w


@fault("not_in_optimizer")
def parameter_left_out():
    body, head = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    y = head(torch.relu(body(torch.ones(1, 2)) + 9)).sum()
    y.backward()
    optimizer.step()  # here
    return y, body.weight


@fault("inner_gradient_outside")
def no_create_graph():
    w, v = leaf(2.0), leaf(1.0)
    (g,) = torch.autograd.grad(w**3, w)  # here
    y = g * v
    y.backward()
    return y, w


@fault("integer", "long")
def rounded_to_a_class():
    w, v = leaf(1.2), leaf(1.0)
    y = F.one_hot(torch.round(w).long(), 3).float().sum() * v  # here
    y.backward()
    return y, w
