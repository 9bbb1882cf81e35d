"""``python -m tests.adapters.programs.cost``: CPU time of three PyTorch programs, plain, recorded, with anomaly mode.

The programs of the table in ``docs/adapters.md``: a scalar, an MLP, and 500 statements on vectors that are used again.
Rounds alternate between the ways to run a program, so that a busy machine slows all of them; the fastest round counts.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable

import torch
from torch import nn

from autodiff_lab.adapters.torch import record

Program = Callable[[], None]
ROUNDS = 60


def scalar() -> Program:
    """Return ``x * x + sin(x)``, forward and backward."""
    x = torch.tensor(3.0, requires_grad=True)

    def run() -> None:
        x.grad = None
        (x * x + torch.sin(x)).backward()

    return run


def network() -> Program:
    """Return one gradient of an MLP 784-256-10 on a batch of 64."""
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    images, labels = torch.randn(64, 784), torch.randint(0, 10, (64,))

    def run() -> None:
        model.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()

    return run


def many_ops() -> Program:
    """Return 668 ops on vectors of 8, each reading earlier results."""
    leaves = [torch.randn(8, requires_grad=True) for _ in range(4)]

    def run() -> None:
        values = list(leaves)
        for leaf in leaves:
            leaf.grad = None
        for i in range(500):
            one, two = values[-1], values[-1 - (7 * i) % min(len(values), 20)]
            values.append(torch.tanh(one * two) if i % 3 == 0 else one + two if i % 3 == 1 else torch.sin(one))
        values[-1].sum().backward()

    return run


def recorded(run: Program) -> Program:
    """Return a program that is recorded; the recording is dropped unused."""

    def watched() -> None:
        with record():
            run()

    return watched


def with_anomaly_mode(run: Program) -> Program:
    """Return a program under PyTorch's anomaly mode."""

    def watched() -> None:
        with torch.autograd.set_detect_anomaly(True):
            run()

    return watched


def cpu(run: Program, repeats: int) -> float:
    """Return the CPU seconds of one run."""
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats


def plain_after_blocks(make: Callable[[], Program], repeats: int) -> float:
    """Return CPU time of plain runs in a process that has recorded 100 blocks, over one that has recorded none."""
    pipes = []
    for blocks in (0, 100):
        asks, ask = os.pipe()
        reply, replies = os.pipe()
        if os.fork() == 0:
            run = make()
            for _ in range(100):
                (recorded(run) if blocks else run)()
            while os.read(asks, 1) == b"?":
                os.write(replies, f"{cpu(run, repeats):.9e}".ljust(20).encode())
            os._exit(0)
        pipes.append((ask, reply))
    best = [float("inf"), float("inf")]
    for turn in range(4 * ROUNDS):  # in turns, so that a busy machine slows both
        for which in (0, 1) if turn % 2 else (1, 0):
            os.write(pipes[which][0], b"?")
            best[which] = min(best[which], float(os.read(pipes[which][1], 20)))
    for ask, _ in pipes:
        os.write(ask, b".")
        os.wait()
    return best[1] / best[0]


def main() -> None:
    """Print a row for each program."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for make, repeats in ((scalar, 20), (network, 2), (many_ops, 1)):
        run = make()
        ways = {"plain": run, "recorded": recorded(run), "anomaly": with_anomaly_mode(run)}
        after = plain_after_blocks(make, repeats)
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for way, program in ways.items():
                program()
                best[way] = min(best[way], cpu(program, repeats))
        row = [f"{way} x{best[way] / best['plain']:.2f}" for way in ("recorded", "anomaly")]
        print(f"{make.__name__}: plain {best['plain'] * 1e6:.0f} us, {', '.join(row)}, plain after x{after:.3f}")


if __name__ == "__main__":
    main()
