"""How GPU arrays are described to numba, without a GPU: the types for which the report compiles kernels."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autodiff_lab.kernels.cuda.gpu_memory import GpuMemory, Seen
from tests.tree import ROOT

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


def test_small_grids_are_configured_without_a_warning() -> None:
    """Numba's switch is off for that moment alone, also where configuring fails."""
    config = pytest.importorskip("numba.cuda.core.config", reason="numba-cuda is not installed")
    seen: list[int] = []

    class Compiled:
        def __getitem__(self, grid: tuple[int, int, int]) -> object:
            seen.append(config.CUDA_LOW_OCCUPANCY_WARNINGS)
            if grid[0] < 0:
                raise ValueError("no such grid")
            return lambda *arguments: None

    memory = object.__new__(GpuMemory)
    memory.index, memory.module = 0, SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: CURRENT))
    before = config.CUDA_LOW_OCCUPANCY_WARNINGS
    memory.launch(Compiled(), 1, 32, [])
    with pytest.raises(ValueError, match="no such grid"):
        memory.launch(Compiled(), -1, 32, [])
    assert seen == [0, 0]
    assert before == config.CUDA_LOW_OCCUPANCY_WARNINGS == 1


WITHOUT_THE_NAME = """
import numpy as np
if hasattr(np, "row_stack"):
    del np.row_stack
    np.__all__.remove("row_stack")
from autodiff_lab.kernels.pooling import cuda as pooling_elements
from tests.cuda_report import compiling
kernel = pooling_elements.pool_gather_means
assert len(compiling.ptx(kernel, kernel.signatures[0], "sm_90")) > 1000
assert not hasattr(np, "row_stack")
"""


@pytest.mark.slow
@pytest.mark.extras
def test_kernels_compile_beside_a_numpy_without_row_stack() -> None:
    """NumPy 2.5 dropped the function, and numba-cuda asks for it when it compiles first."""
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_NAME], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-800:]
