"""Generated CUDA kernels, compiled for real GPUs on any machine: what the report is shown is what is written now."""

import re

import pytest

pytest.importorskip("numba_cuda", reason="CUDA kernels are compiled by numba-cuda")

from autodiff_lab.kernels.cuda import report
from tests.compile import cuda_samples

TITLES = list(cuda_samples.SAMPLES)


def test_the_samples_are_what_the_emitter_writes() -> None:
    """`python -m tests.compile.cuda_samples` writes the file anew."""
    assert cuda_samples.PLACE.read_text(encoding="utf-8") == cuda_samples.module()


@pytest.mark.skipif(bool(report.unavailable()), reason=f"kernels are not compiled here: {report.unavailable()}")
@pytest.mark.parametrize("title", TITLES)
def test_kernels_of_float32_compute_in_float32_and_in_registers(title: str) -> None:
    """No instruction of float64, no spills, no memory of a thread's own; no more registers than half a GPU has."""
    from autodiff_lab.kernels.cuda.compiling import compiled, ptx

    kernel = report.kernels()[f"{title}_float32"]
    (signature,) = kernel.signatures
    assert re.findall(r"\.f64", ptx(kernel, signature, "sm_90")) == []
    made = compiled(kernel, signature, "sm_90")
    assert (made.spills, made.stack) == (0, 0)
    assert made.registers <= 64
