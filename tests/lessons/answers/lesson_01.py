"""Answers to lesson 1."""

from __future__ import annotations

SOLVED: dict[str, str] = {
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
}

_RATE = "lessons.check_average_rate(lambda f, a, b: {})"
_INTERVAL = "lessons.check_interval({}, f, at=1.0)"
_TABLE = "lessons.check_rate_from_table({}, [0, 2, 4, 6, 8], [0, 1, 8, 27, 64], at=6)"

_GAPS = """
def rate_with_gaps(f, a, b):
    rise = {rise}
    run = {run}
    return {rate}
lessons.check_average_rate(rate_with_gaps)"""
_AGAIN = 'lessons.check("1.3", lambda a: {})'


def _gaps(rise: str = "f(b) - f(a)", run: str = "b - a", rate: str = "rise / run") -> str:
    return _GAPS.format(rise=rise, run=run, rate=rate)


RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _gaps("f(b) - f(a)", "abs(b - a)")),
    ("example-gaps", _gaps("-f(a) + f(b)", rate="rise * run ** -1")),
    ("example-gaps", _gaps("np.subtract(f(b), f(a))", "np.float64(b) - a", "np.divide(rise, run)")),
    ("exercise-rate", _RATE.format("np.polyfit([a, b], [f(a), f(b)], 1)[0]")),
    ("exercise-rate", _RATE.format("lab.constant(f(b) - f(a), dtype=lab.float64) / lab.constant(b - a, dtype=lab.float64)")),
    ("exercise-rate", _RATE.format("[(f(b) - f(a)) / (b - a)]")),
    ("exercise-rate", _RATE.format("np.mean([(f(s + (b - a) / 9) - f(s)) / ((b - a) / 9) for s in a + (b - a) / 9 * np.arange(9)])")),
    ("exercise-rate", """
class Rate:
    def __call__(self, f, *ends):
        low, high = map(f, ends)
        return (high - low) / (ends[1] - ends[0])
lessons.check("1.1", Rate())"""),
    ("exercise-interval", _INTERVAL.format("[2, -1]")),
    ("exercise-interval", _INTERVAL.format("(0, 3 ** 0.5)")),
    ("exercise-interval", _INTERVAL.format("np.array([-2.0, 1.0])")),
    ("exercise-interval", _INTERVAL.format("(lab.constant(-2.0), lab.constant(1))")),
    ("exercise-meeting", _AGAIN.format("-a - a")),
    ("exercise-meeting", _AGAIN.format("min(np.roots([1, 0, -3 * a * a, 2 * a ** 3]).real, key=lambda r: abs(r + 2 * a))")),
    ("exercise-meeting", _AGAIN.format("lab.constant(a) * -2")),
    ("exercise-meeting", _AGAIN.format("np.array([0.0, -2.0]) @ [1, a]")),
    ("transfer-answer", _TABLE.format("(64 - 8) / (8 - 4)")),
    ("transfer-answer", _TABLE.format("(27 - 8) / 2")),
    ("transfer-answer", _TABLE.format("lab.constant(18.5)")),
    ("transfer-answer", _TABLE.format("np.gradient([0, 1, 8, 27, 64], 2)[3]")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("exercise-rate", _RATE.format("f(b) - f(a)"), "CHANGE"),
    ("exercise-rate", _RATE.format("(b - a) / (f(b) - f(a))"), "UPSIDE_DOWN"),
    ("exercise-rate", _RATE.format("(f(b) - f(a)) / (a - b)"), "FLIPPED"),
    ("exercise-rate", _RATE.format("(f(a + 1e-5) - f(a - 1e-5)) / 2e-5"), "ONE_POINT"),
    ("exercise-rate", _RATE.format("(f((a + b) / 2 + 1e-5) - f((a + b) / 2 - 1e-5)) / 2e-5"), "ONE_POINT"),
    ("exercise-rate", _RATE.format("(f(a) + f(b)) / 2"), "AVERAGE_VALUE"),
    ("exercise-rate", _RATE.format("f(b)"), "VALUE"),
    ("exercise-rate", _RATE.format("7.0"), "OTHER"),
    ("exercise-rate", _RATE.format("1 / 0"), "RAISES"),
    ("exercise-rate", _RATE.format("'ten'"), "RAISES"),
    ("exercise-interval", _INTERVAL.format("(1.0, 1.0)"), "NO_WIDTH"),
    ("exercise-interval", _INTERVAL.format("(1.0, 1.0000001)"), "NEARLY"),
    ("exercise-interval", _INTERVAL.format("(-1.0, 2.01)"), "NEARLY"),
    ("exercise-interval", _INTERVAL.format("(0.0, 2.0)"), "SYMMETRIC"),
    ("exercise-interval", _INTERVAL.format("(0.0, 3.0)"), "OTHER"),
    ("exercise-interval", _INTERVAL.format("2.0"), "RAISES"),
    ("exercise-interval", _INTERVAL.format("(0.0, ...)"), "BLANK"),
    ("exercise-meeting", "lessons.check_meeting(lambda a: a, f)", "TOUCHES_ONCE"),
    ("exercise-meeting", "lessons.check_meeting(lambda a: 2 * a, f)", "WRONG_SIDE"),
    ("exercise-meeting", "lessons.check_meeting(lambda a: 4 * a, f)", "WRONG_SIDE"),
    ("exercise-meeting", "lessons.check_meeting(lambda a: -2, f)", "OTHER"),
    ("transfer-answer", _TABLE.format("27"), "VALUE"),
    ("transfer-answer", _TABLE.format("64 / 8"), "WHOLE_TRIP"),
    ("transfer-answer", _TABLE.format("27 / 6"), "WHOLE_TRIP"),
    ("transfer-answer", _TABLE.format("27 - 8"), "CHANGE"),
    ("transfer-answer", _TABLE.format("2 / 19"), "UPSIDE_DOWN"),
    ("transfer-answer", _TABLE.format("100"), "OTHER"),
    ("example-gaps", _gaps("f(b) - a"), "OTHER"),
    ("example-gaps", _gaps("f(b) - b"), "OTHER"),
    ("example-gaps", _gaps(run="a - b"), "FLIPPED"),
    ("example-gaps", _gaps(run="b + 20"), "OTHER"),
    ("example-gaps", _gaps(run="b + a + 40"), "OTHER"),
    ("example-gaps", _gaps(run="..."), "BLANK"),
    ("example-gaps", _gaps(rate="run / rise"), "UPSIDE_DOWN"),
    ("example-gaps", _gaps(rate="rise / (f(a) ** 2 + 1)"), "OTHER"),
    ("example-gaps", _gaps(rate="rise * run"), "OTHER"),
    ("example-gaps", _gaps(rate="print(rise / run)"), "BLANK"),
    ("example-gaps", _gaps(rate="rise // run"), "OTHER"),
    ("exercise-rate", _RATE.format("abs(f(b) - f(a)) / (b - a)"), "OTHER"),
    ("exercise-rate", _RATE.format("(f(b) - f(a)) / (b + 20)"), "OTHER"),
    ("exercise-rate", _RATE.format("round((f(b) - f(a)) / (b - a))"), "OTHER"),
    ("exercise-interval", _INTERVAL.format("(-1.0, 1.0)"), "OTHER"),
    ("exercise-interval", _INTERVAL.format("(float('nan'), 2.0)"), "RAISES"),
    ("exercise-interval", _INTERVAL.format("(-float('inf'), float('inf'))"), "RAISES"),
    ("exercise-interval", _INTERVAL.format("'-1 to 2'"), "RAISES"),
    ("exercise-interval", _INTERVAL.format("(-1.0, 0.0, 2.0)"), "RAISES"),
    ("exercise-meeting", _AGAIN.format("-2 * abs(a)"), "OTHER"),
    ("exercise-meeting", _AGAIN.format("2 - 4 * a"), "OTHER"),
    ("exercise-meeting", _AGAIN.format("-2 * a ** 3"), "OTHER"),
    ("exercise-meeting", _AGAIN.format("-2 * int(a)"), "OTHER"),
    ("exercise-meeting", _AGAIN.format("-2 * a + 1e-3"), "OTHER"),
    ("exercise-meeting", _AGAIN.format("print(-2 * a)"), "BLANK"),
    ("exercise-meeting", _AGAIN.format("f'{-2 * a}'"), "RAISES"),
    ("exercise-meeting", _AGAIN.format("(a, -2 * a)"), "RAISES"),
    ("transfer-answer", _TABLE.format("9.49"), "OTHER"),
    ("transfer-answer", _TABLE.format("18.6"), "OTHER"),
    ("transfer-answer", _TABLE.format("-14"), "OTHER"),
    ("transfer-answer", _TABLE.format("'14'"), "RAISES"),
    ("transfer-answer", _TABLE.format("[9.5, 18.5]"), "RAISES"),
    ("transfer-answer", _TABLE.format("float('nan')"), "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
