"""Contractions: einsum, tensordot, cross products.

A gradient of an einsum is an einsum with the subscripts exchanged, so one op serves every order.
"""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import as_integer, as_integers, listed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.matmul.contraction import contract as kernel
from autodiff_lab.ops.array.shaping import broadcast_to, reshape, transpose
from autodiff_lab.ops.checks import axes_in_order
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import diag_extract
from autodiff_lab.ops.linalg.products import matmul

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


def _contract_rule(ops: Any, g: Any, out: Any, *xs: Any, inputs: tuple[str, ...], output: str,
                   need: tuple[int, ...]) -> list[Any]:
    contributions: list[Any] = []
    for i in need:
        names, kept = _exchanged(inputs, output, i)
        contribution = ops.einsum(g, *xs[:i], *xs[i + 1:], inputs=names, output=kept)
        if kept != inputs[i]:  # the sweep spreads axes that were summed away
            lead = tuple(contribution.shape[: len(contribution.shape) - len(kept)])
            sizes = dict(zip(inputs[i], xs[i].shape, strict=True))
            lengths = tuple(sizes[c] if c in kept else 1 for c in inputs[i])
            contribution = ops.reshape(contribution, shape=lead + lengths)
        contributions.append(contribution)
    return contributions


@functools.lru_cache(512)
def _exchanged(inputs: tuple[str, ...], output: str, i: int) -> tuple[tuple[str, ...], str]:
    """Subscripts of the contraction that makes the gradient of an operand, and of that operand what they name."""
    names = (output, *inputs[:i], *inputs[i + 1:])
    known = "".join(names)
    return names, "".join(c for c in inputs[i] if c in known)


contract = general(
    "einsum", kernel, _contract_rule, shared=True, symbol="einsum", latex=r"\operatorname{{einsum}}({0}, {1})",
    locals_latex=(r"\operatorname{{einsum}}", r"\operatorname{{einsum}}"),
    sentence="multiplies and sums over subscripts", keeps="inputs", registered="Einsum",
    doc="The kernel-level contraction; `lab.einsum` is the public function.")


def _fresh(used: str, count: int) -> str:
    free = [c for c in string.ascii_letters if c not in used]
    if len(free) < count:
        raise InvalidArgumentError("einsum: too many subscripts, no letters are left.")
    return "".join(free[:count])


def einsum(equation: str, *inputs: TensorLike, name: str | None = None, **kwargs: object) -> Tensor:
    unknown = set(kwargs) - {"optimize"}
    if unknown:
        raise TypeError(f"einsum() got an unexpected keyword argument {min(unknown)!r}")
    if not inputs:
        raise InvalidArgumentError("einsum: expected at least one operand.")
    first = next((convert(v) for v in inputs if hasattr(v, "_held")), None)
    tensors = [convert(v, first) for v in inputs]
    if len({t._held.dtype for t in tensors}) > 1:
        raise DtypeMismatch(f"einsum: expected one dtype, got {', '.join(t.dtype.name for t in tensors)}. Try "
                            "lab.cast.")
    if tensors[0]._held.dtype.kind in "bO":
        raise DtypeMismatch(f"einsum: expected numbers, got {tensors[0].dtype.name}. Try lab.cast.")
    subscripts, output, hidden, repeats = _parsed(equation, tuple([t._held.ndim for t in tensors]))
    if hidden:
        subscripts, tensors = _without_ones(subscripts, tensors, hidden)
    if repeats:
        subscripts, tensors = _without_repeats(equation, subscripts, tensors)
    sizes: dict[str, int] = {}
    for s, t in zip(subscripts, tensors, strict=True):
        for letter, n in zip(s, t._held.shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                shapes = ", ".join(str(x._held.shape) for x in tensors)
                raise ShapeMismatch(f"einsum {equation!r}: subscript {letter} has lengths {sizes[letter]} and {n} in "
                                    f"shapes {shapes}.")
    return contract(*tensors, inputs=tuple(subscripts), output=output, name=name)


def _checked(equation: str) -> tuple[list[str], str | None]:
    """Subscripts of the operands and the result, None for a result that is not written; all of them well formed."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    given = left.split(",")
    for s in [*given, right]:
        if not all(c in string.ascii_letters for c in s.replace("...", "", 1)):
            raise InvalidArgumentError(f"einsum {equation!r}: invalid subscripts {s!r}; expected letters and at most "
                                       "one '...', with ',' between operands and one '->' before the result.")
    twice = next((c for c in right.replace("...", "") if right.count(c) > 1), None)
    if twice:
        raise InvalidArgumentError(f"einsum {equation!r}: the result contains {twice} twice. Try lab.linalg.diag.")
    missing = next((c for c in right.replace("...", "") if c not in left), None)
    if missing:
        raise InvalidArgumentError(f"einsum {equation!r}: the subscript {missing} of the result is in no operand.")
    return given, right if arrow else None


@functools.lru_cache(512)
def _parsed(equation: Any, ranks: tuple[int, ...]) -> tuple[tuple[str, ...], str, str, bool]:
    """Subscripts with an ellipsis written out in letters, those letters, and whether one comes twice in an operand."""
    if not isinstance(equation, str):
        raise InvalidArgumentError(f"einsum: equation must be a string, got {type(equation).__name__}.")
    given, right = _checked(equation)
    if len(given) != len(ranks):
        raise InvalidArgumentError(f"einsum {equation!r}: expected {len(given)} operands, got {len(ranks)}.")
    hidden = [rank - len(s.replace("...", "")) if "..." in s else 0 for s, rank in zip(given, ranks, strict=True)]
    letters = _fresh(equation, max(hidden, default=0))
    written = [s.replace("...", letters[len(letters) - max(n, 0):]) for s, n in zip(given, hidden, strict=True)]
    for s, rank in zip(written, ranks, strict=True):
        if len(s) != rank:
            raise ShapeMismatch(f"einsum {equation!r}: {s!r} has {len(s)} subscripts, but the operand has {rank} axes.")
    repeats = any(len(set(s)) < len(s) for s in written)
    if right is None:
        every = "".join(written)
        named = "".join(sorted(c for c in set(every) - set(letters) if every.count(c) == 1))
        return tuple(written), letters + named, letters, repeats
    if letters and "..." not in right:
        raise InvalidArgumentError(f"einsum {equation!r}: '...' stands for {len(letters)} axes of the operands, but "
                                   "the result has no '...'. Try '...' after '->'.")
    return tuple(written), right.replace("...", letters), letters, repeats


def _without_ones(subscripts: Sequence[str], tensors: list[Tensor], hidden: str) -> tuple[list[str], list[Tensor]]:
    """Axes under an ellipsis that are 1 long broadcast: where another operand has a longer one they are dropped."""
    lengths = [list(zip(s, t._held.shape, strict=True)) for s, t in zip(subscripts, tensors, strict=True)]
    long = {letter for pairs in lengths for letter, n in pairs if letter in hidden and n != 1}
    names, operands = list(subscripts), list(tensors)
    for i, (s, t) in enumerate(zip(subscripts, tensors, strict=True)):
        kept = [letter not in long or n != 1 for letter, n in lengths[i]]
        if not all(kept):
            names[i] = "".join(c for c, keep in zip(s, kept, strict=True) if keep)
            operands[i] = reshape(t, [n for n, keep in zip(t._held.shape, kept, strict=True) if keep])
    return names, operands


def _without_repeats(equation: str, subscripts: Sequence[str], tensors: list[Tensor]) -> tuple[list[str], list[Tensor]]:
    """``ii`` becomes ``i`` of the diagonal, so that rules need not know of diagonals.

    A product with an identity matrix would do for finite numbers only: 0 times infinity is nan.
    """
    names, operands = list(subscripts), list(tensors)
    for i in range(len(names)):
        while twice := next((c for c in names[i] if names[i].count(c) > 1), None):
            first = names[i].index(twice)
            second = names[i].index(twice, first + 1)
            x, rest = operands[i], [a for a in range(len(names[i])) if a not in (first, second)]
            if x._held.shape[first] != x._held.shape[second]:
                raise ShapeMismatch(f"einsum {equation!r}: subscript {twice} has lengths {x._held.shape[first]} and "
                                    f"{x._held.shape[second]} in shape {x._held.shape}.")
            operands[i] = diag_extract(transpose(x, [*rest, first, second]) if rest else x, k=0)
            names[i] = "".join(names[i][a] for a in rest) + twice
    return names, operands


def tensordot(a: TensorLike, b: TensorLike, axes: IntsLike = 2, name: str | None = None) -> Tensor:
    if axes.__class__ is int and axes == 1 and name is None and a.__class__ is b.__class__ is Tensor:  # most calls
        shapes, dtype = (a._held.shape, b._held.shape), a._held.dtype  # type: ignore[union-attr]
        fit = 1 <= len(shapes[0]) <= 2 >= len(shapes[1]) >= 1 and shapes[0][-1] == shapes[1][0]
        if fit and dtype == b._held.dtype and dtype.kind == "f":  # type: ignore[union-attr]
            return RECORDING.matmul(a, b)
    x, y = convert_pair(contract.op, a, b)  # type: ignore[attr-defined]
    over_x, over_y = _axes(axes, x._held.ndim, y._held.ndim)
    lengths = [x._held.shape[i] for i in over_x], [y._held.shape[i] for i in over_y]
    if lengths[0] != lengths[1]:
        raise ShapeMismatch(f"tensordot: axes {over_x} of {x._held.shape} and {over_y} of {y._held.shape} have "
                            f"lengths {lengths[0]} and {lengths[1]}; they must match.")
    plain = x._held.ndim <= 2 >= y._held.ndim and over_x == [x._held.ndim - 1] and over_y == [0]
    if plain and x._held.dtype.kind == "f":  # also of vectors
        return RECORDING.matmul(x, y, name=name)
    free_x = [i for i in range(x._held.ndim) if i not in over_x]
    free_y = [i for i in range(y._held.ndim) if i not in over_y]
    rows, columns = [x._held.shape[i] for i in free_x], [y._held.shape[i] for i in free_y]
    size = math.prod(lengths[0])
    left = _arranged(x, [*free_x, *over_x], (math.prod(rows), size))
    right = _arranged(y, [*over_y, *free_y], (size, math.prod(columns)))
    return named(_arranged(matmul(left, right), [0, 1], (*rows, *columns)), name)


def _arranged(x: Tensor, order: list[int], shape: tuple[int, ...]) -> Tensor:
    """Return x with its axes in an order, then of a shape; what is so already stays, at no cost."""
    x = x if order == sorted(order) else transpose(x, order)
    return x if x._held.shape == shape else reshape(x, shape)


def _axes(axes: Any, rank_x: int, rank_y: int) -> tuple[list[int], list[int]]:
    axes = getattr(axes, "_array", axes)
    if not isinstance(axes, (list, tuple)) and np.ndim(axes) == 0:
        count = as_integer(axes, "tensordot: axes")
        if not 0 <= count <= min(rank_x, rank_y):
            raise InvalidArgumentError(f"tensordot: axes={count} is out of range for tensors of rank {rank_x} and "
                                       f"{rank_y}.")
        return list(range(rank_x - count, rank_x)), list(range(count))
    axes = listed(axes, "tensordot: axes")
    if len(axes) != 2:
        raise InvalidArgumentError(f"tensordot: axes must be an integer or two lists of axes, got {axes!r}.")
    first, second = (as_integers(part, "tensordot: axes") for part in axes)
    if len(first) != len(second):
        raise InvalidArgumentError(f"tensordot: the two lists of axes must have one length, got {axes!r}.")
    over_x, over_y = axes_in_order(first, rank_x, "tensordot"), axes_in_order(second, rank_y, "tensordot")
    return [a + rank_x for a in over_x], [a + rank_y for a in over_y]


def _cross(a: Any, b: Any) -> Any:
    if on_gpu(a) or on_gpu(b):
        return np.cross(a, b)
    made = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))  # in a quarter of np.cross's time
    for n in range(3):
        j, k = (n + 1) % 3, (n + 2) % 3
        np.subtract(a[..., j] * b[..., k], a[..., k] * b[..., j], out=made[..., n])
    return made


cross_product = general(
    "cross", _cross, lambda ops, g, out, a, b: ops.cross(b, g),
    lambda ops, g, out, a, b: ops.cross(g, a), warns=False, symbol="×", latex=r"{0} \times {1}",
    locals_latex=(r"{1} \times", r"\times {0}"), sentence="takes the cross product of {0} and {1}", keeps="inputs",
    registered="Cross", doc="The kernel-level cross product; `lab.linalg.cross` is the public function.")


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    x, y = convert_pair(cross_product.op, a, b)  # type: ignore[attr-defined]
    shapes = x._held.shape, y._held.shape
    if any(shape[-1:] != (3,) for shape in shapes):
        raise ShapeMismatch(f"cross: expected two tensors (*b, 3), got shapes {shapes[0]} and {shapes[1]}.")
    if shapes[0] != shapes[1]:
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ShapeMismatch(f"cross: shapes {shapes[0]} and {shapes[1]} do not broadcast.") from None
        x, y = broadcast_to(x, whole), broadcast_to(y, whole)
    return cross_product(x, y, name=name)


document((
    (einsum, "Products summed over subscripts (Einstein's convention); ... stands for further axes, which broadcast.",
     "as the equation says", "an einsum with the subscripts exchanged",
     ">>> print(lab.einsum('ij,jk->ik', [[1, 2]], [[3], [4]]))\nTensor([[11]], shape=(1, 1), dtype=int32)"),
    (tensordot, "Products summed over pairs of axes.", "a (*s, *c), b (*c, *t) -> (*s, *t)", "that of a matrix product",
     ">>> print(lab.tensordot([1.0, 2.0], [3.0, 4.0], 1))\nTensor(11.0, shape=(), dtype=float32)"),
    (cross, "The cross product of vectors in three dimensions.", "(*b, 3), (*c, 3) that broadcast -> (*d, 3)",
     "b × g for a, g × a for b",
     ">>> print(lab.linalg.cross([1, 0, 0], [0, 1, 0]))\nTensor([0 0 1], shape=(3,), dtype=int32)"),
), dtypes="any number, all the same", raises=("shape", "argument", "dtypes", "convert"))
