"""The teacher's guide: every lesson has a row, the minutes add up, and only known codes and lessons are named."""

from __future__ import annotations

import re

import pytest

from autodiff_lab.lessons import CODES
from tests.generated.guide import PATHS, ROWS, minutes_of, page
from tests.lessons.play import LESSONS, number_of


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_has_a_row_whose_minutes_add_up(lesson: str) -> None:
    number = number_of(lesson).lstrip("0")
    assert number in ROWS, f"the teacher's guide has no row for lesson {number}: add one to tests/generated/guide.py"
    row = ROWS[number]
    assert sum(row.minutes) == minutes_of(lesson)
    named = set(re.findall(r"\(([A-Z_]+)\)", row.wrong))
    assert named <= set(CODES)
    for code in named:
        assert number in map(str, CODES[code].lessons), f"{code} is not cured by lesson {number}"
    assert row.ask.endswith("?")


def test_paths_lead_through_lessons() -> None:
    assert len(PATHS) == 4
    known = {number_of(lesson).lstrip("0") for lesson in LESSONS}
    for says, path in PATHS.values():
        assert says.endswith(".")
        assert set(path) <= set(ROWS)
        assert set(path) & known
    assert "One session of 90 minutes**: lessons 7 and 8, 85 minutes" in page()
