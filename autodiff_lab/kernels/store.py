"""Where generated modules live: in memory, and in a folder of the user's cache, so that the next process is quick.

A module is found by the hash of its text and of what it is made with.  Where no folder can be written everything works
as before, compiled anew in each process; one warning says so.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import sys
import threading
import types
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from autodiff_lab.kernels.turns import COMPILING

_modules: dict[str, types.ModuleType] = {}
_state: dict[str, bool] = {"warned": False}


def folder() -> Path | None:
    """The folder for generated modules, None where none can be written.

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
                "No cache folder can be written, so compiled functions are compiled anew in each process. Set "
                "AUTODIFF_LAB_CACHE to a folder of yours.",
                RuntimeWarning,
                stacklevel=6,
            )


@functools.cache
def made_with() -> str:
    """What compiled code hangs on beside its own text: code that is compiled into it, and versions."""
    here = Path(__file__).parent / "jit"
    shared = [
        path.read_text(encoding="utf-8")
        for path in sorted([*here.glob("vector_maths*.py"), *here.glob("*tiles.py"), here / "gemm.py"])
        if path.exists()
    ]
    return "\n".join([*shared, *(importlib.metadata.version(name) for name in ("numba", "numpy"))])


def load(text: str) -> types.ModuleType:
    """The module of a generated text; ``CACHE`` in it says whether Numba may keep machine code beside it."""
    name = "autodiff_lab_kernel_" + hashlib.sha256((made_with() + text).encode()).hexdigest()[:24]
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
    """The module, with its machine code beside it; what is damaged there is thrown away."""
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
    """The path of a file with this text; written in one move, as another process may do the same."""
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
