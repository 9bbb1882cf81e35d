"""Sharing memory with other libraries by DLPack: NumPy, PyTorch, JAX, CuPy.

A tensor never changes, so code that shares its memory must not write to it. Tensors of the CPU hand out copies, as
they do to NumPy. What shares the memory of a GPU is in `gpu.sharing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.errors import ConversionError

DLPACK_CPU, DLPACK_CUDA = 1, 2
"""What DLPack calls the two kinds of device."""


def packed(array: Any, how: dict[str, Any]) -> Any:
    """Give the DLPack capsule of a copy of an array of the CPU."""
    if how.pop("copy", None) is False:
        raise BufferError("A CPU tensor never shares its memory. Try without copy=False.")
    try:
        return np.array(array).__dlpack__(**how)
    except BufferError as refused:  # bfloat16 and strings, of which DLPack knows nothing
        raise BufferError(f"A tensor of dtype {array.dtype} cannot be exported with DLPack: {refused}") from None


def unpacked(value: Any) -> Any:
    """Find the array on the memory of a DLPack exporter.

    Raises
    ------
    ConversionError
        If it exports nothing, or on a device that is neither a CPU nor an NVIDIA GPU.
    """
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        raise ConversionError(
            f"from_dlpack: expected an object with __dlpack__, got {type(value).__name__}. Try lab.constant(value), "
            "which copies."
        )
    kind, index = value.__dlpack_device__()
    if kind == DLPACK_CPU:
        try:
            return np.from_dlpack(value)[()]
        except (BufferError, RuntimeError, TypeError) as error:  # a dtype without a DLPack code, or a refusal to share
            raise ConversionError(f"from_dlpack: the array cannot be shared: {error}") from None
    if kind == DLPACK_CUDA:
        return import_module("autodiff_lab.gpu").memory_of(index).unpacked(value)
    raise ConversionError(
        f"from_dlpack: the value is on a device of type {int(kind)}; supported are CPUs (1) and NVIDIA GPUs (2). "
        "Try copying it to one of them first."
    )


def copied_on_gpu(value: Any) -> Any:
    """Copy, on its GPU, an object with the CUDA array interface: a tensor never changes, the object may."""
    if hasattr(value, "memory"):  # ours need no protocol, whose streams are waited for
        return value.copy()
    gpu = import_module("autodiff_lab.gpu")
    return gpu.memory_holding(value).shared(value).copy()
