"""Wrong ideas about shapes on the way back: lesson 9."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "BROADCAST_KEPT": Misconception(
        "what was stretched stays stretched",
        "This is what one gets if each copy keeps its own contribution. All copies are one input, with one gradient.",
        "A gradient has the shape of its input. Add up what comes back to the copies of one element.",
        (9,),
    ),
    "KEEPDIMS_LOST": Misconception(
        "an axis that was summed is gone",
        "This is what one gets if a summed axis is dropped. With length 1 it would stay in its place.",
        "Compare the shapes: one axis of length 1 is missing. Look up keepdims.",
        (9,),
    ),
    "MEAN_FOR_SUM": Misconception(
        "copies share one gradient",
        "This is the mean of what comes back, or a share of it. Each copy has its full effect on the result.",
        "Nudge the input by 0.1: every copy moves by 0.1, so all their effects add up.",
        (9,),
    ),
    "SUM_FOR_MEAN": Misconception(
        "a mean passes the gradient on like a sum",
        "This is what one gets for a sum. In a mean each of n numbers counts with 1/n.",
        "Let one of the numbers grow by 1. By how much does the mean grow?",
        (9,),
    ),
    "FIRST_TAKEN": Misconception(
        "one copy stands for all",
        "This is what comes back to a single copy; the others are left out.",
        "How many times was the element used? So many contributions come back.",
        (9,),
    ),
    "LEFT_ALIGNED": Misconception(
        "shapes are compared from the left",
        "This is what one gets if shapes are lined up on the left. Broadcasting lines them up on the right.",
        "Write (3, 4) and (4,) below each other, flush right. Which axis is missing in the second?",
        (9,),
    ),
    "RESHAPED": Misconception(
        "any array of the right shape will do",
        "This has the right shape but the wrong numbers: they were rearranged, or each got the sum of everything.",
        "Follow one element: to which places of the result did it go? Those are added up, and no others.",
        (9,),
    ),
    "LEADING_ONLY": Misconception(
        "only missing axes are summed",
        "The axes that the input lacks are summed. Axes of length 1 that were stretched are not.",
        "(3, 1) and (3, 4) have the same number of axes, and yet something was repeated. Along which axis?",
        (9,),
    ),
    "ONE_AXIS": Misconception(
        "one sum is enough",
        "One axis is summed, and there are more that were stretched.",
        "A number that meets a matrix is repeated along both axes. Go on until the shape fits.",
        (9,),
    ),
    "ONES_ONLY": Misconception(
        "only axes of length 1 are summed",
        "Axes of length 1 are summed. Those that the input does not have at all are not.",
        "What is the shape of a bias, and what is that of a batch of its results?",
        (9,),
    ),
    "NEGATIVE_AXES": Misconception(
        "axes are numbered from the front",
        "This is right as long as no axis is negative: −1 is the last axis of the input.",
        "axis % len(shape) counts from the front. Do that first, before the array gets any axis back.",
        (9,),
    ),
    "ALL_PAIRS": Misconception(
        "a difference of n numbers and n numbers is n numbers",
        "Every prediction is compared with every target: n times n errors. Its best prediction is the mean of y.",
        "Print the shape of prediction − y, then give both the same shape.",
        (9,),
    ),
}
