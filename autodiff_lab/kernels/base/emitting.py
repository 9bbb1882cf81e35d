"""Compile loops with Numba that `lowering` does not translate, to machine code that runs without it: see `native`.

Numba translates and LLVM optimizes as ever.  What differs is what surrounds the loop: one function that reads its
arguments as Python passes them to C, and no wrappers for the functions that are inlined into it, whose machine code is
never made.  That halves the time.
"""

# pyright: reportAttributeAccessIssue=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, compiler, sigutils, types
from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template, make_overload_template
from numba.np.arrayobj import populate_array

from autodiff_lab.kernels.base import native
from autodiff_lab.kernels.base.deferred import Intrinsic, register
from autodiff_lab.kernels.lowering.kinds import BYTES, INT32, INT64, VOID, ArrayKind, Untranslatable, read
from autodiff_lab.kernels.lowering.objects import OWN_OPTIONS, piece_of
from autodiff_lab.kernels.lowering.wrapping import Wrapper

OPTIONS: dict[str, Any] = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_ABOUT_MEMORY = 48  # bytes before the elements of an array that a loop allocates


class _Library(AOTCodeLibrary):
    """LLVM code of which machine code is made only where `emit` asks for it; what is inlined is optimized there."""

    whole = False

    def _optimize_final_module(self) -> None:
        if self.whole:
            super()._optimize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _Codegen(JITCPUCodegen):
    """Numba's settings for this processor, without an engine that runs what is compiled."""

    _library_class = _Library

    def _add_module(self, module: Any) -> None:
        return None

    def set_env(self, env_name: str, env: Any) -> None:
        return None


class _Target(TargetDescriptor):
    """The target of Numba's compiled functions, but for the machine code."""

    options = cpu_target.options

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context

    @cached_property
    def target_context(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return cpu_target.target_context.subtarget(_internal_codegen=_Codegen("autodiff_lab"))


TARGET = _Target("cpu")


class _Inlined(CPUDispatcher):
    """A function that is compiled into others."""

    targetdescr = TARGET  # pyright: ignore[reportAssignmentType]


def _inlined(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    options = {**options, **OPTIONS}
    return lambda function: _Inlined(function, targetoptions=options)


def overload(function: Any, chosen: Callable[..., Any], options: dict[str, Any], strict: bool) -> None:
    """Do what `numba.extending.overload` does, with functions that are inlined only."""
    template: Any = make_overload_template(function, chosen, options, strict, "never")
    template._get_jit_decorator = lambda self: _inlined
    infer(template)
    infer_global(function, types.Function(template))


def intrinsic(function: Any, written: Intrinsic) -> None:
    """Let Numba call a function that writes its instructions."""

    def definition(typing_context: Any, *given: Any) -> Any:
        def dtype(kind: str) -> Any:
            if not kind.startswith("="):
                return getattr(types, kind)
            return getattr(given[int(kind[1:])], "dtype", given[int(kind[1:])])

        kinds = [one if kind == "=" else dtype(kind) for kind, one in zip(written.given, given, strict=True)]
        result = _row_of(given[int(written.result[7:])]) if written.result.startswith("row") else dtype(written.result)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            made = written.write(_Site(context, builder, kinds, args), *args)
            return context.get_dummy_value() if made is None else made

        return result(*kinds), generate

    names = ["typing_context", *(f"given_{n}" for n in range(len(written.given)))]  # Numba takes no *given
    named = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    definition.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    template: Any = make_intrinsic_template(function, definition, written.name)
    infer(template)
    infer_global(function, types.Function(template))


def _row_of(like: Any) -> Any:
    """Return the type of an array of one axis: of the dtype of an array, or of one that is given itself."""
    if isinstance(like, types.Array):
        return types.Array(like.dtype, 1, "C", readonly=not like.mutable, aligned=like.aligned)
    return types.Array(like.dtype, 1, "C")


class _Site:
    """The place of one call of an intrinsic: what `lowering.sites.Site` is, for Numba."""

    def __init__(self, context: Any, builder: Any, kinds: list[Any], args: Any) -> None:
        self._context, self.builder, self._kinds, self._args = context, builder, kinds, args

    def element(self, n: int) -> Any:
        kind = self._kinds[n]
        return self._context.get_data_type(getattr(kind, "dtype", kind))

    def alloca(self, kind: Any) -> Any:
        return cgutils.alloca_once(self.builder, kind)

    def _array(self, n: int) -> Any:
        return self._context.make_array(self._kinds[n])(self._context, self.builder, self._args[n])

    def data(self, n: int) -> Any:
        return self._array(n).data

    def count(self, n: int) -> Any:
        return self._array(n).nitems

    def row(self, data: Any, size: Any, n: int) -> Any:
        itemsize = INT64(self._context.get_abi_sizeof(self.element(n)))
        made = self._context.make_array(_row_of(self._kinds[n]))(self._context, self.builder)
        populate_array(made, data, [size], [itemsize], itemsize, meminfo=None)
        return made._getvalue()


def emit(
    function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool, stamp: str
) -> native.Piece:
    """Compile a function for one signature, as `lowering.objects.emit` does, with all options of `numba.njit`.

    Raises
    ------
    Unloadable
        If its types, or the functions that it calls, are none of those that need no Numba.
    """
    register()
    with global_compiler_lock:
        given, result = sigutils.normalize_signature(signature)
        context, flags = TARGET.target_context, compiler.Flags()
        library = context.codegen().create_library(name)
        own = {key: value for key, value in options.items() if key not in OWN_OPTIONS}
        TARGET.options.parse_as_flags(flags, {**OPTIONS, "error_model": "numpy", **own})
        flags.no_compile = True
        made = compiler.compile_extra(
            TARGET.typing_context, context, function, given, result, flags, {}, library=library
        )
        if flags.nrt:
            library.add_ir_module(_memory(library.create_ir_module("memory")))
        module = library.create_ir_module(f"{name}.wrapper")
        try:
            wrapper = _Compiled(module, signature, made, given)
        except Untranslatable as error:
            raise native.Unloadable(str(error)) from None
        (wrapper.write if python else wrapper.write_plain)(name)
        library.add_ir_module(module)
        library.get_function(made.fndesc.llvm_func_name).linkage = "internal"
        library.whole = True
        library.finalize()
        return piece_of(library._final_module, name, stamp, python, context.codegen()._tm)


class _Compiled(Wrapper):
    """Writes a function that calls a loop that Numba has compiled."""

    def __init__(self, module: Any, signature: str, made: Any, types_given: Any) -> None:
        result, given = read(signature)
        super().__init__(module, given, result)
        self._made, self._types, self._context = made, types_given, made.target_context
        self._of = dict(zip(map(id, given), types_given, strict=True))

    def _element(self, dtype: np.dtype[Any]) -> Any:
        return self._context.get_data_type(getattr(types, "boolean" if dtype.kind == "b" else dtype.name))

    def _number(self, dtype: np.dtype[Any], value: Any) -> Any:
        return value

    def _array(self, kind: ArrayKind, data: Any, shape: list[Any], strides: list[Any]) -> Any:
        made = self._context.make_array(self._of[id(kind)])(self._context, self.builder)
        populate_array(made, data, shape, strides, INT64(kind.dtype.itemsize), meminfo=None)
        return made._getvalue()

    def _called(self, values: Any) -> tuple[Any, Any]:
        convention, result = self._context.call_conv, self._made.signature.return_type
        kind = convention.get_function_type(result, self._types)
        loop = cgutils.get_or_insert_function(self.module, kind, self._made.fndesc.llvm_func_name)
        status, out = convention.call_function(self.builder, loop, result, self._types, values)
        return status.is_ok, out

    def _run(self, values: Any) -> tuple[Any, list[Any]]:
        ok, out = self._called(values)
        if isinstance(self.result, tuple):
            return ok, [self.builder.extract_value(out, n) for n in range(len(self.result))]
        return ok, [out]

    def write_plain(self, name: str) -> None:
        kinds = [self._context.get_value_type(kind) for kind in (self._made.signature.return_type, *self._types)]
        self.function = ir.Function(self.module, ir.FunctionType(kinds[0], kinds[1:]), name)
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        ok, out = self._called(self.function.args)
        b.ret(b.select(ok, out, kinds[0](1)))


def _memory(module: Any) -> Any:
    """Write how arrays are allocated inside a loop and released, as Numba's own library does it.

    The count of references is at the beginning, the address of the elements after three words.
    """
    allocate = ir.Function(module, ir.FunctionType(BYTES, [INT64, INT32]), "NRT_MemInfo_alloc_aligned")
    release = ir.Function(module, ir.FunctionType(VOID, [BYTES]), "NRT_MemInfo_call_dtor")
    raw = ir.Function(module, ir.FunctionType(BYTES, [INT64]), "PyMem_RawMalloc")
    free = ir.Function(module, ir.FunctionType(VOID, [BYTES]), "PyMem_RawFree")
    b = ir.IRBuilder(allocate.append_basic_block())
    size, align = allocate.args[0], b.zext(allocate.args[1], INT64)
    made = b.call(raw, [b.add(size, b.add(align, INT64(_ABOUT_MEMORY)))])
    with b.if_then(b.icmp_unsigned("!=", made, BYTES(None))):
        first = b.ptrtoint(b.gep(made, [INT64(_ABOUT_MEMORY - 1)]), INT64)
        elements = b.mul(b.add(b.udiv(first, align), INT64(1)), align)
        for word, value in enumerate([INT64(1), INT64(0), INT64(0), elements, size, INT64(0)]):
            b.store(value, b.bitcast(b.gep(made, [INT64(8 * word)]), INT64.as_pointer()))
    b.ret(made)
    b = ir.IRBuilder(release.append_basic_block())
    b.call(free, release.args)
    b.ret_void()
    return module
