"""The misconceptions that checks name: what each of them says and hints, in one table.

``docs/lessons.md`` prints the table for teachers, and a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong idea that can be told from the answer it produces.

    Attributes
    ----------
    idea : str
        The idea, as a learner would put it.
    says : str
        What the note says.
    hint : str
        What to try next.
    lessons : tuple of int
        The lessons that cure it; empty for states that are no misconception.
    """

    idea: str
    says: str
    hint: str
    lessons: tuple[int, ...] = ()


CODES: dict[str, Misconception] = {
    # --- no misconception ------------------------------------------------------------------------------------------
    "BLANK": Misconception(
        "not answered yet", "There are blanks left.", "Replace every ... and run the cell again; a guess is welcome."
    ),
    "RAISES": Misconception(
        "the code stops",
        "The code stopped before it gave an answer.",
        "Call it yourself in a new cell with small numbers, and read the last line of the message.",
    ),
    "OTHER": Misconception(
        "none of the known ones",
        "The number is not right, and it is none of the usual wrong ones.",
        "Do it once with numbers on paper, one line at a time, and compare line by line.",
    ),
    # --- lesson 1 --------------------------------------------------------------------------------------------------
    "CHANGE": Misconception(
        "a rate is a difference",
        "This is how much f changed, not how much it changed for each unit of x.",
        "Try the interval from 0 to 2 and then from 0 to 4 on f(x) = 3x. The rate should not double.",
        (1,),
    ),
    "UPSIDE_DOWN": Misconception(
        "change of x for each unit of f",
        "The fraction is upside down: this is x for each unit of f.",
        "Which of the two changes should double when f is doubled?",
        (1,),
    ),
    "FLIPPED": Misconception(
        "the order of the ends does not matter",
        "The size is right and the sign is not.",
        "Take both differences in the same order: the later end minus the earlier one, above and below.",
        (1,),
    ),
    "ONE_POINT": Misconception(
        "the rate over an interval is the slope at one of its points",
        "This is the rate at a single point of the interval, not the average rate over all of it.",
        "An average rate needs only two values of f: those at the two ends.",
        (1,),
    ),
    "AVERAGE_VALUE": Misconception(
        "average rate = average of the values",
        "This is a value halfway between f(a) and f(b). A height is not a rate.",
        "Add 100 to f. Its values all change, and its rates should not.",
        (1,),
    ),
    "NO_WIDTH": Misconception(
        "an instant is an interval",
        "An interval of no width has no average rate: nothing divided by nothing.",
        "Choose two different ends; they may be far apart.",
        (1,),
    ),
    "NEARLY": Misconception(
        "close enough is equal",
        "Close, and the average rate is still another number than the rate at the point.",
        "A narrow interval only comes near. A wide one can hit it exactly: let one end go left of the point.",
        (1,),
    ),
    "SYMMETRIC": Misconception(
        "the average over a symmetric interval is the rate in its middle",
        "The middle of the interval is the point, and still the two rates differ: this curve bends unevenly.",
        "Keep one end and move the other until the secant is parallel to the tangent.",
        (1,),
    ),
    "TOUCHES_ONCE": Misconception(
        "a tangent meets the curve only where it touches it",
        "This is where the tangent touches. Followed far enough it meets the curve in another place as well.",
        "Zoom out until you see both. Then try another a, and look for the pattern.",
        (1,),
    ),
    "WRONG_SIDE": Misconception(
        "the curve bends the same way everywhere",
        "The distance is right and the side is not.",
        "Stand at a = 1 and look which way the curve leaves its tangent on the left and on the right.",
        (1,),
    ),
    "VALUE": Misconception(
        "the derivative is the value",
        "This is a value, not a rate.",
        "Ask how much it changes when the input grows by a little.",
        (1, 7),
    ),
    "WHOLE_TRIP": Misconception(
        "the rate at an instant is the average over everything",
        "This is an average over a far longer time than the table forces on you.",
        "Shrink the interval: which two rows of the table lie closest around the moment that you want?",
        (1,),
    ),
    # --- lesson 6 --------------------------------------------------------------------------------------------------
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
    # --- lessons 7 and 8 -------------------------------------------------------------------------------------------
    "OVERWRITE": Misconception(
        "a new contribution replaces the old one",
        "Two contributions arrived here and only one was kept.",
        "A value that is used twice is paid twice. Add what arrives; do not replace it.",
        (7, 8),
    ),
    "EARLY": Misconception(
        "a value may deliver as soon as something has arrived",
        "The value before this one delivered before all its contributions had arrived, and then once more.",
        "Visit the gates in reverse order of recording: then everything has arrived before anything is passed on.",
        (7, 8),
    ),
    "STALE": Misconception(
        "each backward pass starts clean by itself",
        "Exactly twice the right number: what an earlier pass had left was still there.",
        "Start every backward pass with zeros and one seed.",
        (7, 8),
    ),
    "SEED": Misconception(
        "the backward pass begins with 0, or with the value of f",
        "The pass was not started with 1.",
        "The seed is df/df: if f grows by a little, by how many times that little does f grow?",
        (7,),
    ),
    "OWN_VALUE": Misconception(
        "through a product, each factor gets its own value",
        "At a product each input received its own value. It should be the other one's.",
        "In 3 × 2 let the 3 become 4. By how much does the product grow: by 3 or by 2?",
        (7,),
    ),
    "LOCAL_ONLY": Misconception(
        "the gradient is the local derivative",
        "These are local derivatives. What came in from the right was never multiplied in.",
        "incoming × local = outgoing: the number on the right of the gate is part of the product.",
        (7,),
    ),
    "MAX_LOSER": Misconception(
        "max passes the gradient to the smaller input",
        "The max sent everything to the input that lost.",
        "Nudge the smaller input by a little. Does the max notice?",
        (7,),
    ),
    "MAX_SHARES": Misconception(
        "max gives something to both inputs",
        "Both inputs of the max received something. Only one of them decides.",
        "Nudge each input of the max alone, and look which nudge arrives at the output.",
        (7,),
    ),
    "MINUS_LOST": Misconception(
        "a difference passes the gradient on like a sum",
        "A minus sign went missing: at a difference the second input gets the gradient with its sign turned.",
        "In u − v let v grow by a little. Which way does the result go?",
        (7,),
    ),
    "EXP_INPUT": Misconception(
        "the local derivative of exp is its input",
        "At exp the input was used as local derivative.",
        "The slope of exp is exp itself: the number that the gate has just computed, its output.",
        (7,),
    ),
}
"""By code, in the order of the lessons."""
