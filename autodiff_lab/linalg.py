"""Linear algebra: ``lab.linalg``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.ops.array.creation import eye
from autodiff_lab.ops.array.shaping import matrix_transpose
from autodiff_lab.ops.linalg.contraction import cross, einsum, tensordot
from autodiff_lab.ops.linalg.decompositions import adjoint, eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, qr, svd
from autodiff_lab.ops.linalg.diagonals import band_part, diag, diag_part, set_diag, tensor_diag, tensor_diag_part, trace
from autodiff_lab.ops.linalg.factors import lu, lu_matrix_inverse, lu_reconstruct, lu_solve
from autodiff_lab.ops.linalg.functions import expm, logm, sqrtm
from autodiff_lab.ops.linalg.norms import norm, normalize
from autodiff_lab.ops.linalg.products import matmul, matvec
from autodiff_lab.ops.linalg.solving import (
    cholesky,
    cholesky_solve,
    det,
    inv,
    logdet,
    lstsq,
    slogdet,
    solve,
    triangular_solve,
)
from autodiff_lab.ops.linalg.tridiagonal import eigh_tridiagonal, tridiagonal_matmul, tridiagonal_solve
from autodiff_lab.ops.math.clipping import global_norm
from autodiff_lab.ops.math.statistics import l2_normalize

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
