"""Answers to lesson 7."""

from __future__ import annotations

SOLVED: dict[str, str] = {
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
}

_SLOPES = "lessons.check_gradients(lambda x, y, z: {}, lambda x, y, z: (x + y) * lab.maximum(x, z))"
_EXP = "import math\nlessons.check_gradients(lambda x, y: {}, lambda x, y: x * y - lab.exp(x))"

_DIFFERENCE = "lessons.check_gradients(lambda u, v: {}, lambda u, v: (u - v) * u)"
_SECONDS = 'lessons.check("7.2", lambda grind, brew, steam, drinks: {})'
_TOLD = """
told = {{name: fact[1] for name, fact in puzzle._facts().items()}}
lessons.check("7.1", {}, puzzle)"""
_BARISTA = "{'grind': drinks, 'brew': drinks * (brew >= steam), 'steam': drinks * (brew < steam), 'drinks': grind + max(brew, steam)}"

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _EXP.format("{'x': y - math.exp(x), 'y': x}")),
    ("example-gaps", "import numpy as np\n" + _EXP.format("dict(y=lab.constant(x), x=np.float64(y) - np.exp(x))")),
    ("example-gaps", """
def slopes_gaps(x, y):
    with lab.GradientTape() as tape:
        point = {"x": lab.Variable(x, dtype=lab.float64), "y": lab.Variable(y, dtype=lab.float64)}
        h = point["x"] * point["y"] - lab.exp(point["x"])
    return tape.gradient(h, point)
lessons.check_gradients(slopes_gaps, lambda x, y: x * y - lab.exp(x))"""),
    ("example-blank", _DIFFERENCE.format("{'u': u + (u - v), 'v': 0 - u}")),
    ("example-blank", _DIFFERENCE.format("dict(zip('uv', (2 * u - v, -u)))")),
    ("example-blank", _DIFFERENCE.format("{'u': [2 * u - v], 'v': lab.constant(-u)}")),
    ("puzzle-answers", _TOLD.format("told")),
    ("puzzle-answers", _TOLD.format("{name: lab.constant(g) for name, g in told.items()}")),
    ("puzzle-answers", _TOLD.format("dict(reversed([(name, int(g)) for name, g in told.items()]))")),
    ("transfer-answer", _SECONDS.format(_BARISTA)),
    ("transfer-answer", _SECONDS.format(
        "{'grind': drinks, 'brew': drinks if brew > steam else 0, 'steam': 0 if brew > steam else drinks,"
        " 'drinks': (grind + brew) if brew > steam else grind + steam}")),
    ("transfer-answer", """
def seconds(*numbers):
    order = lambda g, b, s, d: (g + max(b, s)) * d
    near = lambda k, h: [n + h * (j == k) for j, n in enumerate(numbers)]
    return {name: (order(*near(k, 1e-5)) - order(*near(k, -1e-5))) / 2e-5
            for k, name in enumerate(("grind", "brew", "steam", "drinks"))}
lessons.check("7.2", seconds)"""),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", _SLOPES.format("{'x': max(x, z), 'y': max(x, z), 'z': (x + y) * (x < z)}"), "OVERWRITE"),
    ("example-full", _SLOPES.format(
        "{'x': x + y + max(x, z) * (x >= z), 'y': x + y, 'z': max(x, z) * (x < z)}"), "OWN_VALUE"),
    ("example-full", _SLOPES.format(
        "{'x': max(x, z) + (x + y) * (x < z), 'y': max(x, z), 'z': (x + y) * (x >= z)}"), "MAX_LOSER"),
    ("example-full", _SLOPES.format("{'x': max(x, z) + x + y, 'y': max(x, z), 'z': x + y}"), "MAX_SHARES"),
    ("example-full", _SLOPES.format("{'x': 1.0 + (x >= z), 'y': 1.0, 'z': 0.0 + (x < z)}"), "LOCAL_ONLY"),
    ("example-full", _SLOPES.format("{'x': 0, 'y': 0, 'z': 0}"), "SEED"),
    ("example-full", _SLOPES.format("{'x': x, 'y': y, 'z': z}"), "VALUE"),
    ("example-full", _SLOPES.format(
        "{'x': 2 * (max(x, z) + (x + y) * (x >= z)), 'y': 2 * max(x, z), 'z': 2 * (x + y) * (x < z)}"), "STALE"),
    ("example-full", _SLOPES.format("{'x': 1.5, 'y': 2.5, 'z': 3.5}"), "OTHER"),
    ("example-full", _SLOPES.format("[1, 2, 3]"), "RAISES"),
    ("example-full", _SLOPES.format("{'x': 1.5, 'y': ..., 'z': ...}"), "BLANK"),
    ("example-gaps", _EXP.format("{'x': y - x, 'y': x}"), "EXP_INPUT"),
    ("example-gaps", _EXP.format("{'x': y + math.exp(x), 'y': x}"), "MINUS_LOST"),
    ("example-gaps", _EXP.format("{'x': y, 'y': x}"), "OVERWRITE"),
    ("example-gaps", _EXP.format("{'x': math.exp(x) - y, 'y': -x}"), "SIGN"),
    ("example-gaps", _EXP.format("{'x': y - math.exp(y), 'y': x}"), "OTHER"),
    ("example-gaps", _EXP.format("{'x': y - math.exp(x), 'y': x - 1}"), "OTHER"),
    ("example-gaps", _EXP.format("{'x': y - x * math.exp(x - 1), 'y': x}"), "EXP_AS_POWER"),
    ("example-gaps", _EXP.format("{'x': x - math.exp(x), 'y': y}"), "OWN_VALUE"),
    ("example-gaps", _EXP.format("{'x': y - math.exp(x)}"), "BLANK"),
    ("example-gaps", _EXP.format("print({'x': y - math.exp(x), 'y': x})"), "BLANK"),
    ("example-gaps", _EXP.format("{'x': -math.exp(x), 'y': x}"), "OVERWRITE"),
    ("example-blank", _DIFFERENCE.format("{'u': 2 * u - v, 'v': u}"), "MINUS_LOST"),
    ("example-blank", _DIFFERENCE.format("{'u': u - v, 'v': -u}"), "OVERWRITE"),
    ("example-blank", _DIFFERENCE.format("{'u': u, 'v': -u}"), "OVERWRITE"),
    ("example-blank", _DIFFERENCE.format("{'u': 2 * u - v + 1, 'v': -u}"), "OTHER"),
    ("example-blank", _DIFFERENCE.format("{'u': -u, 'v': 2 * u - v}"), "OTHER"),
    ("example-blank", _DIFFERENCE.format("{'u': (u - v) * u, 'v': (u - v) * u}"), "OTHER"),
    ("example-blank", _DIFFERENCE.format("{'u': 1.0, 'v': -1.0}"), "LOCAL_ONLY"),
    ("example-blank", _DIFFERENCE.format("{'u': '2u - v', 'v': '-u'}"), "RAISES"),
    ("example-blank", _DIFFERENCE.format("{'U': 2 * u - v, 'V': -u}"), "RAISES"),
    ("example-blank", _DIFFERENCE.format("(2 * u - v, -u)"), "RAISES"),
    ("example-blank", _DIFFERENCE.format("{'u': 2 * u - v, 'v': ...}"), "BLANK"),
    ("puzzle-answers", _TOLD.format("told | {'f': 0}"), "OTHER"),
    ("puzzle-answers", _TOLD.format("told | {'x': told['x'] + 1}"), "OTHER"),
    ("puzzle-answers", _TOLD.format("told | {'x': -told['x']}"), "OTHER"),
    ("puzzle-answers", _TOLD.format("{name: 1.0 for name in told}"), "PRODUCT_OF_SLOPES"),
    ("puzzle-answers", _TOLD.format("{name: puzzle._facts()[name][0] for name in told}"), "VALUE"),
    ("puzzle-answers", _TOLD.format("{name: 2 * g for name, g in told.items()}"), "STALE"),
    ("puzzle-answers", _TOLD.format("{name: f'{g}' for name, g in told.items()}"), "RAISES"),
    ("puzzle-answers", _TOLD.format("list(told.values())"), "RAISES"),
    ("puzzle-answers", _TOLD.format("told | {'z': ...}"), "BLANK"),
    ("puzzle-answers", _TOLD.format("told | {'y': float('nan')}"), "OTHER"),
    ("transfer-answer", _SECONDS.format("{'grind': 1, 'brew': brew >= steam, 'steam': brew < steam, 'drinks': 1}"), "PRODUCT_OF_SLOPES"),
    ("transfer-answer", _SECONDS.format(_BARISTA.replace(">=", "<").replace("(brew < steam), 'dr", "(brew >= steam), 'dr")), "MAX_LOSER"),
    ("transfer-answer", _SECONDS.format(_BARISTA.replace("max", "min")), "OTHER"),
    ("transfer-answer", _SECONDS.format("{'grind': drinks, 'brew': drinks, 'steam': drinks, 'drinks': grind + max(brew, steam)}"), "MAX_SHARES"),
    ("transfer-answer", _SECONDS.format("{'grind': drinks, 'brew': drinks, 'steam': drinks, 'drinks': grind + brew + steam}"), "OTHER"),
    ("transfer-answer", _SECONDS.format("{'grind': drinks, 'brew': drinks, 'steam': 0, 'drinks': grind + brew}"), "OTHER"),
    ("transfer-answer", _SECONDS.format("{'grind': drinks, 'brew': drinks / 2, 'steam': drinks / 2, 'drinks': grind + max(brew, steam)}"), "MAX_SHARES"),
    ("transfer-answer", _SECONDS.format(_BARISTA.replace("'drinks': grind + ", "'drinks': ")), "OTHER"),
    ("transfer-answer", _SECONDS.format("(grind + max(brew, steam)) * drinks"), "RAISES"),
    ("transfer-answer", _SECONDS.format("None"), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
