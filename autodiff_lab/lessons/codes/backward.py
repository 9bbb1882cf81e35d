"""Wrong ideas about the backward pass: lessons 7 and 8."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "OVERWRITE": Misconception(
        "a new contribution replaces the old one",
        "Two contributions arrived here, and only one was kept.",
        "A value that is used twice is paid twice. Add what arrives; do not replace it.",
        (7, 17),
    ),
    "EARLY": Misconception(
        "a value may deliver as soon as anything has arrived",
        "The value before this one delivered before all its contributions had arrived, and then once more.",
        "Visit the gates in reverse order of recording: then everything has arrived before anything is passed on.",
        (7, 17),
    ),
    "STALE": Misconception(
        "each backward pass starts clean by itself",
        "Exactly twice the right number: what an earlier pass had left was still there.",
        "Start every backward pass with zeros and one seed.",
        (7,),
    ),
    "SEED": Misconception(
        "the backward pass begins with 0, or with the value of f",
        "The pass did not start with 1.",
        "The seed is df/df: if f grows by a little, how many times that little does f grow?",
        (7,),
    ),
    "OWN_VALUE": Misconception(
        "through a product, each factor gets its own value",
        "At a product each input received its own value. It should be the other one's.",
        "In 3 × 2 let the 3 become 4. By how much does the product grow: by 3 or by 2?",
        (7, 17),
    ),
    "LOCAL_ONLY": Misconception(
        "the gradient is the local derivative",
        "These are local derivatives. What came in from the right was never multiplied in.",
        "incoming × local = outgoing: the number on the right of the gate is part of the product.",
        (7, 17),
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
        "Nudge each input of the max alone, and see which nudge arrives at the output.",
        (7,),
    ),
    "MINUS_LOST": Misconception(
        "a difference passes the gradient on like a sum",
        "A minus sign went missing: at a difference the second input gets the gradient with its sign flipped.",
        "In u − v let v grow by a little. Which way does the result go?",
        (7,),
    ),
    "EXP_INPUT": Misconception(
        "the local derivative of exp is its input",
        "At exp the input was used as the local derivative.",
        "The derivative of exp is exp itself: the number that the gate has just computed, its output.",
        (7, 17),
    ),
}
