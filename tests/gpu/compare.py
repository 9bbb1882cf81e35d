"""Compare results on a GPU with results on the CPU: class, dtype, shape and values."""

from typing import Any

import numpy as np

from autodiff_lab.gpu.hosted import LIVES_ON_CPU
from autodiff_lab.kernels.cuda.array import DeviceArray

WITHIN = {"float16": 4e-3, "float32": 5e-6, "float64": 1e-9, "complex64": 5e-6, "complex128": 1e-9}
"""Relative to the largest value of a result, and to 1: functions of a GPU round differently in the last digits."""
UP_TO_SIGN = {"eigh", "qr", "svd"}
"""Ops whose vectors may point either way: their absolute values are compared."""


def host(tensor: Any) -> np.ndarray[Any, Any]:
    """Copy a tensor's values to the CPU, which here is nobody's business."""
    array = tensor._array
    return np.asarray(array.to_host() if array.__class__ is DeviceArray else array)


def parts(value: Any) -> tuple[Any, ...]:
    """The outputs of an op that has one or several."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def disagreements(what: str, op: str, ours: Any, theirs: Any, loose: float = 1) -> list[str]:
    """Say what differs between results of the GPU and of the CPU, a sentence each."""
    wrong: list[str] = []
    got, expected = parts(ours), parts(theirs)
    if len(got) != len(expected):
        return [f"{what}: {len(got)} results in place of {len(expected)}"]
    for g, e in zip(got, expected, strict=True):
        if (g is None) is not (e is None):
            wrong.append(f"{what}: {'None' if g is None else 'something'} in place of the other")
        elif g is not None:
            wrong += _differs(what, op, g, e, loose)
    return wrong


def _differs(what: str, op: str, ours: Any, theirs: Any, loose: float) -> list[str]:
    a, b = host(ours), host(theirs)
    if ours._array.__class__ is not DeviceArray and a.dtype.kind in "biufc" and op not in LIVES_ON_CPU:
        return [f"{what}: the result is on the CPU"]
    if a.dtype != b.dtype or a.shape != b.shape:
        return [f"{what}: {a.dtype}{a.shape} in place of {b.dtype}{b.shape}"]
    if op in UP_TO_SIGN:
        a, b = np.abs(a), np.abs(b)
    if a.dtype.kind not in "fc":
        return [] if np.array_equal(a, b) else [f"{what}: {_short(a)} in place of {_short(b)}"]
    return _apart(what, a, b, loose * WITHIN[a.dtype.name])


def _apart(what: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], within: float) -> list[str]:
    with np.errstate(all="ignore"):
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        x, y = a.astype(wide), b.astype(wide)
        finite = np.isfinite(y)
        scale = max(1.0, float(np.abs(y[finite]).max(initial=0)))
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | (finite & (np.abs(x - y) <= within * scale))
    if same.all():
        return []
    at = np.unravel_index(int(np.argmin(same)), same.shape)
    return [f"{what}: {x[at]:.17g} in place of {y[at]:.17g} at {[int(i) for i in at]}, of {_short(b)}"]


def _short(array: np.ndarray[Any, Any]) -> str:
    return np.array2string(array, threshold=6, precision=4).replace("\n", " ")
