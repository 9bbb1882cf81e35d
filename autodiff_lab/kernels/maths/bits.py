"""Vector maths, its smallest parts: bits of numbers, choices without a branch, products and sums rounded once, rows.

Each but `put` is one instruction or two in LLVM.  The functions of `single` and of `double` are made of these, and so
are fused loops.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable, types


@intrinsic
def bits_of(typing_context: Any, x: Any) -> Any:
    """Read the bits of a float32 as an integer."""
    return types.int32(types.float32), lambda c, b, s, args: b.bitcast(args[0], ir.IntType(32))


@intrinsic
def bits_of_double(typing_context: Any, x: Any) -> Any:
    """Read the bits of a float64 as an integer."""
    return types.int64(types.float64), lambda c, b, s, args: b.bitcast(args[0], ir.IntType(64))


@intrinsic
def from_bits(typing_context: Any, x: Any) -> Any:
    """Make a float32 of the low 32 bits of an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        low = args[0] if args[0].type.width == 32 else builder.trunc(args[0], ir.IntType(32))
        return builder.bitcast(low, ir.FloatType())

    return types.float32(x), generate


@intrinsic
def double_from_bits(typing_context: Any, x: Any) -> Any:
    """Make a float64 of the bits of an integer."""
    return types.float64(types.int64), lambda c, b, s, args: b.bitcast(args[0], ir.DoubleType())


@intrinsic
def choose(typing_context: Any, condition: Any, x: Any, y: Any) -> Any:
    """Take x where the condition holds, else y, without a branch."""
    return x(types.boolean, x, x), lambda c, b, s, args: b.select(args[0], args[1], args[2])


def _whole(name: str) -> Any:
    """Return an intrinsic that rounds to an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic(name, [args[0].type]), args)

    return lambda typing_context, x: (x(x), generate)


floor = intrinsic(_whole("llvm.floor"))
ceil = intrinsic(_whole("llvm.ceil"))
nearest = intrinsic(_whole("llvm.rint"))


@intrinsic
def fused(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Give x · y + z, rounded once."""
    return x(x, x, x), lambda c, b, s, args: b.fma(*args)


def _extreme(name: str) -> Any:
    """An intrinsic that takes the larger or smaller of two, nan if either is; LLVM reduces whole vectors with it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(function, args)

    return lambda typing_context, x, y: (x(x, x), generate)


greatest = intrinsic(_extreme("llvm.maximum"))
least = intrinsic(_extreme("llvm.minimum"))


@intrinsic
def add_up(typing_context: Any, total: Any, x: Any) -> Any:
    """Add to a sum in whatever order is fastest."""
    return total(total, total), lambda c, b, s, args: b.fadd(args[0], args[1], flags=("reassoc",))


@intrinsic
def multiply_up(typing_context: Any, total: Any, x: Any) -> Any:
    """Multiply to a product in whatever order is fastest."""
    return total(total, total), lambda c, b, s, args: b.fmul(args[0], args[1], flags=("reassoc",))


@intrinsic
def flattened(typing_context: Any, array: Any) -> Any:
    """View a row-major array as one row; `reshape` would ask Numba's library, which machine code does without."""
    row = types.Array(array.dtype, 1, "C", readonly=not array.mutable, aligned=array.aligned)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(array)(context, builder, args[0])
        made = context.make_array(row)(context, builder)
        for field in ("data", "nitems", "itemsize", "meminfo", "parent"):
            setattr(made, field, getattr(source, field))
        word = source.nitems.type
        one = ir.Constant(ir.ArrayType(word, 1), ir.Undefined)
        made.shape = builder.insert_value(one, source.nitems, 0)
        made.strides = builder.insert_value(one, source.itemsize, 0)
        return made._getvalue()

    return row(array), generate


@register_jitable(forceinline=True)
def put(to: Any, row: Any) -> None:
    """Copy a row into another that does not overlap; ``to[:] = row`` makes room for the case that it does."""
    for k in range(row.size):
        to[k] = row[k]
