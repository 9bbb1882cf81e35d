"""Machine code, kept in memory and in a folder of the user's cache, so that the next process starts quickly.

What is compiled is identified by a hash of its text, of the text of all that it imports from this package, and of
versions.  What is found needs no compiler: see `native`.  Where no folder can be written everything still works,
compiled again in each process, after one warning.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from autodiff_lab.kernels.base import native
from autodiff_lab.kernels.base.compiler import COMPILING, NotYet, breathe, wish, wishes
from autodiff_lab.kernels.base.deferred import remember

_PACKAGE = Path(__file__).parents[2]
_IMPORTS = re.compile(
    rf"^[ \t]*(?:from\s+({_PACKAGE.name}[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+({_PACKAGE.name}[\w.]*))",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
_EMITTING = "import autodiff_lab.kernels.base.emitting"
"""What all machine code depends on: how it is made and loaded."""
_loaded: dict[str, types.SimpleNamespace] = {}
_numbers = itertools.count()
_state: dict[str, bool] = {"warned": False}
_NAMES = ("loop", "step", "run", "interpret")
"""What generated texts call the functions that they mark."""
_NOT_YET = types.SimpleNamespace(**dict.fromkeys(_NAMES, types.SimpleNamespace(address=0)))
RECEIVED: dict[str, bytes] = {}
"""Files of machine code that another process made for this one, by name, until they are loaded."""
LEFT_TO_NUMBA: dict[str, str] = {}
"""Loops that this process had Numba compile, by name, and what in them is not translated here."""
WRITTEN: list[Callable[[str, bytes], None]] = []
"""Who wants to know of machine code that was compiled."""


class Source(NamedTuple):
    """A function to be compiled for one signature; `options` are those of `numba.njit`.

    `python` says whether Python calls it; else other machine code does, by its address.
    """

    function: Callable[..., Any]
    name: str
    signature: str
    options: dict[str, Any]
    python: bool = True


def place() -> Path:
    """Return the folder for machine code, which may not exist yet.

    It is ``AUTODIFF_LAB_CACHE`` if that is set, else ``autodiff_lab`` in the user's cache folder.

    Raises
    ------
    RuntimeError
        If the user has no folder.
    """
    given = os.environ.get("AUTODIFF_LAB_CACHE")
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(given) if given else (Path(root) if root else Path.home() / ".cache") / "autodiff_lab"


def folder() -> Path | None:
    """Return the folder for machine code, made if need be; None where it cannot be written."""
    try:
        path = place()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return _nowhere()
    return path if os.access(path, os.W_OK | os.X_OK) else _nowhere()


def _nowhere() -> None:
    if not _state["warned"]:
        _state["warned"] = True
        with suppress(RuntimeWarning):  # where warnings are errors, kernels are compiled all the same
            warnings.warn(
                "No cache folder can be written, so compiled functions are compiled again in each process. Set "
                "AUTODIFF_LAB_CACHE to a folder of yours.",
                RuntimeWarning,
                stacklevel=6,
            )


def made_with(text: str) -> str:
    """Hash what the machine code of a module depends on beside its own text: all that it imports, and versions.

    Helpers are compiled into their callers, whichever file of this package they stand in.
    """
    found: dict[str, str] = {}
    waiting = _imported(text)
    while waiting:
        name = waiting.pop()
        if name not in found:
            breathe()
            found[name], more = _module(name)
            waiting += more
    return " ".join([*(found[name] for name in sorted(found)), *versions()])


def get_ready() -> None:
    """Read the modules that all machine code depends on, with pauses, before a lock is held for a program's."""
    made_with(_EMITTING)


def _imported(text: str) -> list[str]:
    """List the modules of this package that a module may import: ``from a import b`` may name a module b."""
    found: list[str] = []
    for home, names, module in _IMPORTS.findall(text):
        found.append(home or module)
        found += [f"{home}.{name}" for name in _WORD.findall(names)]
    return found


@functools.cache
def _module(name: str) -> tuple[str, list[str]]:
    """Hash the source of a module and list what it imports; nothing where a name is not that of a module."""
    path = _PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            return hashlib.sha256(text.encode()).hexdigest(), _imported(text)
    return "", []


@functools.cache
def versions() -> tuple[str, ...]:
    """List the versions of what compiles."""
    return tuple([_version(name) for name in ("numba", "llvmlite", "numpy")])


def _version(name: str) -> str:
    """Return the version of a package from the name of the folder that says so: that takes a hundredth of the time."""
    spec = find_spec(name)
    for home in (spec.submodule_search_locations if spec else None) or ():
        with suppress(OSError):
            said = [path.name for path in Path(home).parent.glob(f"{name}-*.dist-info")]
            if len(said) == 1:
                return said[0].removesuffix(".dist-info").partition("-")[2]
    return import_module("importlib.metadata").version(name)


def load(text: str) -> types.SimpleNamespace:
    """Return what a generated text marks with ``@compiled(signature, **options)``, compiled, by name.

    What it marks with ``@addressed`` has an ``address``, which other machine code calls.  In a block of
    `compiler.listing` nothing is compiled: what is not there is listed, and stood in for.
    """
    breathe()
    stamp = hashlib.sha256((made_with(text) + text).encode()).hexdigest()
    with COMPILING:
        found = _loaded.get(stamp)
        if found is None:
            try:
                made = machine_code(stamp, lambda: _sources(text, stamp))
            except NotYet:
                wish(text)
                return _NOT_YET
            found = _loaded[stamp] = types.SimpleNamespace(**made)
        return found


def _sources(text: str, stamp: str) -> list[Source]:
    """Run a generated text, and return what it marks."""
    made: list[Source] = []
    inside = {"wraparound": False}  # generated texts index from the beginning only

    def marks(python: bool) -> Callable[..., Any]:
        return lambda signature, **options: (
            lambda function: made.append(Source(function, function.__name__, signature, inside | options, python))
        )

    name = f"autodiff_lab_kernel_{stamp[:24]}"
    module = types.ModuleType(name)
    vars(module).update(compiled=marks(python=True), addressed=marks(python=False))
    sys.modules[name] = module  # Numba looks a function's module up while it compiles and when it loads
    try:
        remember(f"<{name}>", text)
        exec(compile(text, f"<{name}>", "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return made


def machine_code(
    stamp: str, sources: Callable[[], list[Source]], *, kept: bool = True, may_compile: bool = True
) -> dict[str, Any]:
    """Return functions by name as Python calls them, compiled where they are not found under a stamp.

    Parameters
    ----------
    stamp : str
        Of everything that they are compiled from.
    sources : callable
        Returns what is to be compiled; called only if need be.
    kept : bool
        Whether the stamp means the same in another process.
    may_compile : bool
        Whether they may be compiled now.

    Raises
    ------
    NotYet
        If they are not there, in a block of `compiler.listing` or where they may not be compiled.
    """
    name, stamp = "", hashlib.sha256((stamp if kept else f"{stamp} {next(_numbers)}").encode()).hexdigest()[:32]
    if kept:
        with suppress(OSError, RuntimeError, ValueError, ImportError, native.Unloadable):
            name = f"{stamp}-{_surroundings()}.code"
            return native.functions(native.unpacked(_read(name)))
        if wishes() is not None:
            raise NotYet
    if not may_compile:
        raise NotYet
    made = sources()
    try:
        native.check()
        pieces = [_emitted(one, stamp) for one in made]
        functions = native.functions(pieces)
    except native.Unloadable:
        dispatcher = import_module("autodiff_lab.kernels.base.dispatchers").dispatcher
        known = stamp if kept else ""
        return {one.name: dispatcher(*one, known) for one in made}
    if name:
        data = native.packed(pieces)
        for tell in WRITTEN:
            tell(name, data)
        _keep(name, data)
    return functions


def _emitted(source: Source, stamp: str) -> native.Piece:
    """Return machine code: translated here, which takes a fraction of Numba's time, or else by Numba."""
    kinds = import_module("autodiff_lab.kernels.lowering.kinds")
    try:
        return import_module("autodiff_lab.kernels.lowering.objects").emit(*source, stamp)
    except kinds.Untranslatable as error:
        LEFT_TO_NUMBA[source.function.__qualname__] = str(error)
        return import_module("autodiff_lab.kernels.base.emitting").emit(*source, stamp)


def _read(name: str) -> bytes:
    """Return a file of machine code, which may have come from another process without a folder."""
    given = RECEIVED.pop(name, None)
    return (place() / name).read_bytes() if given is None else given


def _surroundings() -> str:
    """Hash what machine code depends on beside its text: the machine, and what makes it."""
    told = native.machine() + made_with(_EMITTING)
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _keep(name: str, data: bytes) -> None:
    """Write a file in one move, as another process may do the same."""
    path = folder()
    if path is None:
        return
    draft = path / f"{name}.{os.getpid()}.{threading.get_ident()}.draft"
    try:
        try:
            draft.write_bytes(data)
            draft.replace(path / name)
        finally:
            draft.unlink(missing_ok=True)
    except OSError:  # the folder went away, or the disk is full
        _nowhere()
