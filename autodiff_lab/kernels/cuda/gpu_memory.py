"""GpuMemory: what `Memory` does on a real GPU, through CuPy and numba-cuda."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

from autodiff_lab.errors import DeviceError
from autodiff_lab.kernels.cuda.memory import Memory
from autodiff_lab.kernels.cuda.traffic import forked

SLOW = 16
"""From how many times the speed of float64 on that of float32 is worth a warning: 2 on GPUs for computing, 32 or 64 on
those for pictures."""


class Seen:
    """An array as numba sees it: version 3 of the CUDA array interface, and nothing else.

    CuPy's own description names its stream, and numba would wait for that stream at every launch; ours does not, and
    launches go into CuPy's stream.
    """

    __slots__ = ("__cuda_array_interface__", "owner")

    def __init__(self, raw: Any) -> None:
        self.owner = raw
        self.__cuda_array_interface__ = {
            "shape": raw.shape, "typestr": raw.dtype.str, "data": (raw.data.ptr, False), "version": 3, "stream": None,
            "strides": None if raw.flags.c_contiguous else raw.strides,
        }  # fmt: skip


class GpuMemory(Memory):
    """The memory of a real GPU."""

    simulated = False

    @cached_property
    def slow_doubles(self) -> bool:
        """Whether float64 is a small part as fast as float32 on this GPU, and nobody has been told yet."""
        return self.module.cuda.Device(self.index).attributes["SingleToDoublePrecisionPerfRatio"] >= SLOW

    @cached_property
    def multiprocessors(self) -> int:
        """How many the GPU has."""
        return self.module.cuda.Device(self.index).attributes["MultiProcessorCount"]

    def download(self, raw: Any) -> Any:
        """Return a copy as a NumPy array; waits for the GPU.

        Raises
        ------
        DeviceError
            If the GPU has failed in what it was given before.
        """
        try:
            return self.module.asnumpy(raw)
        except self.module.cuda.runtime.CUDARuntimeError as error:
            late = (
                "It was found when a result was read: an op before it has failed. Try CUDA_LAUNCH_BLOCKING=1 in the "
                "environment to see which; this process can use the GPU no more."
            )
            raise DeviceError(f"{self.name}: {error}. {forked() or late}") from None

    def shared(self, value: Any) -> Any:
        """Return a device array on the memory of an object with the CUDA array interface."""
        with self.using():
            found = self.module.asarray(value)
        self.check_dtype(found.dtype)
        return self.wrap(found)

    def unpacked(self, value: Any) -> Any:
        """Return a device array on the memory of a DLPack exporter."""
        with self.using():
            return self.wrap(self.module.from_dlpack(value))

    def interface(self, raw: Any) -> dict[str, Any]:
        """Return the CUDA array interface of an array of ours."""
        return raw.__cuda_array_interface__

    def guarded(self, allocate: Any, size: int) -> Any:
        """Return what an allocation gives; unused memory of the pool is freed before it fails."""
        out_of_memory = self.module.cuda.memory.OutOfMemoryError
        with self.using():
            try:
                return allocate()
            except (MemoryError, out_of_memory):
                self.module.get_default_memory_pool().free_all_blocks()
            except self.module.cuda.runtime.CUDARuntimeError as error:
                if not forked():
                    raise
                raise DeviceError(f"{self.name}: {error}. {forked()}") from None
            try:
                return allocate()
            except (MemoryError, out_of_memory):
                raise self.full(size) from None

    def argument(self, raw: Any) -> Any:
        """Return what numba is given for an array; one without elements has no address, so another stands for it."""
        return Seen(raw if raw.size else self.here(self.module.empty)((1,) * raw.ndim, raw.dtype))

    def launch(self, compiled: Any, blocks: Any, threads: Any, arguments: list[Any]) -> None:
        """Run a kernel in CuPy's current stream."""
        from numba import cuda
        from numba.cuda.core import config  # pyright: ignore[reportMissingImports]

        with self.using():
            pointer = self.module.cuda.get_current_stream().ptr
            stream = cuda.external_stream(pointer) if pointer else 0
            warned, config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_LOW_OCCUPANCY_WARNINGS, 0  # of small grids
            try:
                configured = compiled[blocks, threads, stream]
            finally:
                config.CUDA_LOW_OCCUPANCY_WARNINGS = warned
            configured(*arguments)

    def using(self) -> AbstractContextManager[Any]:
        """Return a block in which CuPy allocates here and numba launches here."""
        return nullcontext() if self.index == 0 else self.module.cuda.Device(self.index)

    def here(self, function: Any) -> Any:
        """Return a function of CuPy that runs on this GPU, whichever is the current one."""
        if function is None or self.index == 0:
            return function

        def run(*args: Any, **how: Any) -> Any:
            with self.using():
                return function(*args, **how)

        return run

    def synchronize(self) -> None:
        """Wait until the GPU has done what it was given."""
        self.module.cuda.Device(self.index).synchronize()

    def figures(self) -> dict[str, int]:
        """Bytes in use by arrays, held by the pool and free on the GPU."""
        pool = self.module.get_default_memory_pool()
        with self.module.cuda.Device(self.index):
            free, total = self.module.cuda.runtime.memGetInfo()
            used, held = pool.used_bytes(), pool.total_bytes()
        self.peak = max(self.peak, held)
        return {"current": used, "peak": self.peak, "pool": held, "free": free, "total": total}

    def forget_peak(self) -> None:
        """Free the unused memory of the pool, and reset its peak."""
        with self.module.cuda.Device(self.index):
            self.module.get_default_memory_pool().free_all_blocks()
        self.peak = 0

    def details(self) -> dict[str, Any]:
        """Return what GPU it is."""
        found = self.module.cuda.runtime.getDeviceProperties(self.index)
        return {
            "device_name": found["name"].decode(), "compute_capability": (found["major"], found["minor"]),
            "multiprocessors": self.multiprocessors, "memory": found["totalGlobalMem"], "simulated": False,
        }  # fmt: skip
