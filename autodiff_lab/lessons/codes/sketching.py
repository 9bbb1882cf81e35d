"""Wrong ideas about the derivative as a function: lesson 2."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "COPIED_F": Misconception(
        "the derivative looks like the function",
        "This is what one gets if the derivative looks like the function: high where f is high.",
        "Find a place where f is highest. Is it steep there, or level?",
        (2,),
    ),
    "FLIPPED_SLOPE": Misconception(
        "a derivative is positive where the function falls",
        "This is what one gets if f′ is above 0 where f falls. It is the other way round.",
        "Go along f from left to right. Where f goes up, f′ is above 0.",
        (2,),
    ),
    "ABSOLUTE": Misconception(
        "a slope has no sign",
        "This is what one gets if a slope says how steep f is, and not whether it goes up or down.",
        "Two places are equally steep, one up and one down. f′ must tell them apart.",
        (2,),
    ),
    "SHIFTED_UP": Misconception(
        "it does not matter where f′ is 0",
        "This has the shape of f′, but at another height: it is not 0 where f is level.",
        "Mark the places where f is level first. There f′ is exactly 0.",
        (2,),
    ),
    "SECOND_FOR_FIRST": Misconception(
        "how f bends is how it climbs",
        "This is what one gets if f′ says how f bends. That is f″, one derivative further.",
        "Where f is steepest it does not bend at all. How high is f′ there?",
        (2,),
    ),
    "AREA": Misconception(
        "the derivative collects what lies below the curve",
        "This is what one gets in the other direction: a curve of which this one is the derivative.",
        "Ask of one place only: how steep is the curve right here? What came before does not matter.",
        (2,),
    ),
    "SIGNS_ONLY": Misconception(
        "a derivative is up or down and nothing between",
        "This is what one gets if f′ only says up or down. It also says how steeply.",
        "Near a level place f hardly climbs. So how high is f′ just beside it?",
        (2,),
    ),
    "ZERO_IS_EXTREMUM": Misconception(
        "where the slope is 0 there is a highest or lowest point",
        "This is what one gets if every level point is a highest or lowest one.",
        "Look at the sign of the slope a little before and a little after. Does it change?",
        (2,),
    ),
    "MISSED_TOUCH": Misconception(
        "a slope is 0 only where it changes its sign",
        "This is what one gets if one looks for changes of sign. The slope can touch 0 and turn back.",
        "Draw f′ over the whole interval: where does it come down to 0 without crossing it?",
        (2,),
    ),
    "ZEROS_OF_F": Misconception(
        "level means that f is 0",
        "This is what one gets if level means that f is 0. A curve may cross 0 steeply.",
        "Add 100 to f. Its zeros are gone, and its level points stay where they are.",
        (2,),
    ),
    "STEEPEST": Misconception(
        "the curve turns where it is steepest",
        "This is what one gets from the places where f is steepest, up or down: there f″ is 0.",
        "At such a place f goes on in the same direction. Where does it stop going up or down?",
        (2,),
    ),
}
