"""Answers to lesson 14."""

from __future__ import annotations

SOLVED: dict[str, str] = {
    "example-gaps": """
def moved_by(ops, size):
    one_op = size + size
    one_loop = 2 * size
    return {"op by op": ops * one_op, "in one loop": one_loop}
lessons.check_traffic(moved_by)""",
    "example-blank": """
import math
def pays_from(first, later, eager):
    if later >= eager:
        return math.inf
    return math.ceil((first - later) / (eager - later))
lessons.check_pays(pays_from)""",
    "exercise-branch": """
@lab.function
def limited(x):
    total = lab.reduce_sum(x)
    return lab.where(total > 10.0, x / total, x)
lessons.check_compiled(limited)""",
    "exercise-leaves": """
@lab.function
def centred(x):
    return x - lab.reduce_mean(x)
lessons.check_compiled(centred)""",
    "exercise-retraced": """
lessons.check_one_program(lambda step, x, rates: [step(x, lab.constant(rate)) for rate in rates])""",
    "exercise-checkpoints": "lessons.check_checkpoints(four_pieces)",
    "transfer-answer": """
def walks(treatments, paintings):
    return {"treatment by treatment": 2 * treatments * paintings, "painting by painting": 2 * paintings}
lessons.check_traffic(walks, names=("treatment by treatment", "painting by painting"))""",
}

_TOTAL = "lessons.check_total(lambda first, later, n: {})"
_PAYS = """
import math
def pays_from(first, later, eager):
    if later >= eager:
        return math.inf
    return {}
lessons.check_pays(pays_from)"""
_MOVED = 'lessons.check_traffic(lambda ops, size: {{"op by op": {}, "in one loop": {}}})'
_LIMITED = """
@lab.function
def limited(x):
    total = lab.reduce_sum(x)
    return {}
lessons.check_compiled(limited)"""
_CHAIN = """
def chain(op, x):
    def pieces(count, each):
        def chain(x):
            for _ in range(count):
                x = each(x)
            return x
        return chain
    return {}
lessons.check_checkpoints(chain)"""
_NESTED = "lab.recompute_grad(pieces(4, lab.recompute_grad(pieces(4, op))))(x)"

WRONG: list[tuple[str, str, str]] = [
    ("example-full", _TOTAL.format("n * later"), "FIRST_CALL"),
    ("example-full", _TOTAL.format("n * first"), "FIRST_CALL"),
    ("example-full", _TOTAL.format("first + n * later"), "FIRST_TWICE"),
    ("example-full", _TOTAL.format("first"), "OTHER"),
    ("example-full", _TOTAL.format("..."), "BLANK"),
    ("example-blank", _PAYS.format("1"), "FIRST_CALL"),
    ("example-blank", _PAYS.format("first / (eager - later)"), "FIRST_TWICE"),
    ("example-blank", _PAYS.format("math.ceil((first - later) / (eager - later)) + 1"), "ONE_EARLY"),
    ("example-blank", _PAYS.format("math.ceil((first - later) / (eager - later)) - 1"), "ONE_EARLY"),
    ("example-blank", _PAYS.format("-7"), "OTHER"),
    ("example-blank", _PAYS.format("1 / 0"), "RAISES"),
    ("example-blank", """
import math
lessons.check_pays(lambda first, later, eager: math.ceil((first - later) / abs(eager - later + 1e-12)))""",
     "ALWAYS_PAYS"),
    ("example-gaps", _MOVED.format("ops * size", "size"), "WRITES_ONLY"),
    ("example-gaps", _MOVED.format("2 * ops * size", "size"), "WRITES_ONLY"),
    ("example-gaps", _MOVED.format("2 * ops * size", "2 * ops * size"), "ALL_STORED"),
    ("example-gaps", _MOVED.format("ops", "1"), "OTHER"),
    ("exercise-branch", _LIMITED.format("x / total if total > 10.0 else x"), "STILL_EAGER"),
    ("exercise-branch", _LIMITED.format("x / total"), "OTHER"),
    ("exercise-branch", _LIMITED.format("None"), "BLANK"),
    ("exercise-branch", _LIMITED.format("1.0"), "RAISES"),
    ("exercise-branch", "def limited(x):\n    return x\nlessons.check_compiled(limited)", "STILL_EAGER"),
    ("exercise-leaves", "lessons.check_compiled(lab.function(lambda x: x))", "RAISES"),
    ("exercise-retraced", "lessons.check_one_program(lambda step, x, rates: [step(x, r) for r in rates])", "RETRACED"),
    ("exercise-retraced", "lessons.check_one_program(lambda step, x, rates: [x - r * x for r in rates])",
     "STILL_EAGER"),
    ("exercise-retraced", "lessons.check_one_program(lambda step, x, rates: [x])", "OTHER"),
    ("exercise-retraced", "lessons.check_one_program(lambda step, x, rates: ...)", "BLANK"),
    ("exercise-checkpoints", _CHAIN.format("pieces(16, op)(x)"), "ALL_KEPT"),
    ("exercise-checkpoints", _CHAIN.format("pieces(16, lab.recompute_grad(op))(x)"), "ALL_KEPT"),
    ("exercise-checkpoints", _CHAIN.format("lab.recompute_grad(pieces(16, op))(x)"), "ONE_CHECKPOINT"),
    ("exercise-checkpoints", _CHAIN.format(_NESTED), "TOO_OFTEN"),
    ("exercise-checkpoints", _CHAIN.format("pieces(8, op)(x)"), "GRADIENT_CHANGED"),
    ("exercise-checkpoints", _CHAIN.format("x"), "GRADIENT_CHANGED"),
    ("exercise-checkpoints", _CHAIN.format("1 / 0"), "RAISES"),
    ("transfer-answer", """
lessons.check_traffic(lambda t, p: {"treatment by treatment": t * p, "painting by painting": p},
                      names=("treatment by treatment", "painting by painting"))""", "WRITES_ONLY"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
