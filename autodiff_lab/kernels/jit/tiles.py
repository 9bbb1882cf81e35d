"""Tiles of a matrix product: eight rows by two vectors, kept in registers while all of a block's depth passes by.

Needs Numba.  For each step of the depth two vectors of the right operand are loaded, and one number of each of eight
rows of the left is spread over a vector: ten loads for sixteen fused multiply-adds, which is what a core with AVX-512
can do at once.  Numba's own loops do not hold sixteen sums in registers, so the tile is written out for LLVM.

The tile fetches nothing ahead: to ask for the columns of the next tile took a fifth of the time of 64 rows.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS, VECTORS, VECTOR_BYTES = 8, 2, 64
WIDTH_BYTES = VECTORS * VECTOR_BYTES
_INT = ir.IntType(64)


def _tile_of(rows: int) -> Callable[..., Any]:
    """Make an intrinsic for tiles of so many rows."""

    @intrinsic
    def tile(
        typing_context: Any, like: Any, a: Any, a_down: Any, a_along: Any, b: Any, b_down: Any, c: Any, c_down: Any,
        depth: Any, more: Any,
    ) -> Any:  # fmt: skip
        signature = types.void(like, *[types.int64] * 8, types.boolean)
        size = like.dtype.bitwidth // 8
        number = ir.FloatType() if size == 4 else ir.DoubleType()
        lanes = VECTOR_BYTES // size
        vector = ir.VectorType(number, lanes)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _, a, a_down, a_along, b, b_down, c, c_down, depth, more = args
            fma_type = ir.FunctionType(vector, [vector] * 3)
            fma = cgutils.get_or_insert_function(builder.module, fma_type, f"llvm.fma.v{lanes}f{8 * size}")
            anywhere, first_lane = ir.Constant(vector, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            every_lane = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

            def place(base: Any, n: int) -> Any:
                return builder.inttoptr(builder.add(base, _INT(n * VECTOR_BYTES)), vector.as_pointer())

            begins = [builder.add(a, builder.mul(a_down, _INT(r))) for r in range(rows)]
            before = builder.block
            body, after = builder.append_basic_block("deeper"), builder.append_basic_block("done")
            builder.branch(body)
            builder.position_at_end(body)
            step = builder.phi(_INT)
            sums = [[builder.phi(vector) for _ in range(VECTORS)] for _ in range(rows)]
            step.add_incoming(_INT(0), before)
            b_here, a_here = builder.add(b, builder.mul(step, b_down)), builder.mul(step, a_along)
            right = [builder.load(place(b_here, n), align=size) for n in range(VECTORS)]
            next_step = builder.add(step, _INT(1))
            step.add_incoming(next_step, body)
            totals: list[list[Any]] = []
            for r in range(rows):
                left = builder.load(builder.inttoptr(builder.add(begins[r], a_here), number.as_pointer()), align=size)
                spread = builder.shuffle_vector(
                    builder.insert_element(anywhere, left, first_lane), anywhere, every_lane
                )
                totals.append([builder.call(fma, [spread, right[n], sums[r][n]]) for n in range(VECTORS)])
                for n in range(VECTORS):
                    sums[r][n].add_incoming(ir.Constant(vector, [0.0] * lanes), before)
                    sums[r][n].add_incoming(totals[r][n], body)
            builder.cbranch(builder.icmp_signed("<", next_step, depth), body, after)
            builder.position_at_end(after)
            with builder.if_else(more) as (adding, fresh):
                with adding:
                    for r, n in ((r, n) for r in range(rows) for n in range(VECTORS)):
                        where = place(builder.add(c, builder.mul(c_down, _INT(r))), n)
                        total = builder.fadd(builder.load(where, align=size), totals[r][n])
                        builder.store(total, where, align=size)
                with fresh:
                    for r, n in ((r, n) for r in range(rows) for n in range(VECTORS)):
                        where = place(builder.add(c, builder.mul(c_down, _INT(r))), n)
                        builder.store(totals[r][n], where, align=size)
            return context.get_dummy_value()

        return signature, generate

    tile.__doc__ = f"""Multiply {rows} rows of a block by {VECTORS} vectors of columns; all places are addresses.

    ``like`` is an array, for its dtype.  The element of a in row r and depth k lies at ``a + r·a_down + k·a_along``,
    the columns of depth k begin at ``b + k·b_down``, the result's row r at ``c + r·c_down``; all in bytes.  With `more`
    the product is added to what is there.
    """
    return tile


@intrinsic
def copy_width(typing_context: Any, like: Any, here: Any, there: Any) -> Any:
    """Copy as many bytes as a tile is wide from one address to another."""
    vector = ir.VectorType(ir.IntType(8), VECTOR_BYTES)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for n in range(VECTORS):
            pair = (builder.add(place, _INT(n * VECTOR_BYTES)) for place in args[1:])
            source, goal = (builder.inttoptr(place, vector.as_pointer()) for place in pair)
            builder.store(builder.load(source, align=1), goal, align=1)
        return context.get_dummy_value()

    return types.void(like, types.int64, types.int64), generate


tile_of_rows = _tile_of(ROWS)
tile_of_one = _tile_of(1)
