"""Events that the engine sends while it runs, and their observers.

This package imports no other layer, so every layer may use it: `values` holds the events, `listener` delivers them
to observers. An observer is any callable; pass it to `observing`.
"""

from autodiff_lab.events.listener import (
    CAUSE,
    EVERYTHING,
    SCOPE,
    SINKS,
    Identified,
    Listener,
    Sink,
    Spot,
    active,
    applied,
    fresh_id,
    heard,
    name_scope,
    observing,
    place_now,
    place_of,
    scoped,
    sinks_now,
    spot_now,
    tell_listeners,
    tell_look,
    tell_made,
    tell_peek,
    trace_now,
    unheard,
)
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
    fitted_axes,
)

__all__ = [
    "CAUSE", "EVERYTHING", "Event", "FaultFound", "GradientFlowed", "Identified", "Listener", "Observer", "OpApplied",
    "OpDescribed", "OpFailed", "Place", "SCOPE", "SINKS", "Sink", "Spot", "SweepEnded", "SweepStarted", "TapeClosed",
    "TapeOpened", "TapeSwitched", "TensorLeft", "TensorMet", "TensorNamed", "TensorRead", "TensorWatched",
    "Transferred", "VariableAssigned", "active", "applied", "fitted_axes", "fresh_id", "heard", "name_scope",
    "observing", "place_now", "place_of", "scoped", "sinks_now", "spot_now", "tell_listeners", "tell_made",
    "tell_look", "tell_peek", "trace_now", "unheard",
]
