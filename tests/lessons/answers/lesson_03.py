"""Answers to lesson 3."""

from __future__ import annotations

_CENTRAL = "lessons.check_central(lambda f, x, h: {})"
_SECOND = "lessons.check_second_difference(lambda f, x, h: {})"
_STEP = 'lessons.check("3.2", lambda f, x, dtype, central: {})'
_TAPE = "float(lab.gradient(f)(lab.constant(x, dtype=lab.float64)))"
_ORDER = 'lessons.check("3.3", {}, five)'
_TIME = 'lessons.check("3.4", {})'

SOLVED: dict[str, str] = {
    "example-gaps": """
def central_with_gaps(f, x, h):
    right, left = f(x + h), f(x - h)
    difference = right - left
    return difference / (2 * h)
lessons.check_central(central_with_gaps)""",
    "example-blank": _SECOND.format("(f(x + h) - 2 * f(x) + f(x - h)) / h ** 2"),
    "exercise-central": _CENTRAL.format("(f(x + h) - f(x - h)) / (2 * h)"),
    "exercise-step": _STEP.format("np.finfo(dtype).eps ** (1 / 3 if central else 1 / 2)"),
    "exercise-order": _ORDER.format('"aecbd"'),
    "transfer-answer": _TIME.format("6"),
}

_WITH_GAPS = """
def central_with_gaps(f, x, h):
    right, left = f(x + h), {left}
    difference = right - left
    return difference / {run}
lessons.check_central(central_with_gaps)"""

RIGHT: list[tuple[str, str]] = [
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / 2 / h")),
    ("exercise-central", _CENTRAL.format("((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2")),
    ("exercise-central", _CENTRAL.format("lab.constant((f(x - h) - f(x + h)) / (-2 * h), dtype=lab.float64)")),
    ("exercise-central", _CENTRAL.format("np.float64(f(x + h) - f(x - h)) / (h + h)")),
    ("example-blank", _SECOND.format("((f(x + h) - f(x)) / h - (f(x) - f(x - h)) / h) / h")),
    ("example-blank", _SECOND.format("(f(x - h) + f(x + h) - f(x) - f(x)) / (h * h)")),
    ("exercise-step", _STEP.format("{'float64': (1e-8, 1e-5), 'float32': (3e-4, 5e-3)}[dtype][central]")),
    ("exercise-step", _STEP.format("(6e-6 if central else 2e-8) if dtype == 'float64' else 3e-3 if central else 2e-4")),
    ("exercise-step", _STEP.format("lab.constant(np.finfo(dtype).eps ** (1 / (2 + central)), dtype=lab.float64)")),
    ("exercise-order", _ORDER.format("['a', 'e', 'c', 'b', 'd']")),
    ("exercise-order", _ORDER.format("'A E C B D'")),
    ("exercise-order", _ORDER.format("'a < e < c < b < d'")),
    ("transfer-answer", _TIME.format("2 * 10 ** 0.5")),
    ("transfer-answer", _TIME.format("5")),
    ("transfer-answer", _TIME.format("lab.constant(8.0)")),
    ("example-gaps", _WITH_GAPS.format(left="f(x - h)", run="(h + h)")),
    ("example-gaps", _WITH_GAPS.format(left="f(-h + x)", run="((x + h) - (x - h))")),
    ("example-gaps", _WITH_GAPS.format(left="1.0 * f(x - h)", run="h / 2")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x)) / h"), "ONE_SIDED"),
    ("exercise-central", _CENTRAL.format("(f(x) - f(x - h)) / h"), "BACKWARD"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / h"), "HALF_FORGOTTEN"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x + h)) / (2 * h)"), "SAME_POINT"),
    ("exercise-central", _CENTRAL.format("(f(x - h) - f(x + h)) / (2 * h)"), "FLIPPED"),
    ("exercise-central", _CENTRAL.format("f(x + h) - f(x - h)"), "CHANGE"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / 2 * h"), "TIMES_H"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / (2 * h) / 2"), "DIVIDED_TWICE"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / (2 * h * h)"), "DIVIDED_TWICE"),
    ("exercise-central", _CENTRAL.format("(f(x + 1e-4) - f(x - 1e-4)) / 2e-4"), "H_IGNORED"),
    ("exercise-central", _CENTRAL.format(_TAPE), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-central", _CENTRAL.format("f(x)"), "VALUE"),
    ("exercise-central", _CENTRAL.format("f(x + h) / (2 * h)"), "OTHER"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x - h)) / (2 * h) + 1"), "OTHER"),
    ("exercise-central", _CENTRAL.format("'slope'"), "RAISES"),
    ("exercise-central", _CENTRAL.format("f(x, h)"), "RAISES"),
    ("exercise-central", _CENTRAL.format("None"), "BLANK"),
    ("exercise-central", _CENTRAL.format("(f(x + h) - f(x)) / (2 * h)"), "DIVIDED_TWICE"),
    ("example-gaps", _CENTRAL.format("(f(x + h) - f(x - h)) / h"), "HALF_FORGOTTEN"),
    ("example-gaps", _CENTRAL.format("(f(x + h) - ...) / (2 * h)"), "BLANK"),
    ("example-blank", _SECOND.format("(f(x + h) - 2 * f(x) + f(x - h)) / h"), "DIVIDED_ONCE"),
    ("example-blank", _SECOND.format("(f(x + h) - f(x) + f(x - h)) / h ** 2"), "MIDDLE_ONCE"),
    ("example-blank", _SECOND.format("(f(x + h) - f(x - h)) / (2 * h)"), "FIRST_FOR_SECOND"),
    ("example-blank", _SECOND.format("(2 * f(x) - f(x + h) - f(x - h)) / h ** 2"), "FLIPPED"),
    ("example-blank", _SECOND.format("(f(x + h) - 2 * f(x) + f(x - h)) / (2 * h) ** 2"), "DIVIDED_TWICE"),
    ("example-blank", _SECOND.format("f(x + h) - 2 * f(x) + f(x - h)"), "CHANGE"),
    ("example-blank", _SECOND.format("(f(x + 2 * h) - 2 * f(x + h) + f(x)) / h ** 2"), "OTHER"),
    ("example-blank", _SECOND.format("1 / 0"), "RAISES"),
    ("exercise-step", _STEP.format("1e-15"), "SMALLER_IS_BETTER"),
    ("exercise-step", _STEP.format("1e-300"), "SMALLER_IS_BETTER"),
    ("exercise-step", _STEP.format("np.finfo(dtype).eps"), "SMALLER_IS_BETTER"),
    ("exercise-step", _STEP.format("0.5"), "LARGER_IS_SAFER"),
    ("exercise-step", _STEP.format("6e-6 if central else 2e-8"), "DTYPE_IGNORED"),
    ("exercise-step", _STEP.format("np.finfo(dtype).eps ** 0.5"), "FORMULA_IGNORED"),
    ("exercise-step", _STEP.format("np.finfo(dtype).eps ** (1 / 3)"), "FORMULA_IGNORED"),
    ("exercise-step", _STEP.format("np.finfo(dtype).eps ** (1 / 2 if central else 1 / 3)"), "OTHER"),
    ("exercise-step", _STEP.format("-1e-8"), "OTHER"),
    ("exercise-step", _STEP.format("float('nan')"), "OTHER"),
    ("exercise-step", _STEP.format("'small'"), "RAISES"),
    ("exercise-order", _ORDER.format('"abced"'), "SMALLER_IS_BETTER"),
    ("exercise-order", _ORDER.format('"adecb"'), "LARGER_IS_SAFER"),
    ("exercise-order", _ORDER.format('"dbcea"'), "WORST_FIRST"),
    ("exercise-order", _ORDER.format('"acebd"'), "ONE_SIDED"),
    ("exercise-order", _ORDER.format('"eacbd"'), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-order", _ORDER.format('"aedbc"'), "OTHER"),
    ("exercise-order", _ORDER.format('"aecb"'), "RAISES"),
    ("exercise-order", _ORDER.format("5"), "RAISES"),
    ("exercise-order", _ORDER.format('["a", ...]'), "RAISES"),
    ("transfer-answer", _TIME.format("1"), "SMALLER_IS_BETTER"),
    ("transfer-answer", _TIME.format("0.01"), "SMALLER_IS_BETTER"),
    ("transfer-answer", _TIME.format("60"), "LARGER_IS_SAFER"),
    ("transfer-answer", _TIME.format("1e9"), "LARGER_IS_SAFER"),
    ("transfer-answer", _TIME.format("0"), "OTHER"),
    ("transfer-answer", _TIME.format("-6"), "OTHER"),
    ("transfer-answer", _TIME.format("float('nan')"), "OTHER"),
    ("transfer-answer", _TIME.format("'six'"), "RAISES"),
    ("transfer-answer", _TIME.format("[6, 7]"), "RAISES"),
    ("example-gaps", _WITH_GAPS.format(left="f(x)", run="h"), "ONE_SIDED"),
    ("example-gaps", _WITH_GAPS.format(left="f(x)", run="(2 * h)"), "DIVIDED_TWICE"),
    ("example-gaps", _WITH_GAPS.format(left="f(h - x)", run="(2 * h)"), "OTHER"),
    ("example-gaps", _WITH_GAPS.format(left="x - h", run="(2 * h)"), "OTHER"),
    ("example-gaps", _WITH_GAPS.format(left="f(x) - h", run="(2 * h)"), "OTHER"),
    ("example-gaps", _WITH_GAPS.format(left="f(x - h)", run="2 * h"), "TIMES_H"),
    ("example-gaps", _WITH_GAPS.format(left="f(x - h)", run="(h * h)"), "OTHER"),
    ("example-gaps", _WITH_GAPS.format(left="f(x - 2 * h)", run="(3 * h)"), "OTHER"),
    ("example-gaps", _WITH_GAPS.format(left="f(x - h)", run="f"), "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
