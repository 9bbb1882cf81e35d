"""Wrong ideas about what a tape writes down: lesson 6."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "SOURCE_TEXT": Misconception(
        "the tape reads the program",
        "An op that did not run is on your list. A tape sees what happens and never the text of the program.",
        "Walk through the function with the number in hand, and note only the lines that you step on.",
        (6,),
    ),
    "EVERYTHING": Misconception(
        "the tape writes everything down",
        "An op that touches nothing watched is on your list. Such an op leaves no entry.",
        "Ask of each op whether one of its inputs leads back to what is watched, and whether it has a slope at all.",
        (6,),
    ),
    "FORGOTTEN": Misconception(
        "only the last op counts",
        "An op that did run, and did touch the watched value, is missing from your list.",
        "Each operator is an op of its own: 2.0 * x + 1.0 is two of them.",
        (6,),
    ),
    "ORDER": Misconception(
        "entries are sorted as the formula reads",
        "The right entries in another order.",
        "Python computes the inside first. Which number is needed before which?",
        (6,),
    ),
    "STILL_NONE": Misconception(
        "None is a fault of the tape",
        "The gradient is still None: no path of entries leads from the result back to x.",
        "Follow the value from x to the result, line by line. At which line is nobody writing any more?",
        (6,),
    ),
    "NONE_IS_ZERO": Misconception(
        "None means zero",
        "The gradient came out as zero, which says that x does not matter. It does matter: nudge x and see.",
        "unconnected_gradients hides the gap and does not close it. Mend the path instead.",
        (6,),
    ),
    "OTHER_FUNCTION": Misconception(
        "any gradient will do",
        "There is a gradient now, and it belongs to another function: the result itself has changed.",
        "Keep what is computed and change only how it is recorded.",
        (6,),
    ),
    "ONE_NUMBER": Misconception(
        "a gradient is a number to type in",
        "Right at one x and wrong at others.",
        "Let the tape compute it: the check tries numbers that nobody has seen before.",
        (6,),
    ),
    "WRONG_CAUSE": Misconception(
        "all missing gradients are alike",
        "Mended, and it was another fault than the one that you named.",
        "Ask at which line the path ended: before the tape, at the source, in the middle, or after the tape?",
        (6,),
    ),
}
