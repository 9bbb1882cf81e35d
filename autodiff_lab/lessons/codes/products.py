"""Wrong ideas about Jacobians and products with them: lesson 10."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "WHOLE_JACOBIAN": Misconception(
        "a backward pass multiplies by the big table",
        "This is the whole Jacobian, or something as large. A backward pass never holds it.",
        "What comes in has the shape of the output, what goes out has the shape of the input. Which product has that "
        "shape?",
        (10,),
    ),
    "SUMMED": Misconception(
        "the gradient of a vector needs no cotangent",
        "This is the gradient of the sum of all outputs: every output was weighted with 1.",
        "Double what comes in for a single output. What goes out should change, and yours does not.",
        (9, 10, 13),
    ),
    "TRANSPOSE_LOST": Misconception(
        "going back multiplies by the same matrix",
        "A matrix is used as on the way forward, or on the wrong side. On the way back it is transposed.",
        "Write the shapes below the factors: only one arrangement fits when all sizes differ.",
        (10,),
    ),
    "FACTORS_SWAPPED": Misconception(
        "the order of the factors does not matter",
        "The right matrices in the wrong order; they fit only where all sizes are equal.",
        "Take sizes that all differ, and write the shapes below the factors.",
        (10,),
    ),
    "JACOBIAN_SIZE": Misconception(
        "a Jacobian is as large as its input or its output",
        "There are fewer numbers here than pairs of an output and an input.",
        "Every output has a derivative with respect to every input. How many of each are there?",
        (10,),
    ),
    "OUTPUT_SHAPE": Misconception(
        "a gradient has the shape of the output",
        "This has the size of the output. What goes back to an input has the shape of that input.",
        "One number for each element that could be nudged. Which elements are those?",
        (9, 10),
    ),
    "ALWAYS_BACKWARD": Misconception(
        "going backward is always cheaper",
        "Always backward; but with few inputs and many outputs that takes one pass for each of the many.",
        "One input and 1,000 outputs: how many columns does that Jacobian have, and how many rows?",
        (10,),
    ),
    "ALWAYS_FORWARD": Misconception(
        "going forward is always cheaper",
        "Always forward; but with many inputs and few outputs that takes one pass for each of the many.",
        "1,000 inputs and one output: how many columns does that Jacobian have, and how many rows?",
        (10,),
    ),
    "MODES_SWAPPED": Misconception(
        "forward gives rows and backward gives columns",
        "Each time it is the other one.",
        "A forward pass begins with a nudge of one input. Does that fill a row of the table or a column?",
        (5, 10),
    ),
    "COLUMN": Misconception(
        "a row and a column of the Jacobian are the same",
        "This is a column: how all outputs change with one input. The question was how one output changes with all "
        "inputs.",
        "A seller sees only her own till. Which of the two does she need?",
        (10,),
    ),
}
