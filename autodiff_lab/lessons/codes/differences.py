"""Wrong ideas about measuring slopes with a step: lesson 3."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "ONE_SIDED": Misconception(
        "a step to one side is as good as one to both",
        "This is what one gets if f(x) itself is one of the two values: the quotient of a step to one side.",
        "Take both values a step away from x: one to the right, one to the left.",
        (3,),
    ),
    "BACKWARD": Misconception(
        "looking back is looking to both sides",
        "This is what one gets with f(x) and f(x − h): a step to the left only.",
        "Keep f(x − h), and let f(x + h) take the place of f(x). How far apart are the two points then?",
        (3,),
    ),
    "HALF_FORGOTTEN": Misconception(
        "the points are one step apart",
        "This is twice the quotient: what one gets if the two points are taken to be h apart.",
        "How far is it from x − h to x + h?",
        (3,),
    ),
    "SAME_POINT": Misconception(
        "a value minus itself says how it changes",
        "This is 0 for every function: what one gets if both values come from the same point.",
        "At which two points do you call f? They must be different.",
        (3,),
    ),
    "DIVIDED_TWICE": Misconception(
        "dividing once more does no harm",
        "This is what one gets if the difference is divided by its distance, and then by 2 or by h again.",
        "Try it on f(x) = 3x by hand, with h = 0.5. The result should be 3.",
        (3,),
    ),
    "TIMES_H": Misconception(
        "/ 2 * h divides by 2h",
        "This is what one gets from `/ 2 * h`: Python divides by 2, and then multiplies by h.",
        "Put the denominator in parentheses.",
        (3,),
    ),
    "H_IGNORED": Misconception(
        "every step gives the same",
        "This is the same number for h and for 2h, as if the step were not used.",
        "The error of a central difference grows with h². Where does h enter in your code?",
        (3,),
    ),
    "DIFFERENCES_ARE_AUTODIFF": Misconception(
        "a tape measures with a small step",
        "A tape does not measure: it has no step, and no error that depends on one.",
        "Which of the methods has an h at all?",
        (3, 4),
    ),
    "DIVIDED_ONCE": Misconception(
        "a second difference is divided by its step",
        "This is what one gets if the second difference is divided by h once.",
        "It is a difference of two slopes, each divided by h; and a rate of change divides by h once more.",
        (3,),
    ),
    "MIDDLE_ONCE": Misconception(
        "each of the three values counts once",
        "This is what one gets if f(x) is taken once. For a constant function it would not be 0.",
        "Write the difference of the two neighbouring slopes. How often does f(x) occur?",
        (3,),
    ),
    "FIRST_FOR_SECOND": Misconception(
        "a slope is a curvature",
        "This is the first derivative.",
        "Take the slope on the right minus the slope on the left, and divide by their distance.",
        (3,),
    ),
    "SMALLER_IS_BETTER": Misconception(
        "the smaller the step, the better the slope",
        "This is what one gets if only the step counts. Below some step the digits of f cancel, and the error grows.",
        "Move h to the left in the picture, decade by decade, and watch how many digits are left.",
        (3,),
    ),
    "LARGER_IS_SAFER": Misconception(
        "a large step is the safe choice",
        "This is what one gets if only rounding counts. A wide secant is not the tangent.",
        "Move h to the right in the picture: the error grows with h, or with h².",
        (3,),
    ),
    "DTYPE_IGNORED": Misconception(
        "a good step is good in every dtype",
        "This is what one gets if float32 and float64 are treated alike. float32 has 7 digits, float64 has 16.",
        "`np.finfo(dtype).eps` is the distance of 1 to the next number. The best step depends on it.",
        (3,),
    ),
    "FORMULA_IGNORED": Misconception(
        "a good step is good for every formula",
        "This is what one gets if both formulas are given the same step.",
        "The one-sided error falls with h, the central one with h². They meet the lost digits at different steps.",
        (3,),
    ),
    "WORST_FIRST": Misconception(
        "first means largest",
        "This is the right order, from the other end: the worst method first.",
        "Turn it around: the smallest error first.",
        (3,),
    ),
}
