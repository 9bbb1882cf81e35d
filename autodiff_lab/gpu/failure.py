"""Errors of ops that fail on a GPU, or whose operands are on two devices."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.devices import CPU, memory_of
from autodiff_lab.engine.failure import at_line, call_of, kind_of, report, reworded
from autodiff_lab.errors import DeviceError, DeviceMismatch, LabError
from autodiff_lab.events.listener import place_now
from autodiff_lab.kernels.cuda.traffic import forked

GPU_PACKAGES = frozenset({"cupy", "cupyx", "cupy_backends", "numba", "numba_cuda", "cuda"})
"""Packages whose exceptions say that a GPU, its driver or its compiler failed, and not that an argument was wrong."""
RECOVERY = (
    "Try it on the CPU (x.cpu()) to see whether the arguments are valid. After some failures a GPU stays unusable "
    "until Python is restarted."
)


def devices_differ(op: Any, ins: tuple[Any, ...], params: dict[str, Any] | None) -> LabError:
    """Make the error for tensors of two devices."""
    kinds = [kind_of(t._held) + ("" if memory_of(t._held) is not None else f" on {CPU}") for t in ins]
    text = (
        f"{op.name}({', '.join(kinds)}): the tensors are on different devices, and nothing is copied implicitly."
        f"{at_line(place_now())}\n  Try x.gpu() or x.cpu() on one of them, or create them inside one lab.device block."
    )
    return report(op, ins, params, DeviceMismatch(text))


def failed_there(op: Any, ins: tuple[Any, ...], params: dict[str, Any] | None, error: Exception) -> LabError:
    """Make the error of an op on a GPU, and let go of what its kernel had made so far: the memory is needed."""
    before: BaseException | None = error
    while before is not None:  # the frames of a traceback hold their variables
        before.__traceback__, before = None, before.__context__
    return report(op, ins, params, _worded(op, [t._held for t in ins], error))


def _worded(op: Any, arrays: list[Any], error: Exception) -> LabError:
    if isinstance(error, DeviceError):
        return type(error)(f"{call_of(op, arrays)}: {error}{at_line(place_now())}")
    if isinstance(error, LabError):
        return error
    if not isinstance(error, MemoryError) and type(error).__module__.partition(".")[0] in GPU_PACKAGES:
        cure = forked() or RECOVERY
        text = f"the GPU failed: {type(error).__name__}: {error}{at_line(place_now())}\n  {cure}"
        return DeviceError(f"{call_of(op, arrays)}: {text}")
    return reworded(op, arrays, error, " on the GPU")
