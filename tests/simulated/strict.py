"""A replacement for CuPy that refuses what CuPy refuses: NumPy computes, the installed CuPy defines what is allowed.

Plain NumPy accepts more than CuPy: names, parameters, dtypes and CPU arrays that CuPy does not accept. Here every call
is checked against CuPy's signatures, the types of its ufuncs and its arrays; importing CuPy needs no GPU. Refused calls
raise as in CuPy and are stored in `REFUSED`, as our code may catch the error.
"""

import inspect
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import cupy
import numpy as np

REFUSED: list[str] = []
MAKES = {"array", "asarray", "ascontiguousarray", "empty", "full", "zeros", "ones", "arange", "eye", "from_dlpack"}
"""Functions of CuPy that take arrays of the CPU, or none."""
AT = {"add": "iIefdLQ", "maximum": "iILQ", "minimum": "iILQ"}
"""Dtypes of ``ufunc.at`` on which CuPy can be relied on: it has no int64, and takes floats for less than they are."""


class Raw(np.ndarray[Any, Any]):
    """A GPU array; any other NumPy array is on the CPU."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return _raw(found)
        theirs = getattr(cupy.ndarray, name, None)
        if theirs is None:
            raise _refused(AttributeError, f"arrays of CuPy have no {name}")
        return _checked(f"ndarray.{name}", found, _signature_of_method(theirs))


def _refused(kind: type[Exception], why: str) -> Exception:
    REFUSED.append(why)
    return kind(why)


def _raw(value: Any) -> Any:
    """What CuPy gives: arrays of the GPU, also where NumPy gives a scalar."""
    if not isinstance(value, (np.ndarray, np.generic, tuple)):
        return value
    if isinstance(value, np.generic):
        return np.ndarray.view(np.asarray(value), Raw)
    if isinstance(value, np.ndarray):
        return np.ndarray.view(value, Raw)
    return tuple(_raw(v) for v in value)


def _plain(value: Any, name: str, may_be_host: bool = False) -> Any:
    """What NumPy is given; an array of the CPU is refused, as CuPy refuses it."""
    if isinstance(value, Raw):
        return np.ndarray.view(value, np.ndarray)
    if isinstance(value, np.ndarray) and not may_be_host:
        raise _refused(TypeError, f"{name}: an array of the CPU, shape {value.shape}")
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(_plain(v, name, may_be_host) for v in value)
    return value


@cache
def _signature_of_method(method: Any) -> inspect.Signature | None:
    """Cython puts the signature into the first line of the docstring."""
    line = (method.__doc__ or "").partition("\n")[0]
    found = re.search(r"\((.*)\)", line)
    if found is None:
        return None
    words = [part.split("=")[0].split()[-1] + ("=" + part.split("=", 1)[1] if "=" in part else "")
             for part in found[1].split(", ")]  # fmt: skip
    scope: dict[str, Any] = {}
    exec(f"def method({', '.join(words)}): ...", scope)
    return inspect.signature(scope["method"]).replace(
        parameters=list(inspect.signature(scope["method"]).parameters.values())[1:]
    )


_signature = cache(inspect.signature)


@cache
def _refuses(signature: inspect.Signature, count: int, names: tuple[str, ...]) -> str:
    """What a signature says against so many arguments and these names; nothing if it takes them."""
    try:
        signature.bind(*range(count), **dict.fromkeys(names))
    except TypeError as error:
        return str(error)
    return ""


@cache
def _of_types(types: tuple[str, ...], have: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether a ufunc of these types takes operands, None for a Python number, and the dtype that it must give."""
    for pair in types:
        takes, gives = pair.split("->")
        fits = all(h is None or np.can_cast(h, t) for h, t in zip(have, takes, strict=True) if t not in "EV")
        if fits and "E" not in takes:
            return True, None if None in have else np.dtype(gives[0])
    return False, None


def _checked(name: str, ours: Callable[..., Any], signature: inspect.Signature | None) -> Callable[..., Any]:
    """A function that takes what CuPy's takes and gives arrays of the GPU."""

    def call(*args: Any, **how: Any) -> Any:
        against = "" if signature is None else _refuses(signature, len(args), tuple(how))
        if against:
            raise _refused(TypeError, f"{name}: {against}")
        host = name.rpartition(".")[2] in MAKES or (name.startswith("ndarray.") and name.endswith("fill"))
        plain = [_plain(a, name, host) for a in args]
        return _raw(ours(*plain, **{k: _plain(v, name, host) for k, v in how.items()}))

    return call


class Ufunc:
    """A ufunc with the types of CuPy's."""

    def __init__(self, ours: np.ufunc, theirs: Any) -> None:
        self.ours, self.theirs, self.__name__ = ours, theirs, ours.__name__

    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind") -> Any:
        plain = [_plain(a, self.__name__) for a in args]
        made = self.ours(*plain, dtype=dtype, casting=casting)
        if dtype is None:
            self._check_types(args, made)
        if out is None:
            return _raw(made)
        out[...] = _raw(made)
        return out

    def _check_types(self, args: tuple[Any, ...], made: Any) -> None:
        have = tuple(None if isinstance(a, (bool, int, float, complex)) else a.dtype for a in args)
        takes, expected = _of_types(tuple(self.theirs.types), have)
        if not takes:
            raise _refused(TypeError, f"{self.__name__}: no types of {self.theirs.types} for {have}")
        if expected is not None and expected != np.asarray(made).dtype:
            raise _refused(TypeError, f"{self.__name__} of {have} gives {expected} in CuPy")

    def at(self, total: Any, index: Any, values: Any) -> None:
        """Check the dtype; NumPy adds."""
        if total.dtype.char not in AT.get(self.__name__, ""):
            raise _refused(TypeError, f"{self.__name__}.at of {total.dtype}")
        self.ours.at(_plain(total, "at"), _plain(index, "at"), _plain(values, "at"))


class Module:
    """CuPy's module, or one inside it."""

    ndarray = Raw

    def __init__(self, ours: Any = np, theirs: Any = cupy, name: str = "cupy") -> None:
        self._ours, self._theirs, self._name = ours, theirs, name

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(self._theirs, name, None)
        if theirs is None:
            raise _refused(AttributeError, f"{self._name} has no {name}")
        ours = getattr(self._ours, name)
        if isinstance(theirs, ModuleType):
            return Module(ours, theirs, f"{self._name}.{name}")
        if isinstance(theirs, cupy.ufunc):
            return Ufunc(ours, theirs) if isinstance(ours, np.ufunc) else _checked(name, ours, None)
        if not callable(theirs) or isinstance(ours, type):
            return ours
        if name == "matmul":  # a generalised ufunc, which says nothing of its types
            return _checked(name, ours, inspect.signature(lambda a, b, out=None: None))
        return _checked(f"{self._name}.{name}", ours, _signature(theirs))
