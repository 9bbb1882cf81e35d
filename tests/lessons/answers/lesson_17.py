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

_WALKS = """
def mended(end, inputs):
    end.grad = np.float64(1.0)
    sweep = Num.emitter.start_backward([end.id], [end.grad], [num.id for num in inputs])
    {}
        for position, (parent, slope) in enumerate(zip(num.parents, num.slopes)):
            {}
            Num.emitter.emit_contribution(sweep, num.id, position, num.grad * slope, local=slope, total=parent.grad)
    {}
def reuses(x, w):
    a = x * w
    return a * a + a
lessons.check("17.2", lambda emitter, x, w: run(emitter, reuses, {{"x": x, "w": w}}, backward=mended))"""
_SORTED = """made, stack = [], [(end, iter(end.parents))]
    while stack:
        num, left = stack[-1]
        parent = next((p for p in left if p not in made and all(p is not n for n, _ in stack)), None)
        if parent is None:
            made.append(stack.pop()[0])
        else:
            stack.append((parent, iter(parent.parents)))
    for num in reversed(made):"""
_SHEET = """
def spreadsheet(emitter, b1, b2):
    price = emitter.add_source(b1, name="B1", kind="variable")
    rate = emitter.add_source(b2, name="B2", kind="variable")
    (tax,) = emitter.emit_op("mul", [price, rate], [{tax}])
    (total,) = emitter.emit_op("{op}", [price, tax], [{total}])
    sweep = emitter.start_backward([total], [{seed}], [price, rate])
    for op, position, value in {flows}:
        emitter.emit_contribution(sweep, op, position, value)
    {end}
lessons.check("17.3", spreadsheet)"""


def _walks(
    order: str = "for num in reversed(Num.tape):",
    receive: str = "parent.receive(num.grad * slope)",
    end: str = "Num.emitter.end_backward(sweep)",
) -> str:
    return _WALKS.format(order, receive, end)


def _sheet(**changes: str) -> str:
    right = {
        "tax": "b1 * b2",
        "op": "add",
        "total": "b1 + b1 * b2",
        "seed": "1.0",
        "end": "emitter.end_backward(sweep)",
        "flows": "((total, 0, 1.0), (total, 1, 1.0), (tax, 0, b2), (tax, 1, b1))",
    }
    return _SHEET.format(**{**right, **changes})


RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _gaps(again="[one][0]", first="1.0 * x")),
    ("example-gaps", _gaps(seed="np.float64(1)", first="np.array(x)")),
    ("example-gaps", _gaps(first="np.sum([x, x]) / 2")),
    ("example-blank", _blank()),
    ("example-blank", _blank(left="1.0 * w", onward="[w][0]")),
    ("example-blank", _blank(ops=_OPS.replace("[one, two]", "[two, one]"), right="w + x")),
    ("exercise-op", _EXP.format(slope="np.exp(num.value)", kind="type('Mine', (Num,), {})")),
    ("exercise-op", _EXP.format(slope="np.e ** num.value", kind="Num")),
    ("exercise-op", _EXP.format(slope="np.exp(num.value / 2) ** 2", kind="Num")),
    ("exercise-op", _EXP.format(slope="np.cosh(num.value) + np.sinh(num.value)", kind="Num")),
    ("exercise-impatient", _walks()),
    ("exercise-impatient", _walks("for num in sorted(Num.tape, key=lambda n: -n.id):\n        if num.grad is None:\n            continue")),
    ("exercise-impatient", _walks(_SORTED)),
    ("exercise-impatient", _walks("for num in Num.tape[::-1]:", "parent.grad = num.grad * slope + (0.0 if parent.grad is None else parent.grad)")),
    ("transfer-answer", _sheet()),
    ("transfer-answer", _sheet(flows="((total, 1, 1.0), (tax, 1, b1), (tax, 0, b2), (total, 0, 1.0))")),
    ("transfer-answer", _sheet(total="b1 * (1 + b2)", end="return emitter.end_backward(sweep)")),
    ("exercise-impatient", _walks("for num in reversed(Num.tape[1:]):")),
]  # fmt: skip
"""Further right answers, in other words."""

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
    ("example-gaps", _gaps(seed="0.0"), "OTHER"),
    ("example-gaps", _gaps(seed="x"), "OTHER"),
    ("example-gaps", _gaps(again="two"), "SKIPPED_OP"),
    ("example-gaps", _gaps(again="a"), "RAISES"),
    ("example-gaps", _gaps(first="-x"), "OTHER"),
    ("example-gaps", _gaps(second=""), "ONE_PER_VALUE"),
    ("example-blank", _blank(left="...", right="x + w"), "BLANK"),
    ("example-blank", _blank(right="x"), "OVERWRITE"),
    ("example-blank", _blank(left="-w"), "OTHER"),
    ("example-blank", _blank(onward="x"), "OTHER"),
    ("exercise-op", _EXP.format(slope="...", kind="Num"), "BLANK"),
    ("exercise-op", _EXP.format(slope="-np.exp(num.value)", kind="Num"), "OTHER"),
    ("exercise-op", _EXP.format(slope="np.exp(num.value) + 1", kind="Num"), "OTHER"),
    ("exercise-op", _EXP.format(slope="num.value * np.exp(num.value - 1)", kind="Num"), "OTHER"),
    ("exercise-op", _EXP.format(slope="'exp'", kind="Num"), "RAISES"),
    ("exercise-op", _EXP.format(slope="exp(num)", kind="Num"), "TOO_LONG"),
    ("exercise-impatient", _walks().replace("backward=mended", "backward=impatient"), "RAISES"),
    ("exercise-impatient", _walks("for num in Num.tape:\n        if num.grad is None:\n            continue"), "OTHER"),
    ("exercise-impatient", _walks(receive="parent.grad = num.grad * slope"), "OVERWRITE"),
    ("exercise-impatient", _walks(receive="parent.receive(slope)"), "OVERWRITE"),
    ("exercise-impatient", _walks(receive="parent.receive(-num.grad * slope)"), "OTHER"),
    ("exercise-impatient", _walks("for num in [end]:"), "OTHER"),
    ("exercise-impatient", _walks("for num in 3:"), "RAISES"),
    ("exercise-impatient", _walks("for num in []:"), "OTHER"),
    ("exercise-impatient", 'lessons.check("17.2", lambda emitter, x, w: None)', "OTHER"),
    ("transfer-answer", _sheet(tax="b1 + b2"), "SKIPPED_OP"),
    ("transfer-answer", _sheet(op="mul", total="b1 * b1 * b2"), "OTHER"),
    ("transfer-answer", _sheet(flows="((total, 0, 1.0), (total, 1, 1.0), (tax, 0, b1), (tax, 1, b2))"), "OWN_VALUE"),
    ("transfer-answer", _sheet(flows="((total, 0, 1.0), (total, 1, 1.0), (tax, 0, 1.0), (tax, 1, 1.0))"), "OTHER"),
    ("transfer-answer", _sheet(flows="((tax, 0, b2), (tax, 1, b1), (total, 0, 1.0), (total, 1, 1.0))"), "EARLY"),
    ("transfer-answer", _sheet(flows="((total, 1, 1.0), (tax, 0, b2), (tax, 1, b1))"), "OTHER"),
    ("transfer-answer", _sheet(seed="2.0"), "OTHER"),
    ("transfer-answer", _sheet(seed="..."), "BLANK"),
    ("transfer-answer", 'lessons.check("17.3", lambda emitter, b1, b2: b1 + b1 * b2)', "OTHER"),
    ("transfer-answer", 'lessons.check("17.3", "B4 = B1 + B3")', "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
