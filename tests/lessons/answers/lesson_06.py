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

_GROW = """
def grow(x):
    while x < 100.0:
        x = x * x
    return x - 1.0
def entries_on_your_own(x):
    {}
lessons.check_entries(entries_on_your_own, grow, low=1.5, high=20.0)"""
_PROGRAM = {
    1: ("x = lab.constant(float(v))", "y = x * x", "not_watched"),
    2: ("x = lab.Variable(float(v))", "y = lab.square(lab.sqrt(x) + 1.0)", "left_engine"),
    3: ("x = lab.Variable(float(v))", "y = x * x * x", "integer"),
    4: ("x = lab.Variable(float(v))", "y = lab.square(3.0 * x)", "state_read"),
    5: ("x = lab.Variable(float(v))", "y = 2.0 * (x * x) + 1.0", "outside_tape"),
}


def _repaired(
    n: int,
    body: str = "",
    *,
    first: str = "",
    cause: str = "",
    gradient: str = "tape.gradient(y, x)",
    before: str = "pass",
) -> str:
    source, line, name = _PROGRAM[n]
    return f"""
def snippet_{n}(v):
    {first or source}
    {before}
    with lab.GradientTape() as tape:
        {"tape.watch(x)" if n == 1 else "pass"}
        {body or line}
    return x, y, {gradient}
lessons.check("6.{n}", snippet_{n}, cause={cause or repr(name)})"""


_REPORT = "lessons.check_off_the_record(lambda tape, x: {})"
_QUIET = """
def report(tape, x):
    {}
lessons.check("6.6", report)"""


def _not_repaired(n: int) -> list[tuple[str, str, str]]:
    """Return what is wrong for each of the five programs."""
    return [
        (f"repair-{n}", _repaired(n, gradient="None"), "STILL_NONE"),
        (f"repair-{n}", _repaired(n, gradient="lab.constant(0.0)"), "NONE_IS_ZERO"),
        (f"repair-{n}", _repaired(n, gradient="6.0"), "ONE_NUMBER"),
        (f"repair-{n}", _repaired(n, gradient="-tape.gradient(y, x)"), "OTHER"),
        (f"repair-{n}", _repaired(n, gradient="tape.gradient(y, x) + 1.0"), "OTHER"),
        (f"repair-{n}", _repaired(n, "y = x + 1.0"), "OTHER_FUNCTION"),
        (f"repair-{n}", _repaired(n, cause="'stop_gradient'"), "WRONG_CAUSE"),
        (f"repair-{n}", _repaired(n, cause="..."), "BLANK"),
        (f"repair-{n}", _repaired(n, cause="'bad luck'"), "RAISES"),
        (f"repair-{n}", _repaired(n, gradient="tape.gradient(y)"), "RAISES"),
        (f"repair-{n}", _repaired(n, gradient="'6.0'"), "RAISES"),
        (f"repair-{n}", _repaired(n).replace("return x, y, ", "return "), "RAISES"),
        (f"repair-{n}", _repaired(n).replace("return x, y, ", "print(x, y), "), "BLANK"),
        (f"repair-{n}", _repaired(n).replace("return x, y, ", "return y, y, "), "RAISES"),
    ]  # fmt: skip


RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _ENTRIES.format('("multiply", "exp") + ("add",) * (t < 2.0)')),
    ("example-gaps", _ENTRIES.format('iter([lab.multiply, lab.exp, lab.add][: 3 if t < 2.0 else 2])')),
    ("example-gaps", _ENTRIES.format('["mul", "lab.exp", "plus"] if not t >= 2 else ["Times", "exp()"]')),
    ("example-blank", _GROW.format('return ["mul"] * sum(x ** n < 100.0 for n in (1, 2, 4, 8, 16)) + ["minus"]')),
    ("example-blank", _GROW.format('return ["subtract"] if x >= 100.0 else ["*", *entries_on_your_own(x * x)]')),
    ("example-blank", _GROW.format('return ["mul" for n in range(5) if x ** 2 ** n < 100] + ["-"]')),
    ("example-blank", """
def grow(x):
    while x < 100.0:
        x = x * x
    return x - 1.0
def entries_on_your_own(x):
    x = lab.Variable(x)
    with lab.GradientTape() as tape:
        grow(x)
    return tape.operations
lessons.check_entries(entries_on_your_own, grow, low=1.5, high=20.0)"""),
    ("repair-1", _repaired(1)),
    ("repair-1", _repaired(1, first="x = lab.Variable(float(v))", cause='"Not_Watched"')),
    ("repair-1", _repaired(1, "y = lab.square(x)")),
    ("repair-1", _repaired(1, "y = x ** 2", first="x = lab.constant(v, dtype=lab.float64)")),
    ("repair-2", _repaired(2)),
    ("repair-2", _repaired(2, "y = (x ** 0.5 + 1.0) ** 2")),
    ("repair-2", _repaired(2, "y = x + 2.0 * lab.sqrt(x) + 1.0")),
    ("repair-2", _repaired(2, "y = lab.square(lab.exp(0.5 * lab.math.log(x)) + 1.0)")),
    ("repair-3", _repaired(3)),
    ("repair-3", _repaired(3, "y = x ** 3")),
    ("repair-3", _repaired(3, first="x = lab.Variable(v, dtype=lab.float64)")),
    ("repair-3", _repaired(3, first="x = lab.cast(lab.constant(v), lab.float32)", body="tape.watch(x); y = x * lab.square(x)")),
    ("repair-4", _repaired(4)),
    ("repair-4", _repaired(4, "total = 0.0 + 3.0 * x; y = total * total")),
    ("repair-4", _repaired(4, "y = 9.0 * x * x")),
    ("repair-4", _repaired(4, "total = lab.add_n([x, x, x]); y = total ** 2", before="total = lab.Variable(0.0)")),
    ("repair-5", _repaired(5)),
    ("repair-5", _repaired(5, "area = lab.square(x); y = area + area + 1.0")),
    ("repair-5", _repaired(5, "area = x ** 2; y = lab.reduce_sum([area, area, 1.0])")),
    ("repair-5", _repaired(5, "area = x * x; y = lab.add_n([area, area]) + 1.0")),
    ("transfer-answer", _QUIET.format("return lab.sin(lab.sin(x.numpy()))")),
    ("transfer-answer", _REPORT.format("np.sin(np.sin(x.numpy()))")),
    ("transfer-answer", _REPORT.format("lab.sin(lab.sin(lab.constant(x.numpy())))")),
    ("transfer-answer", _REPORT.format("lab.sin(lab.sin(lab.stop_gradient(x)))")),
    ("transfer-answer", _QUIET.format("with tape.stop_recording():\n        y = lab.sin(x)\n    return lab.sin(y)")),
]  # fmt: skip
"""Further right answers, in other words."""

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
    ("example-gaps", _ENTRIES.format('["multiply", "exp", "add"] if t <= 2.0 else ["multiply", "exp"]'), "SOURCE_TEXT"),
    ("example-gaps", _ENTRIES.format('["multiply", "exp", "add"] if t < 2.5 else ["multiply", "exp"]'), "SOURCE_TEXT"),
    ("example-gaps", _ENTRIES.format('["multiply", "exp"] if t < 2.0 else ["multiply", "exp", "add"]'), "OTHER"),
    ("example-gaps", _ENTRIES.format('["multiply", "exp"]'), "FORGOTTEN"),
    ("example-gaps", _ENTRIES.format('["multiply", "exp", ...]'), "BLANK"),
    ("example-gaps", _ENTRIES.format('{"multiply": 1, "exp": 2}'), "RAISES"),
    ("example-blank", _GROW.format('return ["multiply", "subtract"]'), "FORGOTTEN"),
    ("example-blank", _GROW.format('return ["multiply", "multiply", "subtract"]'), "OTHER"),
    ("example-blank", _GROW.format('return ["multiply"] * (3 if x < 3.1622 else 2 if x < 10.0 else 1)'), "FORGOTTEN"),
    ("example-blank", _GROW.format('return ["less", "multiply"] * (1 if x >= 10.0 else 2) + ["less", "subtract"]'), "EVERYTHING"),
    ("example-blank", _GROW.format('return ["multiply"] * (3 if x < 3.1622 else 2 if x < 10.0 else 1) + ["subtract"]'), "FORGOTTEN"),
    ("example-blank", _GROW.format('return [] if x >= 100.0 else ["multiply", *entries_on_your_own(x * x)]'), "FORGOTTEN"),
    ("example-blank", _GROW.format('return ["subtract"] if x >= 100.0 else [*entries_on_your_own(x * x), "multiply"]'), "ORDER"),
    ("example-blank", _GROW.format('return ["subtract"] if x >= 100.0 else ["square", *entries_on_your_own(x * x)]'), "OTHER"),
    ("example-blank", _GROW.format('return ["subtract"] if x >= 100.0 else "multiply" + entries_on_your_own(x * x)'), "RAISES"),
    ("example-blank", _GROW.format('print(["multiply", "subtract"])'), "BLANK"),
    ("example-blank", _GROW.format("return 4"), "RAISES"),
    *(row for n in range(1, 6) for row in _not_repaired(n)),
    ("repair-2", _repaired(2, "y = lab.square(lab.constant(x.numpy() ** 0.5) + 1.0)"), "STILL_NONE"),
    ("repair-3", _repaired(3, first="x = lab.Variable(v)"), "STILL_NONE"),
    ("repair-4", _repaired(4, "total.assign_add(3.0 * x); y = total * total", before="total = lab.Variable(0.0)"), "STILL_NONE"),
    ("repair-5", _repaired(5, "y = 2.0 * area + 1.0", before="area = x * x"), "STILL_NONE"),
    ("example-blank", _GROW.replace("x = x * x", "x = x.nothing").format('return ["multiply", "subtract"]'), "RAISES"),
    ("transfer-answer", _REPORT.format("lab.sin(x)"), "OTHER_FUNCTION"),
    ("transfer-answer", _REPORT.format("x"), "OTHER_FUNCTION"),
    ("transfer-answer", _REPORT.format("None"), "BLANK"),
    ("transfer-answer", _REPORT.format("str(x)"), "RAISES"),
    ("transfer-answer", _QUIET.format("tape.reset()\n    with tape.stop_recording():\n        return lab.sin(lab.sin(x))"), "OTHER"),
    ("transfer-answer", _QUIET.format("with tape.stop_recording():\n        y = lab.sin(lab.sin(x))\n    return y + 0.0 * x"), "EVERYTHING"),
    ("transfer-answer", _QUIET.format("with tape.stop_recording():\n        x.assign(lab.sin(lab.sin(x)))\n    return x.numpy()"), "OTHER"),
    ("transfer-answer", _QUIET.format("tape.__exit__(None, None, None)\n    return lab.sin(lab.sin(x))"), "OTHER"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
