"""Answers to lesson 14a."""

from __future__ import annotations

_TOTAL = "lessons.check_total(lambda first, later, n: {})"
_PAYS = """
import math
def pays_from(first, later, eager):
    if later >= eager:
        return math.inf
    return {}
lessons.check_pays(pays_from)"""
_SAVED = "(first - later) / (eager - later)"
_MOVED = 'lessons.check_traffic(lambda ops, size: {{"op by op": {}, "in one loop": {}}})'
_LIMITED = """
@lab.function
def limited(x):
    total = lab.reduce_sum(x)
    return {}
lessons.check("14a.1", limited)"""
_CENTRED = """
@lab.function
def centred(x):
    return {}
lessons.check("14a.2", centred)"""
_RUN = 'lessons.check("14a.3", lambda step, x, rates: {})'
_WALKS = 'lessons.check("14a.4", lambda t, p: {{"treatment by treatment": {}, "painting by painting": {}}})'

SOLVED: dict[str, str] = {
    "example-gaps": """
def moved_by(ops, size):
    one_op = size + size
    one_loop = 2 * size
    return {"op by op": ops * one_op, "in one loop": one_loop}
lessons.check_traffic(moved_by)""",
    "example-blank": _PAYS.format(f"math.ceil({_SAVED})"),
    "exercise-branch": _LIMITED.format("lab.where(total > 10.0, x / total, x)"),
    "exercise-leaves": _CENTRED.format("x - lab.reduce_mean(x)"),
    "exercise-retraced": _RUN.format("[step(x, lab.constant(rate)) for rate in rates]"),
    "transfer-answer": _WALKS.format("2 * t * p", "2 * p"),
}

RIGHT: list[tuple[str, str]] = [
    ("example-full", _TOTAL.format("first + n * later - later")),
    ("example-full", _TOTAL.format("first + sum([later] * (n - 1))")),
    ("example-full", _TOTAL.format("np.array([first, (n - 1) * later]).sum()")),
    ("example-gaps", _MOVED.format("2 * ops * size", "2 * size")),
    ("example-gaps", _MOVED.format("ops * (size + size)", "size + size")),
    ("example-blank", _PAYS.format(f"int(np.ceil({_SAVED}))")),
    ("example-blank", """
def pays_from(first, later, eager):
    if later >= eager:
        return float("inf")
    n = 1
    while first + (n - 1) * later > n * eager:
        n += 1
    return n
lessons.check_pays(pays_from)"""),
    ("exercise-branch", _LIMITED.format("x / lab.where(total > 10.0, total, 1.0)")),
    ("exercise-branch", _LIMITED.format("lab.where(total <= 10.0, x, x / total)")),
    ("exercise-leaves", _CENTRED.format("x - lab.reduce_sum(x) / 8.0")),
    ("exercise-leaves", _CENTRED.format("-lab.reduce_mean(x) + x")),
    ("exercise-retraced", _RUN.format("[step(x, lab.constant(rate, dtype=lab.float32)) for rate in rates]")),
    ("exercise-retraced", _RUN.format("[step(x, rate) for rate in lab.constant(rates)]")),
    ("transfer-answer", _WALKS.format("t * p * 2", "p + p")),
    ("transfer-answer", 'lessons.check_traffic(walks, names=("treatment by treatment", "painting by painting"))'
                        .replace("walks", 'lambda t, p: dict(zip(("treatment by treatment", "painting by painting"), '
                                          "(2 * p * t, 2 * p)))")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", _TOTAL.format("n * later"), "FIRST_CALL"),
    ("example-full", _TOTAL.format("n * first"), "FIRST_CALL"),
    ("example-full", _TOTAL.format("first + n * later"), "FIRST_TWICE"),
    ("example-full", _TOTAL.format("first"), "OTHER"),
    ("example-full", _TOTAL.format("n * first + later"), "OTHER"),
    ("example-full", _TOTAL.format("'n'"), "RAISES"),
    ("example-full", _TOTAL.format("float('nan')"), "RAISES"),
    ("example-full", _TOTAL.format("..."), "BLANK"),
    ("example-blank", _PAYS.format("1"), "FIRST_CALL"),
    ("example-blank", _PAYS.format("first / (eager - later)"), "FIRST_TWICE"),
    ("example-blank", _PAYS.format("math.ceil((first - later) / (eager - later)) + 1"), "ONE_EARLY"),
    ("example-blank", _PAYS.format("math.ceil((first - later) / (eager - later)) - 1"), "ONE_EARLY"),
    ("example-blank", _PAYS.format("-7"), "OTHER"),
    ("example-blank", _PAYS.format("1 / 0"), "RAISES"),
    ("example-blank", _PAYS.format("'never'"), "RAISES"),
    ("example-blank", """
import math
lessons.check_pays(lambda first, later, eager: math.ceil((first - later) / abs(eager - later + 1e-12)))""",
     "ALWAYS_PAYS"),
    ("example-gaps", _MOVED.format("ops * size", "size"), "WRITES_ONLY"),
    ("example-gaps", _MOVED.format("2 * ops * size", "size"), "WRITES_ONLY"),
    ("example-gaps", _MOVED.format("2 * ops * size", "2 * ops * size"), "ALL_STORED"),
    ("example-gaps", _MOVED.format("ops", "1"), "OTHER"),
    ("example-gaps", _MOVED.format("2 * ops * size", "3 * size"), "OTHER"),
    ("example-gaps", _MOVED.format("2 * ops * size", "..."), "BLANK"),
    ("example-gaps", _MOVED.format("2 * ops * size", "'2'"), "RAISES"),
    ("example-gaps", "lessons.check_traffic(lambda ops, size: 2 * ops * size)", "RAISES"),
    ("exercise-branch", _LIMITED.format("x / total if total > 10.0 else x"), "STILL_EAGER"),
    ("exercise-branch", _LIMITED.format("x / max(total, 1.0)"), "OTHER"),
    ("exercise-branch", _LIMITED.format("x / total"), "OTHER"),
    ("exercise-branch", _LIMITED.format("x"), "OTHER"),
    ("exercise-branch", _LIMITED.format("lab.where(total > 4.0, x / total, x)"), "OTHER"),
    ("exercise-branch", _LIMITED.format("lab.where(total > 9.9, x / total, x)"), "OTHER"),
    ("exercise-branch", _LIMITED.format("lab.where(total > 10.1, x / total, x)"), "OTHER"),
    ("exercise-branch", _LIMITED.format("lab.where(total > 10.0, x, x / total)"), "OTHER"),
    ("exercise-branch", _LIMITED.format("None"), "BLANK"),
    ("exercise-branch", _LIMITED.format("1.0"), "RAISES"),
    ("exercise-branch", 'def limited(x):\n    return x\nlessons.check("14a.1", limited)', "STILL_EAGER"),
    ("exercise-leaves", 'lessons.check("14a.2", lab.function(lambda x: x))', "RAISES"),
    ("exercise-leaves", _CENTRED.format("x - float(lab.reduce_mean(x))"), "STILL_EAGER"),
    ("exercise-leaves", _CENTRED.format("x - lab.reduce_mean(x).numpy()"), "STILL_EAGER"),
    ("exercise-leaves", _CENTRED.format("lab.constant(x.numpy() - x.numpy().mean())"), "STILL_EAGER"),
    ("exercise-leaves", _CENTRED.format("x"), "OTHER"),
    ("exercise-leaves", _CENTRED.format("x - lab.reduce_sum(x)"), "OTHER"),
    ("exercise-leaves", _CENTRED.format("lab.reduce_mean(x)"), "OTHER"),
    ("exercise-leaves", _CENTRED.format("..."), "BLANK"),
    ("exercise-leaves", 'lessons.check("14a.2", ...)', "BLANK"),
    ("exercise-retraced", _RUN.format("[step(x, r) for r in rates]"), "RETRACED"),
    ("exercise-retraced", _RUN.format("[step(x, float(r)) for r in rates]"), "RETRACED"),
    ("exercise-retraced", _RUN.format("[x - r * x for r in rates]"), "STILL_EAGER"),
    ("exercise-retraced", _RUN.format("[x]"), "OTHER"),
    ("exercise-retraced", _RUN.format("[step(x, rates[0])] * 8"), "OTHER"),
    ("exercise-retraced", _RUN.format("..."), "BLANK"),
    ("exercise-retraced", _RUN.format("'all'"), "RAISES"),
    ("exercise-retraced", _RUN.format("[step(x)]"), "RAISES"),
    ("transfer-answer", _WALKS.format("t * p", "p"), "WRITES_ONLY"),
    ("transfer-answer", _WALKS.format("2 * t * p", "p"), "WRITES_ONLY"),
    ("transfer-answer", _WALKS.format("2 * t * p", "2 * t * p"), "ALL_STORED"),
    ("transfer-answer", _WALKS.format("2 * t", "2 * p"), "OTHER"),
    ("transfer-answer", _WALKS.format("2 * p", "2 * t * p"), "OTHER"),
    ("transfer-answer", _WALKS.format("t + p", "p"), "OTHER"),
    ("transfer-answer", _WALKS.format("...", "2 * p"), "BLANK"),
    ("transfer-answer", 'lessons.check("14a.4", lambda t, p: 2 * t * p)', "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
