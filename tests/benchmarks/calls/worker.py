"""One library in a process of its own: ``python -m tests.benchmarks.calls.worker lab|torch CORE FOLDER``.

For each call it prints the CPU seconds of the call, and of one more of it in a differentiated program: with the sum of
the result and the gradients of all inputs.  Sums of what results and gradients hold, and of its absolute values, go to
a file in the folder; they do not depend on the order of axes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.calls import CALLS, inputs, named_in

Runs = tuple[Callable[[], Any], Callable[[int], Any] | None]
"""A call, and what takes the gradients of a number of them."""
MORE = 4
"""Calls in the longer of two programs whose difference is measured."""


class Lab:
    """The engine of the project, op by op."""

    def __init__(self) -> None:
        import autodiff_lab as lab

        self.lab, given = lab, inputs()
        self.floats = {name: lab.constant(array) for name, array in given.floats.items()}
        self.names = {**self.floats, **{name: lab.constant(array) for name, array in given.others.items()}, "lab": lab}

    def runs(self, text: str) -> Runs:
        """Return what to measure of a call."""
        lab = self.lab
        call = eval(f"lambda: {text}", self.names)
        sources = [self.floats[name] for name in sorted(named_in(call.__code__) & self.floats.keys())]

        def gradients(count: int) -> Any:
            with lab.GradientTape() as tape:
                tape.watch(sources)
                total = lab.reduce_sum(call())
                for _ in range(count - 1):
                    total = total + lab.reduce_sum(call())
            return [None if g is None else lab.convert_to_tensor(g) for g in tape.gradient(total, sources)]

        result = call()
        return call, gradients if sources and result.dtype.is_floating else None

    def numbers(self, value: Any) -> np.ndarray:
        """Return a result as an array."""
        return np.asarray(value)


class Torch:
    """PyTorch."""

    def __init__(self) -> None:
        import torch
        import torch.nn.functional

        torch.set_num_threads(1)
        given = inputs()
        self.floats = {name: torch.tensor(array).requires_grad_() for name, array in given.floats.items()}
        others = {name: torch.tensor(array) for name, array in given.others.items()}
        self.torch = torch
        self.names = {**self.floats, **others, "torch": torch, "F": torch.nn.functional}

    def runs(self, text: str) -> Runs:
        """Return what to measure of a call."""
        call = eval(f"lambda: {text}", self.names)
        sources = [self.floats[name] for name in sorted(named_in(call.__code__) & self.floats.keys())]

        def gradients(count: int) -> Any:
            total = call().sum()
            for _ in range(count - 1):
                total = total + call().sum()
            return self.torch.autograd.grad(total, sources, allow_unused=True)

        return call, gradients if sources and getattr(call(), "requires_grad", False) else None

    def numbers(self, value: Any) -> np.ndarray:
        """Return a result as an array."""
        return value.detach().numpy()


def summary(library: Any, call: Any, gradients: Any) -> list[list[float]]:
    """Return the sums of a result, and of each gradient, that do not depend on the order of axes."""
    values = [call(), *(gradients(1) if gradients else ())]
    arrays = [library.numbers(value) for value in values if value is not None]
    return [[float(np.sum(a, dtype=np.float64)), float(np.sum(np.abs(a), dtype=np.float64))] for a in arrays]


def main(name: str, core: int, folder: Path) -> None:
    """Measure every call."""
    from tests.benchmarks import clock
    from tests.benchmarks.worker import own_output, pin

    pin(core)
    out = own_output()
    library = Lab() if name == "lab" else Torch()
    sums = []
    for pair in CALLS:
        call, gradients = library.runs(pair[name == "torch"])
        sums.append(summary(library, call, gradients))
        for run in (call, *((lambda: gradients(1), lambda: gradients(MORE)) if gradients else ())):  # noqa: B023
            clock.least(run, 0.05)
        alone = clock.least(call, 0.04)[0]
        whole = None
        if gradients:
            one, more = (clock.least(lambda n=n: gradients(n), 0.06)[0] for n in (1, MORE))  # noqa: B023
            whole = (more - one) / (MORE - 1)
        print(json.dumps([alone, whole]), file=out)
    (folder / f"calls-{name}.json").write_text(json.dumps(sums), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
