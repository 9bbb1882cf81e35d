"""Sharing memory with other libraries: CuPy, PyTorch, JAX, Numba.

Two protocols carry arrays across without a copy: DLPack, and for GPUs the CUDA array interface.  A tensor never
changes, so whoever shares its memory must not write to it.  Tensors of the CPU hand out copies, as they do to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.errors import ConversionError
from autodiff_lab.kernels.cuda.array import DeviceArray

DLPACK_CPU, DLPACK_CUDA = 1, 2
"""What DLPack calls the two kinds of device."""


def shared_on_gpu(array: Any, leave: Callable[[str], Any]) -> dict[str, Any]:
    """The CUDA array interface of a tensor's array.

    Raises
    ------
    AttributeError
        If it lies on the CPU, which by the protocol says so.
    """
    if array.__class__ is not DeviceArray:
        raise AttributeError("A tensor of the CPU has no __cuda_array_interface__. Try x.gpu().")
    leave("__cuda_array_interface__")
    return array.__cuda_array_interface__


def packed(array: Any, how: dict[str, Any]) -> Any:
    """The DLPack capsule of a tensor's array: of the GPU's own memory, or of a copy on the CPU."""
    if array.__class__ is DeviceArray:
        return array.__dlpack__(**how)
    if how.pop("copy", None) is False:
        raise BufferError("A tensor of the CPU never shares its memory. Try it without copy=False.")
    try:
        return np.array(array).__dlpack__(**how)
    except BufferError as refused:  # bfloat16 and strings, of which DLPack knows nothing
        raise BufferError(f"A tensor of dtype {array.dtype} has no DLPack form: {refused}") from None


def where_packed(array: Any) -> tuple[int, int]:
    """Kind and number of an array's device, in DLPack's numbers."""
    return array.__dlpack_device__() if array.__class__ is DeviceArray else (DLPACK_CPU, 0)


def unpacked(value: Any) -> Any:
    """An array on the memory of a DLPack exporter.

    Raises
    ------
    ConversionError
        If it exports nothing, or on a device that is neither a CPU nor an NVIDIA GPU.
    """
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        raise ConversionError(
            f"from_dlpack: {type(value).__name__} has no __dlpack__. Try lab.constant(value), which copies."
        )
    kind, index = value.__dlpack_device__()
    if kind == DLPACK_CPU:
        return np.from_dlpack(value)[()]
    if kind == DLPACK_CUDA:
        return import_module("autodiff_lab.kernels.cuda.gpus").memory_of(index).unpacked(value)
    raise ConversionError(
        f"from_dlpack: the value lies on a device of kind {int(kind)}; here are CPUs (1) and NVIDIA GPUs (2). "
        "Try to copy it to one of them first."
    )


def copied_on_gpu(value: Any) -> DeviceArray:
    """A copy, on its GPU, of an object with the CUDA array interface: a tensor never changes, the object may."""
    if value.__class__ is DeviceArray:  # ours need no protocol, whose streams are waited for
        return value.copy()
    memories = import_module("autodiff_lab.kernels.cuda.gpus")
    return memories.memory_holding(value).shared(value).copy()
