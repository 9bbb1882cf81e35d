"""Eigenvalues and eigenvectors of matrices that need not be symmetric: complex, even where the matrix is real."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import square
from autodiff_lab.ops.linalg.solving import flip
from autodiff_lab.ops.math.complex_numbers import is_complex


def _eig(x: Any) -> Any:
    wide = np.complex64 if x.dtype in (np.float32, np.complex64) else np.complex128
    if not np.isfinite(x).all():  # LAPACK refuses them; here nan goes in and nan comes out
        return np.full(x.shape[:-1], np.nan, wide), np.full(x.shape, np.nan, wide)
    w, v = np.linalg.eig(x)
    return w.astype(wide), v.astype(wide)


def _eig_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Boeddeker et al., "On the computation of complex-valued gradients" (2017), eq. 4.77; vectors have length 1.

    Where values coincide a vector has no derivative; the values have theirs all the same.
    """
    w, v = out
    n = w.shape[-1]
    vt = flip(ops, v)
    inner = vt @ g[1]
    along = ops.widen(ops.real_part(ops.diag_part(inner, k=0)))
    length = (vt @ ops.conj(v)) * ops.reshape(along, shape=(*along.shape[:-1], 1, n))
    inner = ops.multiply_no_nan(ops.inverse_gaps(w), inner - length)
    inner = inner + ops.diag(g[0], k=0, rows=n, columns=n)
    contribution = ops.solve(vt, inner @ vt)
    return [contribution if is_complex(x) else ops.real_part(contribution)]


eig_pair = general(
    "eig", _eig, _eig_rule, shared=True, stacked=False, symbol="eig", latex=r"\operatorname{{eig}} {0}",
    locals_latex=(r"V^{{-T}}(\cdot)V^T",), sentence="takes eigenvalues and eigenvectors of {0}", registered="Eig",
    doc="The kernel-level eigenproblem of any square matrix; `lab.linalg.eig`.")


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    x = square(convert(tensor), "eig")
    if x._held.dtype.kind not in "cf" or x._held.dtype.itemsize < 4:
        raise DtypeMismatch(f"eig: expected a complex, float32 or float64 matrix, got {x.dtype.name}. Try lab.cast.")
    return eig_pair(x, name=name)


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    return named(eig(tensor)[0], name)


document((
    (eig, "Eigenvalues in no order, and eigenvectors of length 1, of a square matrix; complex.",
     "(*b, n, n) -> (*b, n), (*b, n, n)",
     "Boeddeker et al. (2017); that of the vectors for what does not depend on their phase, and nan where two values "
     "coincide",
     ">>> print(lab.linalg.eig([[0.0, -1.0], [1.0, 0.0]])[0])\nTensor([0.+1.j 0.-1.j], shape=(2,), dtype=complex64)"),
    (eigvals, "Eigenvalues of a square matrix in no order; complex.", "(*b, n, n) -> (*b, n)", "V⁻ᵀ diag(g) Vᵀ",
     ">>> print(lab.linalg.eigvals([[2.0, 1.0], [0.0, 3.0]]))\n"
     "Tensor([2.+0.j 3.+0.j], shape=(2,), dtype=complex64)"),
), dtypes="float32, float64, complex", domain="matrices that can be diagonalised",
   raises=("shape", "dtypes", "convert"))
