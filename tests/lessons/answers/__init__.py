"""Correct and wrong answers to every exercise, by lesson: what a learner might type, and the misconception's code."""

from __future__ import annotations

from tests.lessons.answers import (
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
    lesson_12,
    lesson_13,
    lesson_14a,
    lesson_14b,
    lesson_15,
    lesson_16,
    lesson_17,
)

_LESSONS = {
    "01": lesson_01,
    "02": lesson_02,
    "03": lesson_03,
    "04": lesson_04,
    "05": lesson_05,
    "06": lesson_06,
    "07": lesson_07,
    "08": lesson_08,
    "09": lesson_09,
    "10": lesson_10,
    "11": lesson_11,
    "12": lesson_12,
    "13": lesson_13,
    "14a": lesson_14a,
    "14b": lesson_14b,
    "15": lesson_15,
    "16": lesson_16,
    "17": lesson_17,
}

SOLVED: dict[str, dict[str, str]] = {number: module.SOLVED for number, module in _LESSONS.items()}
"""Right answers by lesson and cell."""
WRONG: list[tuple[str, str, str, str]] = [(number, *row) for number, module in _LESSONS.items() for row in module.WRONG]
"""Lesson, cell, what is typed, and the code."""
RIGHT: list[tuple[str, str, str]] = [
    (number, *row) for number, module in _LESSONS.items() for row in getattr(module, "RIGHT", ())
]
"""Lesson, cell, and a right answer in other words."""
