"""Checkpoints as a board to play: which values are kept, what runs again, and how far that is from par.

The rules are those of ``draw.checkpoints``; ``rules.js`` has them for the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.checkpoints import Played, account, fewest_ops, picture, play
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class CheckpointBoard(PageWidget):
    """A board.  Usually made by ``lessons.checkpoint_board``.

    Parameters
    ----------
    values, slots : int
        Values of the chain, and how many may be held at a time.
    ideas : dict of str to str
        What is said of an idea that costs too much, by its code.

    Attributes
    ----------
    choices : list of list of int
        What each run kept, where there was a choice, besides the value that it was for.
    best : int
        The fewest ops that ran again in a game that was played to its end, -1 before the first.

    Examples
    --------
    >>> board = CheckpointBoard(9, 3, {})
    >>> board.keep(4, 7)
    >>> board.is_over, board.again, board.par
    (True, 6, 6)
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "checkpoints"
    kept = ("facts", "choices", "best")

    facts = traitlets.Dict().tag(sync=True)
    choices = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
    best = traitlets.Int(-1).tag(sync=True)

    def __init__(self, values: int, slots: int, ideas: dict[str, str]) -> None:
        super().__init__(facts={"values": values, "slots": slots, "ideas": ideas})
        self.observe(self._count, "choices")

    @traitlets.validate("choices")
    def _fitting(self, proposal: Any) -> list[list[int]]:
        taken: list[list[int]] = []
        for kept in proposal["value"]:
            wrong = self._refusal(taken, kept)
            if wrong:
                raise traitlets.TraitError(wrong)
            taken.append(sorted(kept))
        return taken

    def _refusal(self, before: list[list[int]], kept: Sequence[int]) -> str:
        asked = play(self.values, self.slots, before).asked
        if asked is None:
            return "the board is played to its end; `restart` begins again."
        start, end, free = asked
        if any(not start < value < end for value in kept) or len(set(kept)) != len(kept):
            return f"the run goes from {start} to {end}: keep different values between these, got {list(kept)}."
        if len(kept) >= free:
            return f"{free} slots are free, and one of them is for {end}: {len(kept)} more values do not fit."
        return ""

    def _count(self, _: Any) -> None:
        if self.is_over and (self.best < 0 or self.again < self.best):
            self.best = self.again

    @property
    def values(self) -> int:
        """How many values the chain has."""
        return self.facts["values"]

    @property
    def slots(self) -> int:
        """How many values may be held at a time."""
        return self.facts["slots"]

    @property
    def par(self) -> int:
        """The fewest ops that run again."""
        return fewest_ops(self.values, self.slots) - self.values

    @property
    def played(self) -> Played:
        """The runs so far."""
        return play(self.values, self.slots, self.choices)

    @property
    def again(self) -> int:
        """How many ops ran again so far."""
        return self.played.again

    @property
    def is_over(self) -> bool:
        """Whether the backward pass has reached the first value."""
        return self.played.asked is None

    def keep(self, *values: int) -> None:
        """Make the run that waits, and keep these values besides the one that it is for.

        Parameters
        ----------
        *values : int
            Numbers of values that the run computes.

        Raises
        ------
        InvalidArgumentError
            If no run waits, the run does not compute one of them, or they do not fit into the free slots.
        """
        if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
            raise InvalidArgumentError(f"keep: numbers of values are integers, got {values}. Try board.keep(4, 7).")
        wrong = self._refusal(self.choices, values)
        if wrong:
            raise InvalidArgumentError(f"keep: {wrong}")
        self.choices = [*self.choices, sorted(values)]

    def restart(self) -> None:
        """Begin again."""
        self.choices = []

    def account(self) -> str:
        """Return the game as text: each run, and what it kept."""
        return account(self.values, self.slots, self.played)

    def picture(self) -> str:
        """Return the runs as a static SVG."""
        return picture(self.values, self.slots, self.played)

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Checkpoints"
