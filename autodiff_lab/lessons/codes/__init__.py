"""The misconceptions that checks name: what each of them says and hints, a table for each lesson.

``docs/lessons.md`` prints the tables for teachers, and a test keeps the two in step.
"""

from __future__ import annotations

from autodiff_lab.lessons.codes import (
    backward,
    broadcasting,
    checking,
    checkpoints,
    clinic,
    compiling,
    curvature,
    differences,
    downhill,
    emitting,
    forward,
    products,
    rates,
    sketching,
    states,
    swelling,
    taping,
    threads,
)
from autodiff_lab.lessons.codes.model import Misconception

__all__ = ["CODES", "Misconception"]

_TABLES = (
    states,
    rates,
    sketching,
    differences,
    swelling,
    forward,
    taping,
    backward,
    broadcasting,
    products,
    checking,
    downhill,
    curvature,
    compiling,
    checkpoints,
    threads,
    clinic,
    emitting,
)

CODES: dict[str, Misconception] = {code: entry for table in _TABLES for code, entry in table.CODES.items()}
"""By code, in the order of the lessons."""
