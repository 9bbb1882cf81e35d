"""Compile loops with Numba to machine code that runs without it: see `native`.

Numba translates and LLVM optimizes as ever.  What differs is what surrounds the loop: one function that reads its
arguments as Python passes them to C, and no wrappers for the functions that are inlined into it, whose machine code is
never made.  That halves the time.
"""

# pyright: reportAttributeAccessIssue=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
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
from autodiff_lab.kernels.base.deferred import register

OPTIONS: dict[str, Any] = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_ALIGNED, _WRITEABLE = 0x100, 0x400
_ABOUT_MEMORY = 48  # bytes before the elements of an array that a loop allocates
_IN_C = {
    name: name
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log2", "log10",
        "pow", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "fma", "memcpy", "memmove", "memset",
    )
} | {"minnum": "fmin", "maxnum": "fmax"}  # fmt: skip
GATHERS = "gathers"
"""The option of a function that is written without Numba: see `entries`."""
_LAYOUTS = {"C": 0x1, "F": 0x2, "A": 0}
_OTHER_ORDER = ord(">" if sys.byteorder == "little" else "<")
_BYTE, _INT, _LONG, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_BYTES = _BYTE.as_pointer()


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


def intrinsic(function: Any, definition: Callable[..., Any]) -> None:
    """Do what `numba.extending.intrinsic` does, for a function that exists."""
    template: Any = make_intrinsic_template(function, definition, function.__name__)
    infer(template)
    infer_global(function, types.Function(template))


def emit(
    function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool, stamp: str
) -> native.Piece:
    """Compile a function for one signature.

    Parameters
    ----------
    function : callable
        Works on arrays and numbers; allocates nothing unless the option ``_nrt`` is set, and raises nothing.
    name : str
        Of the function in Python.
    signature : str
        Types of the result and the arguments as Numba writes them.
    options : dict
        Further options of `numba.njit`; or ``gathers``, for the entry of a sequence, see `entries`.
    python : bool
        Whether Python calls it; else other machine code does, with its arguments as C passes them.
    stamp : str
        What tells it from other functions of that name.

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
        if options.get(GATHERS):
            import_module("autodiff_lab.kernels.base.entries").Entry(context, library, None, given, result).write(name)
        else:
            TARGET.options.parse_as_flags(flags, {**OPTIONS, "error_model": "numpy", **options})
            flags.no_compile = True
            made = compiler.compile_extra(
                TARGET.typing_context, context, function, given, result, flags, {}, library=library
            )
            if flags.nrt:
                library.add_ir_module(_memory(library.create_ir_module("memory")))
            wrapper = Wrapper(made.target_context, library, made.fndesc, given, made.signature.return_type)
            (wrapper.write if python else wrapper.write_plain)(name)
            library.get_function(made.fndesc.llvm_func_name).linkage = "internal"
        library.whole = True
        library.finalize()
        module, symbol = library._final_module, f"{name}_{stamp}"
        calls = ["fmod", "fmodf"] if " frem " in str(module) else []
        for one in module.functions:
            if one.is_declaration:
                calls += _called(one.name)
            elif one.name == name:
                one.name = symbol
            else:
                one.linkage = "internal"  # LLVM takes no symbol twice
        for missing in [call for call in calls if not native.address_of(call)]:
            raise native.Unloadable(f"{name} calls {missing}")
        return native.Piece(name, symbol, calls, context.codegen()._tm.emit_object(module), python)


def _memory(module: Any) -> Any:
    """Write how arrays are allocated inside a loop and released, as Numba's own library does it.

    The count of references is at the beginning, the address of the elements after three words.
    """
    allocate = ir.Function(module, ir.FunctionType(_BYTES, [_LONG, _INT]), "NRT_MemInfo_alloc_aligned")
    release = ir.Function(module, ir.FunctionType(ir.VoidType(), [_BYTES]), "NRT_MemInfo_call_dtor")
    raw = ir.Function(module, ir.FunctionType(_BYTES, [_LONG]), "PyMem_RawMalloc")
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [_BYTES]), "PyMem_RawFree")
    b = ir.IRBuilder(allocate.append_basic_block())
    size, align = allocate.args[0], b.zext(allocate.args[1], _LONG)
    made = b.call(raw, [b.add(size, b.add(align, _LONG(_ABOUT_MEMORY)))])
    with b.if_then(b.icmp_unsigned("!=", made, _BYTES(None))):
        first = b.ptrtoint(b.gep(made, [_LONG(_ABOUT_MEMORY - 1)]), _LONG)
        elements = b.mul(b.add(b.udiv(first, align), _LONG(1)), align)
        for word, value in enumerate([_LONG(1), _LONG(0), _LONG(0), elements, size, _LONG(0)]):
            b.store(value, b.bitcast(b.gep(made, [_LONG(8 * word)]), _LONG.as_pointer()))
    b.ret(made)
    b = ir.IRBuilder(release.append_basic_block())
    b.call(free, release.args)
    b.ret_void()
    return module


def _called(name: str) -> list[str]:
    """Name the function of the C library that a declared function is, or may become where LLVM has no instruction."""
    if not name.startswith("llvm."):
        return [name]
    _, what, *kinds = name.split(".")
    if what in _IN_C:
        return [_IN_C[what] + {"f32": "f", "f64": ""}[kinds[0]] if kinds and kinds[0] in ("f32", "f64") else what]
    return ["__powisf2" if kinds[0] == "f32" else "__powidf2"] if what == "powi" else []


class Wrapper:
    """Writes the function that Python calls: ``PyObject *f(PyObject *ndarray, PyObject **args, Py_ssize_t count)``."""

    def __init__(self, context: Any, library: Any, loop: Any, given: Sequence[Any], result: Any) -> None:
        self.context, self.library, self.loop, self.given, self.result = context, library, loop, given, result

    def write(self, name: str) -> None:
        """Add it to the library."""
        self.module = self.library.create_ir_module(f"{name}.wrapper")
        kind = ir.FunctionType(_BYTES, [_BYTES, _BYTES.as_pointer(), _LONG])
        self.function = ir.Function(self.module, kind, name)
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        blocks = [self.function.append_basic_block(name) for name in ("refused", "no_memory", "failed")]
        self.refused, self.no_memory, self.failed = blocks
        arrays, args, count = self.function.args
        self._needs(b.icmp_signed("==", count, _LONG(len(self.given))), self.refused)
        values = self._values([b.load(b.gep(args, [_LONG(n)])) for n in range(len(self.given))], arrays)
        thread = self._call("PyEval_SaveThread", _BYTES)
        ok, out = self._run(values)
        self._call("PyEval_RestoreThread", ir.VoidType(), thread)
        self._needs(ok, self.no_memory)
        b.ret(self._given_back(out, self.result))
        b.position_at_end(self.no_memory)
        self._call("PyErr_NoMemory", _BYTES)
        b.branch(self.failed)
        b.position_at_end(self.refused)
        self._call("PyErr_BadArgument", _INT)
        b.branch(self.failed)
        b.position_at_end(self.failed)
        b.ret(_BYTES(None))
        self.library.add_ir_module(self.module)

    def _values(self, things: list[Any], arrays: Any) -> Any:
        """Return what the loop takes."""
        return [self._read(thing, kind, arrays) for thing, kind in zip(things, self.given, strict=True)]

    def _run(self, values: Any) -> tuple[Any, Any]:
        """Call the loop; return whether there was memory enough, and its result."""
        status, out = self.context.call_conv.call_function(self.builder, self._loop(), self.result, self.given, values)
        return status.is_ok, out

    def write_plain(self, name: str) -> None:
        """Add a function that C would call; it returns 1 where memory was missing."""
        self.module = self.library.create_ir_module(f"{name}.wrapper")
        kinds = [self.context.get_value_type(kind) for kind in (self.result, *self.given)]
        self.function = ir.Function(self.module, ir.FunctionType(kinds[0], kinds[1:]), name)
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        status, out = self.context.call_conv.call_function(b, self._loop(), self.result, self.given, self.function.args)
        b.ret(b.select(status.is_ok, out, kinds[0](1)))
        self.library.add_ir_module(self.module)

    def _loop(self) -> Any:
        kind = self.context.call_conv.get_function_type(self.result, self.given)
        return cgutils.get_or_insert_function(self.module, kind, self.loop.llvm_func_name)

    def _call(self, name: str, result: Any, *args: Any) -> Any:
        kind = ir.FunctionType(result, [arg.type for arg in args])
        return self.builder.call(cgutils.get_or_insert_function(self.module, kind, name), args)

    def _needs(self, condition: Any, otherwise: Any) -> None:
        """Go on where a condition holds."""
        on = self.function.append_basic_block()
        self.builder.cbranch(condition, on, otherwise)
        self.builder.position_at_end(on)

    def _at(self, place: Any, offset: int, kind: Any) -> Any:
        """Load what lies at an offset in bytes."""
        b = self.builder
        return b.load(b.bitcast(b.gep(place, [_LONG(offset)]), kind.as_pointer()))

    def _read(self, thing: Any, kind: Any, arrays: Any) -> Any:
        """Return an argument as Numba passes it."""
        b = self.builder
        if isinstance(kind, types.Array):
            return self._array(thing, kind, arrays)
        if isinstance(kind, types.Boolean):
            value = self._call("PyObject_IsTrue", _INT, thing)
            self._needs(b.icmp_signed(">=", value, _INT(0)), self.failed)
            return b.icmp_signed("!=", value, _INT(0))
        if isinstance(kind, types.Float):
            value = self._call("PyFloat_AsDouble", _DOUBLE, thing)
            self._needs_no_error(b.fcmp_ordered("==", value, _DOUBLE(-1.0)))
            return value if kind.bitwidth == 64 else b.fptrunc(value, ir.FloatType())
        if isinstance(kind, types.Integer):
            if kind.bitwidth == 64 and not kind.signed:
                return self._unsigned(thing)
            value = self._call("PyLong_AsLongLong", _LONG, thing)
            self._needs_no_error(b.icmp_signed("==", value, _LONG(-1)))
            return value if kind.bitwidth == 64 else b.trunc(value, ir.IntType(kind.bitwidth))
        raise native.Unloadable(f"an argument of type {kind}")

    def _unsigned(self, thing: Any) -> Any:
        """Return a number of 64 bits without a sign; Python reads those from its own integers only."""
        own = self._call("PyNumber_Index", _BYTES, thing)
        self._needs(self.builder.icmp_unsigned("!=", own, _BYTES(None)), self.failed)
        value = self._call("PyLong_AsUnsignedLongLong", _LONG, own)
        self._call("Py_DecRef", ir.VoidType(), own)
        self._needs_no_error(self.builder.icmp_signed("==", value, _LONG(-1)))
        return value

    def _needs_or(self, condition: Any, name: str, *args: Any) -> None:
        """Go on where a condition holds or a function of Python's says so."""
        asks, on = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.cbranch(condition, on, asks)
        self.builder.position_at_end(asks)
        said = self._call(name, _INT, *args)
        self.builder.cbranch(self.builder.icmp_signed("!=", said, _INT(0)), on, self.refused)
        self.builder.position_at_end(on)

    def _needs_no_error(self, perhaps: Any) -> None:
        """Stop where a value that may stand for an error does."""
        asks, on = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.cbranch(perhaps, asks, on)
        self.builder.position_at_end(asks)
        error = self._call("PyErr_Occurred", _BYTES)
        self.builder.cbranch(self.builder.icmp_unsigned("==", error, _BYTES(None)), on, self.failed)
        self.builder.position_at_end(on)

    def _checked(self, thing: Any, kind: Any, arrays: Any) -> Any:
        """Return where the elements of an array lie, once its class, rank, dtype and layout are as they must be."""
        b, dtype = self.builder, np.dtype(str(kind.dtype))
        if dtype.kind not in "biufc":
            raise native.Unloadable(f"an argument of type {kind}")
        own = self._at(thing, native.BASE, _BYTES)
        self._needs_or(b.icmp_unsigned("==", own, arrays), "PyType_IsSubtype", own, arrays)
        self._needs(b.icmp_signed("==", self._at(thing, native.RANK, _INT), _INT(kind.ndim)), self.refused)
        about = self._at(thing, native.DTYPE, _BYTES)
        order, number = self._at(about, native.ORDER, _BYTE), self._at(about, native.NUMBER, _INT)
        self._needs(b.icmp_signed("!=", order, _BYTE(_OTHER_ORDER)), self.refused)
        same: Any = ir.IntType(1)(0)
        for one in sorted({np.dtype(char).num for char in np.typecodes["All"] if np.dtype(char) == dtype}):
            same = b.or_(same, b.icmp_signed("==", number, _INT(one)))
        self._needs(same, self.refused)
        flags = _LAYOUTS[kind.layout] | _ALIGNED | (_WRITEABLE if kind.mutable else 0)
        has = b.and_(self._at(thing, native.FLAGS, _INT), _INT(flags))
        self._needs(b.icmp_signed("==", has, _INT(flags)), self.refused)
        return self._at(thing, native.DATA, _BYTES)

    def _lengths(self, thing: Any, kind: Any, where: int = native.SHAPE) -> list[Any]:
        return [self._at(self._at(thing, where, _BYTES), 8 * axis, _LONG) for axis in range(kind.ndim)]

    def _array(self, thing: Any, kind: Any, arrays: Any) -> Any:
        """Return an array as Numba passes it."""
        b, size = self.builder, np.dtype(str(kind.dtype)).itemsize
        data = b.bitcast(self._checked(thing, kind, arrays), self.context.get_data_type(kind.dtype).as_pointer())
        made = self.context.make_array(kind)(self.context, b)
        shape, strides = (self._lengths(thing, kind, where) for where in (native.SHAPE, native.STRIDES))
        populate_array(made, data, shape, strides, _LONG(size), meminfo=None)
        return made._getvalue()

    def _given_back(self, value: Any, kind: Any) -> Any:
        """Return a result as an object of Python's."""
        b = self.builder
        if isinstance(kind, types.NoneType):
            return self._nothing()
        if isinstance(kind, types.BaseTuple):
            made = self._call("PyTuple_New", _BYTES, _LONG(len(kind)))  # pyright: ignore[reportArgumentType]
            for n, one in enumerate(kind):  # pyright: ignore[reportArgumentType]
                self._call("PyTuple_SetItem", _INT, made, _LONG(n), self._given_back(b.extract_value(value, n), one))
            return made
        if isinstance(kind, types.Boolean):
            return self._call("PyBool_FromLong", _BYTES, b.zext(value, _LONG))
        if isinstance(kind, types.Float):
            wide = value if kind.bitwidth == 64 else b.fpext(value, _DOUBLE)
            return self._call("PyFloat_FromDouble", _BYTES, wide)
        if isinstance(kind, types.Integer) and kind.signed:
            wide = value if kind.bitwidth == 64 else b.sext(value, _LONG)
            return self._call("PyLong_FromLongLong", _BYTES, wide)
        raise native.Unloadable(f"a result of type {kind}")

    def _nothing(self) -> Any:
        """Return None; a function does, since the address of an object is out of reach of a call's code."""
        text = cgutils.global_constant(self.module, "nothing", ir.Constant(ir.ArrayType(_BYTE, 1), bytearray(1)))
        kind = ir.FunctionType(_BYTES, [_BYTES], var_arg=True)
        build = cgutils.get_or_insert_function(self.module, kind, "Py_BuildValue")
        return self.builder.call(build, [self.builder.bitcast(text, _BYTES)])
