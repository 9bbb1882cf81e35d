"""What numba is told of an array on a GPU, without one: the types for which kernels are compiled in the report."""

from types import SimpleNamespace

import numpy as np
import pytest

from autodiff_lab.kernels.cuda.gpu_memory import GpuMemory, Seen

CURRENT = SimpleNamespace(ptr=0)
typing = pytest.importorskip("numba.cuda.typing.typeof", reason="numba-cuda is not installed")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_numba_takes_an_array_for_what_the_report_compiles(dtype: str) -> None:
    """A flat array of CuPy is ``dtype[::1]`` to numba, and can be written to."""
    raw = SimpleNamespace(
        shape=(5,), dtype=np.dtype(dtype), data=SimpleNamespace(ptr=512), strides=(np.dtype(dtype).itemsize,),
        flags=SimpleNamespace(c_contiguous=True), size=5,
    )  # fmt: skip
    found = typing.typeof(Seen(raw), typing.Purpose.argument)
    assert (found.ndim, found.layout, found.mutable) == (1, "C", True)
    assert str(found.dtype) == dtype


def test_numba_is_told_of_no_stream_to_wait_for() -> None:
    """Launches go into CuPy's stream, so that nothing has to be waited for."""
    raw = SimpleNamespace(
        shape=(2, 3), dtype=np.dtype("float32"), data=SimpleNamespace(ptr=512), strides=(4, 8),
        flags=SimpleNamespace(c_contiguous=False), size=6,
    )  # fmt: skip
    told = Seen(raw).__cuda_array_interface__
    assert told["stream"] is None
    assert told["version"] == 3
    assert told["strides"] == (4, 8)


def test_launches_go_into_the_stream_that_cupy_is_in() -> None:
    """CuPy's default stream is numba's; another one is handed on."""
    given: list[object] = []
    memory = object.__new__(GpuMemory)
    memory.index, memory.module = 0, SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: CURRENT))
    memory.launch({(2, 32, 0): lambda *arguments: given.extend(arguments)}, 2, 32, [7, 0.5])
    assert given == [7, 0.5]
