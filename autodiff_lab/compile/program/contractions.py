"""Contractions: an einsum written as matrix products, or as elementwise products and sums, which loops can compute.

`lowering` asks for them.  What cannot be written so is left to the kernel: other dtypes, stacks of cotangents, products
of several operands whose intermediate results would be larger than all of them.  No step multiplies matrices of complex
numbers: a product over a short axis, as of a gate and the state of a few qubits, is one sum of products for each
element.
"""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from autodiff_lab.compile.program.components import PRODUCTS
from autodiff_lab.compile.program.forms import Writing
from autodiff_lab.compile.program.program import Line
from autodiff_lab.compile.program.regions import WIDE
from autodiff_lab.engine.op import Op

Shape = tuple[int, ...]
_MOST_TERMS = 4
"""Products that an element of a result may be the sum of, where numbers are complex."""
_WORTH_A_CALL = 8
"""Length of each axis from which on a product of complex matrices is left to NumPy."""
_MOST_KEPT = 8 * WIDE
"""Products that may be kept until they are summed over other axes than the last ones."""
_FEW = 16
"""Elements of a row that is too short for products of matrices."""


class _Plan:
    """The ops that a contraction consists of, planned before the first line is written.

    Each has inputs, parameters and a shape; the result of the first one is -1, that of the second -2, and so on.
    """

    def __init__(self, sizes: dict[str, int], *, are_complex: bool) -> None:
        self.sizes, self.are_complex = sizes, are_complex
        self.ops: list[tuple[str | Op, tuple[int, ...], dict[str, Any], Shape]] = []

    def shape(self, letters: str) -> Shape:
        """Return the lengths of axes."""
        return tuple(self.sizes[c] for c in letters)

    def op(self, name: str | Op, *ins: int, shape: Shape, **params: Any) -> int:
        """Plan an op, and return what stands for its result."""
        self.ops.append((name, ins, {**params, "shape": shape} if name == "reshape" else params, shape))
        return -len(self.ops)

    def arranged(self, value: int, letters: str, order: str) -> int:
        """Put axes in another order."""
        if letters == order:
            return value
        perm = tuple(letters.index(c) - len(letters) for c in order)
        return self.op("transpose", value, shape=self.shape(order), perm=perm)

    def reshaped(self, value: int, old: Shape, new: Shape) -> int:
        """Give an array another shape."""
        return value if old == new else self.op("reshape", value, shape=new)

    def summed(self, value: int, letters: str, kept: str) -> int:
        """Sum over the axes that are not kept, those beside each other at once, as steps can; the last ones first."""
        end = len(letters)
        while end:
            begin = end
            while begin and letters[begin - 1] not in kept:
                begin -= 1
            if begin < end:
                axes = tuple(range(begin - len(letters), end - len(letters)))
                letters = letters[:begin] + letters[end:]
                value = self.op("sum", value, shape=self.shape(letters), axes=axes, keepdims=False)
            end = max(begin - 1, 0)
        return value

    def pair(self, x: int, of_x: str, y: int, of_y: str, output: str) -> int | None:
        """Contract two arrays, None where the kernel does better."""
        kept = set(output)
        alone_x, alone_y = ("".join(c for c in a if c in b or c in kept) for a, b in ((of_x, of_y), (of_y, of_x)))
        x, y, of_x, of_y = self.summed(x, of_x, alone_x), self.summed(y, of_y, alone_y), alone_x, alone_y
        both = "".join(c for c in output if c in of_x and c in of_y)
        rows, columns = ("".join(c for c in output if (c in a) and c not in b) for a, b in ((of_x, of_y), (of_y, of_x)))
        inner = "".join(c for c in of_x if c not in kept)
        lengths = [math.prod(self.shape(letters)) for letters in (rows, inner, columns)]
        products = not self.are_complex or min(lengths) >= _WORTH_A_CALL
        if products and inner and (not both or (rows and columns)):
            return self.product(x, of_x, y, of_y, (both, rows, inner, columns), output)
        return self.elementwise(x, of_x, y, of_y, inner, output)

    def product(self, x: int, of_x: str, y: int, of_y: str, parts: tuple[str, str, str, str], output: str) -> int:
        """Multiply matrices, or stacks of them."""
        both, rows, inner, columns = parts
        stack = self.shape(both)
        m, k, n = (math.prod(self.shape(part)) for part in (rows, inner, columns))
        left = self.arranged(x, of_x, both + rows + inner)
        left = self.reshaped(left, self.shape(both + rows + inner), (*stack, m, k))
        right = self.arranged(y, of_y, both + inner + columns)
        right = self.reshaped(right, self.shape(both + inner + columns), (*stack, k, n))
        made = self.op("matmul", left, right, shape=(*stack, m, n))
        order = both + rows + columns
        if not order:  # one element becomes a number
            return self.op("sum", made, shape=(), axes=(-2, -1), keepdims=False)
        return self.arranged(self.reshaped(made, (*stack, m, n), self.shape(order)), order, output)

    def loops_pay(self, of_x: str, of_y: str, order: str, inner: str) -> bool:
        """Return whether loops over large arrays are quicker than products of matrices.

        They are where rows are too short for products, if what is to be summed is not too much to be kept, and where
        the operands lie as the whole, its rows or its columns and what a loop sums are rows.
        """
        size = math.prod(self.shape(order))
        if inner and size > max(math.prod(self.shape(letters)) for letters in (of_x, of_y)):
            return False
        rows = set(order[len(order) - len(inner) :]) <= set(inner)
        if self.sizes[order[-1]] <= _FEW:
            return rows or size < _MOST_KEPT
        lies = ["".join(c for c in order if c in letters) for letters in (of_x, of_y)]
        return rows and all(order.startswith(own) or order.endswith(own) for own in lies)

    def elementwise(self, x: int, of_x: str, y: int, of_y: str, inner: str, output: str) -> int | None:
        """Multiply element by element, and sum; large arrays only where loops are quicker than products."""
        if self.are_complex and inner and math.prod(self.shape(inner)) <= _MOST_TERMS:
            return self.terms(x, of_x, y, of_y, inner, output)
        longer, other = (of_x, of_y) if len(of_x) >= len(of_y) else (of_y, of_x)
        lies = inner and not self.are_complex  # sums of complex numbers are steps along the last axes
        order = longer + "".join(c for c in other if c not in longer) if lies else output + inner
        if math.prod(self.shape(order)) >= WIDE and (self.are_complex or not self.loops_pay(of_x, of_y, order, inner)):
            return None
        spread: list[int] = []
        for value, letters in ((x, of_x), (y, of_y)):
            sorted_ = "".join(c for c in order if c in letters)
            value = self.arranged(value, letters, sorted_)
            wide = tuple(self.sizes[c] if c in letters else 1 for c in order)
            spread.append(self.reshaped(value, self.shape(sorted_), wide) if letters else value)
        made = self.op("multiply", *spread, shape=self.shape(order))
        kept = "".join(c for c in order if c not in inner)
        return self.arranged(self.summed(made, order, kept), kept, output)

    def terms(self, x: int, of_x: str, y: int, of_y: str, inner: str, output: str) -> int | None:
        """Write each element as a sum of a few products."""
        if math.prod(self.shape(output)) >= WIDE:
            return None
        spread: list[list[int]] = []
        for value, letters in ((x, of_x), (y, of_y)):
            kept = "".join(c for c in output if c in letters)
            value = self.arranged(value, letters, kept + inner)
            wide = tuple(self.sizes[c] if c in letters else 1 for c in output)
            whole = (("s", None, None, None),) * len(kept)
            parts: list[int] = []
            for at in np.ndindex(self.shape(inner)):
                part = self.op("slice", value, shape=self.shape(kept), items=(*whole, *[("i", k) for k in at]))
                parts.append(self.reshaped(part, self.shape(kept), wide))
            spread.append(parts)
        pairs = [one for pair in zip(*spread, strict=True) for one in pair]
        return self.op(PRODUCTS, *pairs, shape=self.shape(output))


def _kept(left: list[tuple[int, str]], i: int, j: int, output: str) -> str:
    """Return the letters that are still needed when two operands have been contracted."""
    later = set(output).union(*(letters for k, (_, letters) in enumerate(left) if k not in (i, j)))
    return output if len(left) == 2 else "".join(c for c in dict.fromkeys(left[i][1] + left[j][1]) if c in later)


def _subscripts(line: Line, shapes: list[Shape]) -> tuple[tuple[str, ...], str]:
    """Return the letters of the axes of an einsum, or of a product of matrices."""
    if line.op.name == "einsum":
        return line.params["inputs"], line.params["output"]
    lead, (i, j, k) = string.ascii_letters[: len(shapes[0]) - 2], "XYZ"
    return (f"{lead}{i}{j}", f"{lead}{j}{k}"), f"{lead}{i}{k}"


def contracted(to: Writing, line: Line) -> bool:
    """Write an einsum, or a product of matrices of complex numbers, in other lines; return whether that was done."""
    values = [to.values[i] for i in (*line.ins, *line.outs)]
    if any(v.memory is not None or v.dtype != values[0].dtype or 0 in v.shape for v in values):
        return False
    inputs, output = _subscripts(line, [v.shape for v in values])
    are_complex = values[0].dtype.name in ("complex64", "complex128")
    if not are_complex and (values[0].dtype.name not in ("float32", "float64") or line.op.name == "matmul"):
        return False
    if any(len(v.shape) != len(s) for v, s in zip(values, (*inputs, output), strict=True)):
        return False  # a stack of cotangents
    sizes = {c: n for v, s in zip(values, inputs, strict=False) for c, n in zip(s, v.shape, strict=True)}
    if any(sizes[c] != n for v, s in zip(values, inputs, strict=False) for c, n in zip(s, v.shape, strict=True)):
        return False  # stacks of matrices that broadcast
    plan = _Plan(sizes, are_complex=are_complex)
    most = max(math.prod(v.shape) for v in values)
    left = list(zip(line.ins, inputs, strict=True))
    while len(left) > 1:  # the pair whose contraction is the smallest
        pairs = [(_kept(left, i, j, output), i, j) for j in range(len(left)) for i in range(j)]
        kept, i, j = min(pairs, key=lambda pair: math.prod(plan.shape(pair[0])))
        found = plan.pair(*left[i], *left[j], kept)
        if found is None or math.prod(plan.shape(kept)) > most:
            return False
        left = [pair for k, pair in enumerate(left) if k not in (i, j)] + [(found, kept)]
    x, of_x = left[0]
    kept = "".join(c for c in of_x if c in output)
    x = plan.arranged(plan.summed(x, of_x, kept), kept, output)
    if not plan.ops or x != -len(plan.ops):
        return False
    made: list[int] = []

    def given(name: str | Op, ins: tuple[int, ...]) -> tuple[int, ...]:
        known = tuple(made[-i - 1] if i < 0 else i for i in ins)
        return (to.read(known[0], line),) if name == "sum" and not are_complex else known

    for name, ins, params, shape in plan.ops[:-1]:
        made.append(to.add(name, given(name, ins), params, shape, line))
    name, ins, params, _ = plan.ops[-1]
    to.end(line, name, *given(name, ins), **params)
    return True
