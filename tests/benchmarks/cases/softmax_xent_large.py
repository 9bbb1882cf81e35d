"""Mean cross entropy of 4,096 rows over 1,000 classes: the last layer of a large classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run, cross_entropy, normal


class SoftmaxCrossEntropy(Case):
    """The value, and the gradient with respect to the logits; peak memory is also measured."""

    name, size = "softmax_xent_large", "4,096 × 1,000"
    outputs = ("value", "dz")
    memory = True

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        rows, classes = (16, 30) if small else (4096, 1000)
        return {"z": normal(draw, rows, classes), "labels": draw.integers(0, classes, rows)}

    def numpy(self, engine: Any, d: Data) -> Run:
        return lambda: cross_entropy(d["z"], d["labels"])

    def _gradients(self, engine: Any, d: Data) -> Run:
        return engine.gradients(engine.cross_entropy, [d["z"]], d["labels"])

    lab = torch = jax = autograd = _gradients
