"""Functions of matrices, and tridiagonal systems; real dtypes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.hosted import hosted
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.linalg.diagonals import diag, square
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.linalg.solving import flip, real, solve


def _of_one(function: Any, *matrices: Any) -> Any:
    """SciPy refuses matrices that hold nan or inf, or never ends on them; here nan goes in and nan comes out."""
    if not all(np.isfinite(m).all() for m in matrices):
        return np.full(matrices[-1].shape, np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(function(*matrices))
    except ValueError:
        return np.full(matrices[-1].shape, np.nan)


def _each(function: Any, x: Any) -> Any:
    """A SciPy function of one matrix, over leading axes."""
    x = np.asarray(x)
    flat: list[Any] = [_of_one(function, m) for m in x.reshape(-1, *x.shape[-2:])]
    if any(np.iscomplexobj(m) and np.abs(m.imag).max(initial=0) > 1e-9 * max(1.0, np.abs(m).max()) for m in flat):
        raise InvalidArgumentError("the result is not real: the matrix has eigenvalues that are zero or negative")
    return np.stack([m.real for m in flat]).reshape(x.shape).astype(x.dtype) if flat else x.copy()


def _expm(x: Any) -> Any:
    from scipy.linalg import expm
    return _each(expm, x)


def _logm(x: Any) -> Any:
    from scipy.linalg import logm

    def scaled(matrix: Any) -> Any:
        """ln(A) is ln(A / s) + ln(s): SciPy squares the matrix on its way, and must not overflow there."""
        wide = matrix.astype(np.float64)
        scale = np.abs(wide).max(initial=0.0)
        if scale < 1e30:
            return logm(wide)
        return logm(wide / scale) + np.log(scale) * np.eye(len(wide))
    return _each(scaled, x)


def _sqrtm(x: Any) -> Any:
    from scipy.linalg import sqrtm
    return _each(sqrtm, x)


def _by_blocks(name: str) -> Any:
    """The Fréchet derivative of f at Aᵀ is the corner of f of a block matrix (Mathias 1996)."""
    def rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
        n = x.shape[-1]
        a = flip(ops, x)
        top = ops.concat(a, g, axis=-1)
        bottom = ops.concat(a * 0, a, axis=-1)
        whole = getattr(ops, name)(ops.concat(top, bottom, axis=-2))
        corner = ops.slice_axis(whole, axis=-1, start=n, stop=2 * n)
        return ops.slice_axis(corner, axis=-2, start=0, stop=n)
    return rule


exponential = general(
    "expm", hosted("expm", _expm),
    _by_blocks("expm"), stacked=False, symbol="exp", latex=r"\exp({0})", locals_latex=("L_{{exp}}",),
    sentence="takes the exponential of the matrix {0}", keeps="inputs", registered="MatrixExponential",
    doc="The kernel-level matrix exponential; `lab.linalg.expm` is the public function.")
logarithm = general(
    "logm", hosted("logm", _logm),
    _by_blocks("logm"), stacked=False, symbol="ln", latex=r"\ln({0})", locals_latex=("L_{{ln}}",),
    sentence="takes the logarithm of the matrix {0}", keeps="inputs", registered="MatrixLogarithm",
    doc="The kernel-level matrix logarithm; `lab.linalg.logm` is the public function.")


def _sylvester(b: Any, g: Any) -> Any:
    """The solution of b x + x b = g."""
    from scipy.linalg import solve_sylvester
    b, g = np.broadcast_arrays(b, g)
    pairs = zip(b.reshape(-1, *b.shape[-2:]), g.reshape(-1, *g.shape[-2:]), strict=True)
    flat = [_of_one(solve_sylvester, m, m, h) for m, h in pairs]
    return np.stack(flat).reshape(g.shape).astype(g.dtype)


def _sylvester_rule_b(ops: Any, g: Any, out: Any, b: Any, h: Any) -> Any:
    z = ops.sylvester(flip(ops, b), g)
    return -(z @ flip(ops, out) + flip(ops, out) @ z)


sylvester = general(
    "sylvester", hosted("sylvester", _sylvester),
    _sylvester_rule_b, lambda ops, g, out, b, h: ops.sylvester(flip(ops, b), g),
    stacked=False, symbol="sylv", latex=r"\operatorname{{sylv}}({0}, {1})",
    locals_latex=(r"-z x^T - x^T z", r"\operatorname{{sylv}}({0}^T, \cdot)"),
    sentence="solves {0} x + x {0} = {1}", doc="The solution of a Sylvester equation; the rule of `sqrtm` uses it.")
root = general(
    "sqrtm", hosted("sqrtm", _sqrtm),
    lambda ops, g, out, x: ops.sylvester(flip(ops, out), g), stacked=False, symbol="√",
    latex=r"{0}^{{1/2}}", locals_latex=(r"\operatorname{{sylv}}({0}^{{T/2}}, \cdot)",),
    sentence="takes the square root of the matrix {0}", keeps="output", registered="MatrixSquareRoot",
    doc="The kernel-level matrix square root; `lab.linalg.sqrtm` is the public function.")


def expm(input: Any, name: str | None = None) -> Tensor:
    return exponential(real(square(input, "expm"), "expm"))


def logm(input: Any, name: str | None = None) -> Tensor:
    return logarithm(real(square(input, "logm"), "logm"))


def sqrtm(input: Any, name: str | None = None) -> Tensor:
    return root(real(square(input, "sqrtm"), "sqrtm"))


def _tridiagonal(diagonals: Any, name: str) -> Tensor:
    """The matrix of (superdiagonal, diagonal, subdiagonal); the last of the first and the first of the last are pad."""
    parts = [convert(d) for d in diagonals]
    if len(parts) != 3 or len({p._array.shape for p in parts}) != 1:
        raise ShapeMismatch(f"{name}: three diagonals (*b, n) of one shape are needed, got "
                            f"{[p._array.shape for p in parts]}.")
    upper, middle, lower = parts
    if middle._array.shape[-1] < 2:
        return diag(middle)
    return diag(upper[..., :-1], k=1) + diag(middle) + diag(lower[..., 1:], k=-1)


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "sequence",
                       name: str | None = None) -> Tensor:
    return matmul(_tridiagonal(diagonals, "tridiagonal_matmul"), rhs)


def tridiagonal_solve(diagonals: Any, rhs: Any, diagonals_format: str = "sequence", name: str | None = None) -> Tensor:
    return solve(_tridiagonal(diagonals, "tridiagonal_solve"), rhs)


def eigh_tridiagonal(alpha: Any, beta: Any, eigvals_only: bool = True, name: str | None = None) -> Any:
    from autodiff_lab.ops.linalg.decompositions import eigh
    middle, off = convert(alpha), convert(beta)
    if middle._array.ndim != 1 or off._array.shape != (middle._array.shape[0] - 1,):
        raise ShapeMismatch(f"eigh_tridiagonal: alpha (n) and beta (n - 1) are needed, got {middle._array.shape} and "
                            f"{off._array.shape}.")
    found = eigh(diag(middle) + diag(off, k=1) + diag(off, k=-1))
    return found[0] if eigvals_only else found


_IDENTITY = "[[1.0, 0.0], [0.0, 1.0]]"
for _function, _words, _shapes, _derivative, _example in (
    (expm, "The exponential of a square matrix.", "(*b, n, n) -> (*b, n, n)", "its Fréchet derivative",
     ">>> print(lab.linalg.expm([[0.0, 0.0], [0.0, 0.0]]))\nTensor([[1. 0.]\n [0. 1.]], shape=(2, 2), dtype=float32)"),
    (logm, "The principal logarithm of a square matrix.", "(*b, n, n) -> (*b, n, n)", "its Fréchet derivative",
     f">>> print(lab.linalg.logm({_IDENTITY}))\nTensor([[0. 0.]\n [0. 0.]], shape=(2, 2), dtype=float32)"),
    (sqrtm, "The principal square root of a square matrix.", "(*b, n, n) -> (*b, n, n)",
     "the solution of a Sylvester equation",
     ">>> print(lab.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]))\nTensor([[2. 0.]\n [0. 3.]], shape=(2, 2), dtype=float32)"),
    (tridiagonal_matmul, "A tridiagonal matrix times a matrix; diagonals are upper, middle, lower.",
     "3 times (*b, n), (*b, n, k) -> (*b, n, k)", "that of the matrix product",
     ">>> print(lab.linalg.tridiagonal_matmul(([1.0, 0.0], [2.0, 2.0], [0.0, 1.0]), [[1.0], [1.0]]))\n"
     "Tensor([[3.]\n [3.]], shape=(2, 1), dtype=float32)"),
    (tridiagonal_solve, "The solution of a tridiagonal system; diagonals are upper, middle, lower.",
     "3 times (*b, n), (*b, n, k) -> (*b, n, k)", "that of `solve`",
     ">>> print(lab.linalg.tridiagonal_solve(([1.0, 0.0], [2.0, 2.0], [0.0, 1.0]), [[3.0], [3.0]]))\n"
     "Tensor([[1.]\n [1.]], shape=(2, 1), dtype=float32)"),
    (eigh_tridiagonal, "Eigenvalues of a symmetric tridiagonal matrix.", "(n), (n - 1) -> (n)", "that of `eigh`",
     ">>> print(lab.linalg.eigh_tridiagonal([1.0, 2.0], [0.0]))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, dtypes="float32, float64", derivative=_derivative,
                            example=_example, raises=("shape", "dtypes", "argument", "convert"))
