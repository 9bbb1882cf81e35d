"""The ideas behind wrong answers to the questions of the lessons, by the number of the question.

The first question of lesson 9 is asked with ``predict(..., ideas="9.Q1")``.  The ideas themselves are here, because
learners read the cell of a question: each wrong answer that it named would be one less to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from autodiff_lab.errors import InvalidArgumentError

QUESTIONS: dict[str, list[dict[float, str]]] = {
    "1.Q1": [{10: "WHOLE_TRIP", 7: "VALUE", 20: "CHANGE", 13: "CHANGE"}],
    "1.Q2": [{1: "TOUCHES_ONCE"}],
    "2.Q1": [{4: "COPIED_F", 3: "SECOND_FOR_FIRST"}],
    "2.Q3": [{1: "MISSED_TOUCH"}, {2: "ZERO_IS_EXTREMUM"}],
    "3.Q3": [{-16: "SMALLER_IS_BETTER", -15: "SMALLER_IS_BETTER", -14: "SMALLER_IS_BETTER", -2: "LARGER_IS_SAFER"}],
    "4.Q1": [
        {91: "FORMULA_IS_TAPE", 45: "FORMULA_IS_TAPE", 4: "ONE_ENTRY_A_LINE", 8: "ONE_ENTRY_A_LINE"},
        {50: "ONE_ENTRY_A_LINE", 100: "ONE_ENTRY_A_LINE", 3: "SOURCE_TEXT"},
    ],
    "4.Q3": [{1: "EXACT_IS_TRUE"}],
    "5.Q1": [{1: "ALL_SEEDED"}],
    "5.Q2": [{1: "ALL_SEEDED"}, {}],
    "6.Q1": [{3: "EVERYTHING"}, {4: "EVERYTHING", 1: "FORGOTTEN"}],
    "7.Q1": [{2: "OVERWRITE", 3: "OVERWRITE", 6: "VALUE"}, {}, {2: "MAX_SHARES"}],
    "7.Q2": [{2: "EXP_INPUT"}],
    "9.Q1": [{1: "ALL_PAIRS", 2: "ALL_PAIRS"}],
    "10.Q1": [
        {12: "JACOBIAN_SIZE", 6: "JACOBIAN_SIZE", 18: "JACOBIAN_SIZE"},
        {6: "OUTPUT_SHAPE", 72: "WHOLE_JACOBIAN"},
    ],
    "11.Q1": [{}, {1: "KINKS_CANCEL"}, {1: "KINKS_CANCEL"}],
    "11.Q2": [{1: "WHERE_PROTECTS"}],
    "11.Q3": [{2: "BLAMED_WHERE_IT_SURFACED", 3: "BLAMED_WHERE_IT_SURFACED"}],
    "12.Q1": [{0: "POINTS_TO_MINIMUM"}],
    "12.Q2": [{0.1: "HALF_THE_LIMIT", 2: "SLOWEST_RULES", 1: "SLOWEST_RULES", 10: "CURVATURE_FOR_STEP"}],
    "14a.Q1": [{160: "WRITES_ONLY"}, {16: "WRITES_ONLY", 368: "ALL_STORED"}],
    "14b.Q1": [{16: "ALL_KEPT", 4: "INPUTS_FORGOTTEN", 8: "X_COUNTED"}, {0: "TOO_OFTEN"}],
    "14b.Q2": [{1: "EQUAL_PIECES", 2: "CROWDED_EARLY"}],
    "15.Q1": [{2: "FLOORED"}, {}],
    "15.Q3": [{1: "NO_BARRIER"}],
    "16.Q1": [{1: "NONE_IS_ZERO", 3: "NONE_IS_ZERO"}],
}
"""For each quantity that is asked for, the codes by wrong number; of choices by their place, counted from 1.

Places, and not words, because the choices of a lesson in another language have other words in the same order.
"""


def ideas_of(question: str, names: Sequence[str], choices: Sequence[str]) -> Mapping[str, Mapping[Any, str]]:
    """Return the codes behind the wrong answers to a question, by its names and answers.

    Raises
    ------
    InvalidArgumentError
        If there is no such question, or it asks for something else.

    Examples
    --------
    >>> ideas_of("1.Q2", [""], ["once", "twice"])
    {'': {'once': 'TOUCHES_ONCE'}}
    """
    if question not in QUESTIONS:
        near = get_close_matches(question, QUESTIONS, 1, 0.0)[0]
        raise InvalidArgumentError(f'There is no question {question!r} with ideas. Did you mean ideas="{near}"?')
    tables: list[dict[Any, str]] = list(QUESTIONS[question])
    if choices and max(tables[0]) <= len(choices):
        tables[0] = {choices[int(place) - 1]: code for place, code in tables[0].items()}
    elif choices:
        tables.clear()
    if len(tables) != len(names):
        raise InvalidArgumentError(f"Question {question} asks for something else. Give its ideas as a mapping instead.")
    return dict(zip(names, tables, strict=True))
