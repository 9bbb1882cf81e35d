"""Wrong ideas about finding a fault: lesson 16."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "SYMPTOM_FOR_CAUSE": Misconception(
        "the line that shows the fault has the fault",
        "This is where it shows. An earlier line passed it on.",
        "Go back line by line. Which is the first that does something wrong to what is still in order?",
        (16,),
    ),
    "SILENCED": Misconception(
        "no complaint means no fault",
        "The symptom is gone, and the fault is not: what was missing has only been covered up.",
        "Move the input by a little. Does the value change as the gradient says?",
        (16,),
    ),
}
