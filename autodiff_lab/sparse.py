"""Sparse tensors: ``lab.sparse``."""

from autodiff_lab.structures.sparse import SparseTensor
from autodiff_lab.structures.sparse_algebra import add, maximum, minimum, sampled_addmm, softmax, sparse_dense_matmul
from autodiff_lab.structures.sparse_functions import (
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

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
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
    "transpose",
]
