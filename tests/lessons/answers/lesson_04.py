"""Answers to lesson 4."""

from __future__ import annotations

_PAIR = 'lessons.check("4.1", lambda v, d: {})'
_CARRY = 'lessons.check_pair(lambda v, d: {}, "x*x - 1")'
_LENGTH = 'lessons.check("4.2", lambda n: {}, loop)'
_DIGITS = 'lessons.check("4.3", lambda x, n: {})'
_KIND = 'lessons.check("4.4", {})'
_DAY = 'lessons.check("4.5", {})'
_ROUNDS = """
def digits_left(x, n):
    v, d = x, 1.0
    for _ in range(n):
        v, d = 4 * v * (1 - v), 4 * d * (1 - 2 * v)
    return {}
lessons.check("4.3", digits_left)"""
_EARLY = """
def pair(v, d):
    v = 4 * v * (1 - v)
    return v, 4 * d * (1 - 2 * v)
lessons.check("4.1", pair)"""
_MEASURED = """
def pair(v, d):
    f = lambda x: 4 * x * (1 - x)
    return f(v), d * (f(v + {h}) - f({left})) / {width}
lessons.check("4.1", pair)"""


def _table(missing: str, product: str, answer: str = "seen[id(e)]", key: str = "id(e)") -> str:
    return f"""
def derivative_once(e, seen):
    if not isinstance(e, tuple):
        return 1 if e == "x" else 0
    if {key} not in seen:
        sign, a, b = e
        da, db = derivative_once(a, seen), {missing}
        seen[{key}] = (sign, da, db) if sign in "+-" else {product}
    return {answer}
lessons.check_formula(derivative_once, table=True)"""


_AGAIN, _BOTH = "derivative_once(b, seen)", '("+", ("*", da, b), ("*", a, db))'

SOLVED: dict[str, str] = {
    "example-gaps": """
def derivative_once(e, seen):
    if not isinstance(e, tuple):
        return 1 if e == "x" else 0
    if id(e) not in seen:
        sign, a, b = e
        da, db = derivative_once(a, seen), derivative_once(b, seen)
        seen[id(e)] = (sign, da, db) if sign in "+-" else ("+", ("*", da, b), ("*", a, db))
    return seen[id(e)]

lessons.check_formula(derivative_once, table=True)""",
    "example-blank": """
def carry(v, d):
    return v * v - 1, 2 * v * d

lessons.check_pair(carry, "x*x - 1")""",
    "exercise-pair": """
def pair(v, d):
    return 4 * v * (1 - v), 4 * d * (1 - 2 * v)

lessons.check("4.1", pair)""",
    "exercise-length": """
def tape_length(n):
    return 5 * n + 2          # of seed 7: two lines with 3 and 2 ops, and one op before and after the loop

lessons.check("4.2", tape_length, loop)""",
    "exercise-digits": """
def digits_left(x, n):
    v, d = x, 1.0
    for _ in range(n):
        v, d = 4 * v * (1 - v), 4 * d * (1 - 2 * v)
    return max(0, -math.log10(abs(d) * 2**-53 * x))

lessons.check("4.3", digits_left)""",
    "exercise-kind": _KIND.format('"c"'),
    "transfer-answer": _DAY.format("50"),
}

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _table("derivative_once(e[2], seen)", '("+", ("*", b, da), ("*", db, a))')),
    ("example-gaps", _table(_AGAIN, '("+", ("*", a, db), ("*", b, da))', "seen.get(id(e))")),
    ("example-gaps", _table(_AGAIN, '("+", ("*", db, a), ("*", da, b))', "dict(seen)[id(e)]")),
    ("example-blank", _CARRY.format("[v**2 - 1, d * 2 * v]")),
    ("example-blank", _CARRY.format("((v - 1) * (v + 1), d * v + v * d)")),
    ("example-blank", "import numpy as np\n" + _CARRY.format("np.array([v * v - 1, 2 * v * d])")),
    ("exercise-pair", _PAIR.format("(4 * v - 4 * v * v, d * (4 - 8 * v))")),
    ("exercise-pair", _PAIR.format("[4 * v * (1 - v), 4 * d * (1 - v) - 4 * v * d]")),
    ("exercise-pair", _EARLY.replace("    v = 4 * v * (1 - v)\n    return v,", "    return 4 * v * (1 - v),")),
    ("exercise-pair", _PAIR.format("iter((4 * v * (1 - v), 4 * (1 - 2 * v) * d))")),
    ("exercise-length", _LENGTH.format("2 + 5 * n")),
    ("exercise-length", _LENGTH.format("loop.entries(n)")),
    ("exercise-length", _LENGTH.format("float(n + n + 3 * n + 1 + 1)")),
    ("exercise-digits", _DIGITS.format("max(0, 16 - 0.3 * n)")),
    ("exercise-digits", _DIGITS.format("max(0, int(16 - n * math.log10(2)))")),
    ("exercise-digits", _ROUNDS.format("round(max(0, 15.95 - math.log10(abs(d))))")),
    ("exercise-digits", _DIGITS.format("max(0.0, -math.log10(2.0 ** (n - 53)))")),
    ("exercise-kind", _KIND.format('"C"')),
    ("exercise-kind", _KIND.format('" c "')),
    ("exercise-kind", _KIND.format("'c\\n'")),
    ("transfer-answer", _DAY.format("math.log2(0.1 / 1e-16)")),
    ("transfer-answer", _DAY.format("math.ceil(15 / math.log10(2))")),
    ("transfer-answer", _DAY.format("lab.constant(50.0)")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _table("...", _BOTH), "BLANK"),
    ("example-gaps", _table(_AGAIN, '("+", ("*", da, b), ...)'), "BLANK"),
    ("example-gaps", _table(_AGAIN, _BOTH, "..."), "BLANK"),
    ("example-gaps", _table(_AGAIN, '("*", da, db)'), "PRODUCT_OF_SLOPES"),
    ("example-gaps", _table(_AGAIN, '("*", da, b)'), "HALF_PRODUCT"),
    ("example-gaps", _table(_AGAIN, '("*", a, db)'), "HALF_PRODUCT"),
    ("example-gaps", _table(_AGAIN, _BOTH).replace("(sign, da, db)", '("+", da, db)'), "MINUS_LOST"),
    ("example-gaps", _table(_AGAIN, _BOTH).replace('1 if e == "x" else 0', "1"), "CONSTANT_MOVES"),
    ("example-gaps", _table(_AGAIN, '("-", ("*", da, b), ("*", a, db))'), "OTHER"),
    ("example-gaps", _table("derivative_once(a, seen)", _BOTH), "OTHER"),
    ("example-gaps", _table("db", _BOTH), "RAISES"),
    ("example-gaps", _table(_AGAIN, '("^", da, db)'), "RAISES"),
    ("example-gaps", _table(_AGAIN, '("*", da, b, a, db)'), "RAISES"),
    ("example-gaps", _table(_AGAIN, _BOTH, '"2x"'), "RAISES"),
    ("example-gaps", _table("derivative_once(b, {})", _BOTH).replace("(a, seen)", "(a, {})"), "TOO_LONG"),
    ("example-blank", _CARRY.format("(..., ...)"), "BLANK"),
    ("example-blank", _CARRY.format("None"), "BLANK"),
    ("example-blank", _CARRY.format("(v * v - 1, 2 * v)"), "LOCAL_ONLY"),
    ("example-blank", _CARRY.format("(v * v - 1, d + 2 * v)"), "CHAIN_ADDED"),
    ("example-blank", _CARRY.format("(v * v - 1, v * d)"), "HALF_PRODUCT"),
    ("example-blank", _CARRY.format("(v * v - 1, d * d)"), "PRODUCT_OF_SLOPES"),
    ("example-blank", _CARRY.format("(v * v - 1, 2 * (v * v - 1) * d)"), "UPDATED_TOO_EARLY"),
    ("example-blank", _CARRY.format("(v * v - 1, -2 * v * d)"), "SIGN"),
    ("example-blank", _CARRY.format("(v, 2 * v * d)"), "VALUE_LOST"),
    ("example-blank", _CARRY.format("(2 * v * d, v * v - 1)"), "OTHER"),
    ("example-blank", _CARRY.format("(v * v - 1, 2 * v * d - 1)"), "OTHER"),
    ("example-blank", _CARRY.format("2 * v * d"), "RAISES"),
    ("exercise-pair", _EARLY, "UPDATED_TOO_EARLY"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * (1 - 2 * v))"), "LOCAL_ONLY"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), d + 4 * (1 - 2 * v))"), "CHAIN_ADDED"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * d * (1 - v))"), "HALF_PRODUCT"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), -4 * v * d)"), "HALF_PRODUCT"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * d * -d)"), "PRODUCT_OF_SLOPES"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * d * (1 - v) + 4 * v * d)"), "MINUS_LOST"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * d * (2 * v - 1))"), "SIGN"),
    ("exercise-pair", _PAIR.format("(v, 4 * d * (1 - 2 * v))"), "VALUE_LOST"),
    ("exercise-pair", _MEASURED.format(h="1e-6", left="v", width="1e-6"), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-pair", _MEASURED.format(h="1e-6", left="v - 1e-6", width="2e-6"), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-pair", _MEASURED.format(h="1e-4", left="v", width="1e-4"), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-pair", _PAIR.format("(4 * d * (1 - 2 * v), 4 * v * (1 - v))"), "OTHER"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), 4 * d * (1 - 2 * v) + 1)"), "OTHER"),
    ("exercise-pair", _PAIR.format("(v * (1 - v), d * (1 - 2 * v))"), "OTHER"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), float('nan'))"), "OTHER"),
    ("exercise-pair", _PAIR.format("(lab.constant(4 * v * (1 - v)), lab.constant(4 * d * (1 - 2 * v)))"), "OTHER"),
    ("exercise-pair", _PAIR.format("4 * v * (1 - v)"), "RAISES"),
    ("exercise-pair", _PAIR.format("(v, d, 1)"), "RAISES"),
    ("exercise-pair", _PAIR.format("('v', 'd')"), "RAISES"),
    ("exercise-pair", _PAIR.format("(4 * v * (1 - v), ...)"), "BLANK"),
    ("exercise-length", _LENGTH.format("7 * 2**n"), "FORMULA_IS_TAPE"),
    ("exercise-length", _LENGTH.format("12 * 2**n - 5"), "FORMULA_IS_TAPE"),
    ("exercise-length", _LENGTH.format("3**n"), "FORMULA_IS_TAPE"),
    ("exercise-length", _LENGTH.format("n"), "ONE_ENTRY_A_LINE"),
    ("exercise-length", _LENGTH.format("2 * n"), "ONE_ENTRY_A_LINE"),
    ("exercise-length", _LENGTH.format("3 * n + 2"), "ONE_ENTRY_A_LINE"),
    ("exercise-length", _LENGTH.format("2 * n + 2"), "ONE_ENTRY_A_LINE"),
    ("exercise-length", _LENGTH.format("5 * n"), "LOOP_ONLY"),
    ("exercise-length", _LENGTH.format("6 * n + 2"), "EVERYTHING"),
    ("exercise-length", _LENGTH.format("6 * n"), "EVERYTHING"),
    ("exercise-length", _LENGTH.format("7"), "SOURCE_TEXT"),
    ("exercise-length", _LENGTH.format("5"), "SOURCE_TEXT"),
    ("exercise-length", _LENGTH.format("5 * n + 1"), "OTHER"),
    ("exercise-length", _LENGTH.format("n * n"), "OTHER"),
    ("exercise-length", _LENGTH.format("float('inf')"), "OTHER"),
    ("exercise-length", _LENGTH.format("'5n + 2'"), "RAISES"),
    ("exercise-length", _LENGTH.format("[5 * n, 2]"), "RAISES"),
    ("exercise-length", _LENGTH.format("..."), "BLANK"),
    ("exercise-length", 'lessons.check("4.2", lambda n: 5 * n + 2, 4)', "RAISES"),
    ("exercise-digits", _DIGITS.format("16"), "EXACT_IS_TRUE"),
    ("exercise-digits", _DIGITS.format("15.95"), "EXACT_IS_TRUE"),
    ("exercise-digits", _DIGITS.format("16 - math.log10(n)"), "ERRORS_ADD"),
    ("exercise-digits", _DIGITS.format("-math.log10(n * 2**-53)"), "ERRORS_ADD"),
    ("exercise-digits", _DIGITS.format("max(0, 16 - n)"), "ONE_DIGIT_A_ROUND"),
    ("exercise-digits", _DIGITS.format("max(0, 15 - n)"), "ONE_DIGIT_A_ROUND"),
    ("exercise-digits", _ROUNDS.format("max(0, -math.log2(abs(d) * 2**-53 * x))"), "OTHER_BASE"),
    ("exercise-digits", _ROUNDS.format("max(0, -math.log(abs(d) * 2**-53 * x))"), "OTHER_BASE"),
    ("exercise-digits", _ROUNDS.format("math.log10(abs(d))"), "LOST_FOR_LEFT"),
    ("exercise-digits", _DIGITS.format("0.3 * n"), "LOST_FOR_LEFT"),
    ("exercise-digits", _DIGITS.format("16 - 0.3 * n"), "OTHER"),
    ("exercise-digits", _DIGITS.format("0"), "OTHER"),
    ("exercise-digits", _DIGITS.format("8"), "OTHER"),
    ("exercise-digits", _DIGITS.format("max(0, 16 - 0.6 * n)"), "OTHER"),
    ("exercise-digits", _DIGITS.format("float('inf')"), "RAISES"),
    ("exercise-digits", _DIGITS.format("'half of them'"), "RAISES"),
    ("exercise-digits", _DIGITS.format("16 - x.n"), "RAISES"),
    ("exercise-digits", _DIGITS.format("None"), "BLANK"),
    ("exercise-kind", _KIND.format('"a"'), "AUTODIFF_IS_SYMBOLIC"),
    ("exercise-kind", _KIND.format('"A"'), "AUTODIFF_IS_SYMBOLIC"),
    ("exercise-kind", _KIND.format('"b"'), "DIFFERENCES_ARE_AUTODIFF"),
    ("exercise-kind", _KIND.format('"d"'), "EXACT_IS_TRUE"),
    ("exercise-kind", _KIND.format('"e"'), "RAISES"),
    ("exercise-kind", _KIND.format('"ac"'), "RAISES"),
    ("exercise-kind", _KIND.format("3"), "RAISES"),
    ("exercise-kind", _KIND.format('["c"]'), "RAISES"),
    ("exercise-kind", _KIND.format("None"), "BLANK"),
    ("transfer-answer", _DAY.format("15"), "ONE_DIGIT_A_ROUND"),
    ("transfer-answer", _DAY.format("16"), "ONE_DIGIT_A_ROUND"),
    ("transfer-answer", _DAY.format("1e15"), "ERRORS_ADD"),
    ("transfer-answer", _DAY.format("0.1 / 1e-16"), "ERRORS_ADD"),
    ("transfer-answer", _DAY.format("math.log(0.1 / 1e-16)"), "OTHER_BASE"),
    ("transfer-answer", _DAY.format("35"), "OTHER_BASE"),
    ("transfer-answer", _DAY.format("49"), "OTHER"),
    ("transfer-answer", _DAY.format("51"), "OTHER"),
    ("transfer-answer", _DAY.format("-50"), "OTHER"),
    ("transfer-answer", _DAY.format('"50"'), "RAISES"),
    ("transfer-answer", _DAY.format("float('nan')"), "RAISES"),
    ("transfer-answer", _DAY.format("..."), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
