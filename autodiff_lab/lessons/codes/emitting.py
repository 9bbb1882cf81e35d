"""Wrong ideas about what a framework has to report to be recorded: lesson 17."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "TWO_SOURCES": Misconception(
        "a value that is used again comes in again",
        "One input came in twice. The recording now has two values, and each gets a part of the gradient.",
        "Call add_source once for each input, and use the id that it returns wherever the input is used.",
        (17,),
    ),
    "SKIPPED_OP": Misconception(
        "only the result has to be reported",
        "An op ran that was not emitted, so a value appears that no op of the recording computes.",
        "Write the formula with one op per line, and emit every line.",
        (17,),
    ),
    "ONE_PER_VALUE": Misconception(
        "an op delivers once to each value",
        "An op that takes the same value twice delivered to it only once.",
        "Contributions go to positions, not to values: x · x has two positions.",
        (17,),
    ),
}
