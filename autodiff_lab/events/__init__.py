"""Events that the engine sends while it runs; an observer is any callable, and `observing` subscribes it.

This package imports no other layer, so every layer may use it: `values` holds the events, `listener` delivers them.
What is exported here is public. The other names of `listener` connect the engine to its observers.
"""

from autodiff_lab.events.listener import observing
from autodiff_lab.events.values import (
    Event,
    FaultFound,
    GradientFlowed,
    Observer,
    OpApplied,
    OpDescribed,
    OpFailed,
    Place,
    SweepEnded,
    SweepStarted,
    TapeClosed,
    TapeOpened,
    TapeSwitched,
    TensorLeft,
    TensorMet,
    TensorNamed,
    TensorRead,
    TensorWatched,
    Transferred,
    VariableAssigned,
)

__all__ = [
    "Event", "FaultFound", "GradientFlowed", "Observer", "OpApplied", "OpDescribed", "OpFailed", "Place", "SweepEnded",
    "SweepStarted", "TapeClosed", "TapeOpened", "TapeSwitched", "TensorLeft", "TensorMet", "TensorNamed", "TensorRead",
    "TensorWatched", "Transferred", "VariableAssigned", "observing",
]
