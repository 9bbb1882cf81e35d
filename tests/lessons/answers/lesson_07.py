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
]  # fmt: skip
"""Cell, what is typed, and the code."""
