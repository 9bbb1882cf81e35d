"""Sparse tensors: ``lab.sparse``."""

from autodiff_lab.extras.sparse.algebra import add, maximum, minimum, sampled_addmm, softmax, sparse_dense_matmul
from autodiff_lab.extras.sparse.functions import (
    concat,
    expand_dims,
    eye,
    from_dense,
    map_values,
    reduce_max,
    reduce_sum,
    reorder,
    reset_shape,
    reshape,
    retain,
    slice,
    split,
    to_dense,
    transpose,
)
from autodiff_lab.extras.sparse.rows import bincount, fill_empty_rows, to_indicator
from autodiff_lab.extras.sparse.tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "add",
    "bincount",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "sampled_addmm",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
