"""Answers to lesson 2."""

from __future__ import annotations

_BELL = "lessons.check_slopes(lambda x: lab.exp(-x * x / 2), -3, 3, level={}, signs={!r}, steepest={})"
_WAVE = "lessons.check_slopes(lambda x: lab.sin(x) + x / 2, -3, 3, level={}, signs={}, steepest={})"
_DRAWN = """
three = lessons.deal_slopes(seed=2)
for at, curves in enumerate(three.curves):
    x, (f, slope, bend) = curves.x, curves.rows
    three.draw({}, at)
lessons.check("2.1", three)"""
_SLOPES = "\n    x = np.linspace(lo, hi, 2001)\n    d = lab.gradient(f)(lab.constant(x)).numpy()\n"
_LEVEL = "def level(f, lo, hi):" + _SLOPES + "    {}\n" + 'lessons.check("2.2", level)'
_EXTREMA = "def extrema(f, lo, hi):" + _SLOPES + "    {}\n" + 'lessons.check("2.3", extrema)'
_ORDER = 'lessons.check("2.4", {}, curves)'
_MINUTE = 'lessons.check("2.5", {})'

_CROSSED = "[a for a, u, v in zip(x, {0}, {0}[1:]) if u * v < 0]"
_FIT = "np.polyfit(x, f(x), 4)"
_ROOTS = "[float(r.real) for r in np.roots({}) if lo < r.real < hi and abs(r.imag) < 1e-3]"

SOLVED: dict[str, str] = {
    "example-gaps": _BELL.format("[0]", "+-", "[-1, 1]"),
    "example-blank": _WAVE.format("[-2.09, 2.09]", '"-+-"', "[0]"),
    "exercise-sketches": """
three.draw([0.03, 0.04, 0.07, 0.10, 0.13, 0.12, -0.05, -0.67, -2.5], at=0)       # nine heights, left to right
three.draw([3.8, 1.7, 0.2, -0.7, -1.0, -0.7, 0.2, 1.7, 3.8], at=1)
three.draw([-0.5, -0.5, -0.5, -0.1, 1.5, -0.1, -0.5, -0.5, -0.5], at=2)
lessons.check("2.1", three)""",
    "exercise-level": """
def level(f, lo, hi):
    x = np.linspace(lo, hi, 2001)
    slopes = lab.gradient(f)(lab.constant(x)).numpy()          # the slope at every x
    size = abs(slopes)                                         # comes down to 0 at a crossing and at a touch
    lowest = (size[1:-1] <= size[:-2]) & (size[1:-1] < size[2:]) & (size[1:-1] < 0.01 * size.max())
    return list(x[1:-1][lowest])

lessons.check("2.2", level)""",
    "exercise-extrema": """
def extrema(f, lo, hi):
    slope = lab.gradient(f)
    return [a for a in level(f, lo, hi) if float(slope(a - 0.1)) * float(slope(a + 0.1)) < 0]

lessons.check("2.3", extrema)""",
    "exercise-order": _ORDER.format('"CAB"'),
    "transfer-answer": _MINUTE.format("40"),
}

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _BELL.format("(0.0,)", "+ -", "[1, -1]")),
    ("example-gaps", _BELL.format("np.array([0.01])", "+−", "np.array([-1, 1])")),
    ("example-gaps", _BELL.format("[lab.constant(0.0)]", "+-", "(-0.98, 1.03)")),
    ("example-blank", _WAVE.format("[2 * np.pi / 3, -2 * np.pi / 3]", '"- + -"', "[0.0]")),
    ("example-blank", _WAVE.format("(-2.1, 2.1)", '"−+−"', "(0,)")),
    ("example-blank", _WAVE.format("np.array([-1, 1]) * np.arccos(-0.5)", '"-+-"', "np.zeros(1)")),
    ("exercise-sketches", _DRAWN.format("slope")),
    ("exercise-sketches", _DRAWN.format("0.6 * slope")),
    ("exercise-sketches", _DRAWN.format("1.4 * slope + 0.02 * np.ptp(slope) * np.sin(5 * x)")),
    ("exercise-sketches", _DRAWN.format("slope[::15]")),
    ("exercise-sketches", _DRAWN.format("lambda t: np.interp(t, x, slope)")),
    ("exercise-level", _LEVEL.format(f"return np.roots(np.polyder({_FIT})).real")),
    ("exercise-level", _LEVEL.format(f"return set(np.roots(np.polyder({_FIT})).real.round(2))")),
    ("exercise-level", _LEVEL.format(f"return (r for r in np.roots(np.polyder({_FIT})).real)")),
    ("exercise-level", 'lessons.check("2.2", lambda f, lo, hi: lab.constant([f.a, f.b]))'),
    ("exercise-extrema", _EXTREMA.format(f"return {_CROSSED.format('d')}")),
    ("exercise-extrema", _EXTREMA.format("return x[1:][d[1:] * d[:-1] < 0]")),
    ("exercise-extrema", _EXTREMA.format("v = f(x); return [x[1:-1][np.diff(np.sign(np.diff(v))) != 0][0]]")),
    ("exercise-extrema", 'lessons.check("2.3", lambda f, lo, hi: (f.b,))'),
    ("exercise-order", _ORDER.format('"cab"')),
    ("exercise-order", _ORDER.format('["C", "A", "B"]')),
    ("exercise-order", _ORDER.format('"C, A, B"')),
    ("exercise-order", _ORDER.format("curves.letters")),
    ("transfer-answer", _MINUTE.format("40.0")),
    ("transfer-answer", "minutes = [35, 40, 45]\n" + _MINUTE.format("minutes[1]")),
    ("transfer-answer", _MINUTE.format("lab.constant(40)")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _BELL.format("[...]", "+-", "[..., 1]"), "BLANK"),
    ("example-gaps", _BELL.format("[-1, 1]", "+-", "[-1, 1]"), "STEEPEST"),
    ("example-gaps", _BELL.format("[0]", "-+", "[-1, 1]"), "FLIPPED_SLOPE"),
    ("example-gaps", _BELL.format("[0]", "++", "[-1, 1]"), "ABSOLUTE"),
    ("example-gaps", _BELL.format("[0]", "+", "[-1, 1]"), "COPIED_F"),
    ("example-gaps", _BELL.format("[0]", "+-+", "[-1, 1]"), "SECOND_FOR_FIRST"),
    ("example-gaps", _BELL.format("[0]", "+-", "[0]"), "COPIED_F"),
    ("example-gaps", _BELL.format("[0]", "+-", "[1]"), "OTHER"),
    ("example-gaps", _BELL.format("[]", "+-", "[-1, 1]"), "OTHER"),
    ("example-gaps", _BELL.format("[0]", "up, down", "[-1, 1]"), "RAISES"),
    ("example-gaps", _BELL.format("0", "+-", "[-1, 1]"), "RAISES"),
    ("example-gaps", _BELL.format("[0]", "--+", "[-1, 1]"), "OTHER"),
    ("example-blank", _WAVE.format("[-2.09, 2.09]", "...", "[0]"), "BLANK"),
    ("example-blank", _WAVE.format("[0]", '"-+"', "[0]"), "ZEROS_OF_F"),
    ("example-blank", _WAVE.format("[-2.09, 2.09]", '"+-+"', "[0]"), "FLIPPED_SLOPE"),
    ("example-blank", _WAVE.format("[-2.09, 2.09]", '"+++"', "[0]"), "ABSOLUTE"),
    ("example-blank", _WAVE.format("[-2.09, 2.09]", '"-+"', "[0]"), "COPIED_F"),
    ("example-blank", _WAVE.format("[-2.09, 2.09]", '"-+-"', "[-2.09, 2.09]"), "COPIED_F"),
    ("example-blank", _WAVE.format("[2.09]", '"-+-"', "[0]"), "OTHER"),
    ("example-blank", _WAVE.format('["a"]', '"-+-"', "[0]"), "RAISES"),
    ("exercise-sketches", 'lessons.check("2.1", lessons.deal_slopes(seed=2))', "BLANK"),
    ("exercise-sketches", 'lessons.check("2.1", [1, 2, 3])', "RAISES"),
    ("exercise-sketches", _DRAWN.format("f"), "COPIED_F"),
    ("exercise-sketches", _DRAWN.format("f + 0.2"), "COPIED_F"),
    ("exercise-sketches", _DRAWN.format("-slope"), "FLIPPED_SLOPE"),
    ("exercise-sketches", _DRAWN.format("abs(slope)"), "ABSOLUTE"),
    ("exercise-sketches", _DRAWN.format("slope + 0.3 * np.ptp(slope)"), "SHIFTED_UP"),
    ("exercise-sketches", _DRAWN.format("0.7 * bend"), "SECOND_FOR_FIRST"),
    ("exercise-sketches", _DRAWN.format("np.cumsum(f) * (x[1] - x[0])"), "AREA"),
    ("exercise-sketches", _DRAWN.format("0.8 * np.sign(slope)"), "SIGNS_ONLY"),
    ("exercise-sketches", _DRAWN.format("slope if at < 2 else -slope"), "FLIPPED_SLOPE"),
    ("exercise-sketches", _DRAWN.format("0.0"), "OTHER"),
    ("exercise-sketches", _DRAWN.format("np.sin(9 * x)"), "OTHER"),
    ("exercise-sketches", _DRAWN.format("slope + 0.3 * np.ptp(slope) * np.sin(6 * x)"), "OTHER"),
    ("exercise-sketches", _DRAWN.format("np.where(x < 0, slope, np.nan)"), "BLANK"),
    ("exercise-level", _LEVEL.format("return ..."), "BLANK"),
    ("exercise-level", _LEVEL.format(f"return {_CROSSED.format('d')}"), "MISSED_TOUCH"),
    ("exercise-level", _LEVEL.format(f"v = f(x); return {_CROSSED.format('v')}"), "ZEROS_OF_F"),
    ("exercise-level", _LEVEL.format(f"b = np.gradient(d, x); return {_CROSSED.format('b')}"), "STEEPEST"),
    ("exercise-level", _LEVEL.format(f"return {_ROOTS.format(f'np.polyder({_FIT}, 2)')}"), "STEEPEST"),
    ("exercise-level", _LEVEL.format(f"return {_ROOTS.format(_FIT)}"), "ZEROS_OF_F"),
    ("exercise-level", _LEVEL.format("return x[abs(d) < 0.002 * abs(d).max()]"), "OTHER"),
    ("exercise-level", _LEVEL.format("return []"), "OTHER"),
    ("exercise-level", _LEVEL.format("return [lo, hi]"), "OTHER"),
    ("exercise-level", _LEVEL.format("return [f.a]"), "OTHER"),
    ("exercise-level", _LEVEL.format("return d"), "RAISES"),
    ("exercise-level", _LEVEL.format("return 0.0"), "RAISES"),
    ("exercise-level", _LEVEL.format("return ['a', 'b']"), "RAISES"),
    ("exercise-level", _LEVEL.format("print(x)"), "BLANK"),
    ("exercise-level", 'lessons.check("2.2", lambda f: [0, 3])', "RAISES"),
    ("exercise-extrema", _EXTREMA.format("return ..."), "BLANK"),
    ("exercise-extrema", _EXTREMA.format("return level(f, lo, hi)"), "ZERO_IS_EXTREMUM"),
    ("exercise-extrema", _EXTREMA.format(f"return np.roots(np.polyder({_FIT})).real"), "ZERO_IS_EXTREMUM"),
    ("exercise-extrema", _EXTREMA.format(f"v = f(x); return {_CROSSED.format('v')}"), "ZEROS_OF_F"),
    ("exercise-extrema", _EXTREMA.format(f"b = np.gradient(d, x); return {_CROSSED.format('b')}"), "STEEPEST"),
    ("exercise-extrema", _EXTREMA.format("return [2 * f.b / 3 + f.a / 3]"), "STEEPEST"),
    ("exercise-extrema", _EXTREMA.format("return [lo, f.b, hi]"), "OTHER"),
    ("exercise-extrema", _EXTREMA.format("return [f.a]"), "OTHER"),
    ("exercise-extrema", _EXTREMA.format("return []"), "OTHER"),
    ("exercise-extrema", _EXTREMA.format("return [float('nan')]"), "RAISES"),
    ("exercise-extrema", _EXTREMA.format("return f.b"), "RAISES"),
    ("exercise-extrema", _EXTREMA.format("raise ValueError"), "RAISES"),
    ("exercise-order", _ORDER.format("None"), "BLANK"),
    ("exercise-order", _ORDER.format('"BAC"'), "AREA"),
    ("exercise-order", _ORDER.format('"CBA"'), "SECOND_FOR_FIRST"),
    ("exercise-order", _ORDER.format('"ABC"'), "OTHER"),
    ("exercise-order", _ORDER.format('"BCA"'), "OTHER"),
    ("exercise-order", _ORDER.format('"ACB"'), "OTHER"),
    ("exercise-order", _ORDER.format('"AB"'), "RAISES"),
    ("exercise-order", _ORDER.format('"ABD"'), "RAISES"),
    ("exercise-order", _ORDER.format("7"), "RAISES"),
    ("exercise-order", _ORDER.format('["A", "A", "B"]'), "RAISES"),
    ("exercise-order", 'lessons.check("2.4", "CAB", "curves")', "RAISES"),
    ("transfer-answer", _MINUTE.format("..."), "BLANK"),
    ("transfer-answer", _MINUTE.format("10"), "STEEPEST"),
    ("transfer-answer", "minutes = [0, 5, 10]\n" + _MINUTE.format("minutes[2]"), "STEEPEST"),
    ("transfer-answer", _MINUTE.format("20"), "ZERO_IS_EXTREMUM"),
    ("transfer-answer", _MINUTE.format("0"), "ZERO_IS_EXTREMUM"),
    ("transfer-answer", _MINUTE.format("50"), "FLIPPED_SLOPE"),
    ("transfer-answer", _MINUTE.format("60"), "OTHER"),
    ("transfer-answer", _MINUTE.format("30"), "OTHER"),
    ("transfer-answer", _MINUTE.format("-40"), "OTHER"),
    ("transfer-answer", _MINUTE.format('"40"'), "RAISES"),
    ("transfer-answer", _MINUTE.format("[20, 40]"), "RAISES"),
    ("transfer-answer", _MINUTE.format("float('inf')"), "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
