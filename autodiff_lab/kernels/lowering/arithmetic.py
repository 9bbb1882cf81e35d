"""Arithmetic on numbers of all dtypes, as Numba types and rounds it.

Integers are computed in 64 bits, and a float32 with such an integer in float64.  A quotient of integers by zero is 0,
as with Numba's error model of NumPy; a float too large for an integer gives any.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from autodiff_lab.kernels.lowering.kinds import BOOL, INT1, LONG, REAL, Untranslatable, in_memory, in_register, real_of
from autodiff_lab.kernels.lowering.values import Number, constant

_UNSIGNED = np.dtype(np.uint64)
_ORDER: dict[Any, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OF_BITS: dict[Any, str] = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_SHORT = 16
"""Bits of the integers that are exact in float32."""


def common(x: np.dtype[Any], y: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which two numbers are computed with.

    Examples
    --------
    >>> import numpy as np
    >>> common(np.dtype("f4"), np.dtype("i8")), common(np.dtype("i4"), np.dtype("i4"))
    (dtype('float64'), dtype('int64'))
    """
    if "c" in x.kind + y.kind:
        a, b = (real_of(one) if one.kind == "c" else one for one in (x, y))
        return np.dtype(f"c{2 * common(a, b).itemsize}")
    if "f" in x.kind + y.kind:
        if x.kind == y.kind:
            return max(x, y, key=lambda one: one.itemsize)
        real, other = (x, y) if x.kind == "f" else (y, x)
        return real if 8 * other.itemsize <= _SHORT else REAL
    return _UNSIGNED if x.kind == y.kind == "u" else LONG


def unified(x: np.dtype[Any], y: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a value that is one of two numbers; it is computed with only if they differ."""
    return x if x == y else common(x, y)


class Arithmetic:
    """Writes arithmetic at the place of a builder; `flags` say how floats may be rewritten, such as ``contract``."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.b: Any = builder
        self.flags: tuple[str, ...] = ()
        self.group: Any = None  # of accesses to memory

    def call(self, name: str, *args: Any) -> Any:
        """Call an intrinsic of LLVM's for numbers of one type."""
        kind = args[0].type
        function = self.b.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * len(args)))
        return self.b.call(function, args)

    def cast(self, x: Number, dtype: np.dtype[Any]) -> Number:
        """Convert a number."""
        if x.dtype == dtype:
            return x
        if isinstance(x.value, ir.Constant) and x.dtype.kind in "bi" and dtype.kind in "if":
            return constant(dtype, (float if dtype.kind == "f" else int)(x.value.constant))
        if dtype == BOOL:
            return Number(BOOL, self.truth(x))
        if dtype.kind == "c":
            part = real_of(dtype)
            re, im = self.parts(x) if x.dtype.kind == "c" else (x, constant(part, 0.0))
            return self.complex(self.cast(re, part), self.cast(im, part))
        if x.dtype.kind == "c":
            raise Untranslatable("a complex number in the place of a real one")
        return Number(dtype, self._converted(x, dtype))

    def _converted(self, x: Number, dtype: np.dtype[Any]) -> Any:
        b, kind = self.b, in_register(dtype)
        if x.dtype.kind == "f":
            if dtype.kind == "f":
                return (b.fptrunc if dtype.itemsize < x.dtype.itemsize else b.fpext)(x.value, kind)
            return (b.fptosi if dtype.kind == "i" else b.fptoui)(x.value, kind)
        signed = x.dtype.kind == "i"
        if dtype.kind == "f":
            return (b.sitofp if signed else b.uitofp)(x.value, kind)
        if in_register(x.dtype).width > kind.width:
            return b.trunc(x.value, kind)
        return x.value if x.value.type == kind else (b.sext if signed else b.zext)(x.value, kind)

    def truth(self, x: Number) -> Any:
        """Return whether a number is not zero, as one bit."""
        if x.dtype == BOOL:
            return x.value
        if x.dtype.kind == "c":
            re, im = map(self.truth, self.parts(x))
            return self.b.or_(re, im)
        nothing = ir.Constant(x.value.type, 0)
        return (self.b.fcmp_unordered if x.dtype.kind == "f" else self.b.icmp_signed)("!=", x.value, nothing)

    def loaded(self, place: Any, dtype: np.dtype[Any]) -> Number:
        """Return the number at an address."""
        value = self._grouped(self.b.load(place))
        value.align = 1 if dtype == BOOL else dtype.itemsize // (2 if dtype.kind == "c" else 1)
        return Number(dtype, self.b.trunc(value, INT1) if dtype == BOOL else value)

    def store(self, x: Number, place: Any, dtype: np.dtype[Any]) -> None:
        """Put a number of the dtype at an address."""
        x = self.cast(x, dtype)
        value = self.b.zext(x.value, in_memory(BOOL)) if dtype == BOOL else x.value
        written = self._grouped(self.b.store(value, place))
        written.align = 1 if dtype == BOOL else dtype.itemsize // (2 if dtype.kind == "c" else 1)

    def _grouped(self, access: Any) -> Any:
        """Put an access to memory into the group of a loop whose turns are independent."""
        if self.group is not None:
            access.set_metadata("llvm.access.group", self.group)
        return access

    # --- operators ---------------------------------------------------------------------------------------------------

    def binary(self, op: ast.operator, x: Number, y: Number) -> Number:
        """Write an operator of two numbers."""
        kind = type(op)
        if kind in _OF_BITS:
            return self._of_bits(_OF_BITS[kind], x, y)
        if kind in (ast.LShift, ast.RShift):
            return self._shifted(kind, x, y)
        dtype = common(x.dtype, y.dtype)
        if kind is ast.Div and dtype.kind in "iu":
            dtype = REAL
        x, y = self.cast(x, dtype), self.cast(y, dtype)
        if dtype.kind == "c":
            return self._complex(kind, x, y)
        if kind in (ast.FloorDiv, ast.Mod):
            return Number(dtype, self._divided(kind, x, y))
        written: dict[Any, Callable[..., Any]] = {
            ast.Add: self.b.fadd, ast.Sub: self.b.fsub, ast.Mult: self.b.fmul, ast.Div: self.b.fdiv,
        }  # fmt: skip
        if dtype.kind in "iu":
            written = {ast.Add: self.b.add, ast.Sub: self.b.sub, ast.Mult: self.b.mul}
        if kind not in written:
            raise Untranslatable(f"the operator {kind.__name__}")
        return Number(dtype, written[kind](x.value, y.value, flags=self.flags if dtype.kind == "f" else ()))

    def _of_bits(self, name: str, x: Number, y: Number) -> Number:
        dtype = BOOL if x.dtype == y.dtype == BOOL else common(x.dtype, y.dtype)
        if dtype.kind not in "biu":
            raise Untranslatable("bits of a float")
        return Number(dtype, getattr(self.b, name)(self.cast(x, dtype).value, self.cast(y, dtype).value))

    def _shifted(self, kind: Any, x: Number, y: Number) -> Number:
        if x.dtype.kind not in "bi" or y.dtype.kind not in "biu":
            raise Untranslatable("a shift of an unsigned integer or of a float")
        x, y = self.cast(x, LONG), self.cast(y, LONG)
        return Number(LONG, (self.b.shl if kind is ast.LShift else self.b.ashr)(x.value, y.value))

    def _divided(self, kind: Any, x: Number, y: Number) -> Any:
        """Write a quotient or a remainder of integers, rounded towards minus infinity."""
        if x.dtype != LONG:
            raise Untranslatable(f"a remainder of {x.dtype}")
        b, nothing, one = self.b, ir.Constant(x.value.type, 0), ir.Constant(x.value.type, 1)
        by_zero = b.icmp_signed("==", y.value, nothing)
        by = b.select(by_zero, one, y.value)
        rest = b.srem(x.value, by)
        turned = b.and_(
            b.icmp_signed("!=", rest, nothing), b.icmp_signed("<", b.xor(rest, by), nothing)
        )  # the signs differ
        if kind is ast.Mod:
            return b.select(by_zero, nothing, b.add(rest, b.select(turned, by, nothing)))
        quotient = b.sdiv(x.value, by)
        return b.select(by_zero, nothing, b.sub(quotient, b.zext(turned, x.value.type)))

    def compare(self, op: ast.cmpop, x: Number, y: Number) -> Any:
        """Write a comparison; return one bit."""
        dtype, order = unified(x.dtype, y.dtype), _ORDER.get(type(op))
        if dtype.kind == "c" or order is None:
            raise Untranslatable(f"the comparison {type(op).__name__} of {dtype}")
        a, b = self.cast(x, dtype).value, self.cast(y, dtype).value
        if dtype.kind == "f":
            return (self.b.fcmp_unordered if order == "!=" else self.b.fcmp_ordered)(order, a, b)
        return (self.b.icmp_signed if dtype.kind == "i" else self.b.icmp_unsigned)(order, a, b)

    def negative(self, x: Number) -> Number:
        """Write a change of sign."""
        if x.dtype.kind == "f":
            return Number(x.dtype, self.b.fneg(x.value))
        if x.dtype.kind == "c":
            return self.complex(*map(self.negative, self.parts(x)))
        x = self.cast(x, LONG)
        return Number(LONG, self.b.neg(x.value))

    def inverted(self, x: Number) -> Number:
        """Write ``~x``."""
        x = x if x.dtype == BOOL else self.cast(x, LONG)
        return Number(x.dtype, self.b.not_(x.value))

    def size(self, x: Number) -> Number:
        """Write the absolute value."""
        if x.dtype.kind == "f":
            return Number(x.dtype, self.call("llvm.fabs", x.value))
        if x.dtype.kind != "i":
            raise Untranslatable(f"the absolute value of {x.dtype}")
        below = self.b.icmp_signed("<", x.value, ir.Constant(x.value.type, 0))
        return Number(x.dtype, self.b.select(below, self.b.neg(x.value), x.value))

    # --- complex numbers ---------------------------------------------------------------------------------------------

    def complex(self, re: Number, im: Number) -> Number:
        """Return the complex number of two parts."""
        dtype = np.dtype(f"c{2 * re.dtype.itemsize}")
        made = self.b.insert_value(ir.Constant(in_register(dtype), ir.Undefined), re.value, 0)
        return Number(dtype, self.b.insert_value(made, im.value, 1))

    def parts(self, x: Number) -> tuple[Number, Number]:
        """Return the real and the imaginary part."""
        part = real_of(x.dtype)
        return Number(part, self.b.extract_value(x.value, 0)), Number(part, self.b.extract_value(x.value, 1))

    def _complex(self, kind: Any, x: Number, y: Number) -> Number:
        """Write sums, products as NumPy has them, and quotients by Smith's method (1962)."""
        (a, b), (c, d) = self.parts(x), self.parts(y)

        def of(op: ast.operator, p: Number, q: Number) -> Number:
            return self.binary(op, p, q)

        add, minus, times, over = ast.Add(), ast.Sub(), ast.Mult(), ast.Div()
        if kind in (ast.Add, ast.Sub):
            return self.complex(of(kind(), a, c), of(kind(), b, d))
        if kind is ast.Mult:
            re, im = of(minus, of(times, a, c), of(times, b, d)), of(add, of(times, a, d), of(times, b, c))
            return self.complex(re, im)
        if kind is not ast.Div:
            raise Untranslatable(f"the operator {kind.__name__} of complex numbers")
        wide = self.compare(ast.GtE(), self.size(c), self.size(d))
        p, q = self.chosen(wide, c, d), self.chosen(wide, d, c)
        nothing = constant(p.dtype, 0.0)  # a divisor of zero divides both parts, as in NumPy
        by_zero = self.b.and_(self.compare(ast.Eq(), p, nothing), self.compare(ast.Eq(), q, nothing))
        ratio = self.chosen(by_zero, nothing, of(over, q, p))
        below = of(add, p, of(times, q, ratio))
        first, second = self.chosen(wide, a, b), self.chosen(wide, b, a)
        re = of(over, of(add, first, of(times, second, ratio)), below)
        im = of(over, of(minus, second, of(times, first, ratio)), below)
        return self.complex(re, self.chosen(wide, im, self.negative(im)))

    def chosen(self, bit: Any, x: Number, y: Number) -> Number:
        """Return one of two numbers of one dtype, without a branch."""
        return Number(x.dtype, self.b.select(bit, x.value, y.value))
