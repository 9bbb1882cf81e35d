"""Wrong ideas about what a tape keeps, and about checkpoints: lesson 14b."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "ALL_KEPT": Misconception(
        "a tape must keep every value that the backward pass needs",
        "The gradient is right, and too many values are kept.",
        "Pack some ops into a function and hand that to lab.recompute_grad: what happens inside is forgotten.",
        ("14b",),
    ),
    "ONE_CHECKPOINT": Misconception(
        "forgetting everything saves the most",
        "Nothing is kept on the way forward, and on the way back everything comes back at once.",
        "A piece that runs again is kept while the backward pass goes through it. Make the pieces smaller.",
        ("14b",),
    ),
    "TOO_OFTEN": Misconception(
        "computing again is free",
        "Few values are kept, and too many ops run again.",
        "A piece inside a piece runs again each time the outer one does.",
        ("14b",),
    ),
    "GRADIENT_CHANGED": Misconception(
        "checkpointing changes the gradient",
        "The gradient has changed. Recomputing the same ops gives the same numbers, to the last bit.",
        "Count the ops on the way forward: 16 of them, in a row.",
        ("14b",),
    ),
    "INPUTS_FORGOTTEN": Misconception(
        "a checkpoint costs nothing",
        "What is kept from the start is missing here: the values from which pieces are computed again.",
        "When one piece runs again, what else is held at that moment?",
        ("14b",),
    ),
    "X_COUNTED": Misconception(
        "the input of the chain is one of its values",
        "One too many: the first piece starts from x, and x is there in any case.",
        "Take a single piece. Is anything kept besides what is inside it?",
        ("14b",),
    ),
    "SLOT_EMPTY": Misconception(
        "an empty slot saves something",
        "A slot stayed empty. Memory that nobody uses does not make anything smaller.",
        "Fill it: every value that is held is one that does not run again.",
        ("14b",),
    ),
    "FIRST_KEPT": Misconception(
        "what is computed first must be kept first",
        "The first values are kept, and all that comes after them runs again and again.",
        "The first values are the cheapest to compute again. Which are the dearest?",
        ("14b",),
    ),
    "LAST_KEPT": Misconception(
        "what is needed first must be kept first",
        "The last values are kept. They help at once, and then a long gap is left.",
        "Think of the longest gap: how often does its beginning run again?",
        ("14b",),
    ),
    "EQUAL_PIECES": Misconception(
        "equal pieces are best",
        "These pieces are equally long. But on the left more slots are free by the time they are needed.",
        "How many slots are free when the backward pass arrives in the first piece, and how many in the last?",
        ("14b",),
    ),
    "CROWDED_EARLY": Misconception(
        "what waits longest needs the most checkpoints",
        "The pieces grow towards the end, where the fewest slots are free.",
        "Turn it round: the backward pass begins at the end, and each step frees a slot.",
        ("14b",),
    ),
    "ONCE_ENOUGH": Misconception(
        "what was not kept runs once more",
        "This counts every value that was not kept once. With few slots some of them run several times.",
        "Take 3 values and 1 slot, and write down every op.",
        ("14b",),
    ),
    "FORWARD_COUNTED": Misconception(
        "the first pass is a repetition",
        "This counts the forward pass as well. The question was what runs again.",
        "If everything fits, how many ops run again?",
        ("14b",),
    ),
    "HALVES": Misconception(
        "cutting in halves is always best",
        "This is what cutting in halves gives. It is best where both halves have the same means left.",
        "After the first cut, do both sides have as many slots, or bulbs, to work with?",
        ("14b",),
    ),
}
