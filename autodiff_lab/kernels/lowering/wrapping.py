"""Functions as Python calls them: ``PyObject *f(PyObject *ndarray, PyObject **args, Py_ssize_t count)``.

They read numbers and arrays, after a look at whether each is what the loop was compiled for, release the interpreter's
lock, run the loop, and give its result back as an object of Python's.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir

from autodiff_lab.kernels.base import native
from autodiff_lab.kernels.lowering.kinds import (
    BOOL,
    BYTES,
    DOUBLE,
    FLOAT,
    INT8,
    INT32,
    INT64,
    VOID,
    ArrayKind,
    declared,
)

_ALIGNED, _WRITEABLE = 0x100, 0x400
_LAYOUTS = {"C": 0x1, "F": 0x2, "A": 0}
_OTHER_ORDER = ord(">" if sys.byteorder == "little" else "<")


class Wrapper:
    """Writes such a function into a module; what it runs is left to subclasses.

    Parameters
    ----------
    module : llvmlite.ir.Module
        Where it is written.
    given : list
        The kinds of its arguments.
    result : kind
        That of its result.
    """

    def __init__(self, module: Any, given: list[Any], result: Any) -> None:
        self.module, self.given, self.result = module, given, result

    def write(self, name: str) -> None:
        """Write the function that Python calls."""
        kind = ir.FunctionType(BYTES, [BYTES, BYTES.as_pointer(), INT64])
        self.function = ir.Function(self.module, kind, name)
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        begin = self.function.append_basic_block("begin")
        self.refused, self.no_memory, self.failed = [
            self.function.append_basic_block(name) for name in ("refused", "no_memory", "failed")
        ]
        arrays, args, count = self.function.args
        b.position_at_end(begin)
        self._needs(b.icmp_signed("==", count, INT64(len(self.given))), self.refused)
        values = self._values(args, arrays)
        thread = self.call("PyEval_SaveThread", BYTES)
        ok, out = self._run(values)
        self.call("PyEval_RestoreThread", VOID, thread)
        self._needs(ok, self.no_memory)
        b.ret(self._given_back(out, self.result))
        b.position_at_end(self.no_memory)
        self.call("PyErr_NoMemory", BYTES)
        b.branch(self.failed)
        b.position_at_end(self.refused)
        self.call("PyErr_BadArgument", INT32)
        b.branch(self.failed)
        b.position_at_end(self.failed)
        b.ret(BYTES(None))
        b.position_at_end(self.function.entry_basic_block)
        b.branch(begin)

    def write_plain(self, name: str) -> None:
        """Write a function that C would call, of numbers and addresses; it returns 1 where memory was missing."""
        raise NotImplementedError

    def _values(self, args: Any, arrays: Any) -> Any:
        """Return what the loop takes."""
        return [self._read(self._argument(args, INT64(n)), kind, arrays) for n, kind in enumerate(self.given)]

    def _argument(self, args: Any, n: Any) -> Any:
        return self.builder.load(self.builder.gep(args, [n]))

    def _run(self, values: Any) -> tuple[Any, Any]:
        """Run the loop; return whether there was memory enough, and what it returns as a list of LLVM's values."""
        raise NotImplementedError

    def _array(self, kind: ArrayKind, data: Any, shape: list[Any], strides: list[Any]) -> Any:
        """Return an array as the loop takes it."""
        raise NotImplementedError

    def _number(self, dtype: np.dtype[Any], value: Any) -> Any:
        """Return a number as the loop takes it."""
        raise NotImplementedError

    def call(self, name: str, result: Any, *args: Any) -> Any:
        """Call a function of Python's."""
        return self.builder.call(declared(self.module, name, result, [arg.type for arg in args]), args)

    def _needs(self, condition: Any, otherwise: Any) -> None:
        """Go on where a condition holds."""
        on = self.function.append_basic_block()
        self.builder.cbranch(condition, on, otherwise)
        self.builder.position_at_end(on)

    def _at(self, place: Any, offset: int, kind: Any) -> Any:
        """Load what lies at an offset in bytes."""
        b = self.builder
        return b.load(b.bitcast(b.gep(place, [INT64(offset)]), kind.as_pointer()))

    def _read(self, thing: Any, kind: Any, arrays: Any) -> Any:
        """Return an argument as the loop takes it."""
        if isinstance(kind, ArrayKind):
            data = self._checked(thing, kind, arrays)
            kind_of_data = self._element(kind.dtype).as_pointer()
            shape, strides = (self._lengths(thing, kind, where) for where in (native.SHAPE, native.STRIDES))
            return self._array(kind, self.builder.bitcast(data, kind_of_data), shape, strides)
        return self._number(kind, self._number_of(thing, kind))

    def _element(self, dtype: np.dtype[Any]) -> Any:
        """Return LLVM's type of an element of an array."""
        raise NotImplementedError

    def _number_of(self, thing: Any, dtype: Any) -> Any:
        b = self.builder
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            raise native.Unloadable(f"an argument of type {dtype}")
        if dtype == BOOL:
            value = self.call("PyObject_IsTrue", INT32, thing)
            self._needs(b.icmp_signed(">=", value, INT32(0)), self.failed)
            return b.icmp_signed("!=", value, INT32(0))
        if dtype.kind == "f":
            value = self.call("PyFloat_AsDouble", DOUBLE, thing)
            self._needs_no_error(b.fcmp_ordered("==", value, DOUBLE(-1.0)))
            return value if dtype.itemsize == 8 else b.fptrunc(value, FLOAT)
        if dtype == np.uint64:
            return self._unsigned(thing)
        value = self.call("PyLong_AsLongLong", INT64, thing)
        self._needs_no_error(b.icmp_signed("==", value, INT64(-1)))
        return value if dtype.itemsize == 8 else b.trunc(value, ir.IntType(8 * dtype.itemsize))

    def _unsigned(self, thing: Any) -> Any:
        """Return a number of 64 bits without a sign; Python reads those from its own integers only."""
        own = self.call("PyNumber_Index", BYTES, thing)
        self._needs(self.builder.icmp_unsigned("!=", own, BYTES(None)), self.failed)
        value = self.call("PyLong_AsUnsignedLongLong", INT64, own)
        self.call("Py_DecRef", VOID, own)
        self._needs_no_error(self.builder.icmp_signed("==", value, INT64(-1)))
        return value

    def _needs_or(self, condition: Any, name: str, *args: Any) -> None:
        """Go on where a condition holds or a function of Python's says so."""
        asks, on = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.cbranch(condition, on, asks)
        self.builder.position_at_end(asks)
        said = self.call(name, INT32, *args)
        self.builder.cbranch(self.builder.icmp_signed("!=", said, INT32(0)), on, self.refused)
        self.builder.position_at_end(on)

    def _needs_no_error(self, perhaps: Any) -> None:
        """Stop where a value that may stand for an error does."""
        asks, on = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.cbranch(perhaps, asks, on)
        self.builder.position_at_end(asks)
        error = self.call("PyErr_Occurred", BYTES)
        self.builder.cbranch(self.builder.icmp_unsigned("==", error, BYTES(None)), on, self.failed)
        self.builder.position_at_end(on)

    def _checked(self, thing: Any, kind: ArrayKind, arrays: Any) -> Any:
        """Return where the elements of an array lie, once its class, rank, dtype and layout are as they must be."""
        b = self.builder
        if kind.dtype.kind not in "biufc":
            raise native.Unloadable(f"an argument of type {kind}")
        own = self._at(thing, native.BASE, BYTES)
        self._needs_or(b.icmp_unsigned("==", own, arrays), "PyType_IsSubtype", own, arrays)
        self._needs(b.icmp_signed("==", self._at(thing, native.RANK, INT32), INT32(kind.rank)), self.refused)
        about = self._at(thing, native.DTYPE, BYTES)
        order, number = self._at(about, native.ORDER, INT8), self._at(about, native.NUMBER, INT32)
        self._needs(b.icmp_signed("!=", order, INT8(_OTHER_ORDER)), self.refused)
        same: Any = ir.IntType(1)(0)
        for one in sorted({np.dtype(char).num for char in np.typecodes["All"] if np.dtype(char) == kind.dtype}):
            same = b.or_(same, b.icmp_signed("==", number, INT32(one)))
        self._needs(same, self.refused)
        flags = _LAYOUTS[kind.layout] | _ALIGNED | _WRITEABLE
        has = b.and_(self._at(thing, native.FLAGS, INT32), INT32(flags))
        self._needs(b.icmp_signed("==", has, INT32(flags)), self.refused)
        return self._at(thing, native.DATA, BYTES)

    def _lengths(self, thing: Any, kind: ArrayKind, where: int = native.SHAPE) -> list[Any]:
        return [self._at(self._at(thing, where, BYTES), 8 * axis, INT64) for axis in range(kind.rank)]

    def _given_back(self, values: list[Any], kind: Any) -> Any:
        """Return a result as an object of Python's."""
        b = self.builder
        if kind is None:
            return self._nothing()
        if isinstance(kind, tuple):
            made = self.call("PyTuple_New", BYTES, INT64(len(kind)))
            for n, (value, one) in enumerate(zip(values, kind, strict=True)):
                self.call("PyTuple_SetItem", INT32, made, INT64(n), self._given_back([value], one))
            return made
        (value,) = values
        if kind == BOOL:
            return self.call("PyBool_FromLong", BYTES, b.zext(value, INT64))
        if isinstance(kind, np.dtype) and kind.kind == "f":
            return self.call("PyFloat_FromDouble", BYTES, value if kind.itemsize == 8 else b.fpext(value, DOUBLE))
        if isinstance(kind, np.dtype) and kind.kind == "i":
            wide = value if kind.itemsize == 8 else b.sext(value, INT64)
            return self.call("PyLong_FromLongLong", BYTES, wide)
        raise native.Unloadable(f"a result of type {kind}")

    def _nothing(self) -> Any:
        """Return None; a function does, since the address of an object is out of reach of a call's code."""
        text = ir.GlobalVariable(self.module, ir.ArrayType(INT8, 1), "nothing")
        text.linkage, text.global_constant = "internal", True
        text.initializer = ir.Constant(ir.ArrayType(INT8, 1), bytearray(1))  # type: ignore[assignment]
        build = ir.Function(self.module, ir.FunctionType(BYTES, [BYTES], var_arg=True), "Py_BuildValue")
        return self.builder.call(build, [self.builder.bitcast(text, BYTES)])


def count_to(builder: Any, count: Any) -> Any:
    """Write a loop that counts to a number; return the index, and what ends a turn and goes on after the loop."""
    begin, head, body, after = builder.block, *(builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(INT64)
    index.add_incoming(INT64(0), begin)
    builder.cbranch(builder.icmp_signed("<", index, count), body, after)
    builder.position_at_end(body)

    def end() -> None:
        index.add_incoming(builder.add(index, INT64(1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    return index, after, end
