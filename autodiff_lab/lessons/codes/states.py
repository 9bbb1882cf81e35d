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
    "TOO_LONG": Misconception(
        "the code never ends",
        "The code did not come to an end.",
        "Which line changes what the loop waits for? Print it in a new cell, for a few rounds.",
    ),
    "OTHER": Misconception(
        "none of the known ones",
        "This is not right, and it is none of the usual wrong answers.",
        "Work through it once on paper with numbers, and compare line by line.",
    ),
}

OTHER_BY_KIND: dict[str, tuple[str, str]] = {
    "number": (
        "The number is not right, and it is none of the usual wrong ones.",
        "Work it out once on paper with small numbers, and compare step by step.",
    ),
    "numbers": (
        "These numbers are not right, and they are none of the usual wrong ones.",
        "Work them out once on paper for small numbers, and find the first that differs.",
    ),
    "list": (
        "The list is not right, and it is none of the usual wrong ones.",
        "Go through the program with one number in hand, and write down an item at a time.",
    ),
    "array": (
        "The shape is right and the numbers are not, and they are none of the usual wrong ones.",
        "Take the smallest case, 2 by 2 or 2 long, and compare it with paper element by element.",
    ),
    "function": (
        "The function runs, but what it gives is not right, and it is none of the usual wrong answers.",
        "Call it in a new cell with numbers so small that you know what should come out.",
    ),
    "kernel": (
        "The kernel runs, but the arrays do not hold what they should, and it is none of the usual mistakes.",
        "Launch it on 3 elements, and follow each thread: what does it read, and where does it write?",
    ),
    "word": ("This is not the right one.", "Try the smallest case that you can think of, and go through both answers."),
}
"""What is said of an answer with no known idea behind it, and the hint, by the kind of answer."""
