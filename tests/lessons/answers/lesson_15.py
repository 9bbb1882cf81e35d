"""Answers to lesson 15."""

from __future__ import annotations

SOLVED: dict[str, str] = {
    "example-gaps": """
def blocks(n, size):
    whole = n // size
    rest = n - whole * size
    return whole + (1 if rest > 0 else 0)
lessons.check_blocks(blocks)""",
    "example-blank": """
def overtakes(once, each, other):
    return once / (other - each) if other > each else np.inf
lessons.check_overtakes(overtakes)""",
    "exercise-axpy": """
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]
lessons.check_kernel(axpy)""",
    "exercise-strided": """
def walking(a, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < x.size:
        y[i] += a * x[i]
lessons.check_kernel(walking)""",
    "exercise-barrier": "lessons.check_sum(total_of)",
    "transfer-answer": """
import math
def coach(hire, each, train):
    return math.ceil(hire / (train - each)) if train > each else np.inf
lessons.check_overtakes(coach)""",
}

_KERNEL = """
def axpy(a, x, y):
    i = {}
    {}y[i] += a * x[i]
lessons.check_kernel(axpy)"""

_CAUGHT = """
def caught(a, x, y):
    try:
        y[cuda.grid(1)] += a * x[cuda.grid(1)]
    except IndexError:
        pass
lessons.check_kernel(caught)"""
_LEAVING = """
def leaving(x, total):
    if cuda.threadIdx.x > 3:
        return
    cuda.syncthreads()
lessons.check_sum(leaving)"""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", "lessons.check_element(lambda block, size, thread: thread)", "OWN_BLOCK"),
    ("example-full", "lessons.check_element(lambda block, size, thread: thread * size + block)", "OTHER"),
    ("example-full", "lessons.check_element(lambda block, size, thread: ...)", "BLANK"),
    ("example-gaps", "lessons.check_blocks(lambda n, size: n // size)", "FLOORED"),
    ("example-gaps", "lessons.check_blocks(lambda n, size: n // size + 1)", "ONE_TOO_MANY"),
    ("example-gaps", "lessons.check_blocks(lambda n, size: n)", "OTHER"),
    ("example-blank", "lessons.check_overtakes(lambda once, each, other: 1)", "GPU_ALWAYS_WINS"),
    ("example-blank", "lessons.check_overtakes(lambda once, each, other: once / (other - each))", "GPU_ALWAYS_WINS"),
    ("example-blank", "lessons.check_overtakes(lambda once, each, other: once / other)", "OTHER"),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", ""), "NO_GUARD"),
    ("exercise-axpy", _KERNEL.format("cuda.threadIdx.x", "if i < x.size: "), "OWN_BLOCK"),
    ("exercise-axpy", _KERNEL.format("x.size - 1 - cuda.grid(1)", "if i >= 0: "), "STRIDED"),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", "if i + 1 < x.size: "), "OTHER"),
    ("exercise-axpy", _KERNEL.format("cuda.nothing", ""), "RAISES"),
    ("exercise-axpy", "lessons.check_kernel(...)", "BLANK"),
    ("exercise-barrier", "lessons.check_sum(hasty)", "NO_BARRIER"),
    ("exercise-barrier", "lessons.check_sum(lambda x, total: None)", "OTHER"),
    ("exercise-barrier", _LEAVING, "SOME_RETURN"),
    ("exercise-barrier", "def lost(x, total):\n    total[0] += x[cuda.threadIdx.x]\nlessons.check_sum(lost)", "RACE"),
    ("exercise-axpy", _CAUGHT, "NO_GUARD"),
    ("transfer-answer", "lessons.check_overtakes(lambda hire, each, train: 0)", "GPU_ALWAYS_WINS"),
]
