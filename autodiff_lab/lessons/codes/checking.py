"""Wrong ideas about checking a gradient, and about where a nan begins: lesson 11."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "FAIL_MEANS_WRONG_RULE": Misconception(
        "a gradient that disagrees with differences is wrong",
        "This is what one gets if every disagreement is put down to the rule. A wrong rule is wrong at all steps, and "
        "at nearby points too.",
        "For each that disagrees, ask: does a larger step agree? Does it agree a little farther on?",
        (11,),
    ),
    "PASS_MEANS_RIGHT": Misconception(
        "a gradient that agrees at one point is right",
        "This is what one gets if one input decides. A wrong rule can be right for a single input.",
        "Compare again at another input before you say that it agrees.",
        (11,),
    ),
    "STEP_TOO_SMALL": Misconception(
        "the smallest step is the judge",
        "This is what one gets if a difference with a tiny step is trusted more than the tape. Its digits cancel.",
        "Repeat the difference with h = 1e-3. Which of the two numbers stays, and which moves?",
        (11,),
    ),
    "KINK_HAS_NO_GRADIENT": Misconception(
        "at a kink there is no number",
        "This is what one gets if a kink is expected to give nan. Every op has a number for its kink, by convention.",
        "Look at what the tape says there: is it finite? And the slopes on both sides?",
        (11,),
    ),
    "KINKS_CANCEL": Misconception(
        "kinks that cancel in the function cancel in its gradient too",
        "This is what one gets if only the function is looked at. It is smooth, but the ops inside have kinks, and the "
        "tape differentiates op by op.",
        "Compare at a point a little farther on. Does the tape agree there?",
        (11,),
    ),
    "ONE_RUN": Misconception(
        "running once is enough",
        "This is what one gets if nothing is run twice. Two runs with the same input differ, so there is no slope.",
        "Call the function twice with the same number, before anything else.",
        (11,),
    ),
    "NAN_GRADIENT_NEEDS_NAN_LOSS": Misconception(
        "as long as the loss is finite, so is its gradient",
        "This is what one gets if nan is only looked for on the way forward. The backward pass multiplies by local "
        "slopes, and one of them may be infinite.",
        "Print the value and the gradient. Which of them is nan?",
        (11,),
    ),
    "WHERE_PROTECTS": Misconception(
        "where protects from the branch that it does not take",
        "The guard comes after the op. On the way back, the branch that was not taken gets a gradient of 0, and 0 "
        "times infinity is nan.",
        "Choose a harmless input with a where of its own, and give that to the op.",
        (11,),
    ),
    "BRANCH_TAKEN": Misconception(
        "the branch that is taken needs the guard",
        "The guard is on the wrong side: it replaces numbers that the result is made of.",
        "For which x is the op's result thrown away? Only those may be replaced.",
        (11,),
    ),
    "CLIPPED": Misconception(
        "any finite value will do",
        "Nothing is nan any more, but the function has other values than before.",
        "Print both functions at the points 0, 0.25, 1 and 4, side by side.",
        (11,),
    ),
    "EPSILON_ADDED": Misconception(
        "adding a tiny number changes nothing",
        "The gradient is finite, but all values have moved a little: a small number was added everywhere.",
        "Leave inputs alone that do no harm: choose with where, and do not add.",
        (11,),
    ),
    "BLAMED_WHERE_IT_SURFACED": Misconception(
        "a nan began where one sees it",
        "There the nan passes through: what went into this op was nan already.",
        "Go back line by line to the first whose inputs are all finite and whose result is not.",
        (11,),
    ),
    "BLAMED_TOO_EARLY": Misconception(
        "whatever supplied the bad number is broken",
        "What this gives is finite. It is the next one that cannot take it.",
        "Go on to the first line whose inputs are all finite and whose result is not.",
        (11,),
    ),
}
