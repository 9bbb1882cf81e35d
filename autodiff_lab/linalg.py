"""Linear algebra: ``lab.linalg``."""

from autodiff_lab.ops.array.shaping import matrix_transpose
from autodiff_lab.ops.linalg.products import matmul, matvec

__all__ = ["matmul", "matrix_transpose", "matvec"]
