"""Explain: a sentence with gaps, filled in after a prediction and kept beside it."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.forms import Shown
from autodiff_lab.lessons.prediction import Prediction

GAP = "…"


class Explained(Shown):
    """A sentence with gaps.  Made by `explain`.

    Attributes
    ----------
    lesson : str
        The number of the lesson.
    kept : str
        The whole sentence, once every gap is filled; empty before.
    """

    def __init__(self, lesson: str, sentence: str, beside: Prediction | None = None) -> None:
        self.lesson, self.sentence, self.kept = str(lesson), sentence, ""
        self._pieces, self._beside = sentence.split("{}"), beside
        if len(self._pieces) < 2:
            raise InvalidArgumentError("explain takes a sentence with gaps, each written {}.")
        row: list[dict[str, str]] = []
        for number, piece in enumerate(self._pieces):
            if number:
                row.append({"kind": "field", "text": "", "hint": GAP, "label": f"gap {number}"})
            if piece.strip():
                row.append({"kind": "text", "text": piece.strip()})
        super().__init__(*row, button="Keep", tip="Keep this sentence beside the prediction")
        self.observe(lambda change: self._read(change.new["values"]), "submitted")

    def _read(self, values: list[str]) -> None:
        if all(value.strip() for value in values):
            self.keep(*values)
        else:
            self.note = "Every gap takes a few words. Half an explanation is a start."

    def keep(self, *words: Any) -> Explained:
        """Fill the gaps; what the button does.  Calling it again replaces the sentence.

        Parameters
        ----------
        *words : object
            One for each gap.

        Raises
        ------
        InvalidArgumentError
            If there are too few or too many, or one is empty.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> lessons.explain("1", "I predicted {} because {}.").keep(10, "that is the average")
        I predicted 10 because that is the average.
        """
        said = [str(word).strip() for word in words]
        gaps = len(self._pieces) - 1
        if len(said) != gaps or not all(said):
            raise InvalidArgumentError(f"{gaps} gaps take as many answers, none of them empty.")
        self.values = said
        self.kept = "".join(piece + word for piece, word in zip_longest(self._pieces, said, fillvalue=""))
        self.note = "Kept. You can change it and press Keep again."
        if self._beside is not None:
            self._beside.keep_beside(self.kept)
        return self

    def account(self) -> str:
        """Return the sentence, with its gaps or filled in."""
        return self.kept or GAP.join(self._pieces)


def explain(lesson: str, sentence: str, beside: Prediction | None = None) -> Explained:
    """Ask for an explanation: a sentence with gaps to fill in.

    Parameters
    ----------
    lesson : str
        The number of the lesson.
    sentence : str
        Plain text with ``{}`` for each gap.
    beside : Prediction, optional
        The prediction that it explains, which then shows the sentence as well.

    Returns
    -------
    Explained
        A widget; its text form is the sentence.

    Raises
    ------
    InvalidArgumentError
        If the sentence has no gaps.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.explain("8", "I predicted {} because {}; it is {}.")
    I predicted … because …; it is ….
    """
    return Explained(lesson, sentence, beside)
