"""Wrong ideas about derivatives of derivatives: lesson 13."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "FIRST_OUTSIDE": Misconception(
        "a tape knows what is done with its results later",
        "It came out as None, as it does when the first derivative is computed where no other tape is open.",
        "Look at the indentation. Which tape should record the steps of the first gradient?",
        (13,),
    ),
    "SAME_TARGET": Misconception(
        "asking a second tape is differentiating twice",
        "This is a derivative of lower order: one tape was asked about the function itself, not about its derivative.",
        "What is the target of the outer tape? Its answer is the derivative of whatever you name there.",
        (13,),
    ),
    "SQUARED": Misconception(
        "the second derivative is the first times itself",
        "These are slopes multiplied with each other, not the slope of a slope.",
        "For f(x) = 3x the slope is 3 everywhere. How fast does it change?",
        (13,),
    ),
    "SAME_VARIABLE": Misconception(
        "a mixed derivative is a second derivative",
        "Twice with respect to the same variable. Mixed means once with respect to each.",
        "Each tape watches something. Does it have to be the same?",
        (13,),
    ),
    "MIXED_ZERO": Misconception(
        "each variable bends alone",
        "The mixed derivatives are missing: here the derivative with respect to one variable depends on the others "
        "too.",
        "Nudge y and look at the derivative with respect to x. Does it stay the same?",
        (13,),
    ),
    "NOT_SYMMETRIC": Misconception(
        "the order of the variables matters",
        "The two mixed entries differ, but for a smooth function they are equal.",
        "Compute the easier one, first x and then y or the other way round, and use it for both.",
        (13,),
    ),
    "FLIPPED_MIXED": Misconception(
        "the sign of an inner derivative can be dropped",
        "The mixed entries have the right size and the wrong sign.",
        "In (y − x²)² the derivative with respect to y is positive above the parabola. Does it rise or fall when x "
        "grows?",
        (13,),
    ),
    "HESSIAN_BUILT": Misconception(
        "a Hessian must be built to be used",
        "The numbers are right, but a whole Hessian was built for them, or its rows one after another.",
        "Make one number out of the gradient and v while the outer tape is open, and ask for its gradient.",
        (13,),
    ),
    "DIRECTION_ONLY": Misconception(
        "a Hessian times a vector is the slope in that direction",
        "This is the gradient, or its component along v. The question was how the gradient itself changes along v.",
        "The number you made out of the gradient and v is the right one. Now take its gradient.",
        (13,),
    ),
    "PLAIN_STEP": Misconception(
        "the gradient says how far to go",
        "This is a step along the gradient alone. Its length takes no account of how strongly the valley is curved.",
        "Solve for the step s at which the slope becomes zero: H s = −gradient.",
        (13,),
    ),
    "UPHILL": Misconception(
        "a step goes where the gradient points",
        "A step in the wrong direction: the gradient points uphill.",
        "Start at 1 on f(x) = x². In which direction is the minimum, and what sign does the gradient have?",
        (12, 13),
    ),
    "MULTIPLIED": Misconception(
        "a strong curvature calls for a long step",
        "This was multiplied by the Hessian. A step is divided by the curvature: lab.linalg.solve does it for a "
        "matrix.",
        "Take f(x) = 50x² at x = 1: the slope is 100 and the curvature 100. How far away is the minimum?",
        (13,),
    ),
    "NO_STEP": Misconception(
        "the step is the new place",
        "Either nothing has moved, or the step was returned instead of where it leads.",
        "The next place is the current place plus the step.",
        (13,),
    ),
}
