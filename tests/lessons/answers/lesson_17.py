"""Answers to lesson 17."""

from __future__ import annotations

_GAPS = """
def tell_gaps(emitter, x, w):
    one = emitter.add_source(x, name="x", kind="variable")
    two = emitter.add_source(w, name="w", kind="variable")
    (a,) = emitter.emit_op("mul", [one, {again}], [x * x])
    (y,) = emitter.emit_op("add", [a, two], [x * x + w])
    sweep = emitter.start_backward([y], [{seed}], [one, two])
    {early}
    emitter.emit_contribution(sweep, y, 0, 1.0)
    emitter.emit_contribution(sweep, y, 1, 1.0)
    emitter.emit_contribution(sweep, a, 0, {first})
    {second}
    emitter.end_backward(sweep)
lessons.check_emitted(tell_gaps, lambda x, w: x * x + w)"""
_BLANK = """
def tell_blank(emitter, x, w):
    one = emitter.add_source(x, name="x", kind="variable")
    two = emitter.add_source(w, name="w", kind="variable")
    {ops}
    sweep = emitter.start_backward([y], [1.0], [one, two])
    emitter.emit_contribution(sweep, y, 0, {left})
    emitter.emit_contribution(sweep, y, 1, {right})
    emitter.emit_contribution(sweep, a, 0, {onward})
    emitter.emit_contribution(sweep, a, 1, {onward})
    emitter.end_backward(sweep)
    {after}
lessons.check_emitted(tell_blank, lambda x, w: (x + w) * w)"""
_OPS = """(a,) = emitter.emit_op("add", [one, two], [x + w])
    (y,) = emitter.emit_op("mul", [a, two], [(x + w) * w])"""
_EXP = """
import autodiff_lab as lab
def exp(num):
    return type(num)(np.exp(num.value), None, "exp", [num], [{slope}])
lessons.check_emitted(
    lambda emitter, x, w: run(emitter, lambda x, w: exp(x * w) * x, {{"x": x, "w": w}}, kind={kind}),
    lambda x, w: lab.exp(x * w) * x)"""
_IMPATIENT = """
lessons.check_emitted(
    lambda emitter, x, w: run(emitter, reuses, {{"x": x, "w": w}}, kind={kind}, backward=backward), reuses)"""


def _gaps(**changes: str) -> str:
    right = {"again": "one", "seed": "1.0", "early": "", "first": "x",
             "second": "emitter.emit_contribution(sweep, a, 1, x)"}  # fmt: skip
    return _GAPS.format(**{**right, **changes})


def _blank(**changes: str) -> str:
    right = {"ops": _OPS, "left": "w", "right": "x + w", "onward": "w", "after": ""}
    return _BLANK.format(**{**right, **changes})


SOLVED: dict[str, str] = {
    "example-gaps": _gaps(),
    "example-blank": _blank(after="emitter.finish()"),
    "exercise-op": _EXP.format(slope="np.exp(num.value)", kind="Num"),
    "exercise-impatient": "def reuses(x, w):\n    a = x * w\n    return a * a + a\n" + _IMPATIENT.format(kind="Num"),
    "transfer-answer": """
def spreadsheet(emitter, b1, b2):
    price = emitter.add_source(b1, name="B1", kind="variable")
    rate = emitter.add_source(b2, name="B2", kind="variable")
    (tax,) = emitter.emit_op("mul", [price, rate], [b1 * b2])
    (total,) = emitter.emit_op("add", [tax, price], [b1 + b1 * b2])
    sweep = emitter.start_backward([total], [1.0], [rate, price])
    for op, position, value in ((total, 1, 1.0), (total, 0, 1.0), (tax, 1, b1), (tax, 0, b2)):
        emitter.emit_contribution(sweep, op, position, value)
    emitter.end_backward(sweep)
lessons.check_emitted(spreadsheet, lambda b1, b2: b1 + b1 * b2)""",
}

_HALF = """(y,) = emitter.emit_op("mul", [one, two], [(x + w) * w])
    a = y"""
_LOOSE = """(a,) = emitter.emit_op("add", [one, two], [x + w])
    (y,) = emitter.emit_op("mul", [emitter.add_source(x + w), two], [(x + w) * w])"""
_SWAPPED = """(a,) = emitter.emit_op("mul", [one, two], [x * w])
    (y,) = emitter.emit_op("mul", [a, two], [x * w * w])"""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", "lessons.check_emitted(lambda emitter, x: None, lambda x: x * x)", "OTHER"),
    ("example-full", "lessons.check_emitted(3, lambda x: x * x)", "RAISES"),
    ("example-full", "lessons.check_emitted(lambda emitter, x: emitter.emit_op('mul', [7], [x]), lambda x: x * x)",
     "RAISES"),
    ("example-full", "lessons.check_emitted(lambda emitter, x: emitter.emit_op('dot', [], [x]), lambda x: x * x)",
     "RAISES"),
    ("example-gaps", _gaps(again="..."), "BLANK"),
    ("example-gaps", _gaps(again="emitter.add_source(x, name='x', kind='variable')"), "TWO_SOURCES"),
    ("example-gaps", _gaps(first="2.0 * x", second=""), "ONE_PER_VALUE"),
    ("example-gaps", _gaps(early="emitter.emit_contribution(sweep, a, 0, x)"), "EARLY"),
    ("example-gaps", _gaps(again="'x'"), "RAISES"),
    ("example-gaps", _gaps(first="x * x"), "OTHER"),
    ("example-blank", _blank(ops=_HALF), "SKIPPED_OP"),
    ("example-blank", _blank(ops=_LOOSE), "SKIPPED_OP"),
    ("example-blank", _blank(ops=_SWAPPED), "OTHER"),
    ("example-blank", _blank(left="x + w", right="w", onward="x + w"), "OWN_VALUE"),
    ("example-blank", _blank(onward="1.0"), "LOCAL_ONLY"),
    ("exercise-op", _EXP.format(slope="num.value", kind="Num"), "EXP_INPUT"),
    ("exercise-op", _EXP.format(slope="np.exp(num.value)", kind="Forgetful"), "OVERWRITE"),
    ("exercise-op", _EXP.format(slope="1.0", kind="Num"), "OTHER"),
    ("transfer-answer", "lessons.check_emitted(..., lambda b1, b2: b1 + b1 * b2)", "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
