"""Errors of ops whose kernel raises: the op, the shapes and dtypes of its inputs, the user's line, what to try."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from autodiff_lab.engine.devices import device_of, memory_of
from autodiff_lab.engine.dtypes import public
from autodiff_lab.errors import (
    DeviceMemoryError,
    DtypeMismatch,
    InvalidArgumentError,
    LabError,
    MissingPackage,
    ShapeMismatch,
    cell_of,
)
from autodiff_lab.events import Place
from autodiff_lab.events.listener import place_now, sinks_now

MORE_ROOM = "Try smaller batches, lab.recompute_grad, or deleting tensors and tapes."
_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def kind_of(array: Any) -> str:
    """Write dtype and shape in short: ``f32[3,4]``; for an array on a GPU its device too."""
    name = public(array.dtype).name
    letters = name.rstrip("0123456789")
    place = f" on {device_of(array)}" if memory_of(array) is not None else ""
    return f"{_SHORT.get(letters, letters)}{name[len(letters) :]}[{','.join(map(str, array.shape))}]{place}"


def at_line(place: Place | None) -> str:
    """Return the user's line as a line of a message, empty if there is none."""
    if place is None:
        return ""
    text = linecache.getline(*place).strip()
    return f"\n  at {cell_of(place[0]) or place[0]}, line {place[1]}" + (f": {text}" if text else "")


def failed(op: Any, ins: tuple[Any, ...], params: dict[str, Any] | None, error: Exception) -> LabError:
    """Report to the listeners that an op raised, and return the error to raise in its place."""
    arrays = [t._held for t in ins]
    return report(op, ins, params, error if isinstance(error, LabError) else reworded(op, arrays, error))


def report(
    op: Any, ins: tuple[Any, ...], params: dict[str, Any] | None, error: LabError, by_values: bool = True
) -> LabError:
    """Report an error to the listeners, and return it; a trace learns whether the error depends on values."""
    for sink in sinks_now():
        if sink.listens:
            sink.fail(op, ins, params, error)
        elif by_values and sink.traces:
            sink.refuse(f"{op.name} fails, and what happens next depends on values")
    return error


def call_of(op: Any, arrays: list[Any]) -> str:
    """Write an op with its operands in short: ``add(f32[2], f32[3])``."""
    return f"{op.name}({', '.join(map(kind_of, arrays))})"


_OF_NUMPY = ("ufunc '", "The numpy boolean", "numpy boolean")
"""How NumPy's messages about unsupported dtypes begin."""


def reworded(op: Any, arrays: list[Any], error: Exception, where: str = "") -> LabError:
    """Turn what a kernel raised into an error of this package."""
    if isinstance(error, MemoryError):
        text = f"out of memory{where} for the result of the op ({error}).{at_line(place_now())}\n  {MORE_ROOM}"
        return DeviceMemoryError(f"{call_of(op, arrays)}: {text}")
    if isinstance(error, TypeError) and str(error).startswith(_OF_NUMPY):  # which names its function, not the op
        names = " and ".join(dict.fromkeys(public(a.dtype).name for a in arrays))
        text = f"this op is not defined for {names}.{at_line(place_now())}\n  Try lab.cast(x, lab.float32) first."
        return DtypeMismatch(f"{call_of(op, arrays)}: {text}")
    if isinstance(error, ModuleNotFoundError):  # an install without what the package requires
        missing = str(error.name).partition(".")[0]
        text = f"this op needs {missing}, which is not installed.{at_line(place_now())}\n  Try: pip install {missing}"
        return MissingPackage(f"{call_of(op, arrays)}: {text}")
    if isinstance(error, np.linalg.LinAlgError):  # an iteration went on for too long
        text = f"{error}.{at_line(place_now())}\n  Does it hold nan or inf? Try lab.debugging.check_numerics."
        return InvalidArgumentError(f"{call_of(op, arrays)}: {text}")
    kind = ShapeMismatch if isinstance(error, ValueError) and not _shapes_fit(op, arrays) else InvalidArgumentError
    return kind(f"{call_of(op, arrays)}: {_reason(op, arrays, error)}{at_line(place_now())}")


def _shapes_fit(op: Any, arrays: list[Any]) -> bool:
    """Return whether the shapes are fine: those of an elementwise op broadcast."""
    if not op.elementwise:
        return False
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        return False
    return True


def _reason(op: Any, arrays: list[Any], error: Exception) -> str:
    shapes = [a.shape for a in arrays]
    if op.name == "matmul" and len(shapes) == 2:
        return _matmul_reason(*shapes)
    if any(a.dtype.kind == "O" for a in arrays) and not isinstance(error, ValueError):
        return "strings are not numbers. Try lab.strings.to_number(x) first."
    if op.elementwise and len(shapes) == 2 and not _shapes_fit(op, arrays):
        return _broadcast_reason(*shapes)
    if op.name == "concat":
        return f"shapes {_listed(shapes)} must match except along the concatenation axis. Try another axis."
    if op.name == "stack":
        return f"shapes {_listed(shapes)} must all be equal. Try lab.concat, or lab.broadcast_to."
    if op.name == "broadcast_to":
        return f"a tensor of shape {shapes[0]} does not broadcast to the given shape. Try lab.expand_dims or lab.tile."
    if op.name in ("where", "clip"):
        return f"shapes {_listed(shapes)} do not broadcast. Try lab.reshape, or lab.expand_dims."
    if op.name in ("max", "min", "argmax", "argmin") and 0 in shapes[0]:
        return "the reduction over an axis of length 0 is undefined. Try checking lab.size(x) first."
    return str(error)


def _listed(shapes: list[tuple[int, ...]]) -> str:
    return " and ".join([", ".join(map(str, shapes[:-1]))[:200], str(shapes[-1])]) if len(shapes) > 1 else str(shapes)


def _matmul_reason(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    if len(a) < 1 or len(b) < 1:
        return "both operands of a matrix product need at least one axis. Try x * y for a scalar factor."
    inner = b[-2] if len(b) > 1 else b[0]
    text = f"inner dimensions differ: {a[-1]} and {inner}."
    if len(b) > 1 and a[-1] == b[-1]:
        return text + " Try lab.matmul(x, y, transpose_b=True), or lab.transpose(y)."
    if len(a) > 1 and a[-2] == inner:
        return text + " Try lab.matmul(x, y, transpose_a=True)."
    return text + " The last axis of x must have the length of the second-to-last axis of y."


def _broadcast_reason(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    for axis in range(1, min(len(a), len(b)) + 1):
        if a[-axis] != b[-axis] and 1 not in (a[-axis], b[-axis]):
            return (
                f"shapes {a} and {b} do not broadcast: axis {-axis} has {a[-axis]} and {b[-axis]}. "
                "Try lab.reshape, lab.expand_dims or lab.transpose to line the axes up."
            )
    return f"shapes {a} and {b} do not match."


_RANKS = {"b": 0, "i": 1, "u": 1, "V": 2, "f": 2, "c": 3}
"""Kinds of numbers, bfloat16 as "V": a cast to a lower rank loses fractions or imaginary parts and is not proposed."""


def dtypes_differ(op: Any, x: Any, y: Any) -> LabError:
    """Return the error for operands of two dtypes."""
    a, b = public(x._held.dtype).name, public(y._held.dtype).name
    first, second = (_RANKS.get(t._held.dtype.kind, 0) for t in (x, y))
    cures = [f"lab.cast(y, lab.{a})"] * (first >= second) + [f"lab.cast(x, lab.{b})"] * (first <= second)
    if "string" in (a, b):
        cures = [f"lab.strings.to_number({'x' if a == 'string' else 'y'})"]
    text = (
        f"{op.name}({kind_of(x._held)}, {kind_of(y._held)}): {a} and {b} do not mix; nothing is cast implicitly."
        f"{at_line(place_now())}\n  Try {' or '.join(cures)}."
    )
    return report(op, (x, y), None, DtypeMismatch(text), by_values=False)


def wrong_dtype(op: Any, ins: tuple[Any, ...]) -> LabError:
    """Return the error for a dtype that the op is not defined for."""
    kinds = ", ".join(kind_of(t._held) for t in ins)
    text = (
        f"{op.name}({kinds}): this op requires floating-point tensors.{at_line(place_now())}\n"
        "  Try lab.cast(x, lab.float32) first."
    )
    return report(op, ins, None, DtypeMismatch(text), by_values=False)
