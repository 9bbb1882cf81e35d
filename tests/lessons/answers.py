"""Right and wrong answers to every exercise: what a learner might type, and the code that it must be given."""

from __future__ import annotations

SOLVED: dict[str, dict[str, str]] = {
    "01": {
        "example-gaps": """
def rate_with_gaps(f, a, b):
    rise = f(b) - f(a)
    run = b - a
    return rise / run
lessons.check_average_rate(rate_with_gaps)""",
        "exercise-rate": "lessons.check_average_rate(lambda f, a, b: (f(a) - f(b)) / (a - b))",
        "exercise-interval": "lessons.check_interval((-1.0, 2.0), f, at=1.0)",
        "exercise-meeting": "lessons.check_meeting(lambda a: -2 * a, f)",
        "transfer-answer": "lessons.check_rate_from_table(13.5, [0, 2, 4, 6, 8], [0, 1, 8, 27, 64], at=6)",
    },
    "06": {
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
        y = lab.square(lab.sqrt(x)) + 1.0
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
    },
    "07": {
        "example-gaps": """
import math
def slopes_gaps(x, y):
    b = math.exp(x)
    dh = 1.0
    da, db = dh * 1.0, dh * -1.0
    dx = db * b
    dx += da * y
    return {"x": dx, "y": da * x}
lessons.check_gradients(slopes_gaps, lambda x, y: x * y - lab.exp(x))""",
        "example-blank": "lessons.check_gradients(lambda u, v: {'u': 2 * u - v, 'v': -u}, lambda u, v: (u - v) * u)",
        "puzzle-answers": "puzzle.check({name: fact[1] for name, fact in puzzle._facts().items()})",
        "transfer-answer": """
def seconds(grind, brew, steam, drinks):
    return {"grind": drinks, "brew": drinks * (brew >= steam), "steam": drinks * (brew < steam),
            "drinks": grind + max(brew, steam)}
lessons.check_gradients(seconds, lambda grind, brew, steam, drinks: (grind + lab.maximum(brew, steam)) * drinks)""",
    },
}
"""By lesson and cell."""

_RATE = "lessons.check_average_rate(lambda f, a, b: {})"
_INTERVAL = "lessons.check_interval({}, f, at=1.0)"
_TABLE = "lessons.check_rate_from_table({}, [0, 2, 4, 6, 8], [0, 1, 8, 27, 64], at=6)"
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
_SLOPES = "lessons.check_gradients(lambda x, y, z: {}, lambda x, y, z: (x + y) * lab.maximum(x, z))"
_EXP = "import math\nlessons.check_gradients(lambda x, y: {}, lambda x, y: x * y - lab.exp(x))"

WRONG: list[tuple[str, str, str, str]] = [
    ("01", "exercise-rate", _RATE.format("f(b) - f(a)"), "CHANGE"),
    ("01", "exercise-rate", _RATE.format("(b - a) / (f(b) - f(a))"), "UPSIDE_DOWN"),
    ("01", "exercise-rate", _RATE.format("(f(b) - f(a)) / (a - b)"), "FLIPPED"),
    ("01", "exercise-rate", _RATE.format("(f(a + 1e-5) - f(a - 1e-5)) / 2e-5"), "ONE_POINT"),
    ("01", "exercise-rate", _RATE.format("(f((a + b) / 2 + 1e-5) - f((a + b) / 2 - 1e-5)) / 2e-5"), "ONE_POINT"),
    ("01", "exercise-rate", _RATE.format("(f(a) + f(b)) / 2"), "AVERAGE_VALUE"),
    ("01", "exercise-rate", _RATE.format("f(b)"), "VALUE"),
    ("01", "exercise-rate", _RATE.format("7.0"), "OTHER"),
    ("01", "exercise-rate", _RATE.format("1 / 0"), "RAISES"),
    ("01", "exercise-rate", _RATE.format("'ten'"), "RAISES"),
    ("01", "exercise-interval", _INTERVAL.format("(1.0, 1.0)"), "NO_WIDTH"),
    ("01", "exercise-interval", _INTERVAL.format("(1.0, 1.0000001)"), "NEARLY"),
    ("01", "exercise-interval", _INTERVAL.format("(-1.0, 2.01)"), "NEARLY"),
    ("01", "exercise-interval", _INTERVAL.format("(0.0, 2.0)"), "SYMMETRIC"),
    ("01", "exercise-interval", _INTERVAL.format("(0.0, 3.0)"), "OTHER"),
    ("01", "exercise-interval", _INTERVAL.format("2.0"), "RAISES"),
    ("01", "exercise-interval", _INTERVAL.format("(0.0, ...)"), "BLANK"),
    ("01", "exercise-meeting", "lessons.check_meeting(lambda a: a, f)", "TOUCHES_ONCE"),
    ("01", "exercise-meeting", "lessons.check_meeting(lambda a: 2 * a, f)", "WRONG_SIDE"),
    ("01", "exercise-meeting", "lessons.check_meeting(lambda a: 4 * a, f)", "WRONG_SIDE"),
    ("01", "exercise-meeting", "lessons.check_meeting(lambda a: -2, f)", "OTHER"),
    ("01", "transfer-answer", _TABLE.format("27"), "VALUE"),
    ("01", "transfer-answer", _TABLE.format("64 / 8"), "WHOLE_TRIP"),
    ("01", "transfer-answer", _TABLE.format("27 / 6"), "WHOLE_TRIP"),
    ("01", "transfer-answer", _TABLE.format("27 - 8"), "CHANGE"),
    ("01", "transfer-answer", _TABLE.format("2 / 19"), "UPSIDE_DOWN"),
    ("01", "transfer-answer", _TABLE.format("100"), "OTHER"),
    ("06", "example-gaps", _ENTRIES.format('["multiply", "exp", "add"]'), "SOURCE_TEXT"),
    ("06", "example-gaps", _ENTRIES.format('["multiply", "exp", "sqrt"]'), "EVERYTHING"),
    ("06", "example-gaps", _ENTRIES.format('["exp"]'), "FORGOTTEN"),
    ("06", "example-gaps", _ENTRIES.format('["exp", "multiply"] + ["add"] * (t < 2)'), "ORDER"),
    ("06", "example-gaps", _ENTRIES.format('["multiply", "cosh"]'), "OTHER"),
    ("06", "example-gaps", _ENTRIES.format('"multiply"'), "RAISES"),
    ("06", "repair-1", _SQUARE.format("x * x", "None", "...").replace("tape.watch(x)", "pass"), "STILL_NONE"),
    ("06", "repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "...").replace("tape.watch(x)", "pass"),
     "STILL_NONE"),
    ("06", "repair-1", _SQUARE.format(
        "x * x", "tape.gradient(y, x, unconnected_gradients='zero')", "...").replace("tape.watch(x)", "pass"),
     "NONE_IS_ZERO"),
    ("06", "repair-1", _SQUARE.format("x + x", "tape.gradient(y, x)", "'not_watched'"), "OTHER_FUNCTION"),
    ("06", "repair-1", _SQUARE.format("x * x", "lab.constant(6.0)", "'not_watched'"), "ONE_NUMBER"),
    ("06", "repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "'integer'"), "WRONG_CAUSE"),
    ("06", "repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "'magic'"), "RAISES"),
    ("06", "repair-1", _SQUARE.format("x * x", "tape.gradient(y, x)", "..."), "BLANK"),
    ("06", "repair-1", _SQUARE.format("x * x", "x", "'not_watched'"), "OTHER"),
    ("06", "transfer-answer", "lessons.check_off_the_record(lambda tape, x: lab.sin(lab.sin(x)))", "EVERYTHING"),
    ("06", "transfer-answer", "lessons.check_off_the_record(lambda tape, x: lab.sin(x.numpy()))", "OTHER_FUNCTION"),
    ("07", "example-full", _SLOPES.format("{'x': max(x, z), 'y': max(x, z), 'z': (x + y) * (x < z)}"), "OVERWRITE"),
    ("07", "example-full", _SLOPES.format(
        "{'x': x + y + max(x, z) * (x >= z), 'y': x + y, 'z': max(x, z) * (x < z)}"), "OWN_VALUE"),
    ("07", "example-full", _SLOPES.format(
        "{'x': max(x, z) + (x + y) * (x < z), 'y': max(x, z), 'z': (x + y) * (x >= z)}"), "MAX_LOSER"),
    ("07", "example-full", _SLOPES.format("{'x': max(x, z) + x + y, 'y': max(x, z), 'z': x + y}"), "MAX_SHARES"),
    ("07", "example-full", _SLOPES.format("{'x': 1.0 + (x >= z), 'y': 1.0, 'z': 0.0 + (x < z)}"), "LOCAL_ONLY"),
    ("07", "example-full", _SLOPES.format("{'x': 0, 'y': 0, 'z': 0}"), "SEED"),
    ("07", "example-full", _SLOPES.format("{'x': x, 'y': y, 'z': z}"), "VALUE"),
    ("07", "example-full", _SLOPES.format(
        "{'x': 2 * (max(x, z) + (x + y) * (x >= z)), 'y': 2 * max(x, z), 'z': 2 * (x + y) * (x < z)}"), "STALE"),
    ("07", "example-full", _SLOPES.format("{'x': 1.5, 'y': 2.5, 'z': 3.5}"), "OTHER"),
    ("07", "example-full", _SLOPES.format("[1, 2, 3]"), "RAISES"),
    ("07", "example-full", _SLOPES.format("{'x': 1.5, 'y': ..., 'z': ...}"), "BLANK"),
    ("07", "example-gaps", _EXP.format("{'x': y - x, 'y': x}"), "EXP_INPUT"),
    ("07", "example-gaps", _EXP.format("{'x': y + math.exp(x), 'y': x}"), "MINUS_LOST"),
    ("07", "example-gaps", _EXP.format("{'x': y, 'y': x}"), "OVERWRITE"),
]  # fmt: skip
"""Lesson, cell, what is typed, and the code."""
