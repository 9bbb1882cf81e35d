"""Machine code as functions of Python, loaded without a compiler.

An object file holds functions that take the arguments of a call as Python passes them to functions written in C: they
read numbers and arrays themselves, release the interpreter's lock and call the loop.  Loading one needs LLVM's linker,
a few milliseconds; calling one takes 0.1 microseconds.  `machine` names what machine code holds for,
and `Unloadable` says that this interpreter or this system is not one for which such functions are written.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base import compiler

BASE, DATA, RANK, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
"""Offsets in bytes: of the class in an object, and of the fields of an array, which NumPy's C interface promises."""
ORDER, NUMBER = 26, 28
"""Offsets of the byte order and of the number in a dtype."""
_FASTCALL = 0x80  # of PyMethodDef: an array of arguments, and their number
_SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "ENABLE_AVX", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DISABLE_JIT")
"""Environment variables that change what is compiled, after ``NUMBA_``."""
_addresses: dict[str, int] = {}


class Unloadable(Exception):
    """Machine code that cannot run in this process, or is damaged."""


class Piece(NamedTuple):
    """A function in an object file: its name, its symbol there, the C functions that it calls, and the file.

    `python` says whether Python calls it; else other machine code does, by its address.
    """

    name: str
    symbol: str
    calls: list[str]
    code: bytes
    python: bool = True


class Address(NamedTuple):
    """A function that other machine code calls."""

    address: int


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    ]  # fmt: skip


@functools.cache
def get_ready() -> None:
    """Load LLVM from the background, with pauses, before something needs it.

    A library of a hundred megabytes takes ten milliseconds to load.  As a function of the C library, unlike for
    `ctypes.CDLL`, the interpreter's lock is free meanwhile; the import finds it loaded.
    """
    spec = find_spec("llvmlite")
    for home in (spec.submodule_search_locations if spec else None) or ():
        for library in Path(home, "binding").glob("libllvmlite.*"):
            with suppress(AttributeError, TypeError, OSError), compiler.COMPILING:  # Windows has no such function
                ctypes.CDLL(None).dlopen(os.fsencode(library), os.RTLD_NOW)
    compiler.import_gently(("importlib.resources", "importlib.readers", "llvmlite.ir", "llvmlite.binding"))


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def _engine() -> Any:
    """Return the linker, after a look at whether arrays lie in memory as machine code expects them."""
    if not _layout_is_known():
        raise Unloadable("arrays lie in memory in an unknown way")
    llvm = _llvm()
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)


def check() -> None:
    """Raise `Unloadable` if machine code cannot run in this process."""
    _engine()


def _layout_is_known() -> bool:
    if sys.implementation.name != "cpython" or object.__basicsize__ != DATA or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros((2, 3), np.float32)

    def at(address: int, offset: int, kind: Any) -> Any:
        return kind.from_address(address + offset).value

    place, number, address = id(array), ctypes.c_int, ctypes.c_size_t
    shape, steps, about = at(place, SHAPE, address), at(place, STRIDES, address), at(place, DTYPE, address)
    return (
        at(place, BASE, address) == id(np.ndarray)
        and at(place, DATA, address) == array.ctypes.data
        and at(place, RANK, number) == 2
        and (at(shape, 0, address), at(shape, 8, address)) == (2, 3)
        and (at(steps, 0, address), at(steps, 8, address)) == (12, 4)
        and at(about, NUMBER, number) == array.dtype.num
        and at(about, ORDER, ctypes.c_char) == b"="
        and at(place, FLAGS, number) == array.flags.num
    )


@functools.cache
def machine() -> str:
    """Name what machine code holds for: the processor with its instructions, the interpreter, and Numba's settings."""
    llvm = _llvm()
    set_up = [f"{name}={os.environ[f'NUMBA_{name}']}" for name in _SETTINGS if f"NUMBA_{name}" in os.environ]
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""
    return " ".join(
        [llvm.get_process_triple(), llvm.get_host_cpu_name(), features, str(sys.implementation.cache_tag), *set_up]
    )


def address_of(name: str) -> int:
    """Return the address of a function of Python's or of the C library, 0 if this process has none of that name."""
    try:
        library = ctypes.pythonapi if name.startswith("Py") else ctypes.CDLL(None)
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (AttributeError, TypeError, OSError):  # Windows has no library of all that is loaded
        return 0


def functions(pieces: Iterable[Piece]) -> dict[str, Any]:
    """Return the functions of object files by name, or their `Address` if Python does not call them.

    Raises
    ------
    Unloadable
        If one calls a function that this process does not have: LLVM would end the process.
    """
    engine, llvm, pieces = _engine(), _llvm(), list(pieces)
    for piece in pieces:
        for name in piece.calls:
            address = address_of(name)
            if not address:
                raise Unloadable(f"{piece.name} calls {name}, which is not there")
            llvm.add_symbol(name, address)
    made: dict[str, Any] = {}
    for piece in pieces:
        address = _addresses.get(piece.symbol)
        if address is None:  # LLVM takes no symbol twice
            engine.add_object_file(llvm.ObjectFileRef.from_data(piece.code))
            engine.finalize_object()
            address = _addresses[piece.symbol] = engine.get_function_address(piece.symbol)
        made[piece.name] = _function(piece.name, address) if piece.python else Address(address)
    return made


def _function(name: str, address: int) -> Callable[..., Any]:
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
    definition = _Definition(name.encode(), address, _FASTCALL, None)
    # The function reads its definition again when it is freed, which may be after this module at the end of the
    # interpreter: the definition is never freed.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    return make(ctypes.addressof(definition), np.ndarray, __name__)  # the class is for looking at arguments


def packed(pieces: Iterable[Piece]) -> bytes:
    """Return pieces as one file."""
    pieces = list(pieces)
    told = [[piece.name, piece.symbol, piece.calls, piece.python, len(piece.code)] for piece in pieces]
    data = b"".join([json.dumps(told).encode(), b"\n", *(piece.code for piece in pieces)])
    return hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def unpacked(data: bytes) -> list[Piece]:
    """Return the pieces of a file.

    Raises
    ------
    Unloadable
        If a byte of it is not as it was written: LLVM does not survive damaged files.
    """
    digest, _, rest = data.partition(b"\n")
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        raise Unloadable("the file is damaged")
    told, _, code = rest.partition(b"\n")
    pieces: list[Piece] = []
    for name, symbol, calls, python, size in json.loads(told):
        pieces.append(Piece(name, symbol, calls, code[:size], python))
        code = code[size:]
    return pieces
