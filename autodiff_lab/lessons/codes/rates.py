"""Wrong ideas about rates: lesson 1."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "CHANGE": Misconception(
        "a rate is a difference",
        "This is how much f changed, not how much it changed for each unit of x.",
        "Try the interval from 0 to 2 and then from 0 to 4 on f(x) = 3x. The rate should not double.",
        (1, 3, 5),
    ),
    "UPSIDE_DOWN": Misconception(
        "change of x for each unit of f",
        "The fraction is upside down: this is x for each unit of f.",
        "Which of the two changes should double when f is doubled?",
        (1,),
    ),
    "FLIPPED": Misconception(
        "the order of the ends does not matter",
        "The size is right, but the sign is not.",
        "Take both differences in the same order: the later end minus the earlier one, in numerator and denominator.",
        (1, 3),
    ),
    "ONE_POINT": Misconception(
        "the rate over an interval is the slope at one of its points",
        "This is the rate at a single point of the interval, not the average rate over all of it.",
        "An average rate needs only two values of f: those at the two ends.",
        (1,),
    ),
    "AVERAGE_VALUE": Misconception(
        "average rate = average of the values",
        "This is a value halfway between f(a) and f(b). A height is not a rate.",
        "Add 100 to f. Its values all change, and its rates should not.",
        (1,),
    ),
    "NO_WIDTH": Misconception(
        "an interval may have no width",
        "An interval of no width has no average rate: nothing divided by nothing.",
        "Choose two different ends; they may be far apart.",
        (1,),
    ),
    "NEARLY": Misconception(
        "close enough is equal",
        "Close, but the average rate is still a different number from the rate at the point.",
        "A narrow interval only comes near. A wide one can hit it exactly: let one end go left of the point.",
        (1,),
    ),
    "SYMMETRIC": Misconception(
        "the average over a symmetric interval is the rate in its middle",
        "The point is the middle of the interval, and yet the two rates differ: this curve bends unevenly.",
        "Keep one end and move the other until the secant is parallel to the tangent.",
        (1,),
    ),
    "TOUCHES_ONCE": Misconception(
        "a tangent meets the curve only where it touches it",
        "This is where the tangent touches. Followed far enough, it meets the curve in another place as well.",
        "Zoom out until you see both. Then try another a, and look for the pattern.",
        (1,),
    ),
    "WRONG_SIDE": Misconception(
        "the curve bends the same way everywhere",
        "The distance is right, but the side is not.",
        "Stand at a = 1 and look which way the curve leaves its tangent on the left and on the right.",
        (1,),
    ),
    "VALUE": Misconception(
        "the derivative is the value",
        "This is a value, not a rate.",
        "Ask how much it changes when the input grows by a little.",
        (1, 3, 5, 7, 13),
    ),
    "WHOLE_TRIP": Misconception(
        "the rate at an instant is the average over everything",
        "This is an average over a far longer time than the table forces on you.",
        "Shrink the interval: which two rows of the table lie closest around the moment that you want?",
        (1,),
    ),
}
