"""Frames: what the message of a refusal says about the stack.

Only messages depend on what is found here: which function of this package or of a library the user's code called, and
on which line.  Whether a function is compiled does not; that depends on `effects`.
"""

from __future__ import annotations

import sys
import types

from autodiff_lab.compile.front.kinds import PACKAGE, TRUSTED, root_of
from autodiff_lab.events import Place

LIBRARIES = {*sys.stdlib_module_names, *TRUSTED}
Through = tuple[str, Place] | None
"""The library function that the user's code called, if any, and the user's line."""


def users_frame(frame: types.FrameType) -> tuple[types.FrameType, types.FrameType | None]:
    """Return the innermost frame of the user's code, and the frame of the library function that it called, if any."""
    here: types.FrameType | None = frame
    inner = None
    while here is not None and root_of(here.f_globals) in LIBRARIES:
        here, inner = here.f_back, here
    return (frame, None) if here is None else (here, inner)


def library_call(frame: types.FrameType) -> Through:
    """Return the library function that the user's code called on the way to this frame, and the user's line."""
    here, through = users_frame(frame)
    return through and (through.f_code.co_qualname, (here.f_code.co_filename, here.f_lineno))


def called_function() -> str:
    """Return the name of the function of this package that the user's code called on the way here."""
    frame, name = sys._getframe(1), "an op"  # pyright: ignore[reportPrivateUsage]
    while frame is not None and root_of(frame.f_globals) == PACKAGE:
        if "<locals>" not in frame.f_code.co_qualname:  # users do not know the names of a decorator's wrappers
            name = frame.f_code.co_name.strip("_")
        if name == "call":  # of a layer, a loss or a metric, which the user knows by its class
            name = type(frame.f_locals.get("self")).__name__
        frame = frame.f_back
    return name
