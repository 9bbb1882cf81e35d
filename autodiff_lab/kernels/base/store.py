"""Generated modules, kept in memory and in a folder of the user's cache, so that the next process starts quickly.

A module is identified by a hash of its text, of the text of all that it imports from this package, and of versions.
Where no folder can be written everything still works, compiled again in each process, after one warning.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import re
import sys
import threading
import types
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from autodiff_lab.kernels.base.compiler import COMPILING

_PACKAGE = Path(__file__).parents[2]
_IMPORTS = re.compile(
    rf"^[ \t]*(?:from\s+({_PACKAGE.name}[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+({_PACKAGE.name}[\w.]*))",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
_modules: dict[str, types.ModuleType] = {}
_state: dict[str, bool] = {"warned": False}


def folder() -> Path | None:
    """Return the folder for generated modules, None where none can be written.

    It is ``AUTODIFF_LAB_CACHE`` if that is set, else ``autodiff_lab`` in the user's cache folder.
    """
    given = os.environ.get("AUTODIFF_LAB_CACHE")
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        path = Path(given) if given else (Path(root) if root else Path.home() / ".cache") / "autodiff_lab"
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

    Numba compiles helpers into their callers, whichever file of this package they stand in.  The processor is part of
    the key of Numba's own cache.
    """
    found: dict[str, str] = {}
    waiting = _imported(text)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name], more = _module(name)
            waiting += more
    return " ".join([*(found[name] for name in sorted(found)), *versions()])


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
    return tuple([importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy")])


def load(text: str) -> types.ModuleType:
    """Return the module of a generated text; ``CACHE`` in it says whether Numba may keep machine code beside it."""
    name = "autodiff_lab_kernel_" + hashlib.sha256((made_with(text) + text).encode()).hexdigest()[:24]
    with COMPILING:
        found = _modules.get(name)
        if found is not None:
            return found
        path = folder()
        module = None
        if path is not None:
            try:
                module = _kept(text, name, path)
            except OSError:  # the folder went away, or the disk is full
                _nowhere()
        if module is None:
            module = _run(text, name, f"<{name}>", cache=False)
        _modules[name] = module
        return module


def _kept(text: str, name: str, path: Path) -> types.ModuleType:
    """Return the module, with its machine code beside it; what is damaged there is thrown away."""
    source = _written(path / f"{name}.py", text)
    try:
        return _run(text, name, source, cache=True)
    except Exception:
        beside = [file for file in (path / "__pycache__").glob(f"{name}.*") if file.is_file()]
        if not beside:
            raise
        for file in beside:
            file.unlink(missing_ok=True)
    return _run(text, name, source, cache=True)


def _written(path: Path, text: str) -> str:
    """Return the path of a file with this text; written in one move, as another process may do the same."""
    if not path.exists() or path.read_bytes() != text.encode():
        draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
        try:
            draft.write_bytes(text.encode())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    return str(path)


def _run(text: str, name: str, path: str, cache: bool) -> types.ModuleType:
    module = types.ModuleType(name)
    fields: dict[str, Any] = vars(module)
    fields.update(__file__=path, CACHE=cache)
    sys.modules[name] = module  # Numba looks a function's module up while it compiles and when it loads
    try:
        exec(compile(text, path, "exec"), fields)
    except BaseException:
        del sys.modules[name]
        raise
    return module
