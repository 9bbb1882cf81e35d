"""Functions of matrices."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.matmul.exponential import exponential_derivatives, exponentials
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import square
from autodiff_lab.ops.linalg.solving import flip, lapack

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _of_one(function: Any, *matrices: Any) -> Any:
    """Return nan for matrices that hold nan or inf, which SciPy refuses or does not terminate on."""
    if not all(np.isfinite(m).all() for m in matrices):
        return np.full(matrices[-1].shape, np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(function(*matrices))
    except ValueError:
        return np.full(matrices[-1].shape, np.nan)


def _each(function: Any, x: Any) -> Any:
    """Return a SciPy function of one matrix, over leading axes."""
    x = np.asarray(x)
    if not x.size:
        return x.copy()
    flat: list[Any] = [_of_one(function, m) for m in x.reshape(-1, *x.shape[-2:])]
    if x.dtype.kind == "c":
        return np.stack(flat).reshape(x.shape).astype(x.dtype)
    if any(np.iscomplexobj(m) and np.abs(m.imag).max(initial=0) > 1e-9 * max(1.0, np.abs(m).max()) for m in flat):
        raise InvalidArgumentError("the result is not real: the matrix has zero or negative eigenvalues.")
    return np.stack([m.real for m in flat]).reshape(x.shape).astype(x.dtype)


def _logm(x: Any) -> Any:
    from scipy.linalg import logm

    def scaled(matrix: Any) -> Any:
        """ln(A) is ln(A / s) + ln(s): SciPy squares the matrix on its way, and must not overflow there."""
        wide = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
        scale = np.abs(wide).max(initial=0.0)
        if scale < 1e30:
            return logm(wide)
        return logm(wide / scale) + np.log(scale) * np.eye(len(wide))
    return _each(scaled, x)


def _sqrtm(x: Any) -> Any:
    from scipy.linalg import sqrtm
    return _each(sqrtm, x)


def _block(ops: Any, a: Any, b: Any, below: Any) -> Any:
    """Return the matrix [[a, b], [0, below]]."""
    return ops.concat(ops.concat(a, b, axis=-1), ops.concat(a * 0, below, axis=-1), axis=-2)


def _corner(ops: Any, whole: Any, n: int) -> Any:
    """Return the block on the right above: of f([[a, b], [0, a]]) the derivative in direction b (Mathias 1996)."""
    return ops.slice_axis(ops.slice_axis(whole, axis=-1, start=n, stop=2 * n), axis=-2, start=0, stop=n)


def _logm_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    a = flip(ops, x)
    return _corner(ops, ops.logm(_block(ops, a, g, a)), x.shape[-1])


def _frechet_rule(ops: Any, g: Any, out: Any, x: Any, e: Any) -> Any:
    """Return the second derivative at Aᵀ in the directions g and Eᵀ, the corner of the first one of block matrices."""
    a, turned = flip(ops, x), flip(ops, e)
    zero = a * 0
    return _corner(ops, ops.expm_frechet(_block(ops, a, g, a), _block(ops, turned, zero, turned)), x.shape[-1])


exponential = general(
    "expm", exponentials, lambda ops, g, out, x: ops.expm_frechet(flip(ops, x), g), stacked=False, symbol="exp",
    latex=r"\exp({0})", locals_latex=("L_{{exp}}",), sentence="takes the exponential of the matrix {0}",
    keeps="inputs", registered="MatrixExponential",
    doc="The kernel-level matrix exponential; `lab.linalg.expm` is the public function.")
exponential_derivative = general(
    "expm_frechet", exponential_derivatives,
    _frechet_rule, lambda ops, g, out, x, e: ops.expm_frechet(flip(ops, x), g), stacked=False, symbol="L",
    latex=r"L_{{\exp}}({0}, {1})",
    locals_latex=(r"L_{{\exp}}^{{(2)}}({0}^T, {1}^T, \cdot)", r"L_{{\exp}}({0}^T, \cdot)"),
    sentence="takes the derivative of the matrix exponential at {0} in direction {1}", keeps="inputs",
    doc="The Fréchet derivative of the matrix exponential; the rule of `expm` uses it.")
logarithm = general(
    "logm", _logm,
    _logm_rule, stacked=False, symbol="ln", latex=r"\ln({0})", locals_latex=("L_{{ln}}",),
    sentence="takes the logarithm of the matrix {0}", keeps="inputs", registered="MatrixLogarithm",
    doc="The kernel-level matrix logarithm; `lab.linalg.logm` is the public function.")


def _sylvester(b: Any, g: Any) -> Any:
    """Return the solution of b x + x b = g."""
    from scipy.linalg import solve_sylvester
    b, g = np.broadcast_arrays(b, g)
    if not g.size:
        return g.copy()
    pairs = zip(b.reshape(-1, *b.shape[-2:]), g.reshape(-1, *g.shape[-2:]), strict=True)
    flat = [_of_one(solve_sylvester, m, m, h) for m, h in pairs]
    return np.stack(flat).reshape(g.shape).astype(g.dtype)


def _sylvester_rule_b(ops: Any, g: Any, out: Any, b: Any, h: Any) -> Any:
    z = ops.sylvester(flip(ops, b), g)
    return -(z @ flip(ops, out) + flip(ops, out) @ z)


sylvester = general(
    "sylvester", _sylvester,
    _sylvester_rule_b, lambda ops, g, out, b, h: ops.sylvester(flip(ops, b), g),
    stacked=False, symbol="sylv", latex=r"\operatorname{{sylv}}({0}, {1})",
    locals_latex=(r"-z x^T - x^T z", r"\operatorname{{sylv}}({0}^T, \cdot)"),
    sentence="solves {0} x + x {0} = {1}", doc="The solution of a Sylvester equation; the rule of `sqrtm` uses it.")
root = general(
    "sqrtm", _sqrtm,
    lambda ops, g, out, x: ops.sylvester(flip(ops, out), g), stacked=False, symbol="√",
    latex=r"{0}^{{1/2}}", locals_latex=(r"\operatorname{{sylv}}({0}^{{T/2}}, \cdot)",),
    sentence="takes the square root of the matrix {0}", keeps="output", registered="MatrixSquareRoot",
    doc="The kernel-level matrix square root; `lab.linalg.sqrtm` is the public function.")


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    return exponential(lapack(square(input, "expm"), "expm"), name=name)


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    return logarithm(lapack(square(input, "logm"), "logm"), name=name)


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    return root(lapack(square(input, "sqrtm"), "sqrtm"), name=name)


_IDENTITY = "[[1.0, 0.0], [0.0, 1.0]]"
document((
    (expm, "The exponential of a square matrix.", "(*b, n, n) -> (*b, n, n)", "its Fréchet derivative",
     ">>> print(lab.linalg.expm([[0.0, 0.0], [0.0, 0.0]]))\nTensor([[1. 0.]\n [0. 1.]], shape=(2, 2), dtype=float32)"),
    (logm, "The principal logarithm of a square matrix.", "(*b, n, n) -> (*b, n, n)", "its Fréchet derivative",
     f">>> print(lab.linalg.logm({_IDENTITY}))\nTensor([[0. 0.]\n [0. 0.]], shape=(2, 2), dtype=float32)"),
    (sqrtm, "The principal square root of a square matrix.", "(*b, n, n) -> (*b, n, n)",
     "the solution of a Sylvester equation",
     ">>> print(lab.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]))\nTensor([[2. 0.]\n [0. 3.]], shape=(2, 2), dtype=float32)"),
), dtypes="float32, float64, complex64, complex128", raises=("shape", "dtypes", "argument", "convert"))
