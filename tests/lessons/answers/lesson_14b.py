"""Answers to lesson 14b."""

from __future__ import annotations

_PIECES = "lessons.check_pieces(lambda ops, pieces: {})"
_REACH = "lessons.check_reach(lambda slots: {})"
_STAIRS = "lessons.check_staircase(lambda slots: {})"
_KEEP = 'lessons.check("14b.1", {})'
_PLAY = 'game.restart()\ngame.keep({})\nlessons.check("14b.1", game)'
_CHAIN = """
def chain(op, x):
    def pieces(count, each):
        def chain(x):
            for _ in range(count):
                x = each(x)
            return x
        return chain
    return {}
lessons.check("14b.2", chain)"""
_NESTED = "lab.recompute_grad(pieces(4, lab.recompute_grad(pieces(4, op))))(x)"
_IN_A_ROW = """
def chain(op, x):
    for count in {}:
        def piece(x, count=count):
            for _ in range(count):
                x = op(x)
            return x
        x = lab.recompute_grad(piece)(x)
    return x
lessons.check("14b.2", chain)"""
_FEWEST = 'lessons.check("14b.3", lambda values, slots: {})'
_PAR = """
def ops(values, slots):
    if values <= slots:
        return values
    if slots == 1:
        return values * (values + 1) // 2
    return {}
lessons.check("14b.3", lambda values, slots: ops(values, slots) - values)"""
_DROPS = 'lessons.check("14b.4", lambda floors: {})'

SOLVED: dict[str, str] = {
    "example-gaps": """
def reach(slots):
    values = 0
    for taken in range(slots):
        inside = slots - taken
        values += inside + 1
    return values
lessons.check_reach(reach)""",
    "example-blank": """
def staircase(slots):
    places, place = [], 0
    for inside in range(slots, 1, -1):
        place += inside + 1
        places.append(place)
    return places
lessons.check_staircase(staircase)""",
    "exercise-board": _PLAY.format("6, 11, 15, 18"),
    "exercise-checkpoints": """
def chain(op, x):
    for count in (5, 4, 3, 2):
        def piece(x, count=count):
            for _ in range(count):
                x = op(x)
            return x
        x = lab.recompute_grad(piece)(x)
    return op(op(x))
lessons.check("14b.2", chain)""",
    "exercise-fewest": _PAR.format(
        "min(first + ops(values - first, slots - 1) + ops(first - 1, slots) for first in range(1, values))"
    ),
    "transfer-answer": """
def drops(floors):
    count = 0
    while count * (count + 1) // 2 < floors:
        count += 1
    return count
lessons.check("14b.4", drops)""",
}

RIGHT: list[tuple[str, str]] = [
    ("example-full", _PIECES.format("ops // pieces + pieces - 1")),
    ("example-full", _PIECES.format("lab.constant(ops / pieces + pieces - 1)")),
    ("example-full", _PIECES.format("(ops + pieces * pieces - pieces) / pieces")),
    ("example-gaps", _REACH.format("slots * (slots + 3) / 2")),
    ("example-gaps", _REACH.format("sum(range(2, slots + 2))")),
    ("example-blank", _STAIRS.format("np.cumsum(range(slots + 1, 2, -1))")),
    ("example-blank", _STAIRS.format("[sum(slots + 1 - k for k in range(n)) for n in range(1, slots + 1)]")),
    ("exercise-board", _KEEP.format("[6, 11, 15, 18]")),
    ("exercise-board", _KEEP.format("(20, 18, 15, 11, 6)")),
    ("exercise-board", _KEEP.format("np.array([6, 11, 15, 18])")),
    ("exercise-checkpoints", _CHAIN.format("pieces(4, lab.recompute_grad(pieces(4, op)))(x)")),
    ("exercise-checkpoints", _IN_A_ROW.format("(6, 5, 4, 1)")),
    ("exercise-checkpoints", _IN_A_ROW.format("(5, 5, 6)")),
    ("exercise-fewest", _PAR.format(
        "min(c + ops(values - c, slots - 1) + ops(c - 1, slots) for c in range(1, values + 1))")),
    ("exercise-fewest", """
def again(values, slots):
    if values <= slots:
        return 0
    if slots == 1:
        return values * (values - 1) // 2
    return min(again(n - 1, slots) + n - 1 + again(values - n, slots - 1) for n in range(1, values))
lessons.check("14b.3", again)"""),
    ("transfer-answer", _DROPS.format("int(np.ceil((np.sqrt(8 * floors + 1) - 1) / 2 - 1e-9))")),
    ("transfer-answer", _DROPS.format("next(t for t in range(999) if t * (t + 1) >= 2 * floors)")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", _PIECES.format("ops // pieces"), "INPUTS_FORGOTTEN"),
    ("example-full", _PIECES.format("ops // pieces - 1"), "INPUTS_FORGOTTEN"),
    ("example-full", _PIECES.format("pieces + ops // pieces"), "X_COUNTED"),
    ("example-full", _PIECES.format("pieces"), "ONE_CHECKPOINT"),
    ("example-full", _PIECES.format("pieces - 1"), "ONE_CHECKPOINT"),
    ("example-full", _PIECES.format("ops"), "ALL_KEPT"),
    ("example-full", _PIECES.format("ops + pieces"), "ALL_KEPT"),
    ("example-full", _PIECES.format("ops - pieces"), "OTHER"),
    ("example-full", _PIECES.format("'ops'"), "RAISES"),
    ("example-full", _PIECES.format("..."), "BLANK"),
    ("example-gaps", _REACH.format("slots * (slots + 1)"), "EQUAL_PIECES"),
    ("example-gaps", _REACH.format("slots ** 2"), "EQUAL_PIECES"),
    ("example-gaps", _REACH.format("slots * (slots + 1) // 2"), "INPUTS_FORGOTTEN"),
    ("example-gaps", _REACH.format("slots"), "ALL_KEPT"),
    ("example-gaps", _REACH.format("2 * slots"), "ALL_KEPT"),
    ("example-gaps", _REACH.format("slots * (slots + 3) // 2 + 1"), "OTHER"),
    ("example-gaps", _REACH.format("2 ** slots"), "OTHER"),
    ("example-gaps", _REACH.format("None"), "BLANK"),
    ("example-gaps", _REACH.format("[slots, 2]"), "RAISES"),
    ("example-blank", _STAIRS.format("[]"), "ONE_CHECKPOINT"),
    ("example-blank", _STAIRS.format("[1]"), "SLOT_EMPTY"),
    ("example-blank", _STAIRS.format("range(1, slots)"), "FIRST_KEPT"),
    ("example-blank", _STAIRS.format("[slots * (slots + 3) // 2 - k for k in range(slots)]"), "LAST_KEPT"),
    ("example-blank", _STAIRS.format("[round(k * (slots + 3) / 2) for k in range(1, slots)]"), "EQUAL_PIECES"),
    ("example-blank", _STAIRS.format("[k * (k + 3) // 2 for k in range(1, slots)]"), "CROWDED_EARLY"),
    ("example-blank", _STAIRS.format("range(1, slots + 1)"), "ALL_KEPT"),
    ("example-blank", _STAIRS.format("[2.5] * (slots - 1)"), "RAISES"),
    ("example-blank", _STAIRS.format("6"), "RAISES"),
    ("example-blank", _STAIRS.format("[0]"), "RAISES"),
    ("example-blank", _STAIRS.format("..."), "BLANK"),
    ("exercise-board", _KEEP.format("[]"), "ONE_CHECKPOINT"),
    ("exercise-board", _KEEP.format("[10]"), "SLOT_EMPTY"),
    ("exercise-board", _KEEP.format("[1, 2, 3, 4]"), "FIRST_KEPT"),
    ("exercise-board", _KEEP.format("[16, 17, 18, 19]"), "LAST_KEPT"),
    ("exercise-board", _KEEP.format("[4, 8, 12, 16]"), "EQUAL_PIECES"),
    ("exercise-board", _KEEP.format("[2, 5, 9, 14]"), "CROWDED_EARLY"),
    ("exercise-board", _KEEP.format("[3, 6, 9, 12, 16]"), "ALL_KEPT"),
    ("exercise-board", _KEEP.format("range(1, 21)"), "ALL_KEPT"),
    ("exercise-board", _KEEP.format("[6, 11, 15, 17]"), "OTHER"),
    ("exercise-board", _KEEP.format("[6, 11, 15, 21]"), "RAISES"),
    ("exercise-board", _KEEP.format("15"), "RAISES"),
    ("exercise-board", _KEEP.format("'6 11 15 18'"), "RAISES"),
    ("exercise-board", _KEEP.format("lessons.checkpoint_board(9, 3)"), "RAISES"),
    ("exercise-board", _PLAY.format("4, 8, 12, 16"), "BLANK"),
    ("exercise-board", _PLAY.format("1, 2, 3, 4"), "FIRST_KEPT"),
    ("exercise-board", 'game.restart()\n' + _KEEP.format("game"), "BLANK"),
    ("exercise-checkpoints", _CHAIN.format("pieces(16, op)(x)"), "ALL_KEPT"),
    ("exercise-checkpoints", _CHAIN.format("pieces(16, lab.recompute_grad(op))(x)"), "ALL_KEPT"),
    ("exercise-checkpoints", _CHAIN.format("lab.recompute_grad(pieces(16, op))(x)"), "ONE_CHECKPOINT"),
    ("exercise-checkpoints", _CHAIN.format(_NESTED), "TOO_OFTEN"),
    ("exercise-checkpoints", _CHAIN.format("pieces(8, op)(x)"), "GRADIENT_CHANGED"),
    ("exercise-checkpoints", _CHAIN.format("x"), "GRADIENT_CHANGED"),
    ("exercise-checkpoints", _CHAIN.format("lab.stop_gradient(pieces(16, op)(x))"), "GRADIENT_CHANGED"),
    ("exercise-checkpoints", _CHAIN.format("pieces(4, pieces(4, lab.tanh))(x)"), "OTHER"),
    ("exercise-checkpoints", _CHAIN.format("1 / 0"), "RAISES"),
    ("exercise-fewest", _FEWEST.format("values - slots"), "ONCE_ENOUGH"),
    ("exercise-fewest", _FEWEST.format("max(values - slots, 0)"), "ONCE_ENOUGH"),
    ("exercise-fewest", _FEWEST.format("values * (values - 1) // 2"), "ONE_CHECKPOINT"),
    ("exercise-fewest", _PAR.format(
        "min(c + ops(values - c, slots - 1) + ops(c - 1, slots) for c in range(1, values))").replace(" - values)", ")"),
     "FORWARD_COUNTED"),
    ("exercise-fewest", _PAR.format("(values + 1) // 2 + ops(values // 2, slots - 1) + ops((values - 1) // 2, slots)"),
     "HALVES"),
    ("exercise-fewest", _FEWEST.format("0"), "OTHER"),
    ("exercise-fewest", _PAR.format("min(c + ops(values - c, slots) + ops(c - 1, slots) for c in range(1, values))"),
     "OTHER"),
    ("exercise-fewest", _PAR.format("ops(values - 1, slots)"), "OTHER"),
    ("exercise-fewest", _PAR.format("ops(values, slots)"), "TOO_LONG"),
    ("exercise-fewest", _FEWEST.format("'par'"), "RAISES"),
    ("exercise-fewest", _FEWEST.format("None"), "BLANK"),
    ("transfer-answer", _DROPS.format("floors"), "ONE_CHECKPOINT"),
    ("transfer-answer", _DROPS.format("2 * int(np.ceil(np.sqrt(floors))) - 1"), "EQUAL_PIECES"),
    ("transfer-answer", _DROPS.format("2 * floors ** 0.5"), "EQUAL_PIECES"),
    ("transfer-answer", _DROPS.format("np.ceil(np.log2(floors + 1))"), "HALVES"),
    ("transfer-answer", _DROPS.format("-(-floors // 2)"), "HALVES"),
    ("transfer-answer", _DROPS.format("8"), "OTHER"),
    ("transfer-answer", _DROPS.format("11"), "OTHER"),
    ("transfer-answer", _DROPS.format("'eight'"), "RAISES"),
    ("transfer-answer", _DROPS.format("1 / 0"), "RAISES"),
    ("transfer-answer", _DROPS.format("..."), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
