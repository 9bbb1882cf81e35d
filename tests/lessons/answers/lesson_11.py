"""Answers to lesson 11."""

from __future__ import annotations

_SORT = 'lessons.check("11.1", {}, six)'
_TRUTH = "lessons.verdicts.TRUTH[each.kind]"
_BY_KIND = f"{{{{key: {{}}.get(each.kind, {_TRUTH}) for key, each in six.by_letter.items()}}}}"
_MEND = 'lessons.check("11.2", lambda x: {}, lambda x: {})'
_ROOT = "lab.where(x < 1.0, x, lab.sqrt(lab.where(x < 1.0, 1.0, x)))"
_SQUARES = "lab.reduce_sum(x * x, axis=1)"
_ROWS = f"lab.where({_SQUARES} > 0.25, lab.sqrt(lab.where({_SQUARES} > 0.25, {_SQUARES}, 1.0)), 1.0)"
_BEGIN = 'lessons.check("11.3", {{"one": {}, "two": {}, "three": {}}})'
_ONE, _TWO, _THREE = '("log", 1, "forward")', '("log", 2, "forward")', '("sqrt", 2, "backward")'
_RECIPROCAL = 'lessons.check_safe("reciprocal", lambda x: {})'
_NORM = 'lessons.check_safe("norm", lambda x: {})'
_WATCH = 'lessons.check("11.5", {}, {})'
_JUDGE = """
def verdict(f, slope, x):
    def near(at, h):
        return abs((f(at + h) - f(at - h)) / (2 * h) - slope(at)) <= 0.01 * abs(slope(at))
    if {twice}:
        return "not deterministic"
    if {finite}:
        return "not finite"
    if {nearby}:
        return "wrong rule"
    if near(x, 1e-6):
        return "agrees"
    return "precision" if {larger} else "{last}"
lessons.check("11.4", verdict)"""
_WHOLE = {
    "twice": "f(x) != f(x)", "finite": "not np.isfinite(slope(x))", "nearby": "not near(x + 0.1, 1e-3)",
    "larger": "near(x, 1e-3)", "last": "kink",
}  # fmt: skip


def _kinds(**said: str) -> str:
    return _SORT.format(_BY_KIND.format(said))


def _judge(**changed: str) -> str:
    return _JUDGE.format(**{**_WHOLE, **changed})


SOLVED: dict[str, str] = {
    "example-gaps": """
def safe_reciprocal(x):
    bad = x == 0.0
    harmless = lab.where(bad, 1.0, x)
    return lab.where(bad, 0.0, 1.0 / harmless)
lessons.check_safe("reciprocal", safe_reciprocal)""",
    "example-blank": """
def safe_norm(x):
    square = lab.reduce_sum(x * x)
    good = square > 0.0
    return lab.where(good, lab.sqrt(lab.where(good, square, 1.0)), 0.0)
lessons.check_safe("norm", safe_norm)""",
    "exercise-verdicts": """
verdicts = {
    "a": "kink", "b": "wrong rule", "c": "not deterministic", "d": "not finite", "e": "wrong rule", "f": "precision",
}
lessons.check("11.1", verdicts, six)""",
    "exercise-mend": """
def my_root(x):
    return lab.where(x < 1.0, x, lab.sqrt(lab.where(x < 1.0, 1.0, x)))

def my_rows(x):
    square = lab.reduce_sum(x * x, axis=1)
    long = square > 0.25
    return lab.where(long, lab.sqrt(lab.where(long, square, 1.0)), 1.0)

lessons.check("11.2", my_root, my_rows)""",
    "exercise-begin": """
begins = {"one": ("log", 1, "forward"), "two": ("log", 2, "forward"), "three": ("sqrt", 2, "backward")}
lessons.check("11.3", begins)""",
    "exercise-judge": """
def verdict(f, slope, x):
    def near(at, h):
        return abs((f(at + h) - f(at - h)) / (2 * h) - slope(at)) <= 0.01 * abs(slope(at))
    if f(x) != f(x):
        return "not deterministic"
    if not np.isfinite(slope(x)):
        return "not finite"
    if not near(x + 0.1, 1e-3):
        return "wrong rule"
    if near(x, 1e-6):
        return "agrees"
    return "precision" if near(x, 1e-3) else "kink"

lessons.check("11.4", verdict)""",
    "transfer-answer": _WATCH.format('"conversion"', '"before"'),
}

RIGHT: list[tuple[str, str]] = [
    ("exercise-verdicts", _SORT.format("[lessons.verdicts.TRUTH[six.by_letter[k].kind] for k in 'abcdef']")),
    ("exercise-verdicts", _SORT.format("','.join(lessons.verdicts.TRUTH[six.by_letter[k].kind] for k in 'abcdef')")),
    ("exercise-verdicts", _kinds(random="Random", nan="NaN", wrong="wrong_rule", lucky="Wrong-Rule ")),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.maximum(x, 0.5)))", _ROWS)),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.maximum(1.0, x)))", _ROWS)),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.nn.relu(x - 1.0) + 1.0))", _ROWS)),
    ("exercise-mend", _MEND.format("lab.where(x >= 1.0, lab.where(x < 1.0, 4.0, x) ** 0.5, x)", _ROWS)),
    ("exercise-mend", _MEND.format(_ROOT, f"lab.sqrt(lab.where({_SQUARES} > 0.25, {_SQUARES}, 1.0))")),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.exp(0.5 * lab.math.log(lab.maximum(x, 1.0))))", _ROWS)),
    ("exercise-begin", _BEGIN.format('["log", 1, "forward"]', '("lab.math.log", 2.0, "Forward")', _THREE)),
    ("exercise-begin", _BEGIN.format("(lab.math.log, 1, 'forward')", _TWO, "(lab.sqrt, 2, ' backward')")),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, "iter(('sqrt()', np.int64(2), 'BACKWARD'))")),
    ("exercise-judge", _judge(twice="len({f(x) for _ in range(5)}) > 1")),
    ("exercise-judge", _judge(nearby="not (near(x - 0.1, 1e-4) and near(x + 0.2, 1e-4))")),
    ("exercise-judge", _judge(larger="near(x, 1e-2)")),
    ("exercise-judge", _judge(finite="slope(x) != slope(x)")),
    ("transfer-answer", _WATCH.format('"Conversion"', '" before"')),
    ("transfer-answer", _WATCH.format("'CONVERSION'", "'Before'")),
    ("transfer-answer", _WATCH.format("str('conversion')", "'before'")),
    ("example-blank", _NORM.format("lab.sqrt(lab.where((s := lab.reduce_sum(x * x)) > 0.0, s, 1.0)) * "
                                   "lab.cast(s > 0.0, lab.float64)")),
    ("example-blank", _NORM.format("lab.norm(lab.where(lab.reduce_sum(x * x) > 0.0, x, [3.0, 4.0])) - "
                                   "lab.where(lab.reduce_sum(x * x) > 0.0, lab.constant(0.0, lab.float64), 5.0)")),
    ("example-gaps", _RECIPROCAL.format("lab.where(x != 0.0, 1.0 / lab.where(x != 0.0, x, 7.0), 0.0)")),
    ("example-gaps", _RECIPROCAL.format("lab.math.divide_no_nan(lab.ones_like(x), x)")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("exercise-verdicts", _SORT.format("['wrong rule'] * 6"), "FAIL_MEANS_WRONG_RULE"),
    ("exercise-verdicts", _kinds(kink="wrong rule", precision="wrong rule"), "FAIL_MEANS_WRONG_RULE"),
    ("exercise-verdicts", _kinds(kink="wrong rule", precision="wrong rule", lucky="agrees"), "FAIL_MEANS_WRONG_RULE"),
    ("exercise-verdicts", _kinds(lucky="agrees"), "PASS_MEANS_RIGHT"),
    ("exercise-verdicts", _kinds(precision="wrong rule"), "STEP_TOO_SMALL"),
    ("exercise-verdicts", _kinds(kink="not finite"), "KINK_HAS_NO_GRADIENT"),
    ("exercise-verdicts", _kinds(random="wrong rule"), "ONE_RUN"),
    ("exercise-verdicts", _kinds(random="precision"), "ONE_RUN"),
    ("exercise-verdicts", _kinds(nan="kink"), "NAN_GRADIENT_NEEDS_NAN_LOSS"),
    ("exercise-verdicts", _kinds(nan="wrong rule", random="precision"), "ONE_RUN"),
    ("exercise-verdicts", _kinds(wrong="kink"), "OTHER"),
    ("exercise-verdicts", _kinds(wrong="agrees", kink="agrees"), "OTHER"),
    ("exercise-verdicts", _kinds(kink="broken"), "RAISES"),
    ("exercise-verdicts", _kinds(kink=3), "RAISES"),
    ("exercise-verdicts", _SORT.format("['kink'] * 5"), "RAISES"),
    ("exercise-verdicts", _SORT.format("{'a': 'kink'}"), "RAISES"),
    ("exercise-verdicts", _SORT.format("['kink', 'kink', ..., 'kink', 'kink', 'kink']"), "BLANK"),
    ("exercise-verdicts", 'lessons.check("11.1", ["kink"] * 6, six.by_letter)', "RAISES"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(x))", _ROWS), "WHERE_PROTECTS"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.where(x < 1.0, 1.0, lab.sqrt(x)))", _ROWS),
     "WHERE_PROTECTS"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.where(x < 1.0, x, 1.0)))", _ROWS),
     "BRANCH_TAKEN"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, 1.0, lab.sqrt(lab.where(x < 1.0, 1.0, x)))", _ROWS),
     "BRANCH_TAKEN"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.where(x < 1.0, 1.0, -x)))", _ROWS),
     "BRANCH_TAKEN"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, lab.maximum(x, 0.1), lab.sqrt(lab.maximum(x, 0.1)))", _ROWS),
     "CLIPPED"),
    ("exercise-mend", _MEND.format("x", _ROWS), "CLIPPED"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(x + 1e-6))", _ROWS), "EPSILON_ADDED"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(x + 1e-12))", _ROWS), "EPSILON_ADDED"),
    ("exercise-mend", _MEND.format("lab.where(x < 1.0, x, lab.sqrt(lab.stop_gradient(x)))", _ROWS), "OTHER"),
    ("exercise-mend", _MEND.format("lab.stop_gradient(" + _ROOT + ")", _ROWS), "OTHER"),
    ("exercise-mend", _MEND.format("lab.constant(np.sqrt(x.numpy()))", _ROWS), "CLIPPED"),
    ("exercise-mend", _MEND.format("np.where(x.numpy() < 1, x.numpy(), np.sqrt(x.numpy()))", _ROWS), "RAISES"),
    ("exercise-mend", _MEND.format("lab.reduce_sum(x)", _ROWS), "RAISES"),
    ("exercise-mend", _MEND.format("1 / 0", _ROWS), "RAISES"),
    ("exercise-mend", _MEND.format("...", _ROWS), "BLANK"),
    ("exercise-mend", _MEND.format(_ROOT, f"lab.where({_SQUARES} > 0.25, lab.sqrt({_SQUARES}), 1.0)"),
     "WHERE_PROTECTS"),
    ("exercise-mend", _MEND.format(_ROOT, f"lab.where({_SQUARES} > 0.25, lab.sqrt({_SQUARES} + 1e-9), 1.0)"),
     "EPSILON_ADDED"),
    ("exercise-mend", _MEND.format(_ROOT, f"lab.sqrt(lab.maximum({_SQUARES}, 1e-12))"), "CLIPPED"),
    ("exercise-mend", _MEND.format(_ROOT, "x"), "RAISES"),
    ("exercise-mend", f'lessons.check("11.2", lambda x: {_ROOT}, ...)', "BLANK"),
    ("exercise-begin", _BEGIN.format('("sqrt", 3, "forward")', _TWO, _THREE), "BLAMED_WHERE_IT_SURFACED"),
    ("exercise-begin", _BEGIN.format('("exp", 2, "forward")', _TWO, _THREE), "BLAMED_WHERE_IT_SURFACED"),
    ("exercise-begin", _BEGIN.format('("log", 1, "backward")', _TWO, _THREE), "BLAMED_WHERE_IT_SURFACED"),
    ("exercise-begin", _BEGIN.format('("subtract", 1, "forward")', _TWO, _THREE), "OTHER"),
    ("exercise-begin", _BEGIN.format(_ONE, '("negative", 1, "forward")', _THREE), "BLAMED_TOO_EARLY"),
    ("exercise-begin", _BEGIN.format(_ONE, '("log", 2, "backward")', _THREE), "BLAMED_WHERE_IT_SURFACED"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("sqrt", 2, "forward")'), "NAN_GRADIENT_NEEDS_NAN_LOSS"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("where", 3, "backward")'), "BLAMED_WHERE_IT_SURFACED"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("greater", 1, "forward")'), "BLAMED_TOO_EARLY"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("sqrt", 2)'), "RAISES"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("sqrt", "two", "backward")'), "RAISES"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '("sqrt", 2, "sideways")'), "RAISES"),
    ("exercise-begin", _BEGIN.format(_ONE, _TWO, '(3, 2, "backward")'), "RAISES"),
    ("exercise-begin", _BEGIN.format(_ONE, "...", _THREE), "BLANK"),
    ("exercise-begin", 'lessons.check("11.3", ["log", "log", "sqrt"])', "RAISES"),
    ("exercise-judge", _judge(nearby="not near(x, 1e-6)"), "FAIL_MEANS_WRONG_RULE"),
    ("exercise-judge", _judge(twice="False", finite="False", nearby="not near(x, 1e-6)"), "FAIL_MEANS_WRONG_RULE"),
    ("exercise-judge", _judge(nearby="not near(x + 0.1, 1e-3) and not near(x, 1e-6)"), "PASS_MEANS_RIGHT"),
    ("exercise-judge", _judge(nearby="not near(x + 0.1, 1e-3) or (not near(x, 1e-6) and near(x, 1e-3))"),
     "STEP_TOO_SMALL"),
    ("exercise-judge", _judge(last="not finite"), "KINK_HAS_NO_GRADIENT"),
    ("exercise-judge", _judge(twice="False"), "ONE_RUN"),
    ("exercise-judge", _judge(finite="not np.isfinite(f(x))"), "NAN_GRADIENT_NEEDS_NAN_LOSS"),
    ("exercise-judge", _judge(nearby="not near(x + 0.1, 1e-3) or (not near(x, 1e-6) and not near(x, 1e-3) and abs("
                                     "f(x + 1e-3) + f(x - 1e-3) - 2 * f(x)) < 1e-9)"), "KINKS_CANCEL"),
    ("exercise-judge", 'lessons.check("11.4", lambda f, slope, x: "agrees")', "OTHER"),
    ("exercise-judge", 'lessons.check("11.4", lambda f, slope, x: "kink")', "OTHER"),
    ("exercise-judge", 'lessons.check("11.4", lambda f, slope, x: True)', "RAISES"),
    ("exercise-judge", 'lessons.check("11.4", lambda f, slope, x: f("x"))', "RAISES"),
    ("exercise-judge", 'lessons.check("11.4", lambda f, slope, x: ...)', "BLANK"),
    ("transfer-answer", _WATCH.format('"display"', '"before"'), "BLAMED_WHERE_IT_SURFACED"),
    ("transfer-answer", _WATCH.format('"sensor"', '"after"'), "BLAMED_TOO_EARLY"),
    ("transfer-answer", _WATCH.format('"conversion"', '"after"'), "WHERE_PROTECTS"),
    ("transfer-answer", _WATCH.format('"conversion"', "..."), "BLANK"),
    ("transfer-answer", _WATCH.format("...", '"before"'), "BLANK"),
    ("transfer-answer", _WATCH.format('"battery"', '"before"'), "RAISES"),
    ("transfer-answer", _WATCH.format("2", '"before"'), "RAISES"),
    ("transfer-answer", _WATCH.format('"conversion"', "['before']"), "RAISES"),
    ("example-gaps", _RECIPROCAL.format("lab.where(x == 0.0, 0.0, 1.0 / x)"), "WHERE_PROTECTS"),
    ("example-gaps", _RECIPROCAL.format("1.0 / (x + 1e-9)"), "CLIPPED"),
    ("example-gaps", _RECIPROCAL.format("lab.where(x == 0.0, ..., 1.0 / x)"), "BLANK"),
    ("example-blank", _NORM.format("lab.sqrt(lab.reduce_sum(x * x))"), "WHERE_PROTECTS"),
    ("example-blank", _NORM.format("lab.norm(x) ** 2"), "CLIPPED"),
    ("example-blank", _NORM.format("lab.sqrt(lab.reduce_sum(x * x) + 1e-8)"), "EPSILON_ADDED"),
    ("example-blank", _NORM.format("lab.where(lab.reduce_sum(x * x) > 0.0, lab.norm(x), 0.0)"), "WHERE_PROTECTS"),
    ("example-gaps", _RECIPROCAL.format("lab.where(x == 0.0, 1.0, 1.0 / lab.where(x == 0.0, 1.0, x))"), "CLIPPED"),
    ("example-gaps", _RECIPROCAL.format("lab.where(x == 0.0, 0.0, 1.0 / lab.where(x == 0.0, x, 1.0))"), "CLIPPED"),
    ("example-gaps", _RECIPROCAL.format("lab.where(x == 0.0, 0.0, -1.0 / lab.where(x == 0.0, 1.0, x))"), "CLIPPED"),
    ("example-gaps", _RECIPROCAL.format("1.0 / lab.maximum(x, 1e-3)"), "CLIPPED"),
    ("example-gaps", _RECIPROCAL.format("print(1.0 / x)"), "BLANK"),
    ("example-gaps", _RECIPROCAL.format("1.0 / 0.0"), "RAISES"),
    ("example-blank", _NORM.format("lab.reduce_sum(x * x)"), "CLIPPED"),
    ("example-blank", _NORM.format("lab.sqrt(lab.maximum(lab.reduce_sum(x * x), 1.0))"), "CLIPPED"),
    ("example-blank", _NORM.format("lab.reduce_sum(lab.abs(x))"), "CLIPPED"),
    ("example-blank", _NORM.format("lab.stop_gradient(lab.norm(x))"), "OTHER"),
    ("example-blank", _NORM.format("x"), "RAISES"),
    ("example-blank", _NORM.format("..."), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
