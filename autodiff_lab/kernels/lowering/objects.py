"""Object files of translated loops; LLVM's settings are Numba's, so that loops are as fast as those it compiles."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from autodiff_lab.kernels.base import native
from autodiff_lab.kernels.lowering.entries import Entry
from autodiff_lab.kernels.lowering.kinds import INT1, INT32, AddressKind, ArrayKind, Untranslatable, in_memory, read
from autodiff_lab.kernels.lowering.statements import Widened
from autodiff_lab.kernels.lowering.translating import Translator
from autodiff_lab.kernels.lowering.turns import Turns, with_distinct_nodes
from autodiff_lab.kernels.lowering.values import Array, Number, long, number
from autodiff_lab.kernels.lowering.wrapping import Wrapper

GATHERS = "gathers"
"""The option of a function that is an entry: see `entries`."""
WRAPS = "wraparound"
"""The option that says whether indices may count from the end, and slices reach beyond it; where nothing says so, they
may.  Cython has a directive of this name."""
INDEPENDENT = "independent"
"""The option that says that no turn of an innermost loop writes what another turn reads or writes: see `turns`."""
OWN_OPTIONS = {GATHERS, INDEPENDENT, WRAPS}
"""Options that Numba does not know."""
_OWN = {"fastmath", "_nrt", *OWN_OPTIONS}
_OF_NUMBA = ("OPT", "ENABLE_AVX", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DISABLE_JIT")
"""Settings of Numba's that only Numba follows."""
_STUMBLES = (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError)
"""What the translator may raise where a function holds something that nobody thought of here."""
_MOST = 1 << 60
"""The length of an array of which only the address is known."""
_OPTIMIZATION = 3
_LIMIT = "-dag-maps-huge-region"
"""LLVM's option for the number of accesses to memory from which on it compares them in groups."""
_LOWER_THEIR_CLOCK = {"skylake-avx512", "cascadelake", "cooperlake"}
"""Processors that run at a lower clock for a while after a vector of 512 bits."""


class _Lowered(Wrapper):
    """Writes a function that runs a loop, and the loop into it."""

    def __init__(
        self, module: Any, given: list[Any], result: Any, function: Callable[..., Any], options: dict[str, Any],
        wide: dict[Any, Any],
    ) -> None:  # fmt: skip
        super().__init__(module, given, result)
        self._python, self._wide = function, wide
        self._flags, self._wraps = tuple(sorted(options.get("fastmath", ()))), options.get(WRAPS, True)
        self._turns = Turns(module) if options.get(INDEPENDENT) else None

    def _element(self, dtype: Any) -> Any:
        return in_memory(dtype)

    def _array(self, kind: ArrayKind, data: Any, shape: list[Any], strides: list[Any]) -> Array:
        if kind.layout != "C":
            raise Untranslatable(f"arrays of layout {kind.layout}")
        return Array(kind.dtype, data, tuple(shape))

    def _number(self, dtype: Any, value: Any) -> Number:
        return Number(dtype, value)

    def _run(self, values: Any) -> tuple[Any, list[Any]]:
        writer = Translator(self.builder, self._wide, wraps=self._wraps, turns=self._turns)
        out = writer.write(self._python, values, self._flags)
        kinds = self.result if isinstance(self.result, tuple) else [] if self.result is None else [self.result]
        made = out if isinstance(self.result, tuple) else [out] * len(kinds)
        found = [writer.a.cast(number(one), kind).value for one, kind in zip(made, kinds, strict=True)]
        writer.free()
        ok = INT1(1)
        if writer.short is not None:
            ok = self.builder.icmp_signed("==", self.builder.load(writer.short), INT32(0))
        return ok, found

    def write_plain(self, name: str) -> None:
        kinds = [in_memory(kind.dtype).as_pointer() for kind in self.given if isinstance(kind, AddressKind)]
        if len(kinds) != len(self.given) or self.result != "int32":
            raise Untranslatable("a function that C calls with other arguments than addresses")
        self.function = ir.Function(self.module, ir.FunctionType(INT32, kinds), name)
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        begin = self.function.append_basic_block("begin")
        b.position_at_end(begin)
        pairs = zip(self.given, self.function.args, strict=True)
        ok, (found,) = self._run([Array(kind.dtype, place, (long(_MOST),)) for kind, place in pairs])
        b.ret(b.select(ok, found, INT32(1)))
        b.position_at_end(self.function.entry_basic_block)
        b.branch(begin)


def emit(
    function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool, stamp: str
) -> native.Piece:
    """Translate a function for one signature.

    Parameters
    ----------
    function : callable
        Works on arrays and numbers, and raises nothing.
    name : str
        Of the function in Python.
    signature : str
        Types of the result and the arguments as Numba writes them.
    options : dict
        ``fastmath`` as for `numba.njit`; ``wraparound`` (see `WRAPS`); ``gathers`` for the entry of a sequence, see
        `entries`.
    python : bool
        Whether Python calls it; else other machine code does, with its arguments as C passes them.
    stamp : str
        What tells it from other functions of that name.

    Raises
    ------
    Untranslatable
        If it is not in the subset that is translated here.
    Unloadable
        If it calls functions that this process does not have.
    """
    text, module = _written(function, name, signature, options, python)
    tuning = llvm.create_pipeline_tuning_options()
    tuning.speed_level, tuning.loop_vectorization, tuning.slp_vectorization = _OPTIMIZATION, True, False
    machine = _machine(long_vectors=_is_long_arithmetic(text))
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return piece_of(module, name, stamp, python, machine)


def translated(function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool) -> Any:
    """Return a function as a module of LLVM's that is not optimized yet; parameters and errors are those of `emit`."""
    return _written(function, name, signature, options, python)[1]


def _written(function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool) -> Any:
    if options.keys() - _OWN or any(f"NUMBA_{setting}" in os.environ for setting in _OF_NUMBA):
        raise Untranslatable("settings of Numba's")
    result, given = read(signature)
    wide: dict[Any, Any] = {}
    while True:
        module = ir.Module(name)
        module.triple, module.data_layout = llvm.get_process_triple(), str(_machine().target_data)
        try:
            if options.get(GATHERS):
                writer: Wrapper = Entry(module, given, result)
            else:
                writer = _Lowered(module, given, result, function, options, wide)
            (writer.write if python else writer.write_plain)(name)
            text = with_distinct_nodes(str(module))
            return text, llvm.parse_assembly(text)
        except Widened:
            continue
        except _STUMBLES as error:
            raise Untranslatable(f"what gives {type(error).__name__}: {error}") from error


def piece_of(module: Any, name: str, stamp: str, python: bool, machine: Any) -> native.Piece:
    """Return the object file of an optimized module, in which only the function that is called has a name.

    Raises
    ------
    Unloadable
        If it calls functions that this process does not have.
    """
    symbol = f"{name}_{stamp}"
    calls: list[str] = []
    for one in module.functions:
        if one.is_declaration:
            calls += _called(one.name)
        elif one.name == name:
            one.name = symbol
        else:
            one.linkage = "internal"  # LLVM takes no symbol twice
    with _in_short_regions():
        code = machine.emit_object(module)
    calls += [call for call in ("fmod", "fmodf") if call.encode() in code]  # what LLVM makes of its remainder
    for missing in [call for call in calls if not native.address_of(call)]:
        raise native.Unloadable(f"{name} calls {missing}")
    return native.Piece(name, symbol, calls, code, python)


@contextmanager
def _in_short_regions() -> Generator[None, None, None]:
    """Have LLVM order instructions without comparing each access to memory with every other of a long loop.

    By default it does so up to 1000 of them, which takes a time that grows with their square: a loop of 150 statements
    took 2.6 s to become machine code for Zen 5, and takes 0.3.  The option is LLVM's and not this module's, so it is
    put back.
    """
    llvm.set_option("autodiff_lab", f"{_LIMIT}=100")
    try:
        yield
    finally:
        llvm.set_option("autodiff_lab", f"{_LIMIT}=1000")


_IN_C = {
    name: name
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log2", "log10",
        "pow", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "fma", "memcpy", "memmove", "memset",
    )
} | {"minnum": "fmin", "maxnum": "fmax"}  # fmt: skip


def _called(name: str) -> list[str]:
    """Name the function of the C library that a declared function is, or may become where LLVM has no instruction."""
    if not name.startswith("llvm."):
        return [name]
    _, what, *kinds = name.split(".")
    if what in _IN_C:
        return [_IN_C[what] + {"f32": "f", "f64": ""}[kinds[0]] if kinds and kinds[0] in ("f32", "f64") else what]
    return ["__powisf2" if kinds[0] == "f32" else "__powidf2"] if what == "powi" else []


def _is_long_arithmetic(text: str) -> bool:
    """Tell whether a module takes exponentials, logarithms or angles, all of which work on the bits of numbers."""
    return "bitcast float " in text or "bitcast double " in text


@functools.cache
def _machine(long_vectors: bool = False) -> Any:
    """Return LLVM's description of this processor, or of the one that Numba is told to compile for.

    LLVM prefers vectors of 256 bits on most processors that have 512, because the first of these lowered their clock.
    A loop that does much more arithmetic than it reads gains a third by long ones; one that only reads and writes may
    lose a tenth, as NumPy's arrays begin anywhere in a line of the cache.
    """
    native.check()
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = "" if name == "generic" else llvm.get_host_cpu_features().flatten()
    if long_vectors and "+avx512f" in features and name not in _LOWER_THEIR_CLOCK:
        features += ",-prefer-256-bit"
    target = llvm.Target.from_triple(llvm.get_process_triple())
    reloc = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(
        cpu=name, features=features, opt=_OPTIMIZATION, reloc=reloc, codemodel="jitdefault", jit=True
    )
