"""The board of checkpoints: par is the best there is, its counts are those of real ops, and its page plays alone."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import traitlets

from autodiff_lab import lessons
from autodiff_lab.draw.checkpoints import fewest_ops, idea_of, ops_of, play
from autodiff_lab.errors import InvalidArgumentError


@cache
def least(need: int, held: frozenset[int], slots: int) -> int:
    """Return the fewest ops from here on, by trying everything that may be kept, and dropped, before every run."""
    if need == 0:
        return 0
    if need in held:
        return least(need - 1, held - {need}, slots)
    start = max((value for value in held if value < need), default=0)
    inside = range(start + 1, need)
    free = slots - len(held)
    ways = [
        need - start + least(need, held | {need, *kept}, slots)
        for count in range(min(free, need - start))
        for kept in combinations(inside, count)
    ]
    ways += [least(need, held - {value}, slots) for value in held]
    return min(ways, default=10**6)


@pytest.mark.parametrize(("values", "slots"), [(1, 1), (4, 1), (5, 2), (7, 2), (6, 3), (8, 3), (8, 4)])
def test_no_way_to_play_needs_fewer_ops_than_par(values: int, slots: int) -> None:
    assert least(values, frozenset(), slots) == fewest_ops(values, slots)


def test_as_many_slots_reach_as_the_rule_says() -> None:
    for slots in range(1, 9):
        reached = slots * (slots + 3) // 2
        assert fewest_ops(reached, slots) == 2 * reached - slots  # every value twice, but for those that are kept
        assert fewest_ops(reached + 1, slots) > 2 * (reached + 1) - slots


def test_real_ops_need_what_the_board_counts() -> None:
    rng = np.random.default_rng(14)
    for _ in range(12):
        values = int(rng.integers(3, 25))
        board = lessons.checkpoint_board(values, int(rng.integers(2, min(values, 7))))
        while board.played.asked:
            start, end, free = board.played.asked
            board.keep(*rng.choice(range(start + 1, end), int(rng.integers(0, free)), replace=False).tolist())
        held: set[int] = set()
        most = 0
        for run in board.played.runs:
            held = {value for value in held if value <= run.start} | set(run.kept)
            most = max(most, len(held))
        assert lessons.run_board(board).account == (
            f"at most {most} values held, {values} ops forward, {board.again} of them again; "
            "the same gradient as a tape that keeps all: True"
        )
        assert most <= board.slots
        assert board.again >= board.par


def test_a_first_run_costs_what_playing_it_costs() -> None:
    for kept in combinations(range(1, 14), 3):
        played = play(14, 4, [kept])
        if played.asked is None:
            assert 14 + played.again == ops_of(14, 4, kept)


def test_a_bad_choice_that_comes_later_is_named_too() -> None:
    board = lessons.checkpoint_board(20, 4)
    board.keep(8, 13, 17)
    assert idea_of(20, 4, [8, 13, 17]) == ""
    while board.played.asked:
        start = board.played.asked[0]
        board.keep(*range(start + 1, start + board.played.asked[2]))
    assert lessons.check_board(board, 20, 4).code == "FIRST_KEPT"


def test_what_does_not_fit_is_refused_in_words() -> None:
    board = lessons.checkpoint_board(9, 3)
    for kept, words in (((1, 2, 3), "3 more values"), ((9,), "between"), ((0,), "between"), ((4, 4), "between")):
        with pytest.raises(InvalidArgumentError, match=words):
            board.keep(*kept)
    with pytest.raises(InvalidArgumentError, match="integers"):
        board.keep(4.0)  # type: ignore[arg-type]
    board.keep(4, 7)
    with pytest.raises(InvalidArgumentError, match="played to its end"):
        board.keep(2)
    with pytest.raises(traitlets.TraitError, match="do not fit"):
        board.choices = [[1, 2, 3]]
    for values, slots in ((9, 9), (9, 1), (50, 3), (True, 3), (9, "3")):
        with pytest.raises(InvalidArgumentError):
            lessons.checkpoint_board(values, slots)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="a board"):
        lessons.run_board([4, 7])  # type: ignore[arg-type]


def test_the_page_is_small_and_knows_the_ideas(tmp_path: Path) -> None:
    page = lessons.checkpoint_board(16, 4).to_html(tmp_path / "board.html")
    assert page.stat().st_size < 160_000
    text = page.read_text(encoding="utf-8")
    assert "EQUAL_PIECES" in text
    assert "Checkpoints: 16 values, 4 slots, par 14" in text
