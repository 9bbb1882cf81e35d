"""Wrong ideas about carrying derivatives forward: lesson 5."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "PRODUCT_OF_SLOPES": Misconception(
        "the derivative of a product is the product of the derivatives",
        "This is what one gets if the derivative of a product is the product of the derivatives.",
        "Multiply by a plain number, whose derivative is 0. Should 3 · x stop moving with x?",
        (4, 5),
    ),
    "HALF_PRODUCT": Misconception(
        "one factor moves at a time",
        "This is what one gets if only one factor of a product is allowed to move.",
        "Both sides of a rectangle grow a little. How many strips does the area gain?",
        (4, 5),
    ),
    "NO_CHAIN": Misconception(
        "the derivative of sin(u) is cos(u), whatever u is",
        "This is the local derivative alone: the tangent of the input is not used.",
        "Call it with a tangent of 0. An input that does not move cannot move the result.",
        (5,),
    ),
    "EXP_AS_POWER": Misconception(
        "exp is differentiated like a power",
        "This is what one gets from the rule for powers. In exp(u) the base is fixed, and the exponent moves.",
        "Which function is its own derivative?",
        (5,),
    ),
    "QUOTIENT_FLIPPED": Misconception(
        "in the quotient rule the order does not matter",
        "This is the quotient rule with its two terms swapped: the sign is wrong.",
        "Let only the numerator grow. Does the quotient grow or shrink?",
        (5,),
    ),
    "QUOTIENT_NO_SQUARE": Misconception(
        "in the quotient rule the denominator is not squared",
        "This is what one gets if the denominator of the quotient rule is not squared.",
        "Divide by 10 instead of by 1: how much slower does u / 10 change than u?",
        (5,),
    ),
    "CONSTANT_MOVES": Misconception(
        "a plain number has tangent 1",
        "This is what one gets if a plain number has tangent 1, as if it were the input.",
        "By how much does a 3 in a formula change if x does?",
        (4, 5),
    ),
    "VALUE_LOST": Misconception(
        "only the tangent matters",
        "The tangents are right, and the values are not. Whatever comes next needs both.",
        "A result is a pair. What is its first number?",
        (4, 5),
    ),
    "IF_BY_TANGENT": Misconception(
        "an if asks for the tangent",
        "This is what one gets if `>` compares tangents. The program must take the branch that it takes without them.",
        "x > 3 was written for a plain number. Which part of the pair is that number?",
        (5,),
    ),
    "ALL_SEEDED": Misconception(
        "one sweep gives the whole gradient",
        "This is what one gets from a single sweep in which every input has tangent 1: the sum of all partial "
        "derivatives.",
        "Only one input may move in a sweep. Give it tangent 1 and the others 0.",
        (5,),
    ),
    "SEEDS_KEPT": Misconception(
        "a seed goes away by itself",
        "This is what one gets if the inputs of earlier sweeps keep their tangent of 1.",
        "Write down all tangents before the second sweep. How many of them are 1?",
        (5,),
    ),
    "NO_SEED": Misconception(
        "tangents come by themselves",
        "Everything is 0, which is what one gets if no input has a tangent.",
        "In which line does an input get tangent 1?",
        (5,),
    ),
    "ONE_ENTRY": Misconception(
        "a sweep gives one entry of the Jacobian",
        "This is what one gets if each sweep finds a single partial derivative.",
        "In a forward sweep every output arrives with its tangent. How many entries is that?",
        (5,),
    ),
    "WRONG_UNIT": Misconception(
        "a seed is 1, whatever the unit",
        "The seed has another unit than the question.",
        "By how much does the seeded number itself change if the rate rises from 4 % to 5 %? That is its tangent.",
        (5,),
    ),
    "OTHER_INPUT": Misconception(
        "it does not matter which input is seeded",
        "This is how much the result changes with another input.",
        "Which of the three arguments is the rate? The others stand still.",
        (5,),
    ),
}
