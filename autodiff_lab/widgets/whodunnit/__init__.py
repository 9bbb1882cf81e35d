"""Whodunnit: a case with its questions and suspects, as a widget and as a page without a kernel.

`autodiff_lab.lessons.whodunnit` deals cases; ``game.js`` counts points and finds the question that was worth asking.
"""

from __future__ import annotations

from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.recording.numbers import short
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)
POINTS, QUESTION, ACCUSATION = 10, 1, 3
"""What one begins with, and what a question and a wrong accusation cost; as in ``game.js``."""


class Whodunnit(PageWidget):
    """A case.  Made by ``lessons.whodunnit``.

    Parameters
    ----------
    facts : dict
        The program, questions, suspects and all answers.

    Attributes
    ----------
    asked : list of int
        The questions that were asked, by their place; the first one is free.
    accused : list of int
        The suspects that were accused, by their place.
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "whodunnit"
    kept = ("facts", "asked", "accused")

    facts = traitlets.Dict().tag(sync=True)
    asked = traitlets.List(traitlets.Int()).tag(sync=True)
    accused = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, facts: dict[str, Any]) -> None:
        super().__init__(facts=facts, asked=[facts["first"]])

    @property
    def solved(self) -> bool:
        """Whether the culprit was accused."""
        return self.facts["culprit"] in self.accused

    @property
    def score(self) -> int:
        """The points that are left, at least 0."""
        wrong = sum(each != self.facts["culprit"] for each in self.accused)
        return max(POINTS - QUESTION * (len(self.asked) - 1) - ACCUSATION * wrong, 0)

    def ask(self, name: str, at: str = "") -> None:
        """Ask what the engine reports for a value; costs a point.

        Parameters
        ----------
        name : str
            The value: an input, or the result of a line.
        at : str
            For other inputs, as the questions list them: ``"x = 3.5"``.

        Raises
        ------
        InvalidArgumentError
            If there is no such question.
        """
        questions = {(each["name"], each["at"].replace("−", "-")): n for n, each in enumerate(self.facts["questions"])}
        found = questions.get((str(name), str(at).replace("−", "-").strip()))
        if found is None:
            names = dict.fromkeys(each["name"] for each in self.facts["questions"])
            places = dict.fromkeys(each["at"] for each in self.facts["questions"] if each["at"])
            raise InvalidArgumentError(
                f"There is no question about {name!r}{f' at {at!r}' if at else ''}. Ask about {', '.join(names)}, "
                f"at the inputs of the case or at {' or '.join(repr(place) for place in places)}."
            )
        if found not in self.asked and not self.solved:
            self.asked = [*self.asked, found]

    def accuse(self, code: str) -> None:
        """Accuse a suspect; a wrong accusation costs three points.

        Parameters
        ----------
        code : str
            Its code.

        Raises
        ------
        InvalidArgumentError
            If it is not among the suspects.
        """
        codes = [each["code"] for each in self.facts["suspects"]]
        if code not in codes:
            near = get_close_matches(str(code).upper(), codes, 1, 0.0)[0]
            raise InvalidArgumentError(f"{code!r} is not a suspect. Did you mean {near!r}?")
        if codes.index(code) not in self.accused and not self.solved:
            self.accused = [*self.accused, codes.index(code)]

    def account(self) -> str:
        """Return the program, what the engine has said, and the suspects, as text."""
        facts = self.facts
        lines = [f"{facts['title']}: one engine is broken. Which?", facts["program"]]
        for question in self.asked:
            asked, right = facts["questions"][question], short(facts["right"][question])
            where = f" at {asked['at']}" if asked["at"] else ""
            said = short(facts["answers"][facts["culprit"]][question])
            lines.append(f"df/d{asked['name']}{where}: it says {said}, {right} is right")
        for number, suspect in enumerate(facts["suspects"]):
            state = "" if number not in self.accused else " (it was)" if self.solved else " (it was not)"
            state = " (it was not)" if state and number != facts["culprit"] else state
            lines.append(f"  {suspect['code']}: {suspect['idea']}{state}")
        lines.append(f"{self.score} of {POINTS} points" + (", solved" if self.solved else ""))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.account()

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Whodunnit in the ledger"

    def page_state(self) -> dict[str, Any]:
        """Return the traits with which its page begins: a case that nobody has played."""
        return super().page_state() | {"asked": [self.facts["first"]], "accused": []}

    def page_still(self) -> str:
        """Return the program as text."""
        still = escape(f"{self.facts['title']}: playing needs JavaScript.\n{self.facts['program']}")
        return f"<pre>{still}</pre>"
