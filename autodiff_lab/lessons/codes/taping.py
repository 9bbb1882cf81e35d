"""Wrong ideas about what a tape writes down: lesson 6."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "SOURCE_TEXT": Misconception(
        "the tape reads the program",
        "Your list contains an op that did not run. A tape sees what happens, never the text of the program.",
        "Walk through the function with the number in hand, and note only the lines that you step on.",
        (4, 6),
    ),
    "EVERYTHING": Misconception(
        "the tape records everything",
        "Your list contains an op that touches nothing watched. Such an op leaves no entry.",
        "Ask of each op whether one of its inputs leads back to what is watched, and whether it has a derivative at "
        "all.",
        (4, 6),
    ),
    "FORGOTTEN": Misconception(
        "only the last op counts",
        "An op that did run, and did touch the watched value, is missing from your list.",
        "Each operator is an op of its own: 2.0 * x + 1.0 is two of them.",
        (6,),
    ),
    "ORDER": Misconception(
        "entries are sorted as the formula reads",
        "These are the right entries in the wrong order.",
        "Python computes the inside first. Which number is needed before which?",
        (6,),
    ),
    "STILL_NONE": Misconception(
        "None is the tape's fault",
        "The gradient is still None: no path of entries leads from the result back to x.",
        "Follow the value from x to the result, line by line. At which line does the writing stop?",
        (6, 16),
    ),
    "NONE_IS_ZERO": Misconception(
        "None means zero",
        "The gradient came out as zero, which says that x does not matter. It does matter: nudge x and see.",
        "unconnected_gradients hides the gap but does not close it. Repair the path instead.",
        (6, 16),
    ),
    "OTHER_FUNCTION": Misconception(
        "any gradient will do",
        "There is a gradient now, but it belongs to another function: the result itself has changed.",
        "Keep what is computed and change only how it is recorded.",
        (6, 16),
    ),
    "ONE_NUMBER": Misconception(
        "a gradient is a number to type in",
        "Right at one x and wrong at others.",
        "Let the tape compute it: the check tries fresh numbers.",
        (6, 16),
    ),
    "WRONG_CAUSE": Misconception(
        "all missing gradients are alike",
        "Fixed. But that was not the fault you named.",
        "Ask at which line the path ended: before the tape, at the source, in the middle, or after the tape?",
        (6, 16),
    ),
}
