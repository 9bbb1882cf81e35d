"""Signatures: what two calls of a function must have in common for one program to serve both.

Tensors count by shape, dtype and device, Python numbers, strings and None by value, variables and all other objects by
identity; the device on which new tensors are created is part of the signature.  NumPy arrays become tensors.  As a
function may compare its tensors by ``is``, one that is passed twice or can be reached otherwise counts by identity.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.front.lending import Lent
from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert_to_tensor
from autodiff_lab.engine.devices import current_memory, memory_of
from autodiff_lab.engine.tensor import MAKERS, Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.traffic import tell

_BY_VALUE = (int, float, complex, str, bytes, bool, type(None))


class Call(NamedTuple):
    """The arguments of one call, taken apart."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    key: Any
    tensors: list[Tensor]
    objects: list[Any]  # these count by identity; the cache holds them, so that ids are not reused
    lend: Callable[[list[Tensor]], Lent]
    names: list[str]
    converted: bool  # whether an array became a tensor
    by_identity: bool  # whether a tensor counts by identity

    def plainly(self, function: Callable[..., Any]) -> Any:
        """Call the function as it was called, but with tensors in place of arrays."""
        if not self.converted:
            return function(*self.args, **self.kwargs)
        with self.lend(self.tensors) as (args, kwargs):
            return function(*args, **kwargs)


def quick_key(given: Iterable[Any], arrays: list[Any], key: list[Any]) -> bool:  # noqa: C901 - one branch for each class
    """Collect the arrays of a call and its key; return False where only `take_apart` can.

    It runs before each call of a compiled function, so it knows only lists, tuples and dicts of tensors, variables and
    Python values.  Arrays come in the order of `take_apart`.
    """
    for x in given:
        kind = x.__class__
        if kind is Tensor:
            array = x._held
            arrays.append(array)
            key.append(array.shape)
            key.append(array.dtype.char)
        elif kind is list or kind is tuple:
            key.append(kind)
            key.append(len(x))
            if not quick_key(x, arrays, key):
                return False
        elif kind is Variable:
            key.append(kind)
            key.append(id(x))
        elif kind is dict:
            if not all(name.__class__ is str for name in x):
                return False
            key.append((dict, *x))
            if not quick_key(x.values(), arrays, key):
                return False
        elif kind.__base__ is Tensor and x._held.__class__ in MAKERS:  # of a GPU
            array = x._held
            arrays.append(array)
            key.append(array.shape)
            key.append((array.dtype.char, array.memory))
        elif kind in _BY_VALUE:
            key.append(kind)
            key.append(repr(x) if kind is float or kind is complex else x)  # 0.0 and -0.0 are equal, nan is not
        else:
            return False
    return True


def take_apart(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], known: Container[int] = ()
) -> Call:
    """Find the tensors among the arguments, and the key; tensors whose ids are `known` count by identity."""
    paths, leaves, spec = nest.with_paths((args, kwargs))
    tensors: list[Tensor] = []
    objects: list[Any] = []
    places: dict[int, int] = {}  # of leaves, in `tensors`
    found: dict[int, int] = {}
    keys: list[Any] = []
    converted = False
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, (np.ndarray, np.generic)):
            converted = True
            leaf = leaves[position] = _joined(convert_to_tensor(leaf), leaves)
        if isinstance(leaf, Tensor) and id(leaf) not in known:
            place = places[position] = found.setdefault(id(leaf), len(tensors))
            if place < len(tensors):
                keys.append(("the same", place))
                continue
            tensors.append(leaf)
            keys.append((leaf._held.shape, leaf._held.dtype.char, memory_of(leaf._held)))
        elif leaf.__class__ in _BY_VALUE:
            keys.append((leaf.__class__, repr(leaf)))
        else:
            objects.append(leaf)
            keys.append(id(leaf))

    def lend(now: list[Tensor]) -> Lent:
        mine = list(leaves)
        for position, place in places.items():
            mine[position] = now[place]
        return Lent(args, kwargs, mine)

    firsts = {place: position for position, place in reversed(places.items())}
    names = _argument_names(function, [paths[firsts[place]] for place in range(len(tensors))])
    by_identity = len(places) > len(tensors) or any(isinstance(item, Tensor) for item in objects)
    key = (spec, current_memory(), tuple(keys))
    return Call(args, kwargs, key, tensors, objects, lend, names, converted, by_identity)


def _joined(tensor: Tensor, others: Iterable[Any]) -> Tensor:
    """Copy a converted value to the GPU of the first GPU tensor among the arguments, and report the copy."""
    memory = next((m for m in (memory_of(getattr(x, "_held", None)) for x in others) if m is not None), None)
    if memory is None or not tensor._held.ndim or memory_of(tensor._held) is not None:
        return tensor
    tell("to device", tensor._held.nbytes, "a Python or NumPy value met a tensor of the GPU")
    return wrap(memory.upload(tensor._held))


def _argument_names(function: Callable[..., Any], paths: list[Any]) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    found: list[str] = []
    for kind, first, *rest in paths:
        name = str(first)
        if kind == 0 and isinstance(first, int) and parameters:
            at = min(first, len(parameters) - 1)
            name = parameters[at].name
            if parameters[at].kind is inspect.Parameter.VAR_POSITIONAL:
                name = f"{name}_{first - at}"
        found.append("_".join([name, *(str(part) for part in rest)]))
    return found


def copy_of(tensor: Tensor) -> Tensor:
    """Return a tensor with a copy of the array, so that a trace cannot mistake it for another."""
    array = tensor._held
    return wrap(array.copy() if array.__class__ is DeviceArray else np.array(array)[()])
