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
]  # fmt: skip
"""Cell, what is typed, and the code."""
