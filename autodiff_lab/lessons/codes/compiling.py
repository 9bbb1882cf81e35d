"""Wrong ideas about compiled functions and traffic: lesson 14a."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "FIRST_CALL": Misconception(
        "the first call of a compiled function is as fast as the others",
        "Here every call takes the same time. The first one traces and compiles before it computes.",
        "Which of the calls is not like the others, and how many are left?",
        ("14a",),
    ),
    "FIRST_TWICE": Misconception(
        "compiling comes before the first call",
        "The first call was counted twice. It compiles and gives a result as well.",
        "Out of n calls one is the first. How many later ones are there?",
        ("14a",),
    ),
    "ALWAYS_PAYS": Misconception(
        "compiling always pays in the end",
        "If a later call takes as long as an eager one, no number of calls makes up for the first.",
        "Ask first what a later call saves. If that is nothing, the answer is np.inf.",
        ("14a",),
    ),
    "ONE_EARLY": Misconception(
        "the call at which both are equal is the last one that loses",
        "Nearly: this many calls are not enough yet, or fewer would have been.",
        "Put your number into both totals, and then the number before it.",
        ("14a",),
    ),
    "STILL_EAGER": Misconception(
        "a program makes decisions",
        "The results are right, but calls still run op by op, or every case needs a program of its own.",
        "Name the function in a cell of its own: it says why, and which line. What could be computed for both cases?",
        ("14a",),
    ),
    "RETRACED": Misconception(
        "a number that changes is an argument like any other",
        "Every number got its own program.",
        "Plain Python numbers count by value, tensors by shape and dtype. Which of them should the rate be?",
        ("14a",),
    ),
    "WRITES_ONLY": Misconception(
        "only what is written moves",
        "Reading moves bytes as well, and here only the writing was counted.",
        "What does an op have to fetch before it can compute anything?",
        ("14a",),
    ),
    "ALL_STORED": Misconception(
        "one loop stores what lies between its ops",
        "In one loop that is as much as op by op. The values in between never leave the processor there.",
        "Follow one element through the loop. When is it read, and when is it written?",
        ("14a",),
    ),
}
