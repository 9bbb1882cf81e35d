"""Answers to lesson 8."""

from __future__ import annotations


def _engine(name: str, *body: str, check: str, arguments: str = "entries, end") -> str:
    """Return a cell: an engine of these lines, and its check."""
    lines = [f"def {name}({arguments}):", *(f"    {line}" for line in body), check.format(name)]
    return "\n".join(lines)


_FULL = "lessons.check_engine({})"
_TWO, _THREE, _FOUR = 'lessons.check("8.2", {})', 'lessons.check("8.3", {})', 'lessons.check("8.4", {})'
_BACKWARDS = "for out, uses in reversed(entries):"
_EACH = "    for name, local in uses:"
_ADD = "        ledger[name] = ledger.get(name, 0.0) + ledger[out] * local"
_SEED = "ledger = {end: 1.0}"
_KEPT = "entries, end, ledger"


def _plain(check: str, *lines: str) -> str:
    return _engine("mended", *lines, check=check)


def _kept(*lines: str) -> str:
    return _engine("mended", *lines, check=_FOUR, arguments=_KEPT)


_RIGHT = (_SEED, _BACKWARDS, _EACH, _ADD, "return ledger")
_SORTED = (
    "made, order, seen = dict(entries), [], set()",
    "def visit(out):",
    "    if out in seen: return",
    "    seen.add(out)",
    "    for name, _ in made.get(out, ()): visit(name)",
    "    order.append(out)",
    "visit(end)",
    "ledger = dict.fromkeys(order, 0.0) | {end: 1.0}",
    "for out in reversed(order):",
    "    for name, local in made.get(out, ()): ledger[name] += ledger[out] * local",
    "return ledger",
)
_SHARES = (
    "made, ledger = dict(entries), {}",
    "def pay(out, share):",
    "    ledger[out] = ledger.get(out, 0.0) + share",
    "    for name, local in made.get(out, ()): pay(name, share * local)",
    "pay(end, 1.0)",
    "return ledger",
)
_ONCE = (
    "made, done, ledger = dict(entries), set(), {end: 1.0}",
    "def pay(out):",
    "    if out in done: return",
    "    done.add(out)",
    "    for name, local in made.get(out, ()):",
    "        ledger[name] = ledger.get(name, 0.0) + ledger[out] * local",
    "    for name, _ in made.get(out, ()): pay(name)",
    "pay(end)",
    "return ledger",
)
_STRONGEST = (
    _SEED, _BACKWARDS, _EACH, "        new = ledger[out] * local",
    "        if abs(new) > abs(ledger.get(name, 0.0)): ledger[name] = new", "return ledger",
)  # fmt: skip
_NUMBERS = 'lessons.check("8.1", {})'
_EARLY = 'lessons.check("8.5", lambda {})'
_STEPS = 'lessons.check("8.6", {})'
_WALK = (_BACKWARDS, _EACH, _ADD)

SOLVED: dict[str, str] = {
    "example-gaps": _plain(_FULL, *_RIGHT),
    "example-blank": _plain(_FULL, *_RIGHT),
    "exercise-numbers": _NUMBERS.format('{6: "OVERWRITE", 15: "ONE_PATH", 27: "EARLY", 84: "STALE"}'),
    "exercise-first": _plain(_TWO, *_RIGHT),
    "exercise-second": _plain(_THREE, *_RIGHT),
    "exercise-third": _kept("ledger.clear()", "ledger[end] = 1.0", *_WALK, "return ledger"),
    "exercise-early": _EARLY.format("x, y: lab.exp(lab.sin(x * y)) + x * 3.0"),
    "transfer-answer": _STEPS.format("5"),
}

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _plain(_FULL, *_SORTED)),
    ("example-blank", _plain(_FULL, *_SORTED)),
    ("exercise-numbers", _NUMBERS.format("{6: 'closed', 15: 'CLOSED ', 27: 'Early', 84: 'stale'}")),
    ("exercise-numbers", _NUMBERS.format("{6.0: 'CLOSED', 15: 'OVERWRITE', 27: 'EARLY', 84: 'STALE', 21: 'right'}")),
    ("exercise-first", _plain(_TWO, *_SORTED)),
    ("exercise-first", _plain(
        _TWO, "import collections", "ledger = collections.defaultdict(float, {end: 1.0})", _BACKWARDS, _EACH,
        "        ledger[name] += ledger[out] * local", "return ledger")),
    ("exercise-second", _plain(_THREE, *_SORTED)),
    ("exercise-second", _plain(
        _THREE, "made, ledger = dict(entries), {end: lab.constant(1.0, dtype=lab.float64)}", *_WALK, "return ledger")),
    ("exercise-third", _kept("ledger = {end: 1.0}", *_WALK, "return ledger")),
    ("exercise-third", _kept("for name in [*ledger]: del ledger[name]", "ledger[end] = 1.0", *_WALK, "return ledger")),
    ("exercise-third", _kept(
        "for out, uses in entries:", "    ledger[out] = 0.0", "    for name, _ in uses: ledger[name] = 0.0",
        "ledger[end] = 1.0", *_WALK, "return dict(ledger)")),
    ("exercise-early", _EARLY.format("x: lab.sin(lab.sin(lab.sin(lab.sin(x))))")),
    ("exercise-early", _EARLY.format("x, y, z: (x + y) * (z + 2.0) + x")),
    ("exercise-early", _EARLY.format("a, b: (a + b) * (a * b) + (a + b)")),
    ("transfer-answer", _STEPS.format("5.0")),
    ("transfer-answer", _STEPS.format("lab.constant(5)")),
    ("example-gaps", _plain(_FULL, *_SORTED)),
    ("example-gaps", _plain(_FULL, "from collections import defaultdict", "ledger = defaultdict(float, {end: 1.0})", "for out, uses in entries[::-1]:", _EACH,
                            "        ledger[name] += local * ledger[out]", "return ledger")),
    ("example-blank", _plain(_FULL, *_SORTED)),
    ("example-blank", _plain(_FULL, _SEED, "while entries:", "    out, uses = entries.pop()", _EACH, _ADD, "return ledger")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _plain(_FULL, _SEED, _BACKWARDS, _EACH, "        ledger[name] = 0.0 + ledger[out] * local",
                            "return ledger"), "OVERWRITE"),
    ("example-gaps", _plain(_FULL, _SEED, _BACKWARDS, _EACH, "        ledger[name] = ... + ledger[out] * local",
                            "return ledger"), "BLANK"),
    ("example-blank", _plain(_FULL, _SEED, "for out, uses in entries:", _EACH,
                             "        ledger[name] = ledger.get(name, 0.0) + ledger.get(out, 0.0) * local",
                             "return ledger"), "ORDER_BY_NAME"),
    ("example-blank", _plain(_FULL, _SEED, "for out, uses in sorted(entries, reverse=True):", _EACH,
                             "        ledger[name] = ledger.get(name, 0.0) + ledger.get(out, 0.0) * local",
                             "return ledger"), "ORDER_BY_NAME"),
    ("example-blank", _plain(_FULL, *_ONCE), "CLOSED"),
    ("example-blank", _plain(_FULL, _SEED, "return ledger"), "OTHER"),
    ("exercise-numbers", _NUMBERS.format("..."), "BLANK"),
    ("exercise-numbers", _NUMBERS.format("{}"), "BLANK"),
    ("exercise-numbers", _NUMBERS.format("{6: 'OVERWRITE', 15: ..., 27: 'EARLY', 84: 'STALE'}"), "BLANK"),
    ("exercise-numbers", _NUMBERS.format("{6: 'EARLY', 15: 'EARLY', 27: 'EARLY', 84: 'EARLY'}"), "OTHER"),
    ("exercise-numbers", _NUMBERS.format("{6: 'OVERWRITE', 15: 'OVERWRITE', 27: 'STALE', 84: 'EARLY'}"), "OTHER"),
    ("exercise-numbers", _NUMBERS.format("{6: 'ONE_PATH', 15: 'ONE_PATH', 27: 'EARLY', 84: 'STALE'}"), "OTHER"),
    ("exercise-numbers", _NUMBERS.format("{6: 'OVERWRITE', 15: 'CLOSED', 27: 'EARLY', 84: 'MINUS_LOST'}"), "OTHER"),
    ("exercise-numbers", _NUMBERS.format("{6: 'OVERWRIT', 15: 'CLOSED', 27: 'EARLY', 84: 'STALE'}"), "RAISES"),
    ("exercise-numbers", _NUMBERS.format("{6: 1, 15: 2, 27: 3, 84: 4}"), "RAISES"),
    ("exercise-numbers", _NUMBERS.format("['OVERWRITE', 'CLOSED', 'EARLY', 'STALE']"), "RAISES"),
    ("exercise-first", _plain(_TWO, _SEED, _BACKWARDS, _EACH,
                              "        ledger.setdefault(name, ledger[out] * local)", "return ledger"), "OVERWRITE"),
    ("exercise-first", _plain(_TWO, *_STRONGEST), "ONE_PATH"),
    ("exercise-first", _plain(_TWO, *_SHARES), "EVERY_PATH"),
    ("exercise-first", _plain(_TWO, _SEED, _BACKWARDS, _EACH,
                              "        ledger[name] = ledger.get(name, 1.0) + ledger[out] * local", "return ledger"),
     "OTHER"),
    ("exercise-first", _plain(_TWO, _SEED, _BACKWARDS, _EACH, "        ledger[name] += ledger[out] * local",
                              "return ledger"), "RAISES"),
    ("exercise-first", _plain(_TWO, *_RIGHT[:-1]), "BLANK"),
    ("exercise-first", _plain(_TWO, *_RIGHT[:-1], "return 21"), "RAISES"),
    ("exercise-first", _plain(_TWO, *_RIGHT[:-1], "return ledger[end]"), "RAISES"),
    ("exercise-second", _plain(_THREE, *_ONCE), "CLOSED"),
    ("exercise-second", _plain(_THREE, *_SHARES), "EVERY_PATH"),
    ("exercise-second", _plain(
        _THREE, "made, ledger = dict(entries), {end: 1.0}", "def pay(out):",
        "    for name, local in made.get(out, []):",
        _ADD, "        pay(name)", "pay(end)", "return ledger"), "EARLY"),
    ("exercise-second", _plain(
        _THREE, "made, ledger = dict(entries), {end: 1.0}", "def pay(out):",
        "    for name, local in reversed(made.get(out, [])):", _ADD, "        pay(name)", "pay(end)", "return ledger"),
     "EARLY"),
    ("exercise-second", _plain(_THREE, _SEED, "for out, uses in sorted(entries):", _EACH,
                               "        ledger[name] = ledger.get(name, 0.0) + ledger.get(out, 0.0) * local",
                               "return ledger"), "ORDER_BY_NAME"),
    ("exercise-second", _plain(_THREE, _SEED, _BACKWARDS, _EACH, "        ledger[name] = ledger[out] * local",
                               "return ledger"), "OVERWRITE"),
    ("exercise-second", 'lessons.check("8.3", {"x": 21.0})', "RAISES"),
    ("exercise-third", _kept("ledger[end] = 1.0", *_WALK, "return ledger"), "STALE"),
    ("exercise-third", _kept("ledger[end] = ledger.get(end, 0.0) + 1.0", *_WALK, "return ledger"), "STALE"),
    ("exercise-third", _kept("for out, _ in entries: ledger[out] = 0.0", "ledger[end] = 1.0", *_WALK, "return ledger"),
     "STALE_LEAVES"),
    ("exercise-third", _kept("ledger[end] = 1.0", *_WALK, "found = dict(ledger)", "ledger.clear()", "return found"),
     "FIRST_RUN_ONLY"),
    ("exercise-third", _kept("ledger.clear()", "ledger[end] = 1.0", _BACKWARDS, _EACH,
                             "        ledger[name] = ledger[out] * local", "return ledger"), "OVERWRITE"),
    ("exercise-third", _kept("ledger[end] = 1.0", *_WALK, "ledger.clear()", "return ledger"), "OTHER"),
    ("exercise-third", _kept("for name in ledger: del ledger[name]", "ledger[end] = 1.0", *_WALK, "return ledger"),
     "RAISES"),
    ("exercise-third", _kept("ledger.clear()", "ledger[end] = ...", *_WALK, "return ledger"), "BLANK"),
    ("exercise-third", _kept("ledger.clear()", *_WALK, "return ledger"), "RAISES"),
    ("exercise-early", _EARLY.format("x: (lambda y: 2.0 * y + 5.0 * y)(3.0 * x)"), "EARLY"),
    ("exercise-early", _EARLY.format("x, y: (lambda s: s * s + lab.sin(y))(x + y)"), "EARLY"),
    ("exercise-early", _EARLY.format("a, b: (lambda c, d: (c + d) + c * d)(a + b, a * b)"), "EARLY"),
    ("exercise-early", _EARLY.format("x, y: x * y"), "OTHER"),
    ("exercise-early", _EARLY.format("x: lab.constant(1.0) * 2.0"), "OTHER"),
    ("exercise-early", _EARLY.format("x: lab.math.log(lab.sin(x) - 5.0) + x"), "OTHER"),
    ("exercise-early", _EARLY.format("x, y: 3.0"), "RAISES"),
    ("exercise-early", _EARLY.format("x: lab.stack([x, x]) + 1.0"), "RAISES"),
    ("exercise-early", _EARLY.format("*xs: xs[0]"), "RAISES"),
    ("exercise-early", _EARLY.format("x: ..."), "BLANK"),
    ("exercise-early", 'lessons.check("8.5", "x + y")', "RAISES"),
    ("transfer-answer", _STEPS.format('"never"'), "STALE"),
    ("transfer-answer", _STEPS.format('float("inf")'), "STALE"),
    ("transfer-answer", _STEPS.format("4"), "OTHER"),
    ("transfer-answer", _STEPS.format("6"), "OTHER"),
    ("transfer-answer", _STEPS.format("0"), "OTHER"),
    ("transfer-answer", _STEPS.format("5.5"), "OTHER"),
    ("transfer-answer", _STEPS.format('float("nan")'), "OTHER"),
    ("transfer-answer", _STEPS.format('"five"'), "RAISES"),
    ("transfer-answer", _STEPS.format("[5, 6]"), "RAISES"),
    ("example-gaps", _plain(_FULL, "ledger = {end: ...}", *_WALK, "return ledger"), "BLANK"),
    ("example-gaps", _plain(_FULL, "ledger = {end: 0.0}", *_WALK, "return ledger"), "OTHER"),
    ("example-gaps", _plain(_FULL, "ledger = {end: 2.0}", *_WALK, "return ledger"), "OTHER"),
    ("example-gaps", _plain(_FULL, _SEED, *_WALK[:2], _ADD.replace("ledger.get(name, 0.0)", "1.0"), "return ledger"), "OTHER"),
    ("example-gaps", _plain(_FULL, _SEED, *_WALK[:2], _ADD.replace("* local", "+ local"), "return ledger"), "OTHER"),
    ("example-gaps", _plain(_FULL, _SEED, *_WALK[:2], _ADD.replace(") +", ") -"), "return ledger"), "OTHER"),
    ("example-gaps", _plain(_FULL, _SEED, *_WALK, "print(ledger)"), "BLANK"),
    ("example-gaps", _plain(_FULL, _SEED, *_WALK, "return ledger[end]"), "RAISES"),
    ("example-blank", _plain(_FULL, _SEED, *_WALK, "return {name: 1.0 for name in ledger}"), "OTHER"),
    ("example-blank", _plain(_FULL, _SEED, "for out, uses in entries:", _EACH, _ADD, "return ledger"), "RAISES"),
    ("example-blank", _plain(_FULL, _SEED, *_WALK, "return list(ledger.values())"), "RAISES"),
    ("example-blank", _plain(_FULL, _SEED, *_WALK, "return {name: f'{g}' for name, g in ledger.items()}"), "RAISES"),
    ("example-blank", _plain(_FULL, _SEED, *_WALK, "return {name: -g for name, g in ledger.items()}"), "OTHER"),
    ("exercise-second", _plain(_THREE, _SEED, *_WALK, "return {name: 2 * g for name, g in ledger.items()}"), "OTHER"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
