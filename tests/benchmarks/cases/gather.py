"""An embedding: 4,096 rows taken from a table of 50,000 x 64, with a dense gradient and with a sparse one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Rows, Run, normal


class Gather(Case):
    """The sum of squares of the gathered rows; the gradient is as large as the table."""

    name, size = "gather", "4,096 rows of 50,000 × 64, dense gradient"
    outputs = ("value", "dT")

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        rows, width, taken = (50, 4, 30) if small else (50_000, 64, 4096)
        return {"T": normal(draw, rows, width), "ids": draw.integers(0, rows, taken)}

    def numpy(self, engine: Any, d: Data) -> Run:
        T, ids, sparse = d["T"], d["ids"], self.sparse

        def run() -> Any:
            rows = T[ids]
            gradient = Rows(ids, 2 * rows, T.shape)
            return np.vdot(rows, rows), gradient if sparse else gradient.dense()

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab
        return engine.gradients(
            lambda T, ids: lab.reduce_sum(lab.gather(T, ids) ** 2), [d["T"]], d["ids"], dense=not self.sparse
        )

    def torch(self, engine: Any, d: Data) -> Run:
        embedding, sparse = engine.torch.nn.functional.embedding, self.sparse
        return engine.gradients(lambda T, ids: (embedding(ids, T, sparse=sparse) ** 2).sum(), [d["T"]], d["ids"])

    def jax(self, engine: Any, d: Data) -> Run:
        return engine.gradients(lambda T, ids: (T[ids] ** 2).sum(), [d["T"]], d["ids"])

    def autograd(self, engine: Any, d: Data) -> Run:
        return engine.gradients(lambda T, ids: engine.numpy.sum(T[ids] ** 2), [d["T"]], d["ids"])


class GatherSparse(Gather):
    """The same; the gradient consists of the rows and their positions."""

    name, size = "gather_sparse", "4,096 rows of 50,000 × 64, sparse gradient"
    sparse = True

    def offered_by(self, family: str) -> bool:
        return family in {"numpy", "lab", "torch"}
