"""Wrong ideas about derivatives of derivatives: lesson 13."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "FIRST_OUTSIDE": Misconception(
        "a tape knows what is done with its results later",
        "It came out as None, as it does when the first derivative is computed where no other tape is open.",
        "Look at the indentation. Which tape should write down the steps of the first gradient?",
        (13,),
    ),
    "SAME_TARGET": Misconception(
        "asking a second tape is differentiating twice",
        "This is a derivative of lower order: one tape was asked about the function itself, not about its slope.",
        "What is the target of the outer tape? Its answer is the slope of whatever you name there.",
        (13,),
    ),
    "SQUARED": Misconception(
        "the second derivative is the first times itself",
        "These are slopes multiplied with each other, and not the slope of a slope.",
        "For f(x) = 3x the slope is 3 everywhere. How fast does it change?",
        (13,),
    ),
    "SAME_VARIABLE": Misconception(
        "a mixed derivative is a second derivative",
        "Twice by the same variable. Mixed means once by each.",
        "Both tapes watch something. Need it be the same?",
        (13,),
    ),
    "MIXED_ZERO": Misconception(
        "each variable bends alone",
        "The mixed derivatives are missing: here the slope by one variable depends on the others too.",
        "Nudge y and look at the slope by x. Does it stay?",
        (13,),
    ),
    "NOT_SYMMETRIC": Misconception(
        "the order of the variables matters",
        "The two mixed entries differ, and for a smooth function they are equal.",
        "Compute the one that is easier, by x and then by y or the other way round, and use it for both.",
        (13,),
    ),
    "FLIPPED_MIXED": Misconception(
        "a sign in the inside can be dropped",
        "The mixed entries have the right size and the wrong sign.",
        "In (y − x²)² the slope by y is positive above the parabola. Does it rise or fall when x grows?",
        (13,),
    ),
    "HESSIAN_BUILT": Misconception(
        "a Hessian must be built to be used",
        "The numbers are right, and a whole Hessian was built for them, or one row of it after the other.",
        "Make one number out of the gradient and v, while the outer tape is open, and ask for the gradient of that.",
        (13,),
    ),
    "DIRECTION_ONLY": Misconception(
        "a Hessian times a vector is the slope in that direction",
        "This is the gradient, or what it says along v. Asked was how the gradient itself changes along v.",
        "The number that you made out of gradient and v is the right one. Now take its gradient.",
        (13,),
    ),
    "PLAIN_STEP": Misconception(
        "the gradient says how far to go",
        "This is a step by the gradient alone. Its length knows nothing of how strongly the valley is curved.",
        "Solve for the step s at which the slope becomes zero: H s = −gradient.",
        (13,),
    ),
    "UPHILL": Misconception(
        "one walks where the gradient points",
        "A step in the wrong direction: the gradient points uphill.",
        "Start at 1 on f(x) = x². In which direction is the minimum, and which sign has the gradient?",
        (13,),
    ),
    "MULTIPLIED": Misconception(
        "a strong curvature asks for a long step",
        "Multiplied by the Hessian. A step is divided by the curvature: lab.linalg.solve does it for a matrix.",
        "Take f(x) = 50x² at x = 1: the slope is 100 and the curvature 100. How far is the minimum?",
        (13,),
    ),
    "NO_STEP": Misconception(
        "the step is the place",
        "Either nothing has moved, or the step was returned in place of where it leads.",
        "The next place is the place now, and the step added to it.",
        (13,),
    ),
}
