"""Effects: what a function does beside computing, noted while it is traced; a program would not do it again.

The interpreter tells of each call of a built-in function while a profiler listens, which makes a trace several times
slower.  So it listens only where the code that the function reaches has a name in it that could stand for an effect.
"""

from __future__ import annotations

import dis
import gc
import random
import sys
import types
from functools import cache
from typing import Any, Self

import numpy as np

_OURS = ("autodiff_lab", "numpy", "builtins")
_BUILDERS = frozenset({"numba", "numba_cuda", "llvmlite", "cuda", "cupy", "cupyx", "cupy_backends"})
"""Packages that compile kernels for a GPU when an op first wants one, with files and clocks."""
_IMPORTS = bytes([dis.opmap["IMPORT_NAME"]])


def foreign(module: str | None) -> bool:
    """Whether code of this module is a library's, whose insides are not watched."""
    root = (module or "").partition(".")[0]
    return root in _OURS or root in sys.stdlib_module_names


def names_in(code: types.CodeType) -> set[str]:
    """The names of globals and attributes in a function, inner functions included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_in(constant)
    return found


class Doubt:
    """Whether what a function reaches could have an effect.

    Attributes
    ----------
    doubtful : bool
        Whether there is a name in it that may stand for an effect, or code that cannot be looked at.
    draws : bool
        Whether it makes generators of random numbers, whose calls the interpreter does not tell of.
    """

    def __init__(self) -> None:
        self.doubtful = False
        self.draws = False

    def note_code(self, code: types.CodeType) -> None:
        """A function of the user's."""
        self.draws = self.draws or not _GENERATORS.isdisjoint(names_in(code))
        if not self.doubtful:
            self.doubtful = not _suspects().isdisjoint(names_in(code)) or _imports(code)

    def note_value(self, value: Any) -> None:
        """A built-in function under a name of the user's."""
        self.doubtful = self.doubtful or effect(value) is not None

    def note_unknown(self) -> None:
        """An object whose code is not looked at."""
        self.doubtful = True


def _imports(code: types.CodeType) -> bool:
    """Whether a function imports something while it runs."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return _IMPORTS in {code.co_code[n : n + 1] for n in range(0, len(code.co_code), 2)} or any(map(_imports, inner))


@cache
def _suspects() -> frozenset[str]:
    """Names of all that has an effect, and of what reaches other things by their names."""
    found = set(_EFFECTS | _FILES | {"now", "utcnow", "today", "default_rng"})
    found |= {"getattr", "setattr", "eval", "exec", "compile", "globals", "locals", "vars", "import_module",
              "attrgetter", "methodcaller", "__dict__", "__getattribute__", "__builtins__"}  # fmt: skip
    for name in _CLOCKS:
        module = sys.modules.get(name)
        found |= {key for key, value in vars(module).items() if callable(value)} if module is not None else set()
    found |= {name for name in dir(random.Random) if not name.startswith("_")}
    return frozenset(found | {name for name in dir(np.random) if name[0].isupper()} | {*_CLOCKS, "random"})


def _random_states() -> tuple[Any, ...]:
    """What the generators behind `random` and `numpy.random` will draw next."""
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - users call it, so it is watched
    return random.getstate(), state["state"]["key"].tobytes(), state["state"]["pos"]


class Effects:
    """Notes, while a function is traced, the calls of the user's code that do something beside computing.

    Without doubt it does not listen; random numbers that were drawn are found afterwards anyway.
    """

    def __init__(self, doubt: Doubt) -> None:
        self.found: list[tuple[str, tuple[str, int] | None]] = []
        self._alone, self._doubt = False, doubt
        self._drawn: Any = None

    def __enter__(self) -> Self:
        self._drawn = _random_states()
        self._alone = (
            self._doubt.doubtful and sys.getprofile() is None
        )  # a profiler that measures this run is not disturbed
        if self._alone:
            sys.setprofile(self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        if self._alone:
            sys.setprofile(None)
        if not self.found and (self._doubt.draws or self._drawn != _random_states()):
            self.found.append(("random numbers are drawn", None))

    def _hear(self, frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call" and not self.found:
            reason, module = effect(called), frame.f_globals.get("__name__")
            if reason is not None and not foreign(module) and not _builds(module) and not _collecting(frame):
                self.found.append((reason, (frame.f_code.co_filename, frame.f_lineno)))


def _builds(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _BUILDERS


def _collecting(frame: types.FrameType | None) -> bool:
    """Whether a frame runs because Python collects garbage, which may happen in the middle of anything."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


_GENERATORS = frozenset({"default_rng", "RandomState"})
_EFFECTS = frozenset({"print", "input", "open", "breakpoint"})
_CLOCKS = frozenset({"time", "datetime", "posix", "nt", "secrets", "select", "_socket"})
_FILES = frozenset({"write", "read", "readline", "readlines", "writelines"})


def effect(called: Any) -> str | None:
    """What a call of this does beside computing, in words; None if nothing is known."""
    name = getattr(called, "__name__", "")
    owner = getattr(called, "__self__", None)
    if name in _EFFECTS and getattr(owner, "__name__", "") in ("builtins", "io", "_io"):
        return f"{name}() is called"
    if isinstance(owner, types.ModuleType):
        return f"{owner.__name__}.{name}() is called" if owner.__name__ in _CLOCKS else None
    kind = type(owner).__module__
    if kind in ("random", "_random") or kind.startswith("numpy.random"):
        return f"random numbers are drawn by {name}()"
    if name in ("now", "utcnow", "today") and isinstance(owner, type):
        return f"{owner.__name__}.{name}() is called"
    return f"a file is used by {name}()" if kind in ("_io", "io") and name in _FILES else None
