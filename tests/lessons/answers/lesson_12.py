"""Answers to lesson 12."""

from __future__ import annotations

_LIMIT = 'lessons.check("12.1", lambda curvatures: {})'
_TWO = 'lessons.check("12.2", lambda a, b: {})'
_BOUND = 'lessons.check("12.3", lambda layers: {})'
_DISTANCE = 'lessons.check("12.6", lambda slope, curvature: {})'
_SHOWER = 'lessons.check("12.7", {})'
_PLAY = 'game.strokes = {}\nlessons.check("12.5", game)'
_TEN = "lessons.check_stroke(lambda y, h: {}, 10)"
_BOTH = "lessons.check_stroke(lambda x, y, h: {}, 1, 10)"
_INF = 'float("inf")'


def _recipes(burnt: str, frozen: str = "bias=0.0") -> str:
    healthy = 'dict({"step": 5.0, "bias": 0.0, "activation": lab.nn.relu}, ' + burnt + ")"
    thawed = 'dict({"step": 0.5, "bias": -2.0, "activation": lab.nn.relu}, ' + frozen + ")"
    return f'lessons.check("12.4", {healthy}, {thawed})'


SOLVED: dict[str, str] = {
    "example-gaps": """
def stroke_with_gaps(y, h):
    gradient = 10 * y
    return y - h * gradient
lessons.check_stroke(stroke_with_gaps, 10)""",
    "example-blank": _BOTH.format("(x - h * x, y - 10 * h * y)"),
    "exercise-limit": _LIMIT.format("2 / max(curvatures)"),
    "exercise-strokes": _TWO.format("(1 / a, 1 / b)"),
    "exercise-bound": _BOUND.format("0.25 ** layers"),
    "exercise-revive": """
burnt = {"step": 0.5, "bias": 0.0, "activation": lab.nn.relu}
frozen = {"step": 0.5, "bias": -2.0, "activation": lab.nn.leaky_relu}
lessons.check("12.4", burnt, frozen)""",
    "exercise-par": 'for k in game.green.curvatures:\n    game.play(1 / k)\nlessons.check("12.5", game)',
    "exercise-distance": _DISTANCE.format(f"abs(slope) / curvature if curvature > 0 else {_INF}"),
    "transfer-answer": _SHOWER.format('"b"'),
}

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _TEN.format("(1 - 10 * h) * y")),
    ("example-gaps", _TEN.format("lab.constant(y - 10 * h * y, dtype=lab.float64)")),
    ("example-gaps", _TEN.format("[y + h * -10 * y]")),
    ("example-blank", _BOTH.format("np.array([x, y]) * (1 - h * np.array([1, 10]))")),
    ("example-blank", _BOTH.format("[(1 - h) * x, (1 - 10 * h) * y]")),
    ("example-blank", _BOTH.format("lab.constant([x - h * x, y - h * 10 * y], dtype=lab.float64)")),
    ("exercise-limit", _LIMIT.format("min(2 / k for k in curvatures)")),
    ("exercise-limit", _LIMIT.format("lab.constant(2 / np.max(curvatures), dtype=lab.float64)")),
    ("exercise-limit", _LIMIT.format("2 / sorted(curvatures)[-1]")),
    ("exercise-strokes", _TWO.format("[1 / b, 1 / a]")),
    ("exercise-strokes", _TWO.format("(a ** -1, b ** -1)")),
    ("exercise-strokes", _TWO.format("np.array([1 / a, 1 / b])")),
    ("exercise-bound", _BOUND.format("1 / 4 ** layers")),
    ("exercise-bound", _BOUND.format("np.prod([0.25] * layers)")),
    ("exercise-bound", _BOUND.format("2.0 ** (-2 * layers)")),
    ("exercise-revive", _recipes("step=0.3", "bias=0.0")),
    ("exercise-revive", _recipes("step=lambda k: 0.5", "activation=lab.nn.elu")),
    ("exercise-revive", _recipes("step=0.5", "bias=0.1")),
    ("exercise-par", _PLAY.format("[1 / game.green.curvatures[1], 1 / game.green.curvatures[0]]")),
    ("exercise-par", "for k in reversed(game.green.curvatures):\n    game.play(1 / k)\nlessons.check(\"12.5\", game)"),
    ("exercise-par", _PLAY.format("[1 / k for k in game.green.curvatures]") + "\nlessons.check(\"12.5\", game)"),
    ("exercise-distance", _DISTANCE.format("np.inf if curvature <= 0 else abs(slope / curvature)")),
    ("exercise-distance", _DISTANCE.format(f"{_INF} if curvature < 0 else np.abs(slope) / curvature")),
    ("exercise-distance", _DISTANCE.format(f"max(slope, -slope) / curvature if curvature > 0 else {_INF}")),
    ("transfer-answer", _SHOWER.format('"B"')),
    ("transfer-answer", _SHOWER.format('" b "')),
    ("transfer-answer", _SHOWER.format("'b\\n'")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _TEN.format("y + h * 10 * y"), "UPHILL"),
    ("example-gaps", _TEN.format("y - h * y"), "GRADIENT_IS_DISTANCE"),
    ("example-gaps", _TEN.format("y - 10 * y"), "OTHER"),
    ("example-gaps", _TEN.format("h * 10 * y"), "OTHER"),
    ("example-gaps", _TEN.format("(y, h)"), "RAISES"),
    ("example-gaps", _TEN.format("'down'"), "RAISES"),
    ("example-gaps", _TEN.format("y - h * z"), "RAISES"),
    ("example-gaps", _TEN.format("y - ..."), "BLANK"),
    ("example-blank", _BOTH.format("(x + h * x, y + 10 * h * y)"), "UPHILL"),
    ("example-blank", _BOTH.format("(x - h * x, y - h * y)"), "GRADIENT_IS_DISTANCE"),
    ("example-blank", _BOTH.format("(x - 10 * h * x, y - h * y)"), "OTHER"),
    ("example-blank", _BOTH.format("(x - h * x, y)"), "OTHER"),
    ("example-blank", _BOTH.format("x - h * x"), "RAISES"),
    ("example-blank", _BOTH.format("(x, ...)"), "BLANK"),
    ("example-blank", _BOTH.format("None"), "BLANK"),
    ("example-blank", _BOTH.format("{'x': x, 'y': y}"), "RAISES"),
    ("exercise-limit", _LIMIT.format("1 / max(curvatures)"), "HALF_THE_LIMIT"),
    ("exercise-limit", _LIMIT.format("2 / min(curvatures)"), "SLOWEST_RULES"),
    ("exercise-limit", _LIMIT.format("1 / min(curvatures)"), "SLOWEST_RULES"),
    ("exercise-limit", _LIMIT.format("2 / np.mean(curvatures)"), "MEAN_RULES"),
    ("exercise-limit", _LIMIT.format("2 / np.median(curvatures)"), "MEAN_RULES"),
    ("exercise-limit", _LIMIT.format("2 / (min(curvatures) + max(curvatures))"), "FASTEST_IS_LARGEST"),
    ("exercise-limit", _LIMIT.format("max(curvatures)"), "CURVATURE_FOR_STEP"),
    ("exercise-limit", _LIMIT.format("2 * max(curvatures)"), "CURVATURE_FOR_STEP"),
    ("exercise-limit", _LIMIT.format("-2 / max(curvatures)"), "UPHILL"),
    ("exercise-limit", _LIMIT.format("1e-6"), "SMALLER_IS_SAFER"),
    ("exercise-limit", _LIMIT.format("0.1 / max(curvatures)"), "SMALLER_IS_SAFER"),
    ("exercise-limit", _LIMIT.format("2 / max(curvatures) + 1"), "OTHER"),
    ("exercise-limit", _LIMIT.format("float('nan')"), "OTHER"),
    ("exercise-limit", _LIMIT.format("'0.2'"), "RAISES"),
    ("exercise-limit", _LIMIT.format("2 / curvatures"), "RAISES"),
    ("exercise-strokes", _TWO.format("(1 / b, 1 / b)"), "POINTS_TO_MINIMUM"),
    ("exercise-strokes", _TWO.format("(0.5, 0.5)"), "POINTS_TO_MINIMUM"),
    ("exercise-strokes", _TWO.format("(1 / min(a, b), 1 / min(a, b))"), "SLOWEST_RULES"),
    ("exercise-strokes", _TWO.format("(2 / (a + b), 2 / (a + b))"), "MEAN_RULES"),
    ("exercise-strokes", _TWO.format("(-1 / a, -1 / b)"), "UPHILL"),
    ("exercise-strokes", _TWO.format("(2 / a, 2 / b)"), "TWICE_AS_FAR"),
    ("exercise-strokes", _TWO.format("(a, b)"), "CURVATURE_FOR_STEP"),
    ("exercise-strokes", _TWO.format("(0.001, 0.002)"), "SMALLER_IS_SAFER"),
    ("exercise-strokes", _TWO.format("(1 / a, 0)"), "OTHER"),
    ("exercise-strokes", _TWO.format("(1 / a, 1 / b, 0)"), "RAISES"),
    ("exercise-strokes", _TWO.format("1 / a"), "RAISES"),
    ("exercise-strokes", _TWO.format("(1 / a, float('nan'))"), "RAISES"),
    ("exercise-strokes", _TWO.format("(1 / a, ...)"), "BLANK"),
    ("exercise-bound", _BOUND.format("0.25 * layers"), "LAYERS_ADD"),
    ("exercise-bound", _BOUND.format("0.25 / layers"), "LAYERS_ADD"),
    ("exercise-bound", _BOUND.format("0.5 ** layers"), "VALUE_FOR_SLOPE"),
    ("exercise-bound", _BOUND.format("1"), "VALUE_FOR_SLOPE"),
    ("exercise-bound", _BOUND.format("0"), "SATURATED_IS_DEAD"),
    ("exercise-bound", _BOUND.format("0 if layers > 9 else 0.25 ** layers"), "SATURATED_IS_DEAD"),
    ("exercise-bound", _BOUND.format("0.25 ** (layers + 1)"), "OTHER"),
    ("exercise-bound", _BOUND.format("-0.25 ** layers"), "OTHER"),
    ("exercise-bound", _BOUND.format("layers / 0"), "RAISES"),
    ("exercise-bound", _BOUND.format("'tiny'"), "RAISES"),
    ("exercise-revive", _recipes("bias=0.0"), "BLANK"),
    ("exercise-revive", _recipes("step=..."), "BLANK"),
    ("exercise-revive", _recipes("step=lambda k: 5.0 if k < 20 else 0.5"), "DEAD_CAN_LEARN"),
    ("exercise-revive", _recipes("step=0.5", "step=0.01"), "DEAD_CAN_LEARN"),
    ("exercise-revive", _recipes("step=1e-6"), "SMALLER_IS_SAFER"),
    ("exercise-revive", _recipes("step=-1.0"), "UPHILL"),
    ("exercise-revive", _recipes("bias=3.0"), "OTHER"),
    ("exercise-revive", _recipes("step=0.5", "bias=-1.0"), "OTHER"),
    ("exercise-revive", _recipes("step=0.5, bias=0.1"), "OTHER"),
    ("exercise-revive", _recipes("activation='leaky'"), "RAISES"),
    ("exercise-revive", _recipes("step='small'"), "RAISES"),
    ("exercise-revive", _recipes("activation=lambda x: x[0]"), "RAISES"),
    ("exercise-revive", _recipes("step=lambda k: 1 / 0"), "RAISES"),
    ("exercise-revive", 'lessons.check("12.4", 0.5, 0.0)', "RAISES"),
    ("exercise-par", _PLAY.format("[]"), "BLANK"),
    ("exercise-par", 'lessons.check("12.5", ...)', "BLANK"),
    ("exercise-par", 'lessons.check("12.5", [0.5, 0.1])', "RAISES"),
    ("exercise-par", _PLAY.format("[0.1] * 3"), "POINTS_TO_MINIMUM"),
    ("exercise-par", _PLAY.format("[0.001] * 9"), "SMALLER_IS_SAFER"),
    ("exercise-par", _PLAY.format("[-0.5, -0.1]"), "UPHILL"),
    ("exercise-par", _PLAY.format("[2 / k for k in game.green.curvatures]"), "TWICE_AS_FAR"),
    ("exercise-par", _PLAY.format("[0.01, 0.02]"), "OTHER"),
    ("exercise-par", _PLAY.format("[0.01, *(1 / k for k in game.green.curvatures)]"), "OTHER"),
    ("exercise-distance", _DISTANCE.format("abs(slope)"), "GRADIENT_IS_DISTANCE"),
    ("exercise-distance", _DISTANCE.format("slope"), "GRADIENT_IS_DISTANCE"),
    ("exercise-distance", _DISTANCE.format("abs(slope * curvature)"), "CURVATURE_FOR_STEP"),
    ("exercise-distance", _DISTANCE.format("abs(slope / curvature)"), "FLAT_IS_CONVERGED"),
    ("exercise-distance", _DISTANCE.format("abs(slope) / curvature if curvature > 0 else 0"), "FLAT_IS_CONVERGED"),
    ("exercise-distance", _DISTANCE.format("abs(slope) / curvature if curvature > 0 else 100"), "FLAT_IS_CONVERGED"),
    ("exercise-distance", _DISTANCE.format("0"), "FLAT_IS_CONVERGED"),
    ("exercise-distance", _DISTANCE.format(f"slope / curvature if curvature > 0 else {_INF}"), "OTHER"),
    ("exercise-distance", _DISTANCE.format("-slope / curvature"), "OTHER"),
    ("exercise-distance", _DISTANCE.format(_INF), "OTHER"),
    ("exercise-distance", _DISTANCE.format("'far'"), "RAISES"),
    ("transfer-answer", _SHOWER.format('"a"'), "POINTS_TO_MINIMUM"),
    ("transfer-answer", _SHOWER.format('"c"'), "CURVATURE_FOR_STEP"),
    ("transfer-answer", _SHOWER.format('"C"'), "CURVATURE_FOR_STEP"),
    ("transfer-answer", _SHOWER.format('"d"'), "SLOWEST_RULES"),
    ("transfer-answer", _SHOWER.format('"e"'), "RAISES"),
    ("transfer-answer", _SHOWER.format('"ab"'), "RAISES"),
    ("transfer-answer", _SHOWER.format("2"), "RAISES"),
    ("transfer-answer", _SHOWER.format('["b", "c"]'), "RAISES"),
    ("transfer-answer", _SHOWER.format("None"), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
