"""PyTorch programs that train a small model with each kind of optimizer and loop."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.adapters.programs.making import classes, classify, leaves_of, mlp, noise, program, trained


@program
def mlp_step():
    return trained(mlp, classify)


@program
def mlp_sgd():
    return trained(mlp, classify, torch.optim.SGD, steps=4, lr=0.1, momentum=0.9, weight_decay=1e-3)


@program
def mlp_adam():
    return trained(mlp, classify, torch.optim.Adam, steps=3, lr=0.01)


@program
def mlp_adamw_foreach():
    return trained(mlp, classify, torch.optim.AdamW, steps=2, foreach=True)


@program
def mlp_rmsprop():
    return trained(mlp, classify, torch.optim.RMSprop, steps=2)


@program
def lbfgs_with_closure():
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def run():
        def closure():
            optimizer.zero_grad()
            loss = classify(model)
            loss.backward()
            return loss

        optimizer.step(closure)
        return leaves_of(model)

    return run


@program
def adam_with_closure():
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters())

    def run():
        def closure():
            optimizer.zero_grad()
            loss = classify(model)
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        return leaves_of(model)

    return run


@program
def gradients_gathered():
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for turn in range(2):
            optimizer.zero_grad(set_to_none=False)
            for part in range(3):
                (F.cross_entropy(model(noise(2, 6, seed=part + turn)), classes(2, 3)) / 3).backward()
            optimizer.step()
        return leaves_of(model)

    return run


@program
def clipped_gradients():
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        classify(model).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        model.zero_grad()
        classify(model).backward()
        return leaves_of(model)

    return run


@program
def learning_rate_schedule():
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)

    def run():
        for _ in range(3):
            optimizer.zero_grad()
            classify(model).backward()
            optimizer.step()
            schedule.step()
        return leaves_of(model)

    return run
