"""States of an answer that are not misconceptions."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "BLANK": Misconception(
        "not answered yet", "There are blanks left.", "Replace every ... and run the cell again; a guess is welcome."
    ),
    "RAISES": Misconception(
        "the code stops",
        "The code stopped before it gave an answer.",
        "Look at your answer in a new cell: is it the kind of thing that was asked for?",
    ),
    "OTHER": Misconception(
        "none of the known ones",
        "This is not right, and it is none of the usual wrong answers.",
        "Work through it once on paper with numbers, and compare line by line.",
    ),
}
