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

_BLOCKS = "lessons.check_blocks(lambda n, size: {})"
_OVERTAKES = "lessons.check_overtakes(lambda once, each, other: {})"
_COACH = 'lessons.check("15.4", lambda hire, each, train: {})'
_WALKING = """
def walking(a, x, y):
    {}
lessons.check("15.2", walking)"""
_GUARDED = "i = {}\n    if i < x.size:\n        y[i] += a * x[i]"
_LOOP = "for i in range({}):\n        y[i] += a * x[i]"
_SUM = """
def adding(x, total):
    me, parts = cuda.threadIdx.x, cuda.shared.array(8, np.float64)
    {}
lessons.check("15.3", adding)"""

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _BLOCKS.format("-(-n // size)")),
    ("example-gaps", _BLOCKS.format("(n + size - 1) // size")),
    ("example-gaps", _BLOCKS.format("np.ceil(n / size)")),
    ("example-gaps", _BLOCKS.format("len(range(0, n, size))")),
    ("example-blank", _OVERTAKES.format("np.ceil(once / (other - each)) if each < other else float('inf')")),
    ("example-blank", _OVERTAKES.format("[np.inf] if other <= each else np.float32(once / (other - each))")),
    ("example-blank", _OVERTAKES.format("once / max(other - each, 0.0) if other - each > 0 else np.array(np.inf)")),
    ("exercise-axpy", _KERNEL.format("cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x", "if not i >= len(y): ")),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", "if i in range(y.size): ")),
    ("exercise-axpy", """
def axpy(a, x, y):
    me = cuda.grid(1)
    if me >= x.shape[0]:
        return
    y[me] = x[me] * a + y[me]
lessons.check("15.1", axpy)"""),
    ("exercise-axpy", """
def axpy(a, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] += a * x[i]
lessons.check("15.1", axpy)"""),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.grid(1)"))),
    ("exercise-strided", _WALKING.format(_LOOP.format("cuda.grid(1), x.size, cuda.blockDim.x * cuda.gridDim.x"))),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.threadIdx.x + 8 * cuda.blockIdx.x").replace("if", "while").replace("a * x[i]", "a * x[i]; i = x.size"))),
    ("exercise-barrier", _SUM.format("if me == 0:\n        for one in range(8):\n            total[0] += x[one]")),
    ("exercise-barrier", _SUM.format("parts[me] = x[me]\n    cuda.syncthreads()\n    if not me:\n        total[0] = sum(parts[i] for i in range(8))")),
    ("exercise-barrier", _SUM.format(
        "parts[me] = x[me]\n    for half in (4, 2, 1):\n        cuda.syncthreads()\n        if me < half:\n"
        "            parts[me] = parts[me] + parts[me + half]\n    if me == 0:\n        total[0] = parts[0]")),
    ("exercise-barrier", _SUM.format("cuda.atomic.add(total, 0, x[me])")),
    ("transfer-answer", _COACH.format("hire / (train - each) if train > each else np.inf")),
    ("transfer-answer", _COACH.format("float('inf') if train <= each else -(-hire // (train - each))")),
    ("transfer-answer", _COACH.format("np.ceil(hire / (train - each)) if each < train else np.inf")),
]  # fmt: skip
"""Further right answers, in other words."""

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
    ("example-gaps", _BLOCKS.format("round(n / size)"), "FLOORED"),
    ("example-gaps", _BLOCKS.format("n / size"), "OTHER"),
    ("example-gaps", _BLOCKS.format("n % size"), "OTHER"),
    ("example-gaps", _BLOCKS.format("-(n // size) - 1"), "OTHER"),
    ("example-gaps", _BLOCKS.format("n // size + ..."), "BLANK"),
    ("example-gaps", _BLOCKS.format("3"), "OTHER"),
    ("example-gaps", _BLOCKS.format("'3'"), "RAISES"),
    ("example-blank", _OVERTAKES.format("once / (each - other) if other > each else np.inf"), "OTHER"),
    ("example-blank", _OVERTAKES.format("once // (other - each) if other > each else np.inf"), "OTHER"),
    ("example-blank", _OVERTAKES.format("once / (other - each) if other > each else 0"), "GPU_ALWAYS_WINS"),
    ("example-blank", _OVERTAKES.format("once / (other - each) if other > each else -np.inf"), "GPU_ALWAYS_WINS"),
    ("example-blank", _OVERTAKES.format("once / (other - each) + 1 if other > each else np.inf"), "OTHER"),
    ("example-blank", _OVERTAKES.format("once / other if other > each else np.inf"), "OTHER"),
    ("example-blank", _OVERTAKES.format("np.inf"), "OTHER"),
    ("example-blank", _OVERTAKES.format("None"), "BLANK"),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", "if i <= x.size: "), "NO_GUARD"),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", "if i < x.size: x[i] = a * x[i]; "), "OTHER"),
    ("exercise-axpy", _KERNEL.format("cuda.grid(1)", "if i < 8: "), "NO_GUARD"),
    ("exercise-axpy", "def axpy(a, x, y):\n    for i in range(x.size):\n        y[i] += a * x[i]\nlessons.check_kernel(axpy)", "OTHER"),
    ("exercise-axpy", "def axpy(a, x, y):\n    if cuda.grid(1) == 0:\n        for i in range(x.size):\n            y[i] += a * x[i]\nlessons.check_kernel(axpy)", "STRIDED"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")), "STRIDED"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.threadIdx.x")), "OWN_BLOCK"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.blockIdx.x")), "OTHER"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.grid(1)").replace("if i < x.size", "if True")), "NO_GUARD"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x + 1")), "OTHER"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.blockIdx.x + cuda.blockDim.x + cuda.threadIdx.x")), "OTHER"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.grid(1)").replace("+=", "=")), "OTHER"),
    ("exercise-strided", _WALKING.format(_GUARDED.format("cuda.grid(1)").replace("a * x[i]", "x[i]")), "OTHER"),
    ("exercise-strided", _WALKING.format(_LOOP.format("cuda.grid(1) * 8, min(cuda.grid(1) * 8 + 8, x.size)")), "STRIDED"),
    ("exercise-strided", _WALKING.format("return ..."), "OTHER"),
    ("exercise-strided", _WALKING.format("y[cuda.grid(1)] += a * x[cuda.grid(1.0)]"), "NO_GUARD"),
    ("exercise-barrier", _SUM.format("if me == 0:\n        total[0] = x[0] + x[7]"), "OTHER"),
    ("exercise-barrier", _SUM.format("if me == 0:\n        for one in range(1, 8):\n            total[0] += x[one]"), "OTHER"),
    ("exercise-barrier", _SUM.format("parts[me] = x[me]\n    if me == 0:\n        total[0] = sum(parts[i] for i in range(8))"), "NO_BARRIER"),
    ("exercise-barrier", _SUM.format("if me:\n        cuda.atomic.add(total, 0, x[me])\n    else:\n        total[0] += x[0]"), "RACE"),
    ("exercise-barrier", _SUM.format("total[0] = x[me]"), "RACE"),
    ("exercise-barrier", _SUM.format("if me == 0:\n        total[0] = 28.0"), "OTHER"),
    ("exercise-barrier", _SUM.format("if me == 0:\n        total[0] = sum(x)"), "NO_GUARD"),
    ("exercise-barrier", 'lessons.check("15.3", sum)', "NO_GUARD"),
    ("transfer-answer", _COACH.format("hire / (train - each)"), "GPU_ALWAYS_WINS"),
    ("transfer-answer", _COACH.format("hire / train if train > each else np.inf"), "OTHER"),
    ("transfer-answer", _COACH.format("hire / (train + each) if train > each else np.inf"), "OTHER"),
    ("transfer-answer", _COACH.format("hire // (train - each) if train > each else np.inf"), "OTHER"),
    ("transfer-answer", _COACH.format("hire / (train - each) - 1 if train > each else np.inf"), "OTHER"),
    ("transfer-answer", _COACH.format("40"), "OTHER"),
    ("transfer-answer", _COACH.format("'40 guests'"), "RAISES"),
    ("transfer-answer", _COACH.format("hire / (train - each) if train > each else None"), "BLANK"),
    ("transfer-answer", _COACH.format("abs(hire / (train - each))"), "GPU_ALWAYS_WINS"),
]  # fmt: skip
