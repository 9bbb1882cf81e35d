"""Wrong ideas about formulas and tapes, and about digits: lesson 4."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "AUTODIFF_IS_SYMBOLIC": Misconception(
        "a tape finds a formula and puts the number in",
        "No formula is written: after fifty rounds it would have 5e17 signs, and the tape has 150 entries.",
        "What does an entry hold, letters or numbers?",
        (4,),
    ),
    "EXACT_IS_TRUE": Misconception(
        "an exact derivative belongs to an exact result",
        "The derivative is exact for the program that ran, with all its rounding. That program has lost its digits.",
        "A first error of 1e-17 is multiplied by the derivative. How large is that after fifty rounds?",
        (4,),
    ),
    "FORMULA_IS_TAPE": Misconception(
        "a tape is as long as the formula",
        "This doubles with every round, as a formula does that is written out. A value that is used twice is recorded "
        "once.",
        "Count what one more round adds to the tape: is it more than what the round before it added?",
        (4,),
    ),
    "ONE_ENTRY_A_LINE": Misconception(
        "every line of a program leaves one entry",
        "This counts lines. A line with three ops leaves three entries.",
        "How many ops does y = 4 * y * (1 - y) run?",
        (4,),
    ),
    "LOOP_ONLY": Misconception(
        "only what is in the loop counts",
        "This is what the loop records, and nothing else.",
        "Call it with n = 0. Which entries are on the tape all the same?",
        (4,),
    ),
    "UPDATED_TOO_EARLY": Misconception(
        "the new value is as good as the old one",
        "This is what one gets if v is replaced before d is computed: the local derivative belongs to the old v.",
        "Compute both from the old v, or return them in one line.",
        (4,),
    ),
    "CHAIN_ADDED": Misconception(
        "along a path, derivatives are added",
        "This is what one gets if the local derivative is added to d.",
        "If one round stretches by 3 and the next by 2, how much do both stretch?",
        (4,),
    ),
    "ERRORS_ADD": Misconception(
        "every round adds one rounding error",
        "This is what one gets if the errors of all rounds are added. Each round also multiplies what came before it.",
        "By how much is an error multiplied in one round of 4v(1 − v)?",
        (4,),
    ),
    "ONE_DIGIT_A_ROUND": Misconception(
        "every round loses one digit",
        "This loses one digit a round. A digit is a factor of 10.",
        "How many doublings make a factor of 10?",
        (4,),
    ),
    "OTHER_BASE": Misconception(
        "a digit is a bit",
        "This counts with another logarithm: digits are powers of 10.",
        "How many digits does 1000 have, and what is log10(1000)?",
        (4,),
    ),
    "LOST_FOR_LEFT": Misconception(
        "digits that are gone are digits that are right",
        "This counts the digits that are lost.",
        "After one round nearly all digits are right. What do you return then?",
        (4,),
    ),
}
