"""Wrong ideas about compiled functions, traffic and checkpoints: lesson 14."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "FIRST_CALL": Misconception(
        "the first call of a compiled function is as fast as the others",
        "Here every call takes the same time. The first one traces and compiles before it computes.",
        "Which of the calls is not like the others, and how many are left?",
        (14,),
    ),
    "FIRST_TWICE": Misconception(
        "compiling comes before the first call",
        "The first call was counted twice. It compiles and gives a result as well.",
        "Out of n calls one is the first. How many later ones are there?",
        (14,),
    ),
    "ALWAYS_PAYS": Misconception(
        "compiling always pays in the end",
        "If a later call takes as long as an eager one, no number of calls makes up for the first.",
        "Ask first what a later call saves. If that is nothing, the answer is np.inf.",
        (14,),
    ),
    "ONE_EARLY": Misconception(
        "the call at which both are equal is the last one that loses",
        "Nearly: this many calls are not enough yet, or fewer would have been.",
        "Put your number into both totals, and then the number before it.",
        (14,),
    ),
    "STILL_EAGER": Misconception(
        "a program makes decisions",
        "The results are right, and every call still runs op by op.",
        "Name the function in a cell of its own: it says why, and which line. What could be computed for both cases?",
        (14,),
    ),
    "RETRACED": Misconception(
        "a number that changes is an argument like any other",
        "Every number got its own program.",
        "Plain Python numbers count by value, tensors by shape and dtype. Which of them should the rate be?",
        (14,),
    ),
    "WRITES_ONLY": Misconception(
        "only what is written moves",
        "Reading moves bytes as well, and here only the writing was counted.",
        "What does an op have to fetch before it can compute anything?",
        (14,),
    ),
    "ALL_STORED": Misconception(
        "one loop stores what lies between its ops",
        "In one loop that is as much as op by op. The values in between never leave the processor there.",
        "Follow one element through the loop. When is it read, and when is it written?",
        (14,),
    ),
    "ALL_KEPT": Misconception(
        "a tape must keep every value that the backward pass needs",
        "The gradient is right, and too many values are kept.",
        "Pack some ops into a function and hand that to lab.recompute_grad: what happens inside is forgotten.",
        (14,),
    ),
    "ONE_CHECKPOINT": Misconception(
        "forgetting everything saves the most",
        "Nothing is kept on the way forward, and on the way back everything comes back at once.",
        "A piece that runs again is kept while the backward pass goes through it. Make the pieces smaller.",
        (14,),
    ),
    "TOO_OFTEN": Misconception(
        "computing again is free",
        "Few values are kept, and too many ops run again.",
        "A piece inside a piece runs again each time the outer one does.",
        (14,),
    ),
    "GRADIENT_CHANGED": Misconception(
        "checkpointing changes the gradient",
        "The gradient has changed. Recomputing the same ops gives the same numbers, to the last bit.",
        "Count the ops on the way forward: 16 of them, in a row.",
        (14,),
    ),
}
