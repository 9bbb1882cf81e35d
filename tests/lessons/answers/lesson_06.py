"""Answers to lesson 6."""

from __future__ import annotations

SOLVED: dict[str, str] = {
    "example-gaps": """
def cooling(t):
    level = lab.exp(t * -0.5)
    room = lab.sqrt(lab.constant(16.0))
    if t < 2.0:
        level = level + room
    return level
lessons.check_entries(lambda t: ["*", "exp", "+"] if t < 2.0 else ["*", "exp"], cooling, 0.0, 4.0)""",
    "example-blank": """
def grow(x):
    while x < 100.0:
        x = x * x
    return x - 1.0
def entries_on_your_own(x):
    names = []
    while x < 100.0:
        names, x = names + ["multiply"], x * x
    return names + ["subtract"]
lessons.check_entries(entries_on_your_own, grow, low=1.5, high=20.0)""",
    "repair-1": """
def snippet_1(v):
    x = lab.constant(float(v))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return x, y, tape.gradient(y, x)
lessons.check_repair(1, snippet_1, cause="not_watched")""",
    "repair-2": """
def snippet_2(v):
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        y = lab.square(lab.sqrt(x) + 1.0)
    return x, y, tape.gradient(y, x)
lessons.check_repair(2, snippet_2, cause="left_engine")""",
    "repair-3": """
def snippet_3(v):
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        y = x * x * x
    return x, y, tape.gradient(y, x)
lessons.check_repair(3, snippet_3, cause="integer")""",
    "repair-4": """
def snippet_4(v):
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        total = 3.0 * x
        y = total * total
    return x, y, tape.gradient(y, x)
lessons.check_repair(4, snippet_4, cause="state_read")""",
    "repair-5": """
def snippet_5(v):
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        area = x * x
        y = 2.0 * area + 1.0
    return x, y, tape.gradient(y, x)
lessons.check_repair(5, snippet_5, cause="outside_tape")""",
    "transfer-answer": """
def report(tape, x):
    with tape.stop_recording():
        return lab.sin(lab.sin(x))
lessons.check_off_the_record(report)""",
}

_ENTRIES = """
def cooling(t):
    level = lab.exp(t * -0.5)
    room = lab.sqrt(lab.constant(16.0))
    if t < 2.0:
        level = level + room
    return level
lessons.check_entries(lambda t: {}, cooling, 0.0, 4.0)"""
_SQUARE = """
def snippet_1(v):
    x = lab.constant(float(v))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = {}
    return x, y, {}
lessons.check_repair(1, snippet_1, cause={})"""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _ENTRIES.format('["multiply", "exp", "add"]'), "SOURCE_TEXT"),
    ("example-gaps", _ENTRIES.format('["multiply", "exp", "sqrt"]'), "EVERYTHING"),
    ("example-gaps", _ENTRIES.format('["exp"]'), "FORGOTTEN"),
    ("example-gaps", _ENTRIES.format('["exp", "multiply"] + ["add"] * (t < 2)'), "ORDER"),
    ("example-gaps", _ENTRIES.format('["multiply", "cosh"]'), "OTHER"),
    ("example-gaps", _ENTRIES.format('"multiply"'), "RAISES"),
    ("repair-1", _SQUARE.format("x * x", "None", "...").replace("tape.watch(x)", "pass"), "STILL_NONE"),
    ("repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "...").replace("tape.watch(x)", "pass"),
     "STILL_NONE"),
    ("repair-1", _SQUARE.format(
        "x * x", "tape.gradient(y, x, unconnected_gradients='zero')", "...").replace("tape.watch(x)", "pass"),
     "NONE_IS_ZERO"),
    ("repair-1", _SQUARE.format("x + x", "tape.gradient(y, x)", "'not_watched'"), "OTHER_FUNCTION"),
    ("repair-1", _SQUARE.format("x * x", "lab.constant(6.0)", "'not_watched'"), "ONE_NUMBER"),
    ("repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "'integer'"), "WRONG_CAUSE"),
    ("repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "'magic'"), "RAISES"),
    ("repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "..."), "BLANK"),
    ("repair-1", _SQUARE.format("x * x", "x", "'not_watched'"), "OTHER"),
    ("transfer-answer", "lessons.check_off_the_record(lambda tape, x: lab.sin(lab.sin(x)))", "EVERYTHING"),
    ("transfer-answer", "lessons.check_off_the_record(lambda tape, x: lab.sin(x.numpy()))", "OTHER_FUNCTION"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
