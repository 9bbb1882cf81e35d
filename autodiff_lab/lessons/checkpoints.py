"""Lesson 14b: the board of checkpoints, its plan run with real ops, and checks of boards and of chains."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.checkpoints import MOST, fewest_ops, idea_of, ops_of
from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.lessons.attempt import attempt, checked, finite, is_blank, listed, other, stop
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.memory import OPS, Chain, Kept, Op, run_chain
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.lessons.result import CheckResult, passed

if TYPE_CHECKING:
    from autodiff_lab.widgets.checkpoints import CheckpointBoard

MOST_KEPT, MOST_AGAIN = 8, 16
"""What a chain of 16 ops may keep, and how many ops it may run again."""
PAR, BEST = 7, 6
"""Values that pieces of equal length keep, and pieces of 5, 4, 3 and 2 before two ops that are kept."""
_IDEAS = ("ONE_CHECKPOINT", "SLOT_EMPTY", "FIRST_KEPT", "LAST_KEPT", "EQUAL_PIECES", "CROWDED_EARLY")
HINT = "Slots become free again as the backward pass goes to the left. Where can a gap be long?"


def checkpoint_board(values: int = 9, slots: int = 3) -> CheckpointBoard:
    """Open a board of checkpoints: keep few values of a chain, and run as few ops again as possible.

    The backward pass needs the values from the last to the first. One that is not held is computed again from the
    nearest one that is, and the player chooses what that run keeps.

    Parameters
    ----------
    values : int
        Values of the chain, 2 to 40.
    slots : int
        How many of them may be held at a time, at least 2 and fewer than there are values.

    Returns
    -------
    CheckpointBoard
        A widget; ``.keep(4, 7)`` plays without a mouse, ``.to_html(path)`` writes the board as a page that needs no
        kernel.

    Raises
    ------
    InvalidArgumentError
        If there are too many values, or the slots do not fit them.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> board = lessons.checkpoint_board(9, 3)
    >>> board.keep(4, 7)
    >>> print(board.account())
    Checkpoints: 9 values, 3 slots, par 6
      run 1: from x to 9, kept 4, 7, 9
      run 2: from 7 to 8, kept 8
      run 3: from 4 to 6, kept 5, 6
      run 4: from x to 3, kept 1, 2, 3
    6 ops ran again, which is par: no plan needs fewer.
    """
    for name, given in (("values", values), ("slots", slots)):
        if isinstance(given, bool) or not isinstance(given, int):
            raise InvalidArgumentError(f"{name}: expected an integer, got {given!r}. Try checkpoint_board(9, 3).")
    if not 2 <= slots < values <= MOST:
        raise InvalidArgumentError(f"A board has at most {MOST} values and from 2 slots to one fewer than values; "
                                   f"got {values} values and {slots} slots.")  # fmt: skip
    try:
        from autodiff_lab.widgets.checkpoints import CheckpointBoard
    except ImportError as error:
        raise MissingPackage.of("The board", "anywidget", "lab") from error
    return CheckpointBoard(values, slots, {code: f"{CODES[code].says} {CODES[code].hint}" for code in _IDEAS})


def is_board(given: Any) -> TypeGuard[CheckpointBoard]:
    """Return whether this is a board that `checkpoint_board` opened.

    Examples
    --------
    >>> is_board(checkpoint_board()), is_board([4, 7])
    (True, False)
    """
    try:
        from autodiff_lab.widgets.checkpoints import CheckpointBoard
    except ImportError:  # without it no board can be opened
        return False
    return isinstance(given, CheckpointBoard)


def run_board(board: CheckpointBoard, size: int = 1000) -> Picture:
    """Run the plan of a board with real ops, count the values that are alive between two of them, compare gradients.

    Parameters
    ----------
    board : CheckpointBoard
        What `checkpoint_board` opened.
    size : int
        Elements of each value.

    Raises
    ------
    InvalidArgumentError
        If it is not a board.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> board = lessons.checkpoint_board(9, 3)
    >>> board.keep(4, 7)
    >>> lessons.run_board(board)
    at most 3 values held, 9 ops forward, 6 of them again; the same gradient as a tape that keeps all: True
    """
    if not is_board(board):
        raise InvalidArgumentError(f"run_board: expected a board, got {type(board).__name__}. "
                                   "Open one with lessons.checkpoint_board(9, 3).")  # fmt: skip
    if not board.is_over:
        return Picture("The board is not played to its end.", board.picture())
    alive: set[int] = set()
    most = ran = 0
    x = lab.constant(np.linspace(-1.0, 1.0, size), dtype=lab.float32)
    held: dict[int, Any] = {0: x}
    gradient = lab.ones([size])
    need = board.values
    runs = iter(board.played.runs)
    while need:
        if need not in held:
            run = next(runs)
            y = held[run.start]
            for value in range(run.start + 1, run.end + 1):
                y = lab.tanh(y)
                array = y._array  # pyright: ignore[reportPrivateUsage]
                alive.add(id(array))
                weakref.finalize(array, alive.discard, id(array))
                del array
                ran += 1
                if value in run.kept:
                    held[value] = y
                most = max(most, len(alive))
            del y
        gradient = gradient * (1.0 - held[need] * held[need])
        del held[need]
        need -= 1
    plain = run_chain(lambda op, given: _plain(op, given, board.values), size=size)
    same_gradient = np.array_equal(plain.gradient, gradient.numpy())
    return Picture(
        f"at most {most} values held, {board.values} ops forward, {ran - board.values} of them again; "
        f"the same gradient as a tape that keeps all: {same_gradient}",
        board.picture(),
    )


@checked
def check_board(answer: Any, values: int = 20, slots: int = 5) -> CheckResult:
    """Check a board that is played to its end with as few ops as possible, or what its first run keeps.

    Parameters
    ----------
    answer : CheckpointBoard, or list of int
        The board; or the values that the first run keeps, after which the board is played as well as possible.
    values, slots : int
        The board that is asked for.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_board([6, 11, 15, 18])
    Passed. 15 ops ran again, and no plan needs fewer.
    >>> lessons.check_board([4, 8, 12, 16]).code
    'EQUAL_PIECES'
    """
    if is_blank(answer):
        raise stop("BLANK", "There is no board here yet.")
    par = fewest_ops(values, slots) - values
    if not is_board(answer):
        kept = kept_by(answer, values, slots)
        code = idea_of(values, slots, kept)
        over = ops_over(values, slots, kept)
    else:
        if (answer.values, answer.slots) != (values, slots):
            told = f"This board has {answer.values} values and {answer.slots} slots, not {values} and {slots}."
            raise stop("RAISES", told, "Give the board of the exercise.")
        if answer.best == par:
            return passed(f"{par} ops ran again, and no plan needs fewer.")
        if not answer.is_over:
            hint = "Play in the picture above, and run this cell again."
            raise stop("BLANK", "The board is not played to its end.", hint)
        codes = ((idea_of(end - start, free, [value - start for value in kept]))
                 for start, end, free, *kept in answer.played.choices)  # fmt: skip
        code, over = next(filter(None, codes), ""), answer.again - par
    if not over:
        return passed(f"{par} ops ran again, and no plan needs fewer.")
    told = f"{par + over} ops ran again, {over} over par."
    raise stop(code, f"{told} {CODES[code].says}") if code else other("list", told, HINT)


def kept_by(answer: Any, values: int, slots: int) -> list[int]:
    """Return what a first run keeps besides its last value, in order."""
    numbers = [finite(one, "each value") for one in listed(answer, "the list of values")]
    kept = sorted({int(one) for one in numbers if one == int(one)} - {values})
    if any(one != int(one) or not 1 <= one <= values for one in numbers):
        raise stop("RAISES", f"The values have the numbers 1 to {values}.", "Give the numbers of values to keep.")
    if len(kept) > slots - 1:
        told = f"With {values}, which is needed first, these are {len(kept) + 1} values for {slots} slots."
        raise stop("ALL_KEPT", told, "Take some out: which of them would be cheap to compute again?")
    return kept


def ops_over(values: int, slots: int, kept: Sequence[int]) -> int:
    """Return how many ops a first run costs beyond par, played as well as possible from then on."""
    return ops_of(values, slots, kept) - fewest_ops(values, slots)


@checked
def check_checkpoints(chain: Chain) -> CheckResult:
    """Check a chain of 16 ops that keeps few values, runs few ops again, and has the same gradient.

    Parameters
    ----------
    chain : callable
        ``chain(op, x)``: applies op 16 times, one after the other.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def all_kept(op, x):
    ...     for _ in range(16):
    ...         x = op(x)
    ...     return x
    >>> lessons.check_checkpoints(all_kept).code
    'ALL_KEPT'
    """
    plain = run_chain(_plain)
    found: Any = attempt(lambda: run_chain(chain))
    if not isinstance(found, Kept):
        raise stop("RAISES", "chain should return a tensor.")
    if not np.array_equal(found.gradient, plain.gradient):
        raise stop("GRADIENT_CHANGED")
    if found.forward != OPS:
        raise other("function", f"op ran {found.forward} times on the way forward, and the chain has {OPS} ops.",
                    "Every step must go through op: a value that op did not make is not counted.")  # fmt: skip
    counts = f"At most {found.peak} values kept, {found.again} ops rerun."
    if found.again > MOST_AGAIN:
        raise stop("TOO_OFTEN", f"{counts} At most {MOST_AGAIN} are allowed.")
    if found.peak > MOST_KEPT:
        forgot = max(found.line.kept[: found.line.turn]) <= 2
        raise stop("ONE_CHECKPOINT" if forgot else "ALL_KEPT", f"{counts} At most {MOST_KEPT} values are allowed.")
    return passed(f"{counts} The gradient is the same to the last bit. {_score(found.peak)}")


def _score(peak: int) -> str:
    if peak <= BEST:
        return f"No plan keeps fewer than {BEST}."
    return f"Par is {PAR}; the best plan keeps {BEST}." if peak > PAR else f"That is par; the best plan keeps {BEST}."


def _plain(op: Op, x: Any, count: int = OPS) -> Any:
    for _ in range(count):
        x = op(x)
    return x


EXERCISES: dict[str, Exercise] = {
    "14b.1": Exercise("a board at par", check_board),
    "14b.2": Exercise("half the memory", check_checkpoints),
}
