"""Run a statement in a module that has TensorFlow's names: TensorFlow itself or this package."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.peers.programs.values import Call, Dtype, Ref, dtype_of, kind_of

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "%": operator.mod, "//": operator.floordiv, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "~": operator.invert, "neg": operator.neg, "abs": operator.abs, "[]": lambda x, keys: x[keys],
}  # fmt: skip


@dataclass
class Answer:
    """The result of a statement: values, and first and second gradients with respect to its inputs; or what it raised.

    A gradient is an array, or None where there is no path; `first` is None where no output can be differentiated.
    """

    values: list[np.ndarray] | None = None
    first: list[np.ndarray | None] | None = None
    second: list[np.ndarray | None] | None = None
    error: Exception | None = None
    late: Exception | None = None  # raised by the backward pass


class Peer:
    """A module with TensorFlow's names."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def ask(self, call: Call, arrays: dict[int, np.ndarray], *, wide: bool = False, gradients: bool = True) -> Answer:
        """Run a statement over arrays by number; `wide` raises floating and complex ones to 64 and 128 bits."""
        lab = self.module
        try:
            tensors = {at: self._tensor(array, wide) for at, array in arrays.items()}
            watched = [t for at, t in tensors.items() if kind_of(arrays[at].dtype) in "fc"]
            with lab.GradientTape(persistent=True) as outer:
                outer.watch(watched)
                with lab.GradientTape() as inner:
                    inner.watch(watched)
                    outputs = self._outputs(call, tensors)
                    total = self._total(outputs) if gradients and watched else None
                values = [_array(output) for output in outputs]
                if total is None:
                    return Answer(values)
                answer = Answer(values)
                try:
                    first = [self._dense(g) for g in inner.gradient(total, watched)]
                    again = self._total([g for g in first if g is not None])
                    answer.first = [None if g is None else _array(g) for g in first]
                except Exception as error:  # noqa: BLE001 - whatever it raises is compared
                    answer.late = error
                    return answer
            if again is not None:
                try:
                    second = [self._dense(g) for g in outer.gradient(again, watched)]
                    answer.second = [None if g is None else _array(g) for g in second]
                except Exception as error:  # noqa: BLE001 - whatever it raises is compared
                    answer.late = error
        except Exception as error:  # noqa: BLE001 - whatever it raises is compared
            return Answer(error=error)
        return answer

    def _outputs(self, call: Call, tensors: dict[int, Any]) -> list[Any]:
        args = [self._argument(item, tensors) for item in call.args]
        kwargs = {key: self._argument(item, tensors) for key, item in call.kwargs.items()}
        return self._flat(self._function(call.function)(*args, **kwargs))

    def _flat(self, found: Any) -> list[Any]:
        if isinstance(found, list | tuple):
            return [part for item in found for part in self._flat(item)]
        return [found]

    def _function(self, name: str) -> Callable[..., Any]:
        if name.startswith("op:"):
            return OPERATORS[name[3:]]
        found = self.module
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def _argument(self, item: Any, tensors: dict[int, Any]) -> Any:
        if isinstance(item, Ref):
            return tensors[item.at]
        if isinstance(item, Dtype):
            return getattr(self.module, item.name)
        if isinstance(item, list):
            return [self._argument(part, tensors) for part in item]
        return item

    def _tensor(self, array: np.ndarray, wide: bool) -> Any:
        if wide and kind_of(array.dtype) in "fc":
            array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        return self.module.constant(array)

    def _total(self, outputs: list[Any]) -> Any:
        """Return a weighted sum of all elements in float64, imaginary parts too; None if nothing is floating."""
        lab, total = self.module, None
        for output in outputs:
            kind = kind_of(_dtype(output))
            if kind not in "fc":
                continue
            y = lab.cast(output, lab.complex128 if kind == "c" else lab.float64)
            y = lab.math.real(y) + 0.6 * lab.math.imag(y) if kind == "c" else y
            count = int(np.prod([int(n) for n in y.shape]))
            part = lab.reduce_sum(y * np.cos(0.7 * np.arange(count) + 0.3).reshape([int(n) for n in y.shape]))
            total = part if total is None else total + part
        return total

    def _dense(self, gradient: Any) -> Any:
        return gradient if gradient is None else self.module.convert_to_tensor(gradient)


def _dtype(value: Any) -> np.dtype[Any]:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return np.asarray(value).dtype
    return np.dtype(object) if dtype.name == "string" else dtype_of(dtype.name)


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
