"""Graphs of layers: `Input`, symbolic tensors, and the calls between them that make a functional model.

A layer or an op that is called on a symbolic tensor is not run on data: the call is kept, and the shape of its result
is found by running it once on examples with two different lengths for every length that is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, LabError, ShapeMismatch
from autodiff_lab.events.listener import unheard
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros

_PROBES = ((2, 24), (3, 32), (2, 224), (3, 256))
"""Lengths to try for an unknown batch and for other unknown axes; large ones where a window does not fit."""


class KerasTensor:
    """A symbolic tensor: the result of a layer or an op that will run when the model is called.

    Attributes
    ----------
    shape : tuple of int or None
        The first is None unless `Input` was given a batch size.
    dtype : DType
    name : str
    """

    CURE = "Try a layer, or lab.layers.Lambda(function), which runs the function when the model is called."

    def __init__(self, shape: Iterable[int | None], dtype: DType, name: str, call: Call | None = None) -> None:
        self.shape, self.dtype, self.name = tuple(shape), dtype, name
        self.call = call
        """The call that computes it; None for an input."""
        self.layer: Any = None
        """The layer of an input."""

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def WHY(self) -> str:
        """The reason given when a function needs a value."""
        return f"{self.name} is symbolic, the input or the result of a layer, and has no value yet."

    def __lab_apply__(self, function: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Keep the call of an op or a public function instead of running it."""
        return called(function, inputs, params)

    def __getitem__(self, key: Any) -> Any:
        return called(item, (self,), {"key": key})

    def __len__(self) -> int:
        raise TypeError(f"{self.WHY} Its length is not known. Try x.shape.")

    def __iter__(self) -> Any:
        raise TypeError(f"{self.WHY} It cannot be iterated over. {self.CURE}")

    def __bool__(self) -> bool:
        raise TypeError(f"{self.WHY} It has no truth value. {self.CURE}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise InvalidArgumentError(f"{self.WHY} {self.CURE}")

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype.name}, name={self.name}>"


def item(x: Any, key: Any) -> Any:
    """Return a part of a tensor: what ``x[key]`` of a symbolic tensor will call."""
    return x[key]


class Call:
    """A layer or function that will be called on symbolic tensors.

    Parameters
    ----------
    function : Layer or callable
    args, params
        What it will be called with; symbolic tensors may be anywhere inside.
    """

    def __init__(self, function: Any, args: tuple[Any, ...], params: dict[str, Any]) -> None:
        self.function, self.args, self.params = function, args, params
        leaves, self._rebuild = nest.flatten((args, params))
        self._leaves = list(leaves)
        self.inputs = [leaf for leaf in self._leaves if isinstance(leaf, KerasTensor)]
        self.outputs: Any = None

    def run(self, values: dict[int, Any]) -> Any:
        """Call the function with the values of the symbolic tensors, found by their identity."""
        args, params = self._rebuild([
            values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf for leaf in self._leaves
        ])  # fmt: skip
        return self.function(*args, **params)


def is_symbolic(value: Any) -> bool:
    """Return whether a value is a symbolic tensor, or a structure that holds one."""
    if isinstance(value, (list, tuple, dict)):
        return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(value)[0])
    return isinstance(value, KerasTensor)


def shapes_of(value: Any) -> Any:
    """Return the shapes of a structure of symbolic and other tensors."""
    leaves, rebuild = nest.flatten(list(value) if isinstance(value, tuple) else value)
    return rebuild([tuple(leaf.shape) for leaf in leaves])


def called(function: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return the symbolic results of a call.

    Raises
    ------
    LabError
        If the function refuses inputs of these shapes and dtypes.
    """
    call = Call(function, args, params)
    first, second = _probed(call)
    name = getattr(function, "name", None) or getattr(function, "__name__", "function")
    ones, rebuild = nest.flatten(first)
    others = nest.flatten(second)[0]
    call.outputs = rebuild([_symbol(one, other, str(name), call) for one, other in zip(ones, others, strict=True)])
    return call.outputs


def _symbol(one: Any, other: Any, name: str, call: Call) -> Any:
    """Return a symbolic tensor from two examples of it: lengths in which they differ are unknown."""
    if not isinstance(one, (Tensor, Variable)):
        return one
    shape = [a if a == b else None for a, b in zip(one._held.shape, other._held.shape, strict=True)]
    return KerasTensor(shape, one.dtype, name, call)


def _probed(call: Call) -> tuple[Any, Any]:
    """Return the results of a call for two sets of examples."""
    refusal: Exception | None = None
    for one, other in zip(_PROBES[::2], _PROBES[1::2], strict=True):
        try:
            with unheard():
                return _example_result(call, *one), _example_result(call, *other)
        except (LabError, ValueError, TypeError) as error:
            refusal = refusal or error
        if all(None not in x.shape[1:] for x in call.inputs):
            break
    assert refusal is not None
    raise refusal


def _example_result(call: Call, batch: int, length: int) -> Any:
    values = {}
    for x in call.inputs:
        shape = [(batch if i == 0 else length) if n is None else n for i, n in enumerate(x.shape)]
        values[id(x)] = wrap(np.full(shape, b"")) if x.dtype.name == "string" else zeros(shape, x.dtype)
    return call.run(values)


class Graph:
    """The calls between the inputs and the outputs of a functional model, in the order in which they run.

    Parameters
    ----------
    inputs, outputs
        Structures of symbolic tensors.

    Raises
    ------
    InvalidArgumentError
        If an output depends on an input that is not among `inputs`, or is not symbolic.
    """

    def __init__(self, inputs: Any, outputs: Any) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.sources: list[Any] = nest.flatten(inputs)[0]
        results, self._rebuild = nest.flatten(outputs)
        self.results = list(results)
        for tensor in (*self.sources, *self.results):
            if not isinstance(tensor, KerasTensor):
                raise InvalidArgumentError(
                    f"Model: inputs and outputs must be symbolic tensors, got {type(tensor).__name__}. Try "
                    "lab.keras.Input(shape=...), and layers called on it."
                )
        self.calls = self._ordered()

    def _ordered(self) -> list[Call]:
        """Return the calls, each after those that compute its inputs."""
        known, done = {id(x) for x in self.sources}, set[int]()
        order: list[Call] = []
        waiting: list[tuple[Any, bool]] = [(x, False) for x in reversed(self.results)]
        while waiting:
            x, is_ready = waiting.pop()
            if id(x) in known or (x.call is not None and id(x.call) in done):
                continue
            if x.call is None:
                raise InvalidArgumentError(
                    f"Model: an output depends on the input {x.name!r} of shape {x.shape}, which is not among the "
                    "inputs."
                )
            if is_ready:
                done.add(id(x.call))
                order.append(x.call)
            else:
                waiting += [(x, True), *((y, False) for y in reversed(x.call.inputs))]
        return order

    def run(self, inputs: Any) -> Any:
        """Return the outputs for values of the inputs, given in their structure, as a list, or by name.

        Raises
        ------
        InvalidArgumentError
            If the number of values differs from that of the inputs.
        ShapeMismatch
            If a value does not have the shape of its input.
        """
        values = dict(zip(map(id, self.sources), self._values(inputs), strict=True))
        for call in self.calls:
            found = nest.flatten(call.run(values))[0]
            symbols = nest.flatten(call.outputs)[0]
            values.update(zip(map(id, symbols), found, strict=True))
        return self._rebuild([values[id(x)] for x in self.results])

    def _values(self, inputs: Any) -> list[Any]:
        if isinstance(inputs, dict) and not isinstance(self.inputs, dict):
            missing = [x.name for x in self.sources if x.name not in inputs]
            if missing:
                raise InvalidArgumentError(f"Model: there is no input {missing[0]!r} among {', '.join(inputs)}.")
            given = [inputs[x.name] for x in self.sources]
        elif isinstance(inputs, dict):
            given = [inputs[key] for key in self.inputs]
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        if len(given) != len(self.sources):
            raise InvalidArgumentError(f"Model: expected {len(self.sources)} inputs, got {len(given)}.")
        for value, x in zip(given, self.sources, strict=True):
            shape = getattr(value, "shape", None)
            if shape is None or len(shape) != len(x.shape) or any(
                n is not None and n != m for n, m in zip(x.shape, shape, strict=True)
            ):  # fmt: skip
                expected = ", ".join("batch" if n is None and not i else str(n) for i, n in enumerate(x.shape))
                raise ShapeMismatch(f"Model: the input {x.name!r} has shape ({expected}), got {tuple(shape or ())}.")
        return [_fitting(value, x) for value, x in zip(given, self.sources, strict=True)]


def _fitting(value: Any, x: KerasTensor) -> Any:
    """Return a value in the dtype of its input."""
    have, want = value.dtype, x.dtype
    if have == want or "string" in (have.name, want.name) or have.is_complex:
        return value
    return cast(value, want)


def _install_operators() -> None:
    """Copy the operators of `Tensor`: they convert their operands and so end in `__lab_apply__`."""
    operators = (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "invert", "and", "or", "xor", "matmul",
        "lt", "le", "gt", "ge",
    )  # fmt: skip
    for name, function in vars(Tensor).items():
        bare = name.strip("_")
        if (bare in operators or bare.removeprefix("r") in operators) and callable(function):
            setattr(KerasTensor, name, function)


_install_operators()
