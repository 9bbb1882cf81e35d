"""Wrong ideas about walking downhill: lesson 12."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "POINTS_TO_MINIMUM": Misconception(
        "minus the gradient points to the minimum",
        "This is what one gets if minus the gradient points to the minimum, so that one right length is enough.",
        "Look at the picture: the first stroke leaves at a right angle to the contour. Does it aim at the hole?",
        (12,),
    ),
    "HALF_THE_LIMIT": Misconception(
        "the step that lands is the largest that works",
        "This is 1/k, the step after which the error is 0. Somewhat longer ones overshoot, and still come closer.",
        "The error is multiplied by 1 − hk. Up to which h does that lie between −1 and 1?",
        (12,),
    ),
    "SLOWEST_RULES": Misconception(
        "the flattest direction sets the limit",
        "This is what one gets if the smallest curvature sets the limit. Along the largest the error explodes.",
        "Put this step into 1 − hk for each curvature. Which of them is beyond −1?",
        (12,),
    ),
    "MEAN_RULES": Misconception(
        "the mean curvature sets the limit",
        "This is what one gets from the mean of the curvatures. Directions do not average out.",
        "Put this step into 1 − hk for the largest curvature.",
        (12,),
    ),
    "FASTEST_IS_LARGEST": Misconception(
        "the best fixed step is the largest one",
        "This is 2 divided by the sum of the smallest and the largest curvature: the best fixed step, not the largest.",
        "The largest step makes one of the factors −1. Which one is it?",
        (12,),
    ),
    "CURVATURE_FOR_STEP": Misconception(
        "the steeper the valley, the longer the step",
        "This is what one gets if steps grow with the curvature. Where f bends much, steps must be short.",
        "For ½·10y² at y = 1 the gradient is 10. Which h makes y − 10h zero?",
        (12,),
    ),
    "TWICE_AS_FAR": Misconception(
        "the limit of the step is the step that lands",
        "This is 2/k: the factor is −1, and the ball comes to lie on the other side, as far away as before.",
        "Which h makes the factor 1 − hk zero?",
        (12,),
    ),
    "SMALLER_IS_SAFER": Misconception(
        "a small step is always the safe choice",
        "Nothing explodes with this, and hardly anything moves either.",
        "How many steps would it take? Move up to where the result still holds.",
        (12,),
    ),
    "LAYERS_ADD": Misconception(
        "each layer adds its share",
        "This is what one gets if the slopes of the layers are added.",
        "Backward, each layer multiplies what comes in by its own slope. Try it with two layers.",
        (12,),
    ),
    "VALUE_FOR_SLOPE": Misconception(
        "a layer passes on its value",
        "This is what one gets from the value of sigmoid, at most 1 and ½ at 0, instead of its slope.",
        "The slope of sigmoid is s(1 − s). Where is it largest, and how large is it there?",
        (12,),
    ),
    "SATURATED_IS_DEAD": Misconception(
        "a tiny gradient is none",
        "This is 0. A sigmoid is never so flat that its slope is 0: saturated units learn slowly, dead ones never.",
        "Multiply the largest slopes of all layers. Small is not zero.",
        (12,),
    ),
    "GRADIENT_IS_DISTANCE": Misconception(
        "the gradient says how far it is",
        "This is what one gets if the length of the gradient is the distance. It is the slope of the ground.",
        "In ½kx² the gradient is kx. What else must be known to get back to x?",
        (12,),
    ),
    "FLAT_IS_CONVERGED": Misconception(
        "where it is flat, one has arrived",
        "This is what one gets if flat ground is the minimum. On 1 − exp(−x²/2) the gradient at 6 is 9e-8.",
        "Where f does not bend upwards, the gradient says nothing about a minimum. Which number is farther than any?",
        (12,),
    ),
    "DEAD_CAN_LEARN": Misconception(
        "a smaller step revives dead units",
        "The step is lowered when the units are dead already. Their gradient is exactly 0, and any step times 0 is 0.",
        "Change what kills them, before it does; or what a dead unit passes on.",
        (12,),
    ),
}
