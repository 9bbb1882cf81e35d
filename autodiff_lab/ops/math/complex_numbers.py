"""Complex numbers: made, taken apart, conjugated.

The convention is TensorFlow's: the gradient of a real loss L with respect to z = x + iy is ∂L/∂x + i·∂L/∂y, the
direction in which L grows fastest, and that of a holomorphic f is the conjugate of f'.  Inside a sweep adjoints travel
as the conjugate of that, ∂L/∂x - i·∂L/∂y: then the rules of holomorphic functions are those of real ones, and only the
ops of this file, `abs` and `sign` know that a number has two parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.kernels.arrays import empty, on_gpu
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

_WIDE = {"float32": "complex64", "float64": "complex128"}


def is_complex(x: Any) -> bool:
    """Return whether an array or a tensor, as a rule may meet either, is complex."""
    return getattr(x.dtype, "dtype", x.dtype).kind == "c"


def handed_over(ops: Any, g: Any) -> Tensor:
    """Return an adjoint, as a rule gets it, as a tensor for a user-defined function: conjugated if it is complex."""
    g = ops.conj(g) if is_complex(g) else g
    return wrap(g) if ops.raw else g


def handed_back(ops: Any, cotangent: Tensor | None) -> Any:
    """Return what a user-defined function gave for an adjoint as a rule returns it."""
    if cotangent is None:
        return None
    g = cotangent._array if ops.raw else cotangent
    return ops.conj(g) if is_complex(g) else g


def _complex_of(x: Any) -> np.dtype[Any]:
    return np.dtype(np.complex64 if x.dtype == np.float32 else np.complex128)


def _join(x: Any, y: Any) -> Any:
    made = empty(np.broadcast_shapes(x.shape, y.shape), y if on_gpu(y) else x, _complex_of(x))
    made.real[...], made.imag[...] = x, y
    return made[()]


def _narrowed(ops: Any, g: Any, x: Any) -> Any:
    """Return a real part in the dtype of what was widened: half floats become complex128 on the way."""
    return g if g.dtype == x.dtype else ops.cast(g, dtype=x.dtype.name)


widen = general(
    "widen", lambda x: x.astype(_complex_of(x)), lambda ops, g, out, x: _narrowed(ops, ops.real_part(g), x),
    symbol="ℂ", latex=r"{0} + 0i", locals_latex=(r"\Re",), sentence="takes {0} as a complex number", keeps="nothing",
    doc="A real tensor as a complex one; the rules of `real` and `imag` use it.")
real_part = general(
    "real_part", lambda x: x.real.copy(), lambda ops, g, out, x: ops.widen(g) if is_complex(x) else g,
    symbol="Re", latex=r"\Re {0}", locals_latex=("1",), sentence="takes the real part of {0}", keeps="nothing",
    registered="Real", doc="The kernel-level real part; `lab.math.real` is the public function.")
imaginary_part = general(
    "imaginary_part", lambda x: x.imag.copy(),
    lambda ops, g, out, x: ops.widen(g) * -1j if is_complex(x) else ops.below(g, g),
    symbol="Im", latex=r"\Im {0}", locals_latex=("-i",), sentence="takes the imaginary part of {0}", keeps="nothing",
    registered="Imag", doc="The kernel-level imaginary part; `lab.math.imag` is the public function.")
conj_of = general(
    "conj", np.conj, lambda ops, g, out, x: ops.conj(g),
    symbol="z̄", latex=r"\overline{{{0}}}", locals_latex=(r"\overline{{\,\cdot\,}}",),
    sentence="takes the conjugate of {0}", keeps="nothing", registered="Conj",
    doc="The kernel-level conjugate; `lab.math.conj` is the public function.")
complex_of = general(
    "complex", _join,
    lambda ops, g, out, x, y: _narrowed(ops, ops.real_part(g), x),
    lambda ops, g, out, x, y: -_narrowed(ops, ops.imaginary_part(g), y),
    warns=False, symbol="x+iy", latex="{0} + i {1}", locals_latex=(r"\Re", r"-\Im"),
    sentence="joins {0} and {1} to a complex number", keeps="nothing", registered="Complex",
    doc="The kernel-level join of two parts; `lab.complex` is the public function.")


def _angle_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    """Differentiate the imaginary part of ln z, which the angle is: the derivative of ln z is 1/z."""
    return ops.widen(g) * -1j / x if is_complex(x) else ops.below(g, g)


angle_of = general(
    "angle", lambda x: np.angle(x).astype(x.real.dtype)[()], _angle_rule,
    symbol="arg", latex=r"\arg {0}", locals_latex=(r"\frac{{-i}}{{{0}}}",), sentence="takes the angle of {0}",
    keeps="inputs", registered="Angle", doc="The kernel-level angle; `lab.math.angle` is the public function.")


_MANY = 2048
"""Numbers from which on dividing both parts is quicker than `np.sign`."""


def direction(x: Any) -> Any:
    """Return z/|z|, and 0 for 0; for many numbers in a third of the time of NumPy's sign, for few that is quicker."""
    if x.__class__ is not np.ndarray or x.size < _MANY:
        return np.sign(x)
    size, made = np.abs(x), np.empty_like(x)
    if not np.isfinite(size).all():
        return np.sign(x)
    size[size == 0] = 1
    np.divide(x.real, size, out=made.real)
    np.divide(x.imag, size, out=made.imag)
    return made


def turned(ops: Any, g: Any, out: Any, x: Any) -> Any:
    """Return the contribution of z through z/|z|: stretching z changes nothing, so only g across z counts."""
    across = ops.widen(ops.imaginary_part(g * out))
    return across * ops.conj(out) * 1j * ops.widen(ops.reciprocal_no_nan(ops.abs(x)))


def stretched(ops: Any, g: Any, x: Any) -> Any:
    """Return the contribution of z through |z|: g in the direction z/|z|, and 0 at 0."""
    return ops.widen(g) * ops.conj(ops.sign(x))


def _wide_enough(value: Any, what: str) -> Tensor:
    x = convert(value)
    if x._held.dtype.kind not in "cf" or x._held.dtype.itemsize < 4:
        raise DtypeMismatch(f"{what}: expected a complex, float32 or float64 tensor, got {x.dtype.name}. Try lab.cast.")
    return x


@structured(2, by_element=True)
def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    x, y = convert_pair(complex_of.op, real, imag)  # type: ignore[attr-defined]
    if x._held.dtype != y._held.dtype or x.dtype.name not in _WIDE:
        raise DtypeMismatch(f"complex: both parts must be float32 or both float64, got {x.dtype.name} and "
                            f"{y.dtype.name}. Try lab.cast.")
    return complex_of(x, y, name=name)


@structured(by_element=True)
def real(input: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input)
    return real_part(x, name=name) if x._held.dtype.kind == "c" else x


@structured(by_element=True)
def imag(input: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input)
    return imaginary_part(x, name=name) if x._held.dtype.kind == "c" else zeros_like(x, name=name)


@structured(by_element=True)
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    x = convert(x)
    return conj_of(x, name=name) if x._held.dtype.kind == "c" else x


@structured(by_element=True)
def angle(input: TensorLike, name: str | None = None) -> Tensor:
    return angle_of(_wide_enough(input, "angle"), name=name)


_SAME = "x (*s) -> (*s)"
_NOTE = ("Convention: the gradient of a real loss with respect to z = x + iy is ∂L/∂x + i·∂L/∂y; that of a holomorphic "
         "f is the conjugate of f'.")
document((
    (complex, "Complex numbers from their real and imaginary parts.", "real (*s), imag (*t) -> broadcast of s and t",
     "the real part of g for the one, its imaginary part for the other",
     ">>> print(lab.complex([1.0, 2.0], 3.0))\nTensor([1.+3.j 2.+3.j], shape=(2,), dtype=complex64)"),
    (real, "Real part, as a real tensor; real tensors are returned as they are.", _SAME, "g as a complex number",
     ">>> print(lab.math.real(lab.complex(1.0, 2.0)))\nTensor(1.0, shape=(), dtype=float32)"),
    (imag, "Imaginary part, as a real tensor; 0 for real tensors.", _SAME, "i·g",
     ">>> print(lab.math.imag(lab.complex(1.0, 2.0)))\nTensor(2.0, shape=(), dtype=float32)"),
    (conj, "Complex conjugate; real tensors are returned as they are.", _SAME, "the conjugate of g",
     ">>> print(lab.math.conj(lab.complex(1.0, 2.0)))\nTensor((1-2j), shape=(), dtype=complex64)"),
    (angle, "Angle in radians between -π and π; 0 or π for real numbers.", _SAME, "i·g/conj(z); 0 for real numbers",
     ">>> print(lab.math.angle(lab.complex(0.0, 2.0)))\nTensor(1.5707964, shape=(), dtype=float32)"),
), dtypes="float32, float64, complex64, complex128", raises=("dtypes", "convert"), notes=_NOTE)
