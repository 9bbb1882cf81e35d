"""Elementwise kernels for which NumPy has no single quick function, as one compiled loop over their elements.

NumPy computes `silu` in eight passes over memory, each of which makes an array, and many elementary
functions number by number where a processor has no AVX-512.  The loop is generated from statements
in the language of `Op.expression`, with the functions of `kernels.maths`, and reads and writes each element once.  It
takes plain arrays of one shape and dtype, and single numbers among them.  Everything else, and everything until the
loop is compiled, is the reference's: broadcasting, integers, half floats, arrays of a GPU.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.choose import IN_USE, numba_is_there
from autodiff_lab.kernels.base.compiler import COMPILING, active, ask, let_in, listing, waits
from autodiff_lab.kernels.base.order import in_order, lie_alike, order_in_memory
from autodiff_lab.kernels.base.threads import spread

FEW = 64
"""Below this number of elements the reference runs: to look for a loop would cost more than it gains."""
COUNTED = 256
"""Smaller calls do not count towards the work for which a loop is compiled."""
WORTH_COMPILING = 2_000_000
"""Elements that the reference must have gone through before a loop is compiled: compiling takes 0.3 s."""
WORTH_A_LOOK = 250_000
"""Elements after which a loop that is kept on disk is loaded; once the background runs, the first ones are enough."""
SHARED = 32_768
"""Elements for which another thread pays."""
FUNCTIONS = frozenset({
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sigmoid", "softplus", "erf", "erfc", "normal_cdf",
    "power", "lgamma", "digamma", "trigamma", "tetragamma", "asin", "acos", "atan", "atan2", "sinh", "cosh", "asinh",
    "acosh", "atanh", "erfinv", "erfcinv", "ndtri", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_i2",
    "bessel_i2e", "floor_divide", "remainder",
})  # fmt: skip
"""Functions of `kernels.maths` with different code for float32 and float64."""
ANGLES = frozenset({"sin", "cos", "tan"})
"""Those whose loops look for arguments that are too large, for which the reference computes the result."""
OPERATIONS = ("add_up", "ceil", "choose", "floor", "half", "larger", "nearest", "smaller")
_CALLED = re.compile(r"\b([a-z]\w*)\(")
_NAMES = {"f": "float32", "d": "float64"}
ndarray, empty = np.ndarray, np.empty
LOOPS: dict[str, Elementwise] = {}
"""Every kernel of this kind, by name."""


def called_in(text: str) -> frozenset[str]:
    """Return the names of all that an expression calls."""
    return frozenset(_CALLED.findall(text))


def functions_in(text: str) -> frozenset[str]:
    """Return the elementary functions that an expression calls."""
    return FUNCTIONS & called_in(text)


class Chain(NamedTuple):
    """What a loop computes for one element: statements on ``v0``, ``v1``, ... for the inputs, and the result's name.

    A statement may set ``far`` where the loop cannot compute the result.
    """

    statements: tuple[str, ...]
    result: str


class Elementwise:
    """One elementwise kernel: its reference, and its loops by dtype and by which inputs are arrays.

    Parameters
    ----------
    name : str
        Of the kernel.
    reference : callable
        In NumPy, which defines the result.
    chain : callable
        Returns the `Chain`, or None if no loop can compute it; not called before a loop is needed.

    Attributes
    ----------
    least : dict of dtype to int
        The number of elements from which on it is worth a look whether a loop takes the inputs.
    """

    def __init__(self, name: str, reference: Callable[..., Any], chain: Callable[[], Chain | None]) -> None:
        self.name, self.reference, self.chain = name, reference, chain
        self.loops: dict[str, tuple[Any, int]] = {}
        self.failures: dict[str, str] = {}
        self.least: dict[np.dtype[Any], int] = {}
        self._work: dict[str, int] = {}
        self._looked: set[str] = set()
        LOOPS[name] = self

    def fast(self, arrays: tuple[Any, ...]) -> Any:
        """Return the result of the loop; None if the reference is to compute it. The first input is an array."""
        mode = IN_USE["mode"]
        if mode == "numpy":
            return None
        first = arrays[0]
        dtype, size = first.dtype, first.size
        if mode == "auto" and size < self.least.get(dtype, COUNTED):
            return None
        return self.looped(arrays, dtype, size, mode)

    def looped(self, arrays: tuple[Any, ...], dtype: np.dtype[Any], size: int, mode: str) -> Any:
        """Do what `fast` does, for arrays that are not too small; `dtype` and `size` are those of the first."""
        kinds = dtype.char
        if len(arrays) != 1 or not arrays[0].flags.carray:
            there = None if arrays[0].flags.carray else order_in_memory(arrays[0].shape, arrays[0].strides)
            if there is not None and lie_alike(arrays):
                turned = tuple([x.transpose(there[0]) if x.__class__ is ndarray else x for x in arrays])
                found = self.looped(turned, dtype, size, mode)
                return None if found is None else found.transpose(there[1])
            kinds, arrays = _arranged(arrays)
            if not kinds:
                return None
        found = self.loops.get(kinds)
        if found is None:
            found = self._without(kinds, dtype, size, mode)
            if found is None:
                return None
        run, least = found
        if size < least and mode != "numba":
            return None
        return run(arrays)

    def _without(self, kinds: str, dtype: np.dtype[Any], size: int, mode: str) -> Any:
        """Count the work that the reference does because there is no loop; compile one when that is worth it."""
        if kinds in self.failures or dtype.char not in _NAMES:
            return None
        if mode == "numba":
            self.prepare(kinds)
            return self.loops.get(kinds)
        if size >= COUNTED:
            let_in()
            done = self._work.get(kinds, 0)
            self._work[kinds] = done + size
            if kinds not in self._looked and (done + size >= WORTH_A_LOOK or active()) and numba_is_there():
                self._looked.add(kinds)
                ask(lambda: self._look(kinds))
            if done < WORTH_COMPILING <= done + size and numba_is_there():
                ask(lambda: self._find_out(kinds))
        return None

    def _look(self, kinds: str) -> None:
        """Prepare a loop in the background if that was compiled and measured before."""
        with listing() as missing:
            made = self._compiled(kinds)
        measuring = import_module("autodiff_lab.kernels.base.measuring")
        if made is not None and not missing and measuring.has_least(self._label(kinds, made[1])):
            self.prepare(kinds)

    def _label(self, kinds: str, text: str) -> str:
        """Return what the measurement of a loop is kept under."""
        return f"signed run of {self.name} {kinds} {zlib.crc32(text.encode()):08x}"

    def _find_out(self, kinds: str) -> None:
        """Prepare a loop in the background; another process compiles it."""
        if not waits():
            with suppress(Exception):  # `prepare` meets it again
                import_module("autodiff_lab.kernels.base.elsewhere").made(lambda: self._compiled(kinds))
        self.prepare(kinds)

    def prepare(self, kinds: str) -> None:
        """Compile the loop for a dtype and kinds of inputs, and measure from which size on it is faster."""
        with COMPILING:
            if kinds in self.loops or kinds in self.failures:
                return
            try:
                made = self._compiled(kinds)
            except Exception as error:  # noqa: BLE001 - whatever a compiler says, NumPy does the work
                self.failures[kinds] = f"{type(error).__name__}: {error}"
                return
        if made is None:
            self.failures[kinds] = "no loop can compute it"
            return
        run, text = made
        least = 0
        if IN_USE["mode"] != "numba":
            least_size = import_module("autodiff_lab.kernels.base.measuring").least_size
            with np.errstate(all="ignore"):
                least = least_size(
                    self._label(kinds, text), self.reference, self._called(run), lambda n: self._samples(kinds, n)
                )
        self.loops[kinds] = run, least
        self.least[np.dtype(kinds[0])] = min(n for key, (_, n) in self.loops.items() if key[0] == kinds[0])

    def _compiled(self, kinds: str) -> tuple[Callable[..., Any], str] | None:
        dtype = np.dtype(kinds[0])
        chain = self.chain() if numba_is_there() else None
        if chain is None:
            return None
        text = module_of(chain, kinds)
        load = import_module("autodiff_lab.kernels.base.store").load
        return runner(load(text).loop, kinds, dtype), text

    def _called(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return what runs a loop as `fast` does, for a measurement: to look at arrays may take longer than a loop."""
        return lambda *arrays: run(_arranged(arrays)[1])

    def _samples(self, kinds: str, size: int) -> list[Any]:
        """Make the arrays of a call, for a measurement: of either sign, if the kernel is defined there."""
        numbers = np.random.default_rng(0).uniform(0.1, 1.1, size).astype(kinds[0])
        signs = np.random.default_rng(1).choice(np.array([-1, 1], kinds[0]), size)
        each = kinds[1:] or "a"
        signed = [numbers * signs if one == "a" else numbers[0] for one in each]
        defined = bool(np.isfinite(self.reference(*[x[:FEW] if x.ndim else x for x in signed])).all())
        return signed if defined else [numbers if one == "a" else numbers[0] for one in each]

    def forget(self) -> None:
        """Begin to count again."""
        self._work.clear()
        self._looked.clear()


def _alike(arrays: tuple[Any, ...], dtype: Any, shape: tuple[int, ...]) -> bool:
    """Return whether loops take all the inputs as they are, which is what most calls come to."""
    for x in arrays:
        if x.__class__ is not ndarray or x.dtype is not dtype or x.shape != shape or not x.flags.carray:
            return False
    return True


_ALIKE = {(char, n): char + "a" * n if n > 1 else char for char in _NAMES for n in range(1, 6)}
"""By dtype and number of arrays, what `_arranged` says of arrays that are alike."""


def _arranged(arrays: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return dtype and kinds of inputs as one text, `a` for an array and `s` for a single number, and the inputs.

    An array that repeats one number, as the gradient of a sum does, is that number.  The text is empty if a loop cannot
    take the inputs.
    """
    first = arrays[0]
    dtype, shape = first.dtype, first.shape
    if _alike(arrays, dtype, shape):
        return _ALIKE.get((dtype.char, len(arrays)), ""), arrays
    kinds, given = [dtype.char], list(arrays)
    for i, x in enumerate(arrays):
        if x.__class__ is ndarray:
            if x.dtype is not dtype and x.dtype != dtype:
                return "", arrays
            if x.shape == shape and x.flags.carray:
                kinds.append("a")
            elif x.shape == shape and not any(x.strides):
                given[i] = x[(0,) * x.ndim]
                kinds.append("s")
            elif x.shape == shape:
                given[i] = in_order(x)  # with gaps, read-only or not aligned
                kinds.append("a")
            else:
                return "", arrays
        elif isinstance(x, np.floating) and x.dtype == dtype:
            kinds.append("s")
        else:
            return "", arrays
    if "a" not in kinds[1:]:
        return "", arrays
    text = "".join(kinds)
    return text[0] if len(text) == 2 else text, tuple(given)


def module_of(chain: Chain, kinds: str) -> str:
    """Write the module of a loop.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.elementwise import Chain, module_of
    >>> print(module_of(Chain(("r = sigmoid(v0)",), "r"), "f").partition("def ")[2])
    loop(first, last, a0, out):
        a0 = a0[first:last]
        out = out[first:last]
        for i in range(out.size):
            v0 = a0[i]
            r = sigmoid(v0)
            out[i] = r
    <BLANKLINE>
    """
    kind = _NAMES[kinds[0]]
    family = "SINGLE" if kind == "float32" else "VECTOR_DOUBLE"
    each = kinds[1:] or "a"
    arrays = [n for n, one in enumerate(each) if one == "a"]
    types = [f"{kind}[::1]" if one == "a" else kind for one in each]
    names = [f"a{n}" if one == "a" else f"v{n}" for n, one in enumerate(each)]
    body, given = "\n".join(chain.statements), ", ".join([*types, f"{kind}[::1]"])
    watched = "is_far" in body
    returned = "int32" if watched else "void"
    far = "is_far" if kind == "float32" else "is_far_double as is_far"
    rows = [
        "from math import sqrt",
        f"from numpy import {kind} as number, inf, int32",
        f"from autodiff_lab.kernels.maths.single import {family}, {', '.join([*OPERATIONS, *[far] * watched])}",
        "zero, one, infinity = number(0), number(1), number(inf)",
        *(f'{name} = {family}["{name}"]' for name in sorted(functions_in(body))),
        f'@compiled("{returned}(int64, int64, {given})")',
        f"def loop(first, last, {', '.join(names)}, out):",
        *(f"    a{n} = a{n}[first:last]" for n in arrays),
        "    out = out[first:last]",
        *["    far = int32(0)"] * watched,
        "    for i in range(out.size):",
        *(f"        v{n} = a{n}[i]" for n in arrays),
        *(f"        {statement}" for statement in chain.statements),
        f"        out[i] = {chain.result}",
        *["    return far"] * watched,
    ]
    return "\n".join(rows) + "\n"


def runner(loop: Any, kinds: str, dtype: np.dtype[Any]) -> Callable[[tuple[Any, ...]], Any]:
    """Return the function that allocates the result and calls a loop on flat views; None if that meets a far angle."""
    each = kinds[1:] or "a"
    lead, two = each.index("a"), each == "aa"

    def one(arrays: tuple[Any, ...]) -> Any:
        (x,) = arrays
        out = empty(x.shape, dtype)
        size = out.size
        if size < 2 * SHARED:
            return None if loop(0, size, x.ravel(), out.ravel()) else out
        flat, made = x.ravel(), out.ravel()
        return None if any(spread(lambda low, high: loop(low, high, flat, made), size, SHARED)) else out

    def many(arrays: tuple[Any, ...]) -> Any:
        out = empty(arrays[lead].shape, dtype)
        size = out.size
        if two and size < 2 * SHARED:  # most calls, by the shortest way
            x, y = arrays
            return None if loop(0, size, x.ravel(), y.ravel(), out.ravel()) else out
        flat = [x.ravel() if kind == "a" else x for x, kind in zip(arrays, each, strict=True)]
        flat.append(out.ravel())
        if size < 2 * SHARED:
            return None if loop(0, size, *flat) else out
        return None if any(spread(lambda low, high: loop(low, high, *flat), size, SHARED)) else out

    return one if each == "a" else many


def in_one_pass(
    name: str, reference: Callable[..., Any], chain: Callable[[], Chain | None], arity: int
) -> Callable[..., Any]:
    """Make the kernel of an elementwise op: its reference, and a compiled loop where that is faster.

    Parameters
    ----------
    name : str
        Of the kernel.
    reference : callable
        In NumPy.
    chain : callable
        See `Elementwise`.
    arity : int
        How many inputs it has.
    """
    kernel = Elementwise(name, reference, chain)
    fast, loops = kernel.fast, kernel.loops

    def of_one(x: Any) -> Any:
        if x.__class__ is ndarray and (n := x.size) >= FEW and (loops or n >= COUNTED or IN_USE["mode"] == "numba"):
            ready = loops.get(x.dtype.char)  # as `fast` does, without the calls
            quick = ready is not None and n >= ready[1] and IN_USE["mode"] == "auto" and x.flags.carray
            found = ready[0]((x,)) if quick else fast((x,))  # type: ignore[index]
            if found is not None:
                return found
        return reference(x)

    def of_many(*inputs: Any) -> Any:
        x = inputs[0]
        if x.__class__ is ndarray and (n := x.size) >= FEW and (loops or n >= COUNTED or IN_USE["mode"] == "numba"):
            found = fast(inputs)
            if found is not None:
                return found
        return reference(*inputs)

    made = of_one if arity == 1 else of_many
    made.__name__, made.__doc__ = name, reference.__doc__
    made.reference = reference  # type: ignore[attr-defined]
    return made


def _after_fork() -> None:
    """Count again in the child: what the background was asked for does not come there."""
    for kernel in LOOPS.values():
        kernel.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
