"""Vector maths, its smallest parts: bits of numbers, choices without a branch, products and sums rounded once, rows.

Each but `put` is one instruction or two in LLVM.  The functions of `single` and of `double` are made of these, and so
are fused loops.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable


@intrinsic("int32", "float32")
def bits_of(site: Any, x: Any) -> Any:
    """Read the bits of a float32 as an integer."""
    return site.builder.bitcast(x, ir.IntType(32))


@intrinsic("int64", "float64")
def bits_of_double(site: Any, x: Any) -> Any:
    """Read the bits of a float64 as an integer."""
    return site.builder.bitcast(x, ir.IntType(64))


@intrinsic("float32", "=")
def from_bits(site: Any, x: Any) -> Any:
    """Make a float32 of the low 32 bits of an integer."""
    low = x if x.type.width == 32 else site.builder.trunc(x, ir.IntType(32))
    return site.builder.bitcast(low, ir.FloatType())


@intrinsic("float64", "int64")
def double_from_bits(site: Any, x: Any) -> Any:
    """Make a float64 of the bits of an integer."""
    return site.builder.bitcast(x, ir.DoubleType())


@intrinsic("=1", "boolean", "=", "=1")
def choose(site: Any, condition: Any, x: Any, y: Any) -> Any:
    """Take x where the condition holds, else y, without a branch."""
    return site.builder.select(condition, x, y)


def _whole(name: str) -> Any:
    """Return an intrinsic that rounds to an integer."""

    def write(site: Any, x: Any) -> Any:
        return site.builder.call(site.builder.module.declare_intrinsic(name, [x.type]), [x])

    return intrinsic("=0", "=")(write)


floor = _whole("llvm.floor")
ceil = _whole("llvm.ceil")
nearest = _whole("llvm.rint")


@intrinsic("=0", "=", "=0", "=0")
def fused(site: Any, x: Any, y: Any, z: Any) -> Any:
    """Give x · y + z, rounded once."""
    return site.builder.fma(x, y, z)


def _extreme(name: str) -> Any:
    """Return an intrinsic that takes the larger or smaller of two, nan if either is; LLVM reduces vectors with it."""

    def write(site: Any, x: Any, y: Any) -> Any:
        kind = ir.FunctionType(x.type, [x.type, x.type])
        return site.builder.call(site.builder.module.declare_intrinsic(name, [x.type], kind), [x, y])

    return intrinsic("=0", "=", "=0")(write)


greatest = _extreme("llvm.maximum")
least = _extreme("llvm.minimum")


@intrinsic("=0", "=", "=0")
def add_up(site: Any, total: Any, x: Any) -> Any:
    """Add to a sum in whatever order is fastest."""
    return site.builder.fadd(total, x, flags=("reassoc",))


@intrinsic("=0", "=", "=0")
def multiply_up(site: Any, total: Any, x: Any) -> Any:
    """Multiply to a product in whatever order is fastest."""
    return site.builder.fmul(total, x, flags=("reassoc",))


@intrinsic("row of 0", "=")
def flattened(site: Any, array: Any) -> Any:
    """View a row-major array as one row; `reshape` would ask Numba's library, which machine code does without."""
    return site.row(site.data(0), site.count(0), 0)


@register_jitable(forceinline=True)
def put(to: Any, row: Any) -> None:
    """Copy a row into another that does not overlap; ``to[:] = row`` makes room for the case that it does."""
    for k in range(row.size):
        to[k] = row[k]
