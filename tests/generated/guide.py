"""docs/teachers_guide.md: timing, what goes wrong and what to ask, for each lesson there is; and paths through them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.lessons.play import LESSONS, cells, markdown, number_of


@dataclass(frozen=True)
class Row:
    """What a teacher should know about a lesson.

    Attributes
    ----------
    minutes : tuple of int
        For prediction; observing and explaining; rule and worked example; exercises and transfer.
    wrong : str
        What goes wrong most often.
    ask : str
        A question for the class.
    """

    minutes: tuple[int, int, int, int]
    wrong: str
    ask: str


ROWS: dict[str, Row] = {
    "1": Row((5, 12, 9, 14), "Learners answer with the average rate (WHOLE_TRIP), and take a tangent for a line that "
             "touches once.", "Where on its way did the lorry drive at exactly 90 km/h? Must there be such a place?"),
    "2": Row((6, 15, 9, 15), "Learners draw f again, or draw it upside down, and mark the highest point where the "
             "climb is steepest.", "The climb is at its maximum. Is the curve at its highest point?"),
    "3": Row((6, 12, 10, 12), "Learners expect the smallest step to be the best (SMALLER_IS_BETTER).",
             "At h = 1e-16 the result is 0. Which of the two subtractions lost the digits?"),
    "4": Row((5, 12, 13, 15), "Learners take autodiff for deriving a formula (AUTODIFF_IS_SYMBOLIC), and update "
             "the value before the derivative that needs the old one (UPDATED_TOO_EARLY).",
             "The formula doubles with every round. What stays the same size?"),
    "5": Row((6, 12, 12, 15), "Learners seed all inputs at once and read the sum as a gradient (ALL_SEEDED).",
             "Which of the two numbers in a pair would be different for another seed?"),
    "6": Row((6, 14, 10, 15), "Learners read entries off the source text (SOURCE_TEXT) and blame the tape for None.",
             "Which line could be deleted without changing what the tape holds?"),
    "7": Row((5, 14, 9, 12), "At a product each input gets its own value (OWN_VALUE); the seed is taken for 0.",
             "In 3 · 2, let the 3 become 4. By how much does the product grow?"),
    "8": Row((6, 13, 10, 16), "A second contribution replaces the first (OVERWRITE), or a value delivers too early "
             "(EARLY).", "How does an account know that nothing more will come in?"),
    "9": Row((7, 12, 10, 16), "Learners keep the stretched shape (BROADCAST_KEPT), or drop axes of length 1.",
             "One price is used in four shops. What does raising it by one bring?"),
    "10": Row((6, 14, 12, 18), "Learners believe that the whole table is built (WHOLE_JACOBIAN), and mix up rows and "
              "columns.", "A thousand inputs and one output: from which end would you start?"),
    "11": Row((7, 12, 10, 16), "Every disagreement is taken for a wrong rule (FAIL_MEANS_WRONG_RULE), and the guard is "
              "put after the op (WHERE_PROTECTS).", "Which numbers does the branch compute that is not taken?"),
    "12": Row((7, 14, 11, 18), "Learners expect minus the gradient to point to the minimum (POINTS_TO_MINIMUM).",
              "With half the step, does one need twice as many strokes, or fewer?"),
    "13": Row((6, 14, 12, 18), "The first gradient is taken outside the outer tape (FIRST_OUTSIDE).",
              "Which ops would the outer tape have to see?"),
    "14a": Row((6, 13, 10, 16), "The first call is timed (FIRST_CALL), and a loop is expected to save arithmetic, "
               "not memory traffic.", "What has to be read and written, whoever computes it?"),
    "14b": Row((6, 14, 10, 15), "Learners forget everything but the inputs (ONE_CHECKPOINT), or take recomputation for "
               "free.", "You may keep five values of twenty. Which one would you keep first?"),
    "15": Row((5, 13, 12, 15), "The last block has no guard (NO_GUARD), and threads are expected to wait for each "
              "other (NO_BARRIER).", "How many threads do nothing, and must they arrive at the barrier all the same?"),
    "16": Row((5, 8, 7, 30), "The line that shows the fault is blamed for it (SYMPTOM_FOR_CAUSE), or it is silenced.",
              "What would you have to see to be sure that it is another line?"),
    "17": Row((6, 13, 10, 16), "Only the result is reported (SKIPPED_OP), or a value gets a new name at each use "
              "(TWO_SOURCES).", "What must two frameworks agree on, so that one picture serves both?"),
}  # fmt: skip

PATHS: dict[str, tuple[str, tuple[str, ...]]] = {
    "One session of 90 minutes": (
        """For people who use gradients and have never seen one computed. Let them commit the predictions
of lesson 7 on paper before the session; leave out the transfer of both.""",
        ("7", "8"),
    ),
    "A week at school": (
        """For the last years of school, one lesson a day, without arrays. Lesson 3 is the one that surprises
most; the digits of a pocket calculator do as well as ours.""",
        ("1", "2", "3", "7", "8"),
    ),
    "A university course": (
        """One lesson a week, in the order of the course. Form A of the inventory in the first week, form B in
the last.""",
        tuple(ROWS),
    ),
    "Engineers who debug": (
        """For people whose training does not work. The clinic first, as far as they get; then the lessons whose
cases they missed; then the rest of the clinic.""",
        ("16", "6", "9", "11", "12", "17"),
    ),
}

HEAD = """# A guide for teachers

This page is generated by `make docs-renew`. It has the timing of each lesson, what goes wrong most often, and a
question to ask when it does. The times are estimates for learners who type for themselves; no class was timed.

Every lesson begins with a prediction. Let everybody commit one before anybody presses a button, and ask two people with
different predictions to argue before the picture opens. A wrong prediction that is explained afterwards is worth more
than a right one, so do not collect scores for them.

## Paths

"""
TABLE = """## Lesson by lesson

Minutes for each part:

| lesson | predict | observe, explain | rule, example | exercises, transfer |
|---|---|---|---|---|
"""
TOOLS = """## Before, during and after

- **Before**: form A of the [concept inventory](inventory.md), ten questions on paper.
- **During**: when several learners have the same wrong number, put it beside the right pass with
  [`lessons.engines`](teaching.md#engines-side-by-side), and let the class find the step at which they part.
- **After**: form B; [solutions](solutions.md) to every exercise; and the results of the class, which hold no names:

```sh
autodiff-lab results FOLDER --csv class.csv --svg class.svg
```

`FOLDER` holds the `progress.json` files that learners hand in, under any names. The table has a row for each exercise
that somebody tried, and one for each misconception that was recognized in it: how many learners, how many answers, how
many of these learners solved it in the end. Names of files, folders, times and anything else in the files stay out of
it; a file that cannot be read is named on the screen and left as it is. In a group of three, counts may still tell who
it was. `lessons.class_results(folder)` does the same in a notebook and draws it.

## In another language

[Lesson 1 in German](../notebooks/de/01_was_ist_eine_ableitung.ipynb) opens with `autodiff-lab --language de`. Its text,
questions, choices and comments are German; names, buttons and what the checks answer are those of the package, in
English, and the first cell translates the words on the buttons.

Such a notebook is made from the English one and a catalogue, which has the translation of each cell by the cell's id.
To add a lesson or a language, in a checkout:

1. `python -m tests.lessons.translate fr 07` writes `tests/lessons/catalogues/fr/07.toml` with the English words in the
   places of the translated ones. Replace them, and `name`, the file name of the notebook.
2. `make lessons-translated` writes `notebooks/fr/` and says which cells are missing.
3. `.venv/bin/python -m pytest tests/lessons` solves the lesson with the answers of the original and searches it for
   answers that can be read too early.

Of a code cell only strings and comments can be replaced; a test refuses any other difference. Each entry holds a digest
of the English cell, so when the original changes, the test names the cells that have to be read again.
"""


def page() -> str:
    """Return the text of the page."""
    known = {number_of(lesson).lstrip("0"): lesson for lesson in LESSONS}
    parts = [HEAD]
    for name, (says, lessons) in PATHS.items():
        there = [number for number in lessons if number in known]
        total = sum(sum(ROWS[number].minutes) for number in there)
        parts.append(f"**{name}**: lessons {_listed(there)}, {total} minutes.\n{says}\n\n")
    parts.append(TABLE)
    parts += [f"| {title_of(known[n])} | {' | '.join(map(str, ROWS[n].minutes))} |\n" for n in known if n in ROWS]
    for number, lesson in known.items():
        if number in ROWS:
            row = ROWS[number]
            title = title_of(lesson)
            parts.append(f"\n### {title}\n\n- **Goes wrong** {row.wrong}\n- **Ask** {row.ask}\n")
    return "".join([*parts, "\n", TOOLS])


def title_of(lesson: str) -> str:
    """Return the number and the name of a lesson."""
    return str(cells(lesson)[0].source).partition("\n")[0].removeprefix("# ").replace(" · ", ". ")


def minutes_of(lesson: str) -> int:
    """Return the minutes that a lesson says it takes."""
    found = re.search(r"^- \*\*Time\*\* (\d+)", markdown(lesson), re.MULTILINE)
    assert found
    return int(found[1])


def _listed(numbers: list[str]) -> str:
    return ", ".join(numbers[:-1]) + f" and {numbers[-1]}"
