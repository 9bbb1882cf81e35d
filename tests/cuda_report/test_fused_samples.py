"""Generated CUDA kernels, compiled for real GPUs on any machine: few registers, no spills, no float64 by accident."""

import re

import pytest

pytest.importorskip("numba_cuda", reason="CUDA kernels are compiled by numba-cuda")

import autodiff_lab as lab
from autodiff_lab.compile.loops.cuda.kernels import QUOTIENTS
from autodiff_lab.engine.op import REGISTRY
from tests.compile.random_programs import program
from tests.cuda_report import fused_samples, report

COMPILES = pytest.mark.skipif(
    bool(report.unavailable()), reason=f"kernels are not compiled here: {report.unavailable()}"
)
TITLES = list(fused_samples.SAMPLES)


@pytest.mark.slow(keep=1)
@COMPILES
@pytest.mark.parametrize("title", TITLES)
def test_kernels_of_float32_compute_in_float32_and_in_registers(title: str) -> None:
    """No instruction of float64, no spills, no memory of a thread's own; no more registers than half a GPU has."""
    from tests.cuda_report.compiling import compiled, ptx

    kernel = report.kernels()[f"{title}_float32"]
    (signature,) = kernel.signatures
    assert re.findall(r"\.f64", ptx(kernel, signature, "sm_90")) == []
    made = compiled(kernel, signature, "sm_90")
    assert (made.spills, made.stack) == (0, 0)
    assert made.registers <= 64


CONDITIONS = {"select": "1", "select_not": "1", "where": "0", "logical_and": "01", "logical_or": "01",
              "logical_xor": "01", "logical_not": "0"}  # fmt: skip
"""Which inputs of an op are truth values."""


@pytest.mark.slow
@COMPILES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_expression_compiles(dtype: str) -> None:
    """All scalar expressions in one kernel; that of float32 has no instruction of float64."""
    from autodiff_lab.kernels.cuda.launching import Kernel
    from autodiff_lab.kernels.maths.cuda import namespace
    from tests.cuda_report.compiling import ptx

    rows = ["def every(x, up, out):", "    i = uint32(cuda.threadIdx.x)", "    a, t, total = x[i], up[i], zero"]
    texts = {name: op.expression for name, op in REGISTRY.items() if isinstance(op.expression, str) and op.expression}
    for name, text in {**texts, **QUOTIENTS}.items():
        if text in ("sin({0})", "cos({0})", "tan({0})") and dtype == "float32":
            text = text.replace("{0}", "{0}, False")
        given = ["t" if str(n) in CONDITIONS.get(name, "") else "a" for n in range(3)]
        rows += [f"    v = {text.format(*given)}", "    total += number(v)"]
    space = namespace(dtype)
    exec("\n".join([*rows, "    out[i] = total"]), space)
    kernel = Kernel(space["every"], (), (), {})
    made = ptx(kernel, f"{dtype}[::1], boolean[::1], {dtype}[::1]", "sm_90")
    assert (".f64" in made) == (dtype == "float64")


@pytest.mark.slow
@COMPILES
@pytest.mark.parametrize("seed", [3007, 3010, 3011, 3020])
def test_kernels_of_random_programs_compile_without_spills(seed: int) -> None:
    """Rows, columns, sums and truth values as they come: what numba infers in the simulator nobody checks."""
    from tests.cuda_report.compiling import compiled

    made = program(seed, ["float32", "float64"][seed % 2])
    function = lab.function(made.run, backend="numpy")
    function(*made.arguments)
    kernels = fused_samples.kernels_of(function.program)
    assert kernels
    for kernel in kernels:
        found = compiled(kernel, kernel.signatures[0], "sm_90")
        assert found.spills == 0
        assert found.registers <= 128
