"""Inverses, determinants and linear systems.

Adjoints travel conjugated, so that the rules of holomorphic functions are those of real ones, with transposes; that of
`cholesky`, which conjugates, turns its adjoint round first and its result back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert_pair
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import sinks_now, trace_now
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.matmul import factors
from autodiff_lab.kernels.matmul.cholesky import BLOCKED, cholesky_gradient
from autodiff_lab.kernels.matmul.triangular import solve_triangular as substitute
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.shaping import matrix_transpose, swapped
from autodiff_lab.ops.checks import dtypes_unequal
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import diag_part, right_hand_sides, square
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.complex_numbers import is_complex, real, widen
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def conjugated(ops: Any, x: Any) -> Any:
    """Return the conjugate, in a rule; real values are themselves."""
    return ops.conj(x) if is_complex(x) else x


def adjoint_of(ops: Any, x: Any) -> Any:
    """Return the conjugate transpose of matrices, in a rule."""
    return conjugated(ops, flip(ops, x))


def widened(ops: Any, x: Any, like: Any) -> Any:
    """Return a real value in the dtype of a complex one that it meets in a rule."""
    return ops.widen(x) if is_complex(like) and not is_complex(x) else x


def flip(ops: Any, x: Any) -> Any:
    """Return the last two axes swapped, in a rule."""
    return ops.transpose(x, perm=swapped(len(x.shape)))


def raised(g: Any, ops: Any, times: int = 2) -> Any:
    """Append axes of length 1 to g, in a rule."""
    return ops.reshape(g, shape=(*g.shape, *(1,) * times))


def _checked(name: str, function: Any) -> Any:
    """Return the kernel of an op whose error about a singular matrix says what to try."""
    def kernel(*arrays: Any, **params: Any) -> Any:
        try:
            return function(*arrays, **params)
        except np.linalg.LinAlgError as error:
            what = "not positive definite" if "definite" in str(error) else "singular"
            raise InvalidArgumentError(f"{name}: the matrix is {what}. Try adding a small multiple of lab.eye(n) to "
                                       "it, or lab.linalg.pinv.") from None
    return kernel


lu_factors = general(
    "lu_factors", factors.lu, None, symbol="LU", latex=r"\operatorname{{lu}} {0}", sentence="factors {0} once for all",
    doc="LU factors of a large matrix, for `lab.linalg.solve` and its kin and for their rules. Those have the matrix "
    "itself as an input too, and no derivative passes through the factors.")


def _kept(x: Tensor) -> tuple[Any, ...]:
    """Return LU factors if the matrix is so large, and something listens that may need them again."""
    shape = x._held.shape
    return lu_factors(x) if shape[-1] > factors.KEPT and sinks_now() and not on_gpu(x._held) else ()


def _inv_rule(ops: Any, g: Any, out: Any, x: Any, *lu: Any) -> Any:
    return -(flip(ops, out) @ g @ flip(ops, out))


inverse = general(
    "inv", _checked("inv", factors.inverse), _inv_rule, symbol="⁻¹", latex="{0}^{{-1}}",
    locals_latex=("-{0}^{{-T}} (\\cdot) {0}^{{-T}}",), sentence="inverts the matrix {0}", keeps="output",
    registered="MatrixInverse", doc="The kernel-level inverse; `lab.linalg.inv` is the public function.")


def _outer(ops: Any, u: Any, x: Any) -> Any:
    """Return u xᵀ; of single columns elementwise, which is faster than a matrix product."""
    turned = flip(ops, x)
    return u * turned if x.shape[-1] == 1 else u @ turned


def _solve_rule(ops: Any, g: Any, out: Any, a: Any, b: Any, *lu: Any, need: tuple[int, ...],
                transposed: bool = False) -> list[Any]:
    """A⁻ᵀ g for the right-hand side, and minus that times xᵀ for the matrix: one system for both."""
    u = ops.solve(a, g, *lu, transposed=not transposed) if lu else ops.solve(flip(ops, a), g)
    return [u if i else -(_outer(ops, out, u) if transposed else _outer(ops, u, out)) for i in need]


solve_system = general(
    "solve", _checked("solve", factors.solve), _solve_rule, shared=True,
    symbol="A⁻¹b", latex="{0}^{{-1}} {1}", locals_latex=("-{0}^{{-T}} (\\cdot) x^T", "{0}^{{-T}}"),
    sentence="solves {0} x = {1}", registered="MatrixSolve",
    doc="The kernel-level solution of a linear system; `lab.linalg.solve` is the public function.")


def _triangular_rule(ops: Any, g: Any, out: Any, a: Any, b: Any, lower: bool, need: tuple[int, ...]) -> list[Any]:
    u = ops.triangular_solve(flip(ops, a), g, lower=not lower)
    low, up = (-1, 0) if lower else (0, -1)
    return [u if i else ops.band_part(-_outer(ops, u, out), lower=low, upper=up) for i in need]


solve_triangular = general(
    "triangular_solve", substitute, _triangular_rule, shared=True,
    symbol="L⁻¹b", latex="{0}^{{-1}} {1}", locals_latex=("-{0}^{{-T}} (\\cdot) x^T", "{0}^{{-T}}"),
    sentence="solves the triangular system {0} x = {1}", registered="MatrixTriangularSolve",
    doc="The kernel-level triangular solution; `lab.linalg.triangular_solve` is the public function.")


def _cholesky_solve(factor: Any, b: Any) -> Any:
    return substitute(np.swapaxes(factor, -1, -2), substitute(factor, b, True), False)


def _cholesky_solve_rule(ops: Any, g: Any, out: Any, a: Any, b: Any, need: tuple[int, ...]) -> list[Any]:
    """Return u = A⁻¹ g for the right-hand side, and for the factor the lower triangle of -(u xᵀ + x uᵀ) L."""
    u = ops.cholesky_solve(a, g)
    found = []
    for i in need:
        if i:
            found.append(u)
        else:
            product = _outer(ops, u, out)
            lower = ops.band_part(a, lower=-1, upper=0)
            found.append(ops.band_part(-(product + flip(ops, product)) @ lower, lower=-1, upper=0))
    return found


solve_by_factor = general(
    "cholesky_solve", _cholesky_solve, _cholesky_solve_rule, shared=True,
    symbol="(LLᵀ)⁻¹b", latex="({0} {0}^T)^{{-1}} {1}",
    locals_latex=("-(\\cdot\\, x^T + x\\, (\\cdot)^T) {0}", "({0} {0}^T)^{{-1}}"),
    sentence="solves {0} {0}ᵀ x = {1}", doc="The kernel-level solution of a real system whose matrix has a known "
    "Cholesky factor; `lab.linalg.cholesky_solve` is the public function.")


determinant = general(
    "det", factors.determinant, lambda ops, g, out, x, *lu: raised(g * out, ops) * flip(ops, ops.inv(x, *lu)),
    symbol="det", latex=r"\det {0}", locals_latex=(r"\det({0})\, {0}^{{-T}}",), sentence="takes the determinant of {0}",
    registered="MatrixDeterminant", doc="The kernel-level determinant; `lab.linalg.det` is the public function.")


def _slogdet_rule(ops: Any, g: Any, out: Any, x: Any, *lu: Any, need: tuple[int, ...]) -> list[Any]:
    """Hold the sign of a real determinant constant; that of a complex one turns by the imaginary part of tr(A⁻¹ dA)."""
    factor = g[1]
    if is_complex(x):
        factor = ops.widen(factor) + 1j * ops.widen(ops.imaginary_part(g[0] * out[0]))
    return [raised(factor, ops) * flip(ops, ops.inv(x, *lu))]


sign_and_log = general(
    "slogdet", factors.slogdet, _slogdet_rule, shared=True, symbol="ln|det|", latex=r"\ln \left| \det {0} \right|",
    locals_latex=("{0}^{{-T}}",), sentence="takes sign and logarithm of the determinant of {0}", stacked=False,
    registered="LogMatrixDeterminant", doc="The kernel-level slogdet; `lab.linalg.slogdet` is the public function.")


def _half(ops: Any, x: Any) -> Any:
    """Return Φ(x): the lower triangle, with half the diagonal."""
    lower = ops.band_part(x, lower=-1, upper=0)
    return lower - 0.5 * ops.band_part(lower, lower=0, upper=0)


def _cholesky_grad_rule(ops: Any, h: Any, out: Any, factor: Any, g: Any, need: tuple[int, ...]) -> list[Any]:
    """With K = L⁻¹ h L⁻ᵀ, of a symmetric h: for g it is L Φ(K), and for L the lower triangle of g Φ(K)ᵀ - 2 S h L⁻ᵀ.

    S is the gradient itself, and L and g are lower triangles.
    """
    h = 0.5 * (h + flip(ops, h))
    lower = ops.band_part(factor, lower=-1, upper=0)
    left = ops.triangular_solve(lower, h, lower=True)  # L⁻¹ h, whose transpose is h L⁻ᵀ
    middle = _half(ops, ops.triangular_solve(lower, flip(ops, left), lower=True))
    found = []
    for i in need:
        if i:
            found.append(lower @ middle)
        else:
            given = ops.band_part(g, lower=-1, upper=0)
            both = given @ flip(ops, middle) - 2.0 * (out @ flip(ops, left))
            found.append(ops.band_part(both, lower=-1, upper=0))
    return found


general(
    "cholesky_grad", cholesky_gradient, _cholesky_grad_rule, shared=True, stacked=False, symbol="chol'",
    latex=r"\operatorname{{chol}}'({0})\, {1}", locals_latex=(r"\partial", r"\operatorname{{chol}}'"),
    sentence="takes the gradient {1} of the factor {0} back to the matrix",
    doc="The gradient of the Cholesky factor with respect to a real matrix, block by block, for the rule of `cholesky` "
        "of large matrices.")


def _cholesky_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    """Murray, "Differentiation of the Cholesky decomposition" (2016), eq. 10."""
    if x.shape[-1] >= BLOCKED and len(g.shape) == len(x.shape) and not is_complex(x):
        return ops.cholesky_grad(out, g)
    turned = adjoint_of(ops, out)
    inner = _half(ops, turned @ conjugated(ops, g))
    half = ops.triangular_solve(turned, inner, lower=False)
    whole = ops.triangular_solve(turned, adjoint_of(ops, half), lower=False)
    return conjugated(ops, 0.5 * (whole + adjoint_of(ops, whole)))


def symmetric(x: Any) -> Any:
    """Return the symmetric (Hermitian) part, so that the derivative is one of all elements alike."""
    turned = np.swapaxes(x, -1, -2)
    return (x + (np.conj(turned) if x.dtype.kind == "c" else turned)) / 2


def _cholesky(x: Any) -> Any:
    return factors.cholesky(symmetric(x))


cholesky_factor = general(
    "cholesky", _checked("cholesky", _cholesky), _cholesky_rule, symbol="chol", latex=r"\operatorname{{chol}} {0}",
    locals_latex=(r"\operatorname{{chol}}'",), sentence="factors {0} as L Lᵀ", keeps="output", registered="Cholesky",
    stacked=False, doc="The kernel-level Cholesky factor; `lab.linalg.cholesky` is the public function.")


def lapack(x: Tensor, name: str) -> Tensor:
    """Return the tensor, if LAPACK knows its dtype: float32, float64, complex64 or complex128."""
    if x._held.dtype.char not in "fdFD":
        raise DtypeMismatch(f"{name}: expected a float32, float64, complex64 or complex128 matrix, got "
                            f"{x.dtype.name}. Try lab.cast.")
    return x


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    x = lapack(square(input, "inv"), "inv")
    x = matrix_transpose(x, conjugate=True) if flag(adjoint, "inv: adjoint") else x
    return inverse(x, *_kept(x), name=name)


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    a, b = _system("solve", matrix, rhs)
    a = matrix_transpose(a, conjugate=True) if flag(adjoint, "solve: adjoint") else a
    return solve_system(a, b, *_kept(a), name=name)


def triangular_solve(matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False,
                     name: str | None = None) -> Tensor:
    a, b = _system("triangular_solve", matrix, rhs)
    lower = flag(lower, "triangular_solve: lower")
    if flag(adjoint, "triangular_solve: adjoint"):
        return solve_triangular(matrix_transpose(a, conjugate=True), b, lower=not lower, name=name)
    return solve_triangular(a, b, lower=lower, name=name)


def _system(name: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    a, b = convert_pair(solve_system.op, a, b)  # type: ignore[attr-defined]
    a, b = lapack(square(a, name), name), lapack(right_hand_sides(b, name), name)
    if a._held.dtype != b._held.dtype:
        raise dtypes_unequal(name, matrix=a, rhs=b)
    if a._held.shape[-1] != b._held.shape[-2]:
        raise ShapeMismatch(f"{name}: expected right-hand sides (*b, {a._held.shape[-1]}, k) for a matrix of shape "
                            f"{a._held.shape}, got {b._held.shape}. Try lab.expand_dims(b, -1) for a vector.")
    return a, b


def det(input: TensorLike, name: str | None = None) -> Tensor:
    x = lapack(square(input, "det"), "det")
    return determinant(x, *_kept(x), name=name)


def slogdet(input: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    x = lapack(square(input, "slogdet"), "slogdet")
    sign, logarithm = sign_and_log(x, *_kept(x))
    return named((sign, (widen(logarithm) if is_complex(sign) else logarithm)), name)


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    return cholesky_factor(lapack(square(input, "cholesky"), "cholesky"), name=name)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    a, b = _system("cholesky_solve", chol, rhs)
    # Of complex factors the conjugate takes part, which no rule of a holomorphic function has; a compiled function
    # has loops for triangular systems.
    if a.dtype.is_complex or trace_now() is not None:
        return named(triangular_solve(a, triangular_solve(a, b), adjoint=True), name)
    return solve_by_factor(a, b, name=name)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    return named(2.0 * reduce_sum(log(real(diag_part(cholesky(matrix)))), axis=-1), name)


def lstsq(matrix: TensorLike, rhs: TensorLike, l2_regularizer: float = 0.0, fast: bool = True,
          name: str | None = None) -> Tensor:
    a, b = convert_pair(solve_system.op, matrix, rhs)  # type: ignore[attr-defined]
    if a._held.ndim < 2 or b._held.ndim < 2 or a._held.shape[-2] != b._held.shape[-2]:
        raise ShapeMismatch(f"lstsq: expected a matrix (*b, m, n) and right-hand sides (*b, m, k), got "
                            f"{a._held.shape} and {b._held.shape}.")
    lapack(a, "lstsq")
    if not flag(fast, "lstsq: fast"):
        from autodiff_lab.ops.linalg.decompositions import pinv
        return named(matmul(pinv(a), b), name)
    if a._held.shape[-2] >= a._held.shape[-1]:
        return named(cholesky_solve(_normal(a, l2_regularizer, True), matmul(a, b, adjoint_a=True)), name)
    return named(matmul(a, cholesky_solve(_normal(a, l2_regularizer, False), b), adjoint_a=True), name)


def _normal(a: Tensor, l2_regularizer: Any, tall: bool) -> Tensor:
    """Return the Cholesky factor of the matrix of normal equations, of the smaller side."""
    from autodiff_lab.ops.array.creation import eye
    normal = matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(l2_regularizer, (int, float)) and not l2_regularizer:
        return cholesky(normal)
    weight = cast(l2_regularizer, a.dtype) if isinstance(l2_regularizer, (Tensor, Variable)) else l2_regularizer
    return cholesky(normal + weight * eye(normal._held.shape[-1], dtype=a.dtype))


_MATRIX = ("shape", "dtypes", "argument", "convert")
document((
    (inv, "The inverse of a square matrix.", "(*b, n, n) -> (*b, n, n)", "-A⁻ᵀ g A⁻ᵀ",
     ">>> print(lab.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))\nTensor([[0.5  0.  ]\n [0.   0.25]], shape=(2, 2), "
     "dtype=float32)"),
    (solve, "The solution of a square linear system.", "(*b, n, n), (*b, n, k) -> (*b, n, k)",
     "A⁻ᵀ g for the right-hand side, minus that times xᵀ for the matrix",
     ">>> print(lab.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [4.0]]))\nTensor([[1.]\n [1.]], shape=(2, 1), "
     "dtype=float32)"),
    (triangular_solve, "The solution of a triangular system, by substitution; the other triangle is not read.",
     "(*b, n, n), (*b, n, k) -> (*b, n, k)", "as for `solve`, inside the triangle",
     ">>> print(lab.linalg.triangular_solve([[2.0, 9.0], [2.0, 4.0]], [[2.0], [6.0]]))\nTensor([[1.]\n [1.]], "
     "shape=(2, 1), dtype=float32)"),
    (det, "The determinant of a square matrix.", "(*b, n, n) -> (*b)", "det(A)·A⁻ᵀ, so A must be invertible",
     ">>> print(lab.linalg.det([[2.0, 0.0], [0.0, 4.0]]))\nTensor(8.0, shape=(), dtype=float32)"),
    (slogdet, "Sign of the determinant, and logarithm of its absolute value, both in the dtype of the matrix.",
     "(*b, n, n) -> (*b), (*b)",
     "A⁻ᵀ for the logarithm, 0 for the sign of a real matrix",
     ">>> sign, logarithm = lab.linalg.slogdet([[2.0, 0.0], [0.0, -4.0]])\n>>> print(sign, round(float(logarithm), 4))"
     "\nTensor(-1.0, shape=(), dtype=float32) 2.0794"),
    (cholesky, "The lower triangle L with L Lᴴ = A, for a symmetric (Hermitian) positive definite A.",
     "(*b, n, n) -> (*b, n, n)", "Murray (2016); symmetric",
     ">>> print(lab.linalg.cholesky([[4.0, 0.0], [0.0, 9.0]]))\nTensor([[2. 0.]\n [0. 3.]], shape=(2, 2), "
     "dtype=float32)"),
    (cholesky_solve, "The solution of a system whose matrix has the given Cholesky factor.",
     "(*b, n, n), (*b, n, k) -> (*b, n, k)", "that of two triangular systems",
     ">>> print(lab.linalg.cholesky_solve([[2.0, 0.0], [0.0, 3.0]], [[4.0], [9.0]]))\nTensor([[1.]\n [1.]], "
     "shape=(2, 1), dtype=float32)"),
    (logdet, "Logarithm of the determinant of a symmetric (Hermitian) positive definite matrix.", "(*b, n, n) -> (*b)",
     "A⁻¹",
     ">>> print(round(float(lab.linalg.logdet([[4.0, 0.0], [0.0, 9.0]])), 4))\n3.5835"),
    (lstsq, "Least squares by the normal equations, with an optional penalty; of a wide matrix the solution of "
     "smallest norm. With fast=False by the pseudoinverse: for matrices without full rank, and without the penalty.",
     "(*b, m, n), (*b, m, k) -> (*b, n, k)", "that of the normal equations, or of the pseudoinverse",
     ">>> print(lab.linalg.lstsq([[2.0], [0.0]], [[4.0], [3.0]]))\nTensor([[2.]], shape=(1, 1), dtype=float32)"),
), dtypes="float32, float64, complex64, complex128", raises=_MATRIX)
