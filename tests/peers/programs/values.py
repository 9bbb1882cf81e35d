"""The inputs of random programs: every kind of dtype, also empty shapes, ordinary and extreme numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
KINDS = {
    "f": ("float32", "float32", "float32", "float64", "float64", "float16", "bfloat16"),
    "F": ("float32", "float64"),  # what linear algebra and special functions take
    "c": ("complex64", "complex128"),
    "i": ("int32", "int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64"),
    "I": ("int32", "int64"),
    "b": ("bool",),
}
SHAPES = [(), (), (1,), (3,), (3,), (4,), (0,), (2, 3), (3, 4), (3, 3), (1, 4), (2, 1), (0, 3), (2, 0),
          (2, 3, 2), (1, 3, 1)]  # fmt: skip


def dtype_of(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a name, bfloat16 among them."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def kind_of(dtype: Any) -> str:
    """Return the letter of a dtype: f, c, i, b, or ? for any other."""
    if np.dtype(dtype) == BFLOAT16:
        return "f"
    return {"f": "f", "c": "c", "i": "i", "u": "i", "b": "b"}.get(np.dtype(dtype).kind, "?")


def numbers(choice: random.Random, dtype: str, shape: tuple[int, ...], manner: str = "any") -> np.ndarray:
    """Draw an array.

    Parameters
    ----------
    choice : random.Random
        Where the numbers come from.
    dtype : str
        The name of the dtype.
    shape : tuple of int
        The shape.
    manner : str
        ``"any"``; ``"tame"``, ordinary numbers; ``"positive"``, those above 0.1; ``"unit"``, those between 0 and 1.
    """
    draw = np.random.default_rng(choice.randrange(2**32))
    kind = kind_of(dtype_of(dtype))
    if kind == "b":
        return np.asarray(draw.random(shape) < 0.5)
    if kind == "i":
        return _integers(choice, draw, np.dtype(dtype), shape, manner)
    if kind == "c":
        part = "float32" if dtype == "complex64" else "float64"
        real, imaginary = (numbers(choice, part, shape, manner) for _ in range(2))
        return np.asarray(real + 1j * imaginary if manner != "any" else _joined(real, imaginary), dtype)
    return np.asarray(_floats(choice, draw, shape, manner), dtype_of(dtype))


def _joined(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    made = np.empty(real.shape, complex)
    made.real, made.imag = real, imaginary
    return made


def _integers(choice: random.Random, draw: Any, dtype: np.dtype[Any], shape: Any, manner: str) -> np.ndarray:
    signed = dtype.kind == "i" and manner == "any"
    if manner == "any" and choice.random() < 0.1:
        limits = np.iinfo(dtype)
        ends = np.array([limits.min, limits.max, 0, 1], dtype)
        return np.asarray(ends[draw.integers(0, 4, shape)], dtype)
    return np.asarray(draw.integers(-6 if signed else 1 if manner == "positive" else 0, 7, shape), dtype)


def _floats(choice: random.Random, draw: Any, shape: Any, manner: str) -> np.ndarray:
    if manner == "unit":
        return draw.random(shape)
    if manner == "positive":
        return draw.random(shape) * 3.0 + 0.1
    way = 0.0 if manner == "tame" else choice.random()
    if way < 0.6:
        return draw.standard_normal(shape) * choice.choice([1.0, 1.0, 3.0])
    if way < 0.75:  # ties and zeros
        return np.asarray(draw.integers(-2, 3, shape), float)
    if way < 0.87:  # every size
        return draw.standard_normal(shape) * 10.0 ** draw.uniform(-4.0, 4.0, shape)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30])
    mixed = draw.standard_normal(shape)
    return np.where(draw.random(shape) < 0.35, special[draw.integers(0, len(special), shape)], mixed)


@dataclass(frozen=True)
class Ref:
    """The value of an earlier statement or an input, by its number."""

    at: int


@dataclass(frozen=True)
class Dtype:
    """A dtype as an argument, by its name."""

    name: str


@dataclass(frozen=True)
class Call:
    """A statement: a public function by its dotted name, or an operator as ``"op:+"``."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def refs(self) -> list[int]:
        """Return the numbers of the values it reads, each once."""
        found: list[int] = []

        def visit(item: Any) -> None:
            if isinstance(item, Ref) and item.at not in found:
                found.append(item.at)
            elif isinstance(item, list | tuple):
                for part in item:
                    visit(part)

        visit([*self.args, *self.kwargs.values()])
        return found

    def __str__(self) -> str:
        words = [*map(spelled, self.args), *(f"{key}={spelled(value)}" for key, value in self.kwargs.items())]
        return f"{self.function}({', '.join(words)})"


def spelled(value: Any) -> str:
    """Return an argument as source code, v0, v1, ... for values."""
    if isinstance(value, Ref):
        return f"v{value.at}"
    if isinstance(value, Dtype):
        return value.name
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, {value.dtype.name!r})"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{spelled(item)}, ' for item in value)})"
    return repr(value)
