"""What the PyTorch programs share: the table they enter, leaves, noise, and a training loop."""

import torch
import torch.nn.functional as F
from torch import nn

PROGRAMS = {}


def program(function):
    """Enter a program into the table; it makes its model, then returns what is to be recorded."""
    PROGRAMS[function.__name__] = function
    return function


def leaf(*shape, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).requires_grad_()


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def classes(count, kinds, seed=0):
    return torch.randint(0, kinds, (count,), generator=torch.Generator().manual_seed(seed))


def leaves_of(*modules):
    return {f"{i}.{name}": p for i, m in enumerate(modules) for name, p in m.named_parameters()}


def trained(make, loss_of, optimizer=None, steps=1, **options):
    """Return a run: some steps of an optimizer, then one more backward pass."""
    torch.manual_seed(0)
    model = make()
    stepper = None if optimizer is None else optimizer(model.parameters(), **options)

    def run():
        for _ in range(steps if stepper else 0):
            stepper.zero_grad()
            loss_of(model).backward()
            stepper.step()
        model.zero_grad()
        loss_of(model).backward()
        return leaves_of(model)

    return run


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def classify(model):
    return F.cross_entropy(model(noise(5, 6)), classes(5, 3))


def see(model):
    return F.cross_entropy(model(noise(2, 1, 8, 8)), classes(2, 3))


def follow(model):
    return F.mse_loss(model(noise(2, 4, 3)), torch.zeros(2, 2))
