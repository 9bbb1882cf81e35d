"""Devices on a machine without a GPU: names, messages, and no change in behaviour."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.tensor import wrap
from autodiff_lab.kernels.cuda import gpus
from autodiff_lab.kernels.cuda.gpu_memory import GpuMemory
from autodiff_lab.kernels.cuda.traffic import MEMORIES


def test_everything_lies_on_the_cpu() -> None:
    """Blocks on it, and none, are the same."""
    with lab.device("/CPU:0") as name, lab.device("cpu"):
        made = [lab.zeros(2), lab.constant(1.0), lab.Variable([1.0]), lab.random.normal((2,)), lab.sin([1.0])]
    assert name == "/CPU:0"
    assert {x.device for x in [*made, lab.ones(2), lab.Variable(1.0)]} == {"/CPU:0"}
    assert not MEMORIES


def test_copies_on_the_cpu_are_the_tensor_itself() -> None:
    """A tensor never changes."""
    x = lab.constant([1.0, 2.0])
    assert x.cpu() is x
    with lab.device("/CPU:0"):
        assert lab.identity(x).numpy().tolist() == [1.0, 2.0]
    v = lab.Variable(x)
    assert v.move_to("CPU:0") is v


def driver(version: int = 13000, count: int = 1, failed: int = 0) -> Any:
    """Make a library that answers as a driver does."""

    def answer(value: int) -> Callable[[Any], int]:
        def write(pointer: Any) -> int:
            ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int))[0] = value
            return 0

        return write

    return SimpleNamespace(
        cuInit=lambda flags: failed, cuDriverGetVersion=answer(version), cuDeviceGetCount=answer(count)
    )


SENTENCES = {
    "no driver": (None, "no NVIDIA GPU with a driver was found"),
    "old driver": (driver(version=12040), "knows CUDA 12.4, and our kernels are compiled for 13.0. Try a newer driver"),
    "no GPU": (driver(count=0), "no GPU that it may use. Try nvidia-smi"),
    "broken driver": (driver(failed=999), "does not start (cuInit gives 999). Try nvidia-smi"),
}


@pytest.fixture
def fresh() -> Any:
    """Forget what was found out about this machine, before and after."""
    for found in (gpus.why_none, gpus.memories):
        found.cache_clear()
    yield
    for found in (gpus.why_none, gpus.memories):
        found.cache_clear()


@pytest.mark.extras
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", SENTENCES)
def test_one_sentence_says_why_there_is_no_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever one is asked for, and what to do about it."""
    library, words = SENTENCES[name]
    monkeypatch.setattr(gpus, "_driver", lambda: library)
    assert lab.config.list_physical_devices("GPU") == []
    x = lab.constant([1.0])
    for ask in (lambda: lab.device("/GPU:0"), x.gpu, lambda: lab.Variable(1.0).move_to("gpu"),
                lambda: lab.config.experimental.get_memory_info("GPU:0")):  # fmt: skip
        with pytest.raises(lab.errors.DeviceError) as caught:
            ask()
        assert words in str(caught.value)
        assert str(caught.value).startswith("/GPU:0: ")


@pytest.mark.usefixtures("fresh")
def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where there is a GPU that could be used with it."""
    monkeypatch.setattr(gpus, "_driver", driver)
    monkeypatch.setattr(gpus, "find_spec", lambda package: None if package == "cupy" else "there")
    assert gpus.why_none().startswith("cupy is not installed")
    assert "pip install" in gpus.why_none()


@pytest.mark.parametrize("name", ["TPU:0", "CPU:1", "", "GPU:0:0", None.__class__, 0])
def test_names_of_no_device(name: Any) -> None:
    """What may be said instead stands in the message."""
    with pytest.raises(lab.errors.DeviceError, match="Try"):
        lab.device(name)


def test_devices_are_listed_under_both_names() -> None:
    """Those of TensorFlow."""
    assert lab.config.list_physical_devices("CPU")[0].name == "/physical_device:CPU:0"
    (logical,) = lab.config.list_logical_devices("CPU")
    with lab.device(logical.name) as name:
        assert name == "/CPU:0"
    with pytest.raises(lab.errors.DeviceError, match="statistics are kept for GPUs only, got /CPU:0"):
        lab.config.experimental.get_memory_info("CPU:0")
    with pytest.raises(lab.errors.UnimplementedError, match="always grows"):
        lab.config.experimental.set_memory_growth(logical, False)


def test_dlpack_of_the_cpu() -> None:
    """In without a copy, out with one, as a tensor never changes."""
    host = np.array([1.0, 2.0], np.float32)
    x = lab.from_dlpack(host)
    assert np.shares_memory(x._array, host)
    assert lab.from_dlpack(np.array(3.0))._array.__class__ is np.float64
    out = np.from_dlpack(lab.constant([1.0, 2.0]))
    assert out.tolist() == [1.0, 2.0]
    assert not np.shares_memory(np.from_dlpack(x), host)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="never shares its memory"):
        x.__dlpack__(copy=False)


@pytest.mark.parametrize("value", [3.0, [1.0], "text"])
def test_what_exports_nothing_is_refused(value: Any) -> None:
    """With the way that copies."""
    with pytest.raises(
        lab.errors.ConversionError, match=r"expected an object with __dlpack__, got .*Try lab\.constant"
    ):
        lab.from_dlpack(value)


def test_a_device_that_is_neither_a_cpu_nor_a_gpu_is_refused() -> None:
    """DLPack knows a dozen kinds."""
    value = SimpleNamespace(__dlpack__=lambda: None, __dlpack_device__=lambda: (7, 0))
    with pytest.raises(lab.errors.ConversionError, match="device of type 7"):
        lab.from_dlpack(value)


def test_no_gpu_is_looked_for_before_somebody_asks() -> None:
    """To import CuPy takes a second; a program of the CPU loads none of it."""
    code = (
        "import sys, autodiff_lab as lab; x = lab.Variable([1.0]);\n"
        "with lab.device('/CPU:0'), lab.GradientTape() as tape: y = x * x\n"
        "tape.gradient(y, x); print(sorted(m for m in sys.modules if m in "
        "('cupy', 'numba', 'autodiff_lab.kernels.cuda.memory', 'autodiff_lab.kernels.cuda.gpus')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class CUDARuntimeError(RuntimeError):
    """What CuPy raises when the driver reports an error."""


class OutOfMemoryError(MemoryError):
    """What CuPy raises when memory runs out."""


class FakeCuPy:
    """The part of CuPy that an allocation and a copy need."""

    ndarray = np.ndarray

    def __init__(self) -> None:
        self.calls: list[str] = []
        pool = SimpleNamespace(
            free_all_blocks=lambda: self.calls.append("freed"), used_bytes=lambda: 70, total_bytes=lambda: 80
        )
        self.get_default_memory_pool = lambda: pool
        self.cuda = SimpleNamespace(
            Device=lambda index: nullcontext(),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError, memGetInfo=lambda: (20, 100)),
        )

    def asnumpy(self, raw: Any) -> Any:
        raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")

    def empty(self, shape: Any, dtype: Any) -> Any:
        self.calls.append("asked")
        if self.calls.count("asked") < shape[0]:
            raise OutOfMemoryError
        return np.empty(shape, dtype)


@pytest.fixture
def gpu() -> Iterator[GpuMemory]:
    """Give the memory of a GPU whose CuPy is a fake, and forget it afterwards."""
    import_module("autodiff_lab.gpu")  # as whoever asks for a GPU does
    memory = GpuMemory(0, FakeCuPy(), None)
    yield memory
    MEMORIES.remove(memory)


@pytest.mark.extras
def test_the_pool_gives_back_what_nobody_uses_before_an_allocation_fails(gpu: GpuMemory) -> None:
    """The second try may find room; a third there is not."""
    assert gpu.empty((1,), "float32").shape == (1,)
    assert gpu.empty((3,), "float32").shape == (3,)
    assert gpu.module.calls == ["asked", "asked", "freed", "asked"]
    with pytest.raises(
        lab.errors.DeviceMemoryError, match=r"/GPU:0: no room for 400 bytes; 70 are in use here, 20 are free\. Try"
    ):
        gpu.empty((100,), "float32")
    assert gpu.figures() == {"current": 70, "peak": 80, "pool": 80, "free": 20, "total": 100}


@pytest.mark.extras
def test_a_failure_that_is_found_late_is_told_in_our_words(gpu: GpuMemory) -> None:
    """The op that caused it is not known then; how to find it is said."""
    x = gpu.empty((1,), "float32")
    with pytest.raises(lab.errors.DeviceError, match=r"(?s)illegal memory access.*CUDA_LAUNCH_BLOCKING=1"):
        wrap(x).numpy()


@pytest.mark.extras
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_was_forked_says_so_where_its_gpu_fails(gpu: GpuMemory) -> None:
    """As CUDA does not outlive a fork, which "initialization error" tells nobody."""
    x = gpu.empty((1,), "float32")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            wrap(x).numpy()
        except lab.errors.DeviceError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    assert "forked from one that had used the GPU" in text
    assert "Try multiprocessing.get_context('spawn')" in text
    assert "CUDA_LAUNCH_BLOCKING" not in text


def test_an_op_that_finds_no_memory_raises_a_memory_error() -> None:
    """On the CPU too, with op, shapes and line."""
    with pytest.raises(MemoryError, match=r"(?s)add\(f32\[16777216,1\], f32\[1,.*out of memory for .*line \d+"):
        _ = lab.ones((2**24, 1)) + lab.ones((1, 2**24))
