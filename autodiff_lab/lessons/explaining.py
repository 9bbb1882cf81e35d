"""Explain: a sentence with gaps, filled in after a prediction and kept beside it."""

from __future__ import annotations

from html import escape
from itertools import zip_longest
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.forms import ipywidgets
from autodiff_lab.lessons.prediction import Prediction
from autodiff_lab.lessons.unlocked import SIZE, Shown

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
        self._gaps: list[Any] = []
        row: list[Any] = []
        for number, (piece, gap) in enumerate(zip_longest(self._pieces, range(len(self._pieces) - 1)), start=1):
            if piece.strip():
                row.append(ipywidgets.HTML(f"<span {SIZE}>{escape(piece)}</span>"))
            if gap is not None:
                field = ipywidgets.Text(placeholder=GAP, layout={"width": "200px"}, tooltip=f"gap {number}")
                field.on_msg(self._on_enter)
                self._gaps.append(field)
                row.append(field)
        self._button = ipywidgets.Button(description="Keep", tooltip="Keep this sentence beside the prediction")
        self._button.on_click(lambda _: self._read())
        self._note = ipywidgets.HTML()
        layout = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "4px 8px"}
        super().__init__([ipywidgets.HBox([*row, self._button], layout=layout), self._note])

    def _on_enter(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("event") == "submit":
            self._read()

    def _read(self) -> None:
        words = [field.value.strip() for field in self._gaps]
        if all(words):
            self.keep(*words)
        else:
            self._say("Every gap takes a few words. Half an explanation is a start.")

    def _say(self, sentence: str) -> None:
        self._note.value = f'<div role="status" {SIZE}>{escape(sentence)}</div>'

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
        if len(said) != len(self._gaps) or not all(said):
            raise InvalidArgumentError(f"{len(self._gaps)} gaps take as many answers, none of them empty.")
        for field, word in zip(self._gaps, said, strict=True):
            field.value = word
        self.kept = "".join(piece + word for piece, word in zip_longest(self._pieces, said, fillvalue=""))
        self._say("Kept. You can change it and press Keep again.")
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
