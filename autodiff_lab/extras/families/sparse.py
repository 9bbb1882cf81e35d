"""The product of a sparse and a dense matrix, the one op of sparse tensors that no other family has.

The sparse matrix is given by its values and their coordinates, so gradients flow to the stored values only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.ops.array.gathering import scatter_axis

add_up: Any = scatter_axis.op.kernel  # type: ignore[attr-defined]


@in_float32
def _matmul(values: Any, dense: Any, indices: Any, rows: int) -> Any:
    """Sum values times rows of the dense matrix into rows; extra leading axes of either are a stack."""
    if np.ndim(values) > 1:
        return np.stack([_matmul(v, dense, indices, rows) for v in values])
    columns = np.moveaxis(dense, -2, 0).reshape(dense.shape[-2], math.prod(dense.shape[:-2]) * dense.shape[-1])
    if on_gpu(dense):
        total = add_up(values[:, None] * columns[indices[:, 1]], indices[:, 0], axis=-2, length=rows)
    else:
        from scipy.sparse import csr_array
        shape = (rows, dense.shape[-2])
        total = csr_array((values, (indices[:, 0], indices[:, 1])), shape=shape) @ columns
    stacked = total.reshape(rows, *dense.shape[:-2], dense.shape[-1])
    return np.moveaxis(stacked, 0, -2)


def _values_rule(ops: Any, g: Any, out: Any, values: Any, dense: Any, indices: Any, rows: int) -> Any:
    """Return, for a value in row i and column k, the product of row i of g with row k of the dense matrix."""
    above = ops.gather(g, ops.slice(indices, items=_FIRST), axis=-2)
    return ops.sum(above * ops.gather(dense, ops.slice(indices, items=_SECOND), axis=-2), axes=(-1,), keepdims=False)


def _dense_rule(ops: Any, g: Any, out: Any, values: Any, dense: Any, indices: Any, rows: int) -> Any:
    flipped = ops.slice(indices, items=_FLIPPED)
    return ops.sparse_matmul(values, g, flipped, rows=dense.shape[-2])


_ALL = ("s", None, None, None)
_FIRST, _SECOND, _FLIPPED = (_ALL, ("i", 0)), (_ALL, ("i", 1)), (_ALL, ("s", None, None, -1))

sparse_matmul = general(
    "sparse_matmul", _matmul, _values_rule, _dense_rule, None, symbol="@", latex=r"S({0}) {1}",
    locals_latex=("{1}^T", "S({0})^T", ""), sentence="multiplies a sparse matrix of the values {0} by the matrix {1}",
    keeps="inputs", registered="SparseTensorDenseMatMul",
    doc="The kernel-level product; `lab.sparse.sparse_dense_matmul` is the public function.")
