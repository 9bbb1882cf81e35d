"""Sample kernels for the tests of the report on CUDA kernels.

``python -m tests.cuda_report.kernel_samples`` compiles those that spill, keep a stack, share memory or do none of it,
and looks whether the compiler's log is read so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.cuda.launching import Kernel, cuda
from tests.cuda_report.compiling import TARGETS, Compiled, compiled
from tests.cuda_report.report import Row, complaints

SIGNATURE = "float32[::1], int32"
MANY = 300


def plain(x: Any, count: Any) -> None:
    """Few registers and nothing else."""
    place = cuda.grid(1)
    if place < count:
        x[place] += x[place]


def keeping(x: Any, count: Any) -> None:
    """Values at places that no compiler knows must be kept in memory: a stack."""
    kept = cuda.local.array(64, x.dtype)
    for i in range(64):
        kept[i] = x[i]
    for i in range(64):
        x[i] = kept[(i * count) % 64]


def sharing(x: Any, count: Any) -> None:
    """Four kilobytes for the block."""
    shared = cuda.shared.array(1024, x.dtype)
    shared[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = shared[count - cuda.threadIdx.x]


def greedy(x: Any, count: Any) -> None:
    """More sums than a thread has registers."""
    sums = cuda.local.array(MANY, x.dtype)
    for i in range(MANY):
        sums[i] = x[i]
    for step in range(count):
        for i in range(MANY):
            sums[i] = sums[i] * x[step] + sums[MANY - 1 - i]
    for i in range(MANY):
        x[i] = sums[i]


def kernel(
    name: str, *serves: str, signatures: tuple[str, ...] = (SIGNATURE,), function: Callable[..., None] = plain
) -> Kernel:
    """A kernel by a name of its own."""
    made = Kernel(function, serves, signatures, {})
    made.name = name
    return made


def rows(one: Kernel, **figures: int) -> list[Row]:
    """What a compiler may have said of a kernel: made up."""
    said = {"registers": 32, "shared": 0, "stack": 0, "spill_stores": 0, "spill_loads": 0, "size": 1024, **figures}
    return [
        Row(one.name, signature, target, Compiled(one.name, signature, target, **said), 256, 8, "threads")
        for signature in one.signatures
        for target in TARGETS
    ]


EXPECTED: dict[Callable[..., None], Callable[[Compiled, list[str]], bool]] = {
    plain: lambda made, said: not said and made.shared == made.stack == made.spills == 0 < made.registers <= 32
    and 0 < made.size < 4096,
    keeping: lambda made, said: made.stack >= 256 and any("bytes of stack" in sentence for sentence in said),
    sharing: lambda made, said: not said and made.shared == 4096,
    greedy: lambda made, said: made.stack + made.spills > 0 and any("bytes of s" in sentence for sentence in said),
}  # fmt: skip


def main() -> int:
    """Compile the samples; the status is 1 if one is not as expected."""
    wrong = 0
    for function, is_right in EXPECTED.items():
        one = kernel(function.__name__, "method", function=function)
        found = [compiled(one, SIGNATURE, target) for target in TARGETS]
        made = [Row(one.name, SIGNATURE, each.target, each, 256, 1, "threads") for each in found]
        for each, row in zip(found, made, strict=True):
            said = [
                s for s in complaints(["method"], [one], made, {"method": ["t"]}, TARGETS) if f"for {row.target}:" in s
            ]
            right = is_right(each, said)
            wrong += not right
            print(f"{one.name} for {row.target}: {'as expected' if right else f'{each} {said}'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
