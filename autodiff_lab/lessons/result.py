"""The answer of a check: passed or not yet, which misconception, what it means, and what to try next.

Checks never raise for what a learner wrote and never print the right answer.  A notebook shows a result as a short
coloured note; its text form has no random numbers, so that saved notebooks can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from autodiff_lab.lessons.codes import CODES

_NOTE = (
    "border-left: 3px solid {colour}; padding: 4px 12px; margin: 4px 0; max-width: 60em; line-height: 1.5;"
    "font-family: var(--jp-ui-font-family, sans-serif); font-size: 14px"
)
_PASSED, _OPEN = "var(--jp-brand-color1, #0072b2)", "var(--jp-warn-color1, #b24700)"


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The answer of a check.

    Attributes
    ----------
    passed : bool
        Whether the exercise is solved.
    code : str
        The misconception behind a wrong answer (see `CODES`), ``"BLANK"`` for one that is not there yet, and empty
        for a right one.
    message : str
        What was found.
    next_hint : str
        What to try next; empty if there is nothing left to do.

    Examples
    --------
    >>> CheckResult(True, "", "All seven blanks are right.")
    Passed. All seven blanks are right.
    >>> not_yet("OVERWRITE").code
    'OVERWRITE'
    """

    passed: bool
    code: str
    message: str
    next_hint: str = ""

    @property
    def heading(self) -> str:
        """The first words: ``"Passed."`` or ``"Not yet (OVERWRITE)."``."""
        if self.passed:
            return "Passed."
        return "Not yet." if self.code == "BLANK" else f"Not yet ({self.code})."

    def __repr__(self) -> str:
        hint = f"\nHint: {self.next_hint}" if self.next_hint else ""
        return f"{self.heading} {self.message}{hint}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the note that a notebook shows, and the same as text."""
        hint = f"<br><i>Hint.</i> {escape(self.next_hint)}" if self.next_hint else ""
        style = _NOTE.format(colour=_PASSED if self.passed else _OPEN)
        note = f'<div role="status" style="{style}"><b>{self.heading}</b> {escape(self.message)}{hint}</div>'
        return {"text/plain": repr(self), "text/html": note}


def passed(message: str, next_hint: str = "") -> CheckResult:
    """Make the result of a solved exercise.

    Examples
    --------
    >>> passed("Every random cubic agreed.")
    Passed. Every random cubic agreed.
    """
    return CheckResult(True, "", message, next_hint)


def not_yet(code: str, message: str = "", next_hint: str = "") -> CheckResult:
    """Make the result for a misconception; what is not given is taken from its entry in `CODES`.

    Raises
    ------
    KeyError
        For a code that is not in the table.

    Examples
    --------
    >>> print(not_yet("BLANK", "Two blanks are left: y, z.").message)
    Two blanks are left: y, z.
    """
    known = CODES[code]
    return CheckResult(False, code, message or known.says, next_hint or known.hint)
