"""`engines`: the right backward pass and wrong ones over the same program, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from autodiff_lab.draw.accounts import Accounts
from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.recording import Recording
from autodiff_lab.teaching import IDEAS, Engine, replay, wrong_engines

if TYPE_CHECKING:
    from autodiff_lab.widgets.engines import EngineComparison

MOST = 5
"""Wrong engines that fit beside the right one."""
RIGHT = "a value pays out once, when all its bookings are in"


def engines(
    recording: Recording, wrong: Sequence[str | Engine] = ("OVERWRITE", "EARLY", "CLOSED")
) -> EngineComparison | Picture:
    """Show the right backward pass and wrong ones over the same program, stepped together booking by booking.

    Every value has an account. It shows how many of its bookings are in, what it holds, and in which turns it paid out;
    an account that pays out while bookings are missing is stamped. At its end, each pass is audited: what it reports,
    and what the paths add to.

    Parameters
    ----------
    recording : Recording
        A finished one, of scalars; with or without a backward pass. The program is not needed.
    wrong : sequence of str or Engine
        Up to five: codes of `autodiff_lab.teaching.IDEAS`, or engines of your own.

    Returns
    -------
    EngineComparison or Picture
        A widget; ``.step`` is the number of bookings it shows, and ``.to_html(path)`` writes it as a page. Where
        anywidget is not installed, a picture of the ends of all passes, and their audits as text.

    Raises
    ------
    InvalidArgumentError
        If there is no idea of that code, there are too many, or the program is too large or not made of scalars.
    NotInRecording
        If the recording has no op that could be differentiated.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> x = lab.Variable(2.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = 3.0 * x
    ...     a = 2.0 * y
    ...     b = 5.0 * y
    ...     c = a + b
    >>> lessons.engines(recording, ["OVERWRITE", "EARLY"])
    right: dc/dx = 21 = 15 + 6
    OVERWRITE: dc/dx = 6; paths add to 21; 15 missing
    EARLY: dc/dx = 27; paths add to 21; 6 too much
      y paid out early
    """
    if not isinstance(recording, Recording):
        raise InvalidArgumentError(
            f"engines takes a recording, but this is {type(recording).__name__}. Make one with lab.record()."
        )
    chosen = _chosen(wrong)
    passes = [("right", RIGHT, replay(recording))]
    for name, variants in chosen:
        # Of several variants the shortest pass: an op pays all of its inputs in one turn.
        found = min((replay(recording, engine) for engine in variants), key=lambda each: len(each.sweeps[-1].steps))
        passes.append((name, variants[0].idea, found))
    accounts = Accounts(passes)
    try:
        from autodiff_lab.widgets.engines import EngineComparison
    except MissingPackage:
        return Picture(accounts.account(), accounts.svg())
    return EngineComparison(accounts)


def _chosen(wrong: Any) -> list[tuple[str, list[Engine]]]:
    """Return names and engines; a code stands for all variants of its idea."""
    given = [wrong] if isinstance(wrong, (str, Engine)) else wrong
    if not isinstance(given, Sequence):
        raise InvalidArgumentError(f"engines takes a list of codes or engines, but this is {type(wrong).__name__}.")
    if len(given) > MOST:
        raise InvalidArgumentError(f"Up to {MOST} engines fit beside the right one; {len(given)} were given.")
    found: list[tuple[str, list[Engine]]] = []
    for each in given:
        if isinstance(each, Engine):
            found.append((each.code or "an engine", [each]))
            continue
        if not isinstance(each, str):
            raise InvalidArgumentError(
                f'Engines are given by their codes, like "EARLY", or as lab.teaching.Engine; this is '
                f"{type(each).__name__}."
            )
        if each not in IDEAS:
            near = get_close_matches(each.upper(), IDEAS, 1, 0.0)[0]
            raise InvalidArgumentError(f"There is no idea {each!r} in lab.teaching.IDEAS. Did you mean {near!r}?")
        found.append((each, [engine for engine in wrong_engines() if engine.code == each]))
    return found
