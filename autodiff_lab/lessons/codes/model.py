"""What is known about one wrong idea."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong idea that can be recognized from the answer it produces.

    Attributes
    ----------
    idea : str
        The idea, as a learner would put it.
    says : str
        What the note says.
    hint : str
        What to try next.
    lessons : tuple of int or str
        The lessons that cure it, such as 7 or ``"14a"``; empty for states that are not misconceptions.
    """

    idea: str
    says: str
    hint: str
    lessons: tuple[int | str, ...] = ()
