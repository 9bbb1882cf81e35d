"""Texts of steps that are not elementwise loops: products, copies, parts of a whole, zeros.

A product has slots for x, y and the result; m, k and n; how many matrices; how far apart the rows of x and of y are,
and their matrices.  A copy, which may change the dtype, has the source and the target, four lengths and the strides of
the source.  A part has the strides of the target too.  Lengths and strides are in elements.  A block has the result,
its operands, the numbers that it takes, and the size of the room that it needs.
"""

from __future__ import annotations

import numpy as np

from autodiff_lab.compile.program.blocks import Block

MOST_WORK, LARGEST_RIGHT = {64: 1 << 20, 32: 1 << 20, 16: 1 << 14}, 1 << 18
"""Multiplications of the largest product by the bytes of a vector register, and bytes of the largest right operand.

Up to there tiles are as fast as OpenBLAS or faster, but for depths of a few numbers, and no call from Python comes
between two steps.
"""
PRODUCT = """\
from numpy import {kind} as number, int32
from autodiff_lab.kernels.base.pointers import STEP, at
from autodiff_lab.kernels.matmul.small import {function}
multiply = {function}({rows}, {widths})
@addressed(STEP)
def step(slots):
    m, k, n, end = slots[3], slots[4], slots[5], 1 << 60
    x, y, out = at(slots[0], end, number), at(slots[1], end, number), at(slots[2], end, number)
    for s in range(slots[6]):
        multiply(x, s * slots[9], slots[7], y, s * slots[10], slots[8], out, s * m * n, n, m, k, n)
    return int32(0)
"""


def product_text(kind: str, turned: bool, m: int, n: int, *, column: bool) -> str:
    """Return the text of a product of shape (m, n), whose left operand is `turned`, or whose right one is a column."""
    from autodiff_lab.kernels.matmul.small import tiles_of  # which asks LLVM about the processor

    if column and not turned:
        return PRODUCT.format(kind=kind, function="multiply_by_column", rows=(), widths=())
    rows, widths = tiles_of(m, n, np.dtype(kind).itemsize)
    function = "multiply_transposed" if turned else "multiply"
    return PRODUCT.format(kind=kind, function=function, rows=rows, widths=widths)


COPY = """\
from numpy import {source} as source, {target} as target, int32
from autodiff_lab.kernels.base.pointers import STEP, at
@addressed(STEP)
def step(slots):
    n, s = slots[5], slots[9]
    for i in range(slots[2]):
        for j in range(slots[3]):
            for k in range(slots[4]):
                begin = slots[0] + {source_size} * (i * slots[6] + j * slots[7] + k * slots[8])
                x = at(begin, n, source)
                out = at(slots[1] + {target_size} * n * ((i * slots[3] + j) * slots[4] + k), n, target)
                for l in range(n):
                    out[l] = target({x})
    return int32(0)
"""


def copy_text(source: str, target: str, stride: int) -> str:
    """Return the text of a copy from one dtype to another; `stride` is that of the innermost loop."""
    sizes = {"source_size": np.dtype(source).itemsize, "target_size": np.dtype(target).itemsize}
    names = ["bool_" if name == "bool" else name for name in (source, target)]
    backwards = f"at(begin + {sizes['source_size']} * l * s, 1, source)[0]"  # a negative index counts from the end
    x = "x[l]" if stride == 1 else "x[l * s]" if stride > 0 else backwards
    return COPY.format(source=names[0], target=names[1], x=x, **sizes)


UNROLLED = 8
"""Elements of the longest run whose length is part of the text."""
PUT = """\
from numpy import {kind} as number, int32
from autodiff_lab.kernels.base.pointers import STEP, at
@addressed(STEP)
def step(slots):
    n, s, t = {length}, slots[9], slots[13]
    for i in range(slots[2]):
        for j in range(slots[3]):
            for k in range(slots[4]):
                begin = slots[0] + {size} * (i * slots[6] + j * slots[7] + k * slots[8])
                there = slots[1] + {size} * (i * slots[10] + j * slots[11] + k * slots[12])
                if s == t == 1:
                    x, out = at(begin, n, number), at(there, n, number)
                    for l in range(n):
                        out[l] {puts} x[l]
                elif s == -1 and t == 1:
                    x, out = at(begin - {size} * (n - 1), n, number), at(there, n, number)
                    for l in range(n):
                        out[l] {puts} x[n - 1 - l]
                else:
                    for l in range(n):
                        at(there + {size} * l * t, 1, number)[0] {puts} at(begin + {size} * l * s, 1, number)[0]
    return int32(0)
"""


def put_text(kind: str, adds: bool, length: int | None) -> str:
    """Return the text of a part that is put into a whole or added there; `length` is that of short rows."""
    size = np.dtype(kind).itemsize
    return PUT.format(kind=kind, size=size, puts="+=" if adds else "=", length=length or "slots[5]")


NOWHERE = -(1 << 62)
"""Where a row begins to which a part adds nothing."""
SUM = """\
from numpy import {kind} as number, int32, int64
from autodiff_lab.kernels.base.pointers import STEP, at
from autodiff_lab.kernels.maths.single import choose
@addressed(STEP, independent=True)
def step(slots):
    n, rows, begin, end = slots[1], slots[2], slots[3], slots[4]
{starts}
    for r in range(rows):
        out = at(slots[0] + {size} * n * r, n, number)
{arrays}
        for i in range(begin, end):
            out[i] = {total}
        for side in range(2):
            for i in range(choose(side == 0, 0, end), choose(side == 0, begin, n)):
                value = number(0)
{edges}
                out[i] = value
    return int32(0)
"""


def sum_text(kind: str, count: int) -> str:
    """Return the text of a sum of parts, row by row, of which most columns are in all of them.

    It has slots for the result, the length and the number of its rows, the columns from and up to which all parts go,
    two rows of 0 and of -0, and for each part its array, where each row begins, and its first and last columns.
    """
    starts, arrays, edges, terms = list[str](), list[str](), list[str](), list[str]()
    size = np.dtype(kind).itemsize
    for k in range(count):
        at = 7 + 4 * k
        starts.append(f"    starts{k}, a{k}, b{k} = at(slots[{at + 1}], rows, int64), slots[{at + 2}], slots[{at + 3}]")
        nothing = f"slots[{5 + (k > 0)}]"  # -0 + x is x, also where x is -0
        place = f"choose(starts{k}[r] == {NOWHERE}, {nothing}, slots[{at}] + {size} * starts{k}[r])"
        arrays.append(f"        x{k} = at({place}, n, number)")
        terms.append(f"x{k}[i - a{k}]")
        edges += [f"                if a{k} <= i and i < b{k}:",
                  f"                    value {'+=' if k else '='} x{k}[i - a{k}]"]  # fmt: skip
    return SUM.format(
        kind=kind, size=size, starts="\n".join(starts), arrays="\n".join(arrays), edges="\n".join(edges),
        total=" + ".join(terms),
    )  # fmt: skip


ZERO = """\
from numpy import {kind} as number, int32
from autodiff_lab.kernels.base.pointers import STEP, at
@addressed(STEP)
def step(slots):
    out = at(slots[0], slots[1], number)
    for i in range(slots[1]):
        out[i] = 0
    return int32(0)
"""


def block_text(block: Block, kinds: list[str], count: int) -> str:
    """Return the text of a step that calls a block.

    Parameters
    ----------
    block : Block
        What is called.
    kinds : list of str
        The dtypes of the result and of the operands.
    count : int
        How many slots hold numbers; the last one is the size of its room if it needs one.
    """
    kinds = ["bool_" if kind == "bool" else kind for kind in kinds]
    arrays = [f"at(slots[{n}], end, numpy.{kind})" for n, kind in enumerate(kinds)]
    numbers = [f"slots[{n}]" for n in range(len(kinds), len(kinds) + count)]
    kind = next((kind for kind in kinds if kind.startswith("complex")), kinds[0])
    room = [f"numpy.empty({numbers[-1]}, numpy.{kind})"] if block.room else []
    given = [arrays[0], *room, *arrays[1:], *numbers[: count - len(room)]]
    return f"""\
import numpy
from numpy import int32
from autodiff_lab.kernels.base.pointers import STEP, at
from {block.module} import {block.function} as block
@addressed(STEP{", _nrt=True" if room else ""})
def step(slots):
    end = 1 << 60
    return int32(block({", ".join(given)}))
"""
