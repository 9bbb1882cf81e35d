"""Answers to lesson 16."""

from __future__ import annotations

from autodiff_lab.lessons import case

_LINES = {n: (case(n).program.replace("def program", "def mended", 1)) for n in range(1, 11)}
_TRUE = {
    1: (4, "not_watched"), 2: (7, "replaced"), 3: (6, "left_engine"), 4: (4, "left_engine"),
    5: (4, "not_differentiable"), 6: (5, "zero"), 7: (4, "nan_forward"), 8: (5, "nan_backward"), 9: (5, "broadcast"),
    10: (6, "added_up"),
}  # fmt: skip
_CELL = {1: "example-full", 2: "example-gaps", 3: "example-blank", **{n: f"exercise-{n}" for n in range(4, 11)}}


def _said(n: int, *changes: tuple[str, str], line: object = None, cause: object = None) -> str:
    """Return the cell of a case with lines of its program replaced, and a line and a cause other than the true ones."""
    program = _LINES[n]
    for old, new in changes:
        assert old in program, (n, old)
        program = program.replace(old, new)
    where = _TRUE[n][0] if line is None else line
    name = repr(_TRUE[n][1]) if cause is None else cause
    return f'{program}\nlessons.check("16.{n}", {where}, {name}, mended)'


_VARIABLE = ("lab.constant(x)", 'lab.Variable(x, name="x")')
_WATCH = ("as tape:\n", "as tape:\n        tape.watch(x)\n")
_ASSIGN = (
    "        w = w - 0.1 * slope if turn == 0 else w\n",
    "        if turn == 0:\n            w.assign_sub(0.1 * slope)\n",
)
_NUMPY = "lab.constant(np.mean((np.array(p) - y) ** 2))"
_MEAN = (_NUMPY, "lab.reduce_mean((p - y) ** 2)")
_FLOAT = ("lab.constant(float(w) * 3.0)\n        tape.watch(pred)\n", "w * 3.0\n")
_ACCURACY = "lab.reduce_mean(lab.cast(right, lab.float64))"
_GUESS = "        guess = lab.argmax(logits, axis=1)\n"
_EQUAL = "        right = lab.equal(guess, lab.constant([1, 0], dtype=lab.int64))\n"
_SOFT = [(_GUESS, "        p = lab.nn.softmax(logits)\n"), (_EQUAL, ""), (_ACCURACY, "(p[0, 1] + p[1, 0]) / 2.0")]
_ROOT = "        root = lab.sqrt(x - 2.0)\n"
_GUARD = (_ROOT, "        root = lab.sqrt(lab.where(x > 2.0, x - 2.0, 1.0))\n")
_TAKEN = ("lab.sqrt(x)", "lab.sqrt(lab.where(small, 1.0, x))")
_PAIRS = ("lab.constant(y)", "lab.constant(y.reshape(-1, 1))")
_SUM = ("total = total + tape", "total = tape")
_ANY = "tape.gradient(loss, {})"

SOLVED: dict[str, str] = {
    "example-gaps": _said(2, _ASSIGN),
    "example-blank": _said(3, _MEAN),
    "exercise-4": _said(4, _FLOAT),
    "exercise-5": _said(5, *_SOFT),
    "exercise-6": _said(6),
    "exercise-7": _said(7, _GUARD),
    "exercise-8": _said(8, _TAKEN),
    "exercise-9": _said(9, _PAIRS),
    "exercise-10": _said(10, _SUM),
    "transfer-answer": '''
program = """
def program(x):
    x = lab.Variable(x, name="x")
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.floor(x) * 2.0)
    return y, tape.gradient(y, x)
"""
mine = {
    "complaint": "Rounding down lost my gradient.", "program": program,
    "inputs": {"x": {"shape": [2], "low": 0.0, "high": 9.0}},
}
lessons.check("16.11", mine)''',
}

_OWN = """lessons.check("16.11", {{"complaint": "It is wrong.", "program": {!r}, "inputs": {{"x": {}}}}})"""
_X = '{"shape": [2], "low": 1.0, "high": 2.0}'


def _own(*body: str, inputs: str = _X) -> str:
    lines = [
        "def program(x):", '    x = lab.Variable(x, name="x")', "    with lab.GradientTape() as tape:",
        *(f"        {line}" for line in body), "    return y, tape.gradient(y, x)",
    ]  # fmt: skip
    return _OWN.format("\n".join(lines), inputs)


RIGHT: list[tuple[str, str]] = [
    (_CELL[1], _said(1, _VARIABLE)),
    (_CELL[1], _said(1, _VARIABLE, line=2)),
    (_CELL[1], _said(1, _WATCH, line="'line 4'", cause="'Not watched'")),
    (_CELL[2], _said(2, _ASSIGN, line=7.0)),
    (
        _CELL[2],
        _said(2, ("w = w - 0.1 * slope if turn == 0 else w", "w = lab.Variable(w - 0.1 * slope) if turn == 0 else w")),
    ),
    (
        _CELL[2],
        _said(
            2,
            ("w = w - 0.1 * slope if turn == 0 else w", "w.assign(w - 0.1 * slope * (1.0 - turn))"),
            cause="'REPLACED'",
        ),
    ),
    (_CELL[3], _said(3, _MEAN)),
    (_CELL[3], _said(3, (_NUMPY, "lab.reduce_sum(lab.square(p - y)) / 2.0"), cause="'left-engine'")),
    (_CELL[3], _said(3, (_NUMPY, "0.5 * (p[0] - 1.0) ** 2 + 0.5 * p[1] ** 2"), line="np.int64(6)")),
    (_CELL[4], _said(4, _FLOAT)),
    (_CELL[4], _said(4, ("lab.constant(float(w) * 3.0)", "3.0 * w"), line="' LINE 4 '")),
    (_CELL[4], _said(4, ("lab.constant(float(w) * 3.0)", "w + w + w"))),
    (_CELL[5], _said(5, *_SOFT)),
    (
        _CELL[5],
        _said(
            5,
            (_GUESS, "        p = lab.exp(logits) / lab.reduce_sum(lab.exp(logits), axis=1, keepdims=True)\n"),
            *_SOFT[1:],
        ),
    ),
    (_CELL[5], _said(5, (_GUESS, "        p = lab.sigmoid(logits - logits[:, ::-1])\n"), *_SOFT[1:])),
    (_CELL[6], _said(6)),
    (_CELL[6], _said(6, line="'5'", cause="'ZERO'")),
    (_CELL[6], _said(6, ("lab.nn.relu(lab.reduce_sum(w * x))", "lab.maximum(lab.reduce_sum(w * x), 0.0)"))),
    (_CELL[7], _said(7, _GUARD)),
    (_CELL[7], _said(7, (_ROOT, "        safe = lab.where(x > 2.0, x, 3.0)\n        root = lab.sqrt(safe - 2.0)\n"))),
    (_CELL[7], _said(7, (_ROOT, "        root = lab.sqrt(lab.maximum(x - 2.0, 1e-6))\n"), cause="'NaN forward'")),
    (_CELL[8], _said(8, _TAKEN)),
    (_CELL[8], _said(8, ("lab.sqrt(x)", "lab.sqrt(lab.maximum(x, 0.5))"), cause="'nan backward'")),
    (_CELL[8], _said(8, ("lab.sqrt(x)", "lab.where(small, 4.0, x) ** 0.5"))),
    (_CELL[9], _said(9, _PAIRS)),
    (_CELL[9], _said(9, ("error = pred", "error = lab.reshape(pred, [-1])"))),
    (_CELL[9], _said(9, ("error = pred", "error = lab.squeeze(pred, axis=1)"), line="np.array(5)")),
    (_CELL[10], _said(10, _SUM)),
    (_CELL[10], _said(10, ("total = total + tape", "total = 0.0 * total + tape"), cause="'added up'")),
    (_CELL[10], _said(10, ("w.assign_sub(0.1 * total)\n", "w.assign_sub(0.1 * total)\n"), _SUM)),
    ("transfer-answer", _own("y = lab.reduce_sum(lab.stop_gradient(x) * 2.0)")),
    ("transfer-answer", _own("y = lab.reduce_sum(lab.math.log(x - 5.0))")),
    ("transfer-answer", _own("y = lab.reduce_sum(lab.reshape(x, [2, 1]) - x)")),
]
"""Further right answers, in other words."""


def _always(n: int) -> list[tuple[str, str, str]]:
    """Return what is wrong for every case."""
    name = _said(n).splitlines()[0].partition("(")[2].rstrip("):")
    plain = f'\nlessons.check("16.{n}", {_TRUE[n][0]}, {_TRUE[n][1]!r}, '
    last = len(_LINES[n].splitlines())
    return [
        (_CELL[n], _said(n, line=last), "SYMPTOM_FOR_CAUSE"),
        (_CELL[n], _said(n, line=1), "OTHER"),
        (_CELL[n], _said(n, line=last + 1), "RAISES"),
        (_CELL[n], _said(n, cause="'stop_gradient'"), "NONE_IS_ZERO" if n == 6 else "WRONG_CAUSE"),
        (_CELL[n], _said(n, cause="'bad luck'"), "RAISES"),
        (_CELL[n], _said(n, cause="..."), "BLANK"),
        (_CELL[n], plain + "...)", "BLANK"),
        (_CELL[n], plain + f"lambda {name}: 1.0)", "RAISES"),
        (_CELL[n], plain + f"lambda {name}: (7.0, {name.split(', ')[-1]}))", "OTHER_FUNCTION"),
    ]


def _zeros(n: int) -> tuple[str, str]:
    source = "logits" if n == 5 else "x" if n in (1, 7, 8) else "w"
    return _ANY.format(source), f"lab.zeros_like({source})"


WRONG: list[tuple[str, str, str]] = [
    *(row for n in range(1, 11) for row in _always(n)),
    (_CELL[1], _said(1), "STILL_NONE"),
    (_CELL[1], _said(1, _zeros(1)), "NONE_IS_ZERO"),
    (_CELL[1], _said(1, _VARIABLE, ("3.0 * x", "2.0 * x")), "OTHER_FUNCTION"),
    (_CELL[2], _said(2), "STILL_NONE"),
    (_CELL[2], _said(2, ("w = w - 0.1 * slope if turn == 0 else w", "pass")), "OTHER_FUNCTION"),
    (_CELL[2], _said(2, cause="'not_watched'"), "WRONG_CAUSE"),
    (_CELL[3], _said(3), "STILL_NONE"),
    (_CELL[3], _said(3, (_ANY.format("w"), "0.0 * w")), "NONE_IS_ZERO"),
    (_CELL[3], _said(3, (_ANY.format("w"), "np.array([-0.1, 0.1])")), "ONE_NUMBER"),
    (_CELL[3], _said(3, (_NUMPY, "lab.reduce_sum((p - y) ** 2)")), "OTHER_FUNCTION"),
    (_CELL[4], _said(4, line=5), "SYMPTOM_FOR_CAUSE"),
    (_CELL[4], _said(4, (_ANY.format("w"), _ANY.format("pred"))), "SILENCED"),
    (
        _CELL[4],
        _said(
            4, ("        loss = (pred - 1.0) ** 2\n", "        loss = (pred - 1.0) ** 2\n        tape.watch(loss)\n")
        ),
        "STILL_NONE",
    ),
    (
        _CELL[4],
        _said(4, (_ANY.format("w"), "6.0 * (3.0 * w - 1.0)"), ("as tape:\n", "as tape:\n        pass\n")),
        "ONE_NUMBER",
    ),
    (_CELL[5], _said(5), "STILL_NONE"),
    (_CELL[5], _said(5, _zeros(5)), "OTHER_FUNCTION"),
    (_CELL[5], _said(5, cause="'integer'"), "WRONG_CAUSE"),
    (_CELL[5], _said(5, *_SOFT[:2], (_ACCURACY, "(p[0, 0] + p[1, 1]) / 2.0")), "OTHER_FUNCTION"),
    (_CELL[6], _said(6, ("lab.nn.relu(", "lab.nn.leaky_relu(")), "OTHER_FUNCTION"),
    (_CELL[6], _said(6, cause="'not_watched'"), "NONE_IS_ZERO"),
    (_CELL[6], _said(6, cause="'nan_forward'"), "WRONG_CAUSE"),
    (_CELL[7], _said(7), "SYMPTOM_FOR_CAUSE"),
    (_CELL[7], _said(7, line=5), "SYMPTOM_FOR_CAUSE"),
    (_CELL[7], _said(7, ("lab.sqrt(root)", "lab.sqrt(lab.where(root > 0.0, root, 1.0))")), "SYMPTOM_FOR_CAUSE"),
    (_CELL[7], _said(7, (_ANY.format("x"), "lab.constant(np.nan_to_num(tape.gradient(loss, x)))")), "SILENCED"),
    (_CELL[7], _said(7, (_ROOT, "        root = lab.sqrt(x - 1.0)\n")), "OTHER_FUNCTION"),
    (_CELL[7], _said(7, cause="'nan_backward'"), "WRONG_CAUSE"),
    (_CELL[8], _said(8), "BLANK"),
    (_CELL[8], _said(8, (_ANY.format("x"), "lab.constant(np.nan_to_num(tape.gradient(loss, x)))")), "SILENCED"),
    (_CELL[8], _said(8, ("root = lab.sqrt(x)", "root = lab.where(small, 1.0, lab.sqrt(x))")), "BLANK"),
    (_CELL[8], _said(8, _zeros(8)), "SILENCED"),
    (_CELL[8], _said(8, ("lab.sqrt(x)", "lab.sqrt(x + 0.1)")), "OTHER_FUNCTION"),
    (_CELL[9], _said(9), "BLANK"),
    (
        _CELL[9],
        _said(9, ("error = pred", "error = lab.transpose(pred)"), ("square(error)", "square(error + error)")),
        "OTHER_FUNCTION",
    ),
    (_CELL[9], _said(9, line=6), "SYMPTOM_FOR_CAUSE"),
    (_CELL[10], _said(10), "BLANK"),
    (_CELL[10], _said(10, ("0.1 * total", "0.05 * total")), "OTHER_FUNCTION"),
    (_CELL[10], _said(10, line=7), "SYMPTOM_FOR_CAUSE"),
    ("transfer-answer", 'lessons.check("16.11", ...)', "BLANK"),
    ("transfer-answer", _own("y = ..."), "BLANK"),
    ("transfer-answer", 'lessons.check("16.11", {"complaint": ...})', "BLANK"),
    ("transfer-answer", 'lessons.check("16.11", "x = 1")', "RAISES"),
    ("transfer-answer", 'lessons.check("16.11", {"complaint": "It is wrong."})', "RAISES"),
    ("transfer-answer", _own("y = lab.reduce_sum(x * x)"), "OTHER"),
    ("transfer-answer", _own("y = x", "y = y", "y = y", "y = y", "y = lab.floor(y)"), "RAISES"),
    ("transfer-answer", _own("y = 1 / 0"), "RAISES"),
    ("transfer-answer", _own("y = lab.floor(x)", inputs="3"), "RAISES"),
    ("transfer-answer", _own("y = lab.floor(x)", inputs='{"shape": [2], "low": 2.0, "high": "x"}'), "RAISES"),
    ("transfer-answer", _OWN.format("def other(x):\n    return x", _X), "RAISES"),
]
"""Cell, what is typed, and the code."""
