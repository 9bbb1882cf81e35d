"""What the engine tells while it runs, and who listens.

Imports nothing else of ours, so that every layer may use it: `values` holds the events, `listener` the way to
observers.  Write an observer as any callable and hand it to `observing`.
"""

from autodiff_lab.events.listener import (
    CAUSE,
    EVERYTHING,
    SCOPE,
    SINKS,
    Identified,
    Listener,
    Sink,
    active,
    fresh_id,
    heard,
    name_scope,
    observing,
    place_now,
    sinks_now,
    tell_listeners,
    tell_made,
    tell_peek,
    trace_now,
    unheard,
)
from autodiff_lab.events.values import (
    Event,
    GradientFlowed,
    Late,
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
    TensorWatched,
    Transferred,
    VariableAssigned,
)

__all__ = [
    "CAUSE", "EVERYTHING", "Event", "GradientFlowed", "Identified", "Late", "Listener", "Observer", "OpApplied",
    "OpDescribed", "OpFailed", "Place", "SCOPE", "SINKS", "Sink", "SweepEnded", "SweepStarted", "TapeClosed",
    "TapeOpened", "TapeSwitched", "TensorLeft", "TensorMet", "TensorWatched", "Transferred", "VariableAssigned",
    "active", "fresh_id", "heard", "name_scope", "observing", "place_now", "sinks_now", "tell_listeners", "tell_made",
    "tell_peek", "trace_now", "unheard",
]
