"""Wrong ideas about the backward pass: lessons 7 and 8."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "OVERWRITE": Misconception(
        "a new contribution replaces the old one",
        "This is what one gets if only one of two contributions is kept.",
        "A value that is used twice is paid twice. Add what arrives; do not replace it.",
        (7, 8, 17),
    ),
    "EARLY": Misconception(
        "a value may deliver as soon as anything has arrived",
        "This is what one gets if a value delivers before all its contributions have arrived, and then once more.",
        "Visit the gates in reverse order of recording: then everything has arrived before anything is passed on.",
        (7, 8, 17),
    ),
    "STALE": Misconception(
        "each backward pass starts clean by itself",
        "This is what one gets if what an earlier pass left is still there: everything twice.",
        "Start every backward pass with zeros and one seed.",
        (7, 8),
    ),
    "CLOSED": Misconception(
        "a value that has delivered once is done, whatever arrives later",
        "This is what one gets if a value delivers once, before all its contributions have arrived; the rest is lost.",
        "Delivering once is right. Which value comes too soon in the order?",
        (8,),
    ),
    "ONE_PATH": Misconception(
        "only the strongest path counts",
        "This is what one gets if only the largest contribution is kept.",
        "Nudge x: what it sets in motion arrives on every path. Add all of it.",
        (8,),
    ),
    "STALE_LEAVES": Misconception(
        "the gradients of inputs are cleared by themselves",
        "The values on the way start clean, but the inputs still hold what an earlier pass left.",
        "Which accounts does the code empty? No entry makes an input.",
        (8,),
    ),
    "FIRST_RUN_ONLY": Misconception(
        "clearing afterwards is as good as clearing before",
        "A pass on an empty ledger is right; one on a ledger that somebody else has used is not.",
        "Empty the ledger before the seed is set, and not at the end.",
        (8,),
    ),
    "EVERY_PATH": Misconception(
        "it does not matter how often a value delivers, as long as the sum is right",
        "The numbers are right, but the walk follows every path: 40 doublings have 2⁴⁰ of them.",
        "Let each value deliver once, when all its bookings are in. Then each entry is visited once.",
        (8,),
    ),
    "ORDER_BY_NAME": Misconception(
        "any order will do",
        "This is what one gets if entries are visited in the order of recording, or in that of their names.",
        "What was recorded last has everything that it will ever get. Begin there.",
        (8,),
    ),
    "SEED": Misconception(
        "the backward pass begins with 0, or with the value of f",
        "This is what one gets if the pass does not start with 1.",
        "The seed is df/df: if f grows by a little, how many times that little does f grow?",
        (7,),
    ),
    "OWN_VALUE": Misconception(
        "through a product, each factor gets its own value",
        "This is what one gets if, at a product, each input receives its own value instead of the other one's.",
        "In 3 × 2 let the 3 become 4. By how much does the product grow: by 3 or by 2?",
        (5, 7, 9, 17),
    ),
    "LOCAL_ONLY": Misconception(
        "the gradient is the local derivative",
        "This is what one gets from local derivatives alone, without multiplying by what comes in from the right.",
        "incoming × local = outgoing: the number on the right of the gate is part of the product.",
        (4, 7, 9, 17),
    ),
    "MAX_LOSER": Misconception(
        "max passes the gradient to the smaller input",
        "This is what one gets if the max sends everything to the input that lost.",
        "Nudge the smaller input by a little. Does the max notice?",
        (7,),
    ),
    "MAX_SHARES": Misconception(
        "max gives something to both inputs",
        "This is what one gets if both inputs of the max receive something. Only one of them decides.",
        "Nudge each input of the max alone, and see which nudge arrives at the output.",
        (7,),
    ),
    "MINUS_LOST": Misconception(
        "a difference passes the gradient on like a sum",
        "This is what one gets if a minus sign is lost: at a difference, the sign of what goes to the second input is "
        "flipped.",
        "In u − v let v grow by a little. Which way does the result go?",
        (4, 5, 7),
    ),
    "SIGN": Misconception(
        "a sign can be settled at the end",
        "The size is right, and the sign is not.",
        "Nudge the input up a little: does the result go up or down?",
        (4, 5, 7),
    ),
    "EXP_INPUT": Misconception(
        "the local derivative of exp is its input",
        "This is what one gets if the local derivative of exp is taken to be its input.",
        "The derivative of exp is exp itself: the number that the gate has just computed, its output.",
        (5, 7, 17),
    ),
}
