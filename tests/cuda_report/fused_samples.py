"""Samples of fused kernels, as `lab.function` generates them, for the compile report.

Traffic: each sample reads every input once and writes every result once, the sums of rows excepted, which visit their
rows again while the first or second-level cache holds them.  Blocks have 256 threads and 1 or 2 kB of shared memory
where they fold; registers for the four elements of a thread limit how many blocks a multiprocessor holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.compile.backends import fused
from autodiff_lab.compile.loops.cuda import kernels
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.program.finding import find_regions
from autodiff_lab.compile.program.lowering import lowered
from autodiff_lab.compile.program.names import names_of
from autodiff_lab.compile.program.program import Program
from autodiff_lab.kernels.cuda.launching import KERNELS
from autodiff_lab.kernels.cuda.launching import Kernel as CudaKernel
from autodiff_lab.kernels.maths.cuda import namespace


class Gpu:
    """A placeholder for the memory of a GPU, which is not needed to generate source."""

    simulated, multiprocessors = True, 132


GPU: Any = Gpu()


def chain(x: Any, y: Any) -> Any:
    """Twelve elementwise ops."""
    grown = lab.exp(x)
    bent = lab.tanh(grown * y + x)
    root = lab.sqrt(bent * bent + y)
    wave = lab.sigmoid(lab.math.log1p(root))
    return (wave * grown - bent) / root


def layer(x: Any, weight: Any, offset: Any) -> Any:
    """A number for each column and one for each row."""
    return lab.tanh(x * weight + offset)


def total_and_gradients(x: Any, y: Any) -> Any:
    """The sum of all elements of the chain, and its gradients."""
    with lab.GradientTape() as tape:
        tape.watch([x, y])
        total = lab.reduce_sum(chain(x, y))
    grad_x, grad_y = tape.gradient(total, [x, y])
    return total, grad_x, grad_y


def gradients_of_layer(x: Any, weight: Any, offset: Any) -> Any:
    """The gradients with respect to what each column has: sums over rows."""
    with lab.GradientTape() as tape:
        tape.watch([weight, offset])
        y = layer(x, weight, offset)
    grad_weight, grad_offset = tape.gradient(y, [weight, offset])
    return y, grad_weight, grad_offset


def softmax_of_rows(x: Any) -> Any:
    """The softmax of rows, times the rows: the largest of a row, the sum, the quotients."""
    softmax = lab.nn.softmax(x * 0.5)
    return softmax * x


MATRIX, COLUMN, ROW = (64, 128), (64, 1), (128,)
SAMPLES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "fused_chain": (chain, ((1000,), (1000,))),
    "fused_total_and_gradients": (total_and_gradients, ((1000,), (1000,))),
    "fused_broadcasting": (layer, (MATRIX, ROW, COLUMN)),
    "fused_sums_over_rows": (gradients_of_layer, (MATRIX, ROW, ROW)),
    "fused_softmax_of_rows": (softmax_of_rows, (MATRIX,)),
}
"""By the name of the kernel, the function and the shapes of its arguments."""


@cache
def emitted(title: str) -> tuple[str, str]:
    """The text of the kernel of a sample, and the Numba types of its arguments in float32."""
    function, shapes = SAMPLES[title]
    draw = np.random.default_rng(0)
    compiled = lab.function(function, backend="numpy")
    compiled(*(lab.constant(draw.standard_normal(shape).astype(np.float32)) for shape in shapes))
    program = on_a_gpu(compiled.program)
    names = names_of(program)
    regions, outside, _ = find_regions(program)
    (region,) = (region for region in regions if region.is_loop)
    assert not outside, outside
    writer = kernels.writer_of(region, program)
    rows = [row for row in kernels.shown(writer, names, title) if row != "@cuda.jit"]
    return "\n".join(rows) + "\n", ", ".join(kind for _, kind in writer.arguments())


def kernels_of(program: Program) -> list[Any]:
    """All kernels of a program of the CPU as it would be on a GPU."""
    there, skipped = on_a_gpu(program), list[str]()
    steps = fused(there, names_of(there), skipped, {})
    assert not skipped, skipped
    return [step.function.run for step in steps if isinstance(step, Kernel) and hasattr(step.function, "run")]


def on_a_gpu(program: Program) -> Program:
    """A program of the CPU as it would be on a GPU."""
    values = {
        i: value._replace(memory=GPU if value.shape or i in program.made_by else None)
        for i, value in program.values.items()
    }
    return lowered(replace(program, values=values))


def texts() -> list[str]:
    """Return the texts of all samples, with the types of their arguments."""
    return ["\n".join(emitted(title)) for title in SAMPLES]


@cache
def declare() -> None:
    """List the kernels of all samples among the others, for float32 and for float64."""
    import_module("autodiff_lab.kernels.maths.cuda_folds")  # the kernels of the second stage
    for title in SAMPLES:
        text, types = emitted(title)
        for dtype in ("float32", "float64"):
            scope: dict[str, Any] = {**namespace(dtype), "__name__": __name__}
            exec(compile(text, f"<{title}>", "exec"), scope)
            function, name = scope[title], f"{title}_{dtype}"
            function.__name__ = name
            KERNELS[name] = CudaKernel(function, ("fused",), (types.replace("float32", dtype),), {})
