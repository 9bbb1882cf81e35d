"""Bits of integers, through which no gradient passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import _OfTwo, binary, general
from autodiff_lab.engine.dtypes import as_dtype, public
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, ShapeMismatch
from autodiff_lab.kernels.arrays import contiguous, ranked
from autodiff_lab.ops.docs import document, of_two
from autodiff_lab.ops.math.comparison import logical_and, logical_not, logical_or, logical_xor
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

_NONE = "none: gradients stop at integers"


def _of_integers(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that takes integers only."""
    def kernel(*arrays: Any) -> Any:
        if any(array.dtype.kind not in "iu" for array in arrays):
            kinds = ", ".join(public(array.dtype).name for array in arrays)
            raise DtypeMismatch(f"{name}: expected integer tensors, got {kinds}. Try lab.cast(x, lab.int32).")
        return function(*arrays)
    return kernel


def _two(name: str, function: Any, symbol: str, latex: str, words: str, sentence: str, registered: str,
         example: str) -> _OfTwo:
    return binary(name, _of_integers(name, function), None, None, elementwise=False, symbol=symbol,
                  latex=f"{{0}} {latex} {{1}}", sentence=sentence, registered=registered,
                  doc=of_two(words, _NONE, example, domain="all integers", dtypes="any integer, both the same"))


bitwise_and = _two("bitwise_and", np.bitwise_and, "&", r"\mathbin{{\&}}", "The bits that x and y both have.",
                   "keeps the bits that {0} and {1} share", "BitwiseAnd", """
>>> print(lab.bitwise.bitwise_and(6, 3))
Tensor(2, shape=(), dtype=int32)""")
bitwise_or = _two("bitwise_or", np.bitwise_or, "|", r"\mid", "The bits that x or y has.",
                  "joins the bits of {0} and {1}", "BitwiseOr", """
>>> print(lab.bitwise.bitwise_or(6, 3))
Tensor(7, shape=(), dtype=int32)""")
bitwise_xor = _two("bitwise_xor", np.bitwise_xor, "⊕", r"\oplus", "The bits that just one of x and y has.",
                   "keeps the bits in which {0} and {1} differ", "BitwiseXor", """
>>> print(lab.bitwise.bitwise_xor(6, 3))
Tensor(5, shape=(), dtype=int32)""")


def _shift(function: Any) -> Callable[..., Any]:
    """Return a shift that is clipped to the width of the dtype, as in TensorFlow."""
    return lambda x, y: function(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype))


left_shift = _two("left_shift", _shift(np.left_shift), "≪", r"\ll", "The bits of x moved up by y places.",
                  "moves the bits of {0} up by {1}", "LeftShift", """
>>> print(lab.bitwise.left_shift(3, 2))
Tensor(12, shape=(), dtype=int32)""")
right_shift = _two("right_shift", _shift(np.right_shift), "≫", r"\gg",
                   "The bits of x moved down by y places; the sign stays.", "moves the bits of {0} down by {1}",
                   "RightShift", """
>>> print(lab.bitwise.right_shift(-8, 2))
Tensor(-2, shape=(), dtype=int32)""")

_SAME = "x (*s) -> (*s)"
flip = general(
    "invert", _of_integers("invert", np.invert), None, symbol="~", latex=r"\lnot {0}",
    sentence="inverts every bit of {0}", registered="Invert",
    doc="The kernel-level inversion; `lab.bitwise.invert` is the public function.")
count_bits = general(
    "population_count",
    _of_integers("population_count", lambda x: np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))), None,
    symbol="#1", latex=r"\#_1 {0}", sentence="counts the ones among the bits of {0}", registered="PopulationCount",
    doc="The kernel-level count; `lab.bitwise.population_count` is the public function.")


@structured(by_element=True)
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    return flip(x, name=name)


@structured(by_element=True)
def population_count(x: TensorLike, name: str | None = None) -> Tensor:
    return count_bits(x, name=name)


def _bitcast(x: Any, dtype: str) -> Any:
    wanted = as_dtype(dtype).dtype
    have = x.dtype.itemsize
    if wanted.itemsize <= have:
        parts = contiguous(ranked(x)[..., None]).view(wanted)
        return parts if wanted.itemsize < have else parts[..., 0][()]
    ratio = wanted.itemsize // have
    if not x.ndim or x.shape[-1] != ratio:
        raise ShapeMismatch(f"bitcast: from {public(x.dtype).name} to {dtype} the last axis must have length {ratio}, "
                            f"got shape {x.shape}.")
    return contiguous(x).view(wanted)[..., 0][()]


reread = general(
    "bitcast", _bitcast, None, warns=False, symbol="bits", latex=r"\operatorname{{bits}}({0})",
    sentence="reads the bits of {0} as another dtype", registered="Bitcast",
    doc="The kernel-level bitcast; `lab.bitcast` is the public function.")


@structured(by_element=True)
def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    from autodiff_lab.engine.convert import convert
    x, wanted = convert(input), as_dtype(type)
    if "O" in (x._held.dtype.kind, wanted.dtype.kind) or "b" in (x._held.dtype.kind, wanted.dtype.kind):
        raise DtypeMismatch(f"bitcast: cannot reinterpret {x.dtype.name} as {wanted.name}. Try lab.cast.")
    return reread(x, dtype=wanted.name, name=name)


document((
    (invert, "Every bit of x turned.", _SAME, "any integer",
     ">>> print(lab.bitwise.invert(5))\nTensor(-6, shape=(), dtype=int32)"),
    (population_count, "The number of ones among the bits of x.", _SAME, "any integer to uint8",
     ">>> print(lab.bitwise.population_count(7))\nTensor(3, shape=(), dtype=uint8)"),
    (bitcast, "The same bits read as another dtype; a smaller one adds an axis, a larger one takes the last.",
     "x (*s) -> (*s), (*s, ratio) or s without its last axis", "any number",
     ">>> print(lab.bitcast(1.0, lab.int32))\nTensor(1065353216, shape=(), dtype=int32)"),
), columns="summary shapes dtypes example", derivative=_NONE, domain="all values", raises=("dtypes", "convert"))


def _any_integers(*values: Any) -> bool:
    return any(
        v.dtype.is_integer for v in values if isinstance(v, (Tensor, Variable)) or hasattr(v, "__lab_apply__"))


def _either(logical: Callable[..., Any], bits: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an operator and its reflection: on bools the logical operation, on integers that on their bits."""
    def forward(x: Any, y: Any) -> Any:
        return (bits if _any_integers(x, y) else logical)(x, y)
    return forward, lambda x, y: forward(y, x)


def _install_operators() -> None:
    pairs = {"and": (logical_and, bitwise_and), "or": (logical_or, bitwise_or), "xor": (logical_xor, bitwise_xor)}
    for cls in (Tensor, Variable):
        for name, pair in pairs.items():
            forward, backward = _either(*pair)
            setattr(cls, f"__{name}__", forward)
            setattr(cls, f"__r{name}__", backward)
        setattr(cls, "__invert__", lambda x: (invert if _any_integers(x) else logical_not)(x))  # noqa: B010


_install_operators()
