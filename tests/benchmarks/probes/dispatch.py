"""The overhead of a compiled call: a function of 8 tensors that adds two of them."""

from __future__ import annotations

import autodiff_lab as lab
from tests.benchmarks import clock


def figures() -> dict[str, float]:
    """CPU seconds of a call, and of the addition alone, op by op."""
    function = lab.function(lambda *xs: xs[0] + xs[1])
    xs = [lab.constant([1.0, 2.0]) for _ in range(8)]
    function(*xs)
    clock.settle(lambda: function(*xs))
    return {
        "8 tensors, one addition": clock.least(lambda: function(*xs), 1.0)[0],
        "the addition eager": clock.least(lambda: xs[0] + xs[1], 1.0)[0],
    }
