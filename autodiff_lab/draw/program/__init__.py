"""A compiled program in three views that know of each other: its graph, its text, and the Python that runs."""

from autodiff_lab.draw.program.model import Item, Loop, ProgramView, Reason, Row
from autodiff_lab.draw.program.payload import payload
from autodiff_lab.draw.program.picture import picture

__all__ = ["Item", "Loop", "ProgramView", "Reason", "Row", "payload", "picture"]
