"""Predict first, then look: a question whose answer is committed before a picture opens, and stays beside the outcome.

A `Prediction` is the question with fields and a button; what it unlocks is an `Unlocked`, closed until something is
committed. Both are forms (`autodiff_lab.widgets.form`), and text where anywidget is not installed. No user needs to be
present: a notebook run from top to bottom shows an open question and a closed picture, always in the same words, and
``prediction.commit(5)`` in a cell does what the button does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import a_kind, same
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.forms import Shown
from autodiff_lab.lessons.questions import ideas_of
from autodiff_lab.lessons.unlocked import AGREED, Answer, Unlocked, compared, shown
from autodiff_lab.recording import Recording
from autodiff_lab.teaching import IDEAS, diagnose_answer

if TYPE_CHECKING:
    from autodiff_lab.widgets.sketch_pad import SketchPad

Ideas = Mapping[Any, Any] | tuple[Recording, Sequence[str]]
"""Codes by wrong answer; or a recording and codes of engines, of which one may give the answer; or these by name."""

_GROUPED = re.compile(r"-?\d{1,3}([ ,\u00a0\u202f\u2009'’])\d{3}(?:\1\d{3})*(?:\.\d+)?")
_POWER = re.compile(r"(-)?(?:([\d.]+)\s*[·*×x]\s*)?10\s*(?:\^|\*\*)\s*(-?\d{1,3})")
_RAISED = re.compile("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_COMMIT = {"button": "Commit", "tip": "Commit this prediction and unlock what follows"}


def read_number(text: str) -> float:
    """Read a number as people write it: with a true minus sign, a fraction, digits in groups, or a power of ten.

    A comma may group digits or begin decimals; nobody writes a decimal 0 at the end, so that 1,500 is grouped.

    Raises
    ------
    ValueError
        If it is not a number, or may be two, as 1,234.

    Examples
    --------
    >>> read_number(" −2.5 "), read_number("1/4")
    (-2.5, 0.25)
    >>> read_number("1,000,000"), read_number("1,5"), read_number("2 · 10⁶")
    (1000000.0, 1.5, 2000000.0)
    """
    top, slash, bottom = text.replace("−", "-").replace("–", "-").partition("/")
    below = _read_one(bottom) if slash else 1.0
    if not below:
        raise ValueError("a division by zero")
    value = _read_one(top) / below
    if value - value != 0:
        raise ValueError("not finite")
    return value


def _read_one(text: str) -> float:
    """Read a number that is not a fraction."""
    plain = _RAISED.sub(lambda found: f"10^{found[1].translate(_LOWERED)}", text.strip())
    power = _POWER.fullmatch(plain)
    if power is not None:
        return float(f"{power[1] or ''}{power[2] or 1}e{power[3]}")
    grouped = _GROUPED.fullmatch(plain)
    if grouped is not None:
        plain = plain.replace(grouped[1], "")
        if grouped[0].count(",") == 1 and "." not in grouped[0] and grouped[0][-1] != "0":
            raise ValueError(f"{text.strip()} may be {plain} or {grouped[0].replace(',', '.')}")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    return float(plain)


class Prediction(Shown):
    """A question that waits for an answer.  Made by `predict`.

    Parameters
    ----------
    question : str
        Plain text.
    names : sequence of str
        The quantities that are asked for, a number each; one empty name for a single number.
    choices : sequence of str
        Instead of numbers, answers to choose from.
    ideas : mapping, optional
        The code behind each wrong answer that has one, see `predict`.

    Attributes
    ----------
    answer : dict of str to float or str, or None
        What was committed; None before.
    """

    def __init__(
        self, question: str, names: Sequence[str] = ("",), choices: Sequence[str] = (), ideas: Ideas | None = None
    ) -> None:
        self.question = question
        self.names, self.choices = tuple(names), tuple(choices)
        self.answer: dict[str, Answer] | None = None
        self.explanation = ""
        self._waiting: list[Unlocked] = []
        self._ideas = self._read_ideas(ideas or {})
        super().__init__({"kind": "question", "text": question}, *self._parts(), **self._button())
        self.observe(lambda change: self._read(change.new["values"]), "submitted")
        self.add_class("autodiff-lab-prediction")

    def _parts(self) -> list[Any]:
        """Return the fields below the question."""
        if self.choices:
            return [{"kind": "choices", "text": "", "options": list(self.choices)}]
        return [{"kind": "field", "text": name, "hint": "a number"} for name in self.names]

    def _button(self) -> dict[str, str]:
        return _COMMIT

    def _read(self, values: Sequence[str]) -> None:
        """Commit what the fields contain, or say what is wrong with it."""
        if self.answer is not None:
            return
        if self.choices and values[0] not in self.choices:
            self.note = "Choose one. A wrong guess helps more than none."
            return
        try:
            pairs = zip(values, self.names, strict=True)
            answers: list[Answer] = list(values) if self.choices else [self._number(*pair) for pair in pairs]
        except InvalidArgumentError as error:
            self.note = f"{error} A wrong guess helps more than none."
            return
        self.commit(*answers)
        if self._waiting:
            self._waiting[0].take_focus()

    def commit(self, *answers: Answer) -> Prediction:
        """Commit the prediction, and open what waits for it.

        Parameters
        ----------
        *answers : float or str
            One for each quantity, or one of the choices.

        Raises
        ------
        InvalidArgumentError
            If there are too few or too many, or one is not a number or not a choice.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> lessons.predict("What is 2 + 2?").commit(5)
        What is 2 + 2?
        You predicted 5.
        """
        if len(answers) != len(self.names):
            raise InvalidArgumentError(f"{len(self.names)} answers are needed, but {len(answers)} were given.")
        if self.choices and answers[0] not in self.choices:
            raise InvalidArgumentError(f"{answers[0]!r} is not among the choices: {', '.join(self.choices)}.")
        given = answers if self.choices else [self._number(*pair) for pair in zip(answers, self.names, strict=True)]
        self.answer = dict(zip(self.names, given, strict=True))
        self.values = [shown(answer) for answer in given]
        self.disabled, self.button = True, "Committed"
        self.note = f"{self._told()} It stays here; look below."
        for waiting in self._waiting:
            waiting.reveal()
        return self

    @staticmethod
    def _number(answer: Answer, name: str) -> float:
        try:
            return read_number(str(answer))
        except ValueError as error:
            where = f"{name}: " if name else ""
            what = f"{answer!r} is not a number" if str(answer).strip() else "a number is missing"
            what = str(error) if " may be " in str(error) else what
            told = f"{where}{what}. Write it like 2.5, −1/4, 1,000 or 10^6."
            raise InvalidArgumentError(told[0].upper() + told[1:] if not name else told) from None

    def unlock(self, view: Any = None, outcome: Any = None) -> Unlocked:
        """Return what opens as soon as something is committed.

        Parameters
        ----------
        view : object, optional
            What is then shown: a recording, its explanation or ledger, the check of a gradient, a compiled function, a
            picture or a widget.
        outcome : number, str, mapping of str to number, or callable, optional
            What came out, to be shown beside the prediction.  A function of no arguments is called after the commit, so
            that no cell below a question has to contain its answer.

        Raises
        ------
        InvalidArgumentError
            If the outcome does not have the names of the question.
        """
        return self._wait(Unlocked(self, view, outcome))

    def then(self, function: Callable[[], Any]) -> Unlocked:
        """Run a function after the commit, and show what it prints and returns.

        Parameters
        ----------
        function : callable
            Of no arguments.  If it returns a recording, a picture or a widget, that is shown; anything else as text.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> guess = lessons.predict("What is 2 + 2?")
        >>> guess.then(lambda: print("2 + 2 =", 2 + 2))
        Closed until you commit a prediction above.
        >>> guess.commit(4).then(lambda: print("2 + 2 =", 2 + 2))
        2 + 2 = 4
        """
        if not callable(function):
            raise InvalidArgumentError(f"then takes a function of no arguments, but this is {a_kind(function)}.")
        return self._wait(Unlocked(self, function, call=True))

    def _wait(self, unlocked: Unlocked) -> Unlocked:
        self._waiting.append(unlocked)
        if self.answer is not None:
            unlocked.reveal()
        return unlocked

    def outcomes_of(self, outcome: Any) -> dict[str, Answer]:
        """Return an outcome by the names of the question.

        Raises
        ------
        InvalidArgumentError
            If it does not have them, or, for a question with choices, is not one of those.
        """
        values = outcome if isinstance(outcome, Mapping) else {self.names[0]: outcome}
        if set(values) != set(self.names):
            raise InvalidArgumentError(f"The outcome has {', '.join(values)}; expected {', '.join(self.names)}.")
        if self.choices and values[self.names[0]] not in self.choices:
            raise InvalidArgumentError(
                f"{values[self.names[0]]!r} is not among the choices: {', '.join(self.choices)}."
            )
        return {name: values[name] if self.choices else float(values[name]) for name in self.names}

    def _read_ideas(self, ideas: Ideas) -> dict[str, Any]:
        """Return the ideas by name; a question with one answer needs no name."""
        parts = () if isinstance(ideas, tuple) else ideas.values()
        named: Any = ideas if parts and all(isinstance(each, Mapping | tuple) for each in parts) else {
            self.names[0]: ideas}  # fmt: skip
        if not set(named) <= set(self.names):
            raise InvalidArgumentError(f"There are ideas for {', '.join(map(str, named))}; the question has "
                                       f"{', '.join(self.names)}.")  # fmt: skip
        unknown: set[Any] = set()
        for each in named.values():
            unknown |= _engine_codes(each) - set(IDEAS) if isinstance(each, tuple) else set(each.values()) - set(CODES)
        if unknown:
            raise InvalidArgumentError(f"These are not codes of CODES: {', '.join(sorted(map(str, unknown)))}.")
        return named

    def idea_of(self, name: str, answer: Answer) -> str:
        """Return the idea behind an answer in words, or an empty string."""
        ideas = self._ideas.get(name, {})
        if isinstance(ideas, tuple):
            return _of_engines(ideas[0], ideas[1], answer)
        for wrong, code in ideas.items():
            numbers = not isinstance(wrong, str) and not isinstance(answer, str)
            if wrong == answer or (numbers and same(float(wrong), float(answer), 1e-3)):
                return CODES[code].idea
        return ""

    def judged(self, name: str, answer: Answer, outcome: Answer) -> str:
        """Compare an answer with the outcome, and name the idea behind a wrong one where the question knows it."""
        words = compared(answer, outcome)
        idea = "" if words == AGREED else self.idea_of(name, answer)
        return f"{words}; this is what one gets if {idea}" if idea else words

    def _told(self) -> str:
        answer = self.answer or {}
        told = ", ".join(f"{name} = {shown(value)}" if name else shown(value) for name, value in answer.items())
        return f"You predicted {told}."

    def keep_beside(self, sentence: str) -> None:
        """Show the learner's explanation below the prediction."""
        self.explanation = sentence
        if self.answer is not None:
            self.note = f"{self._told()} You explained: {sentence}"

    def account(self) -> str:
        """Return the question and, if there are any, the prediction and its explanation."""
        if self.answer is not None:
            explained = f"\nYou explained: {self.explanation}" if self.explanation else ""
            return f"{self.question}\n{self._told()}{explained}"
        asked = f" ({', '.join(self.names)})" if self.names != ("",) else ""
        choices = f"\nOne of: {'; '.join(self.choices)}." if self.choices else ""
        return f"{self.question}{asked}{choices}\nNothing predicted yet."


def _engine_codes(ideas: Any) -> set[Any]:
    """Return the codes in ``(recording, codes)``."""
    if len(ideas) != 2 or not isinstance(ideas[0], Recording) or not isinstance(ideas[1], list | tuple):
        raise InvalidArgumentError(
            'Ideas of engines are a recording and a list of their codes: (recording, ["EARLY"]).'
        )
    return set(ideas[1])


def _of_engines(recording: Recording, codes: Sequence[str], answer: Answer) -> str:
    """Return the ideas that give a number as the gradient with respect to the only input, as words."""
    found = diagnose_answer(recording, answer)
    return ", or if ".join(IDEAS[code] for code in found.codes or found.tie if code in codes)


def predict(
    question: str, names: Sequence[str] = ("",), *, choices: Sequence[str] = (), ideas: Ideas | str | None = None,
    sketch: SketchPad | None = None,
) -> Prediction:  # fmt: skip
    """Ask for a prediction.

    Parameters
    ----------
    question : str
        Plain text.
    names : sequence of str
        The quantities that are asked for, a number each; by default a single number without a name.
    choices : sequence of str
        Instead of numbers, answers to choose from.
    ideas : mapping or str, optional
        The code of `CODES` behind each wrong answer that has one: ``{10: "WHOLE_TRIP"}``.  For a gradient, a
        recording and codes of `autodiff_lab.teaching.IDEAS` instead: ``(recording, ["EARLY", "STALE"])``; the answer
        is then compared with what these engines give.  For several quantities, a mapping from their names to these.
        In the lessons, the number of the question, ``"9.Q1"``, so that its cell does not say which answers are wrong.
    sketch : SketchPad, optional
        Instead of numbers, a curve that is drawn on a pad of `sketch_pad`; what was drawn names the idea.

    Returns
    -------
    Prediction
        A widget; ``.unlock(recording, outcome=...)`` is what it opens.

    Raises
    ------
    InvalidArgumentError
        If choices and several names are given, if `ideas` has a name, a code or a question that does not exist, or if
        any of these is given with a sketch.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> guess = lessons.predict("What is 2 + 2?")
    >>> guess.unlock(outcome=4)
    Closed until you commit a prediction above.
    >>> guess.commit(5).unlock(outcome=4)
    answer: predicted 5, it is 4: 1 too much
    >>> rate = lessons.predict("The rate at an instant?", ideas={10: "WHOLE_TRIP"}).commit(10)
    >>> print(repr(rate.unlock(outcome=lambda: 9)).partition(": ")[2])
    predicted 10, it is 9: 1 too much; this is what one gets if the rate at an instant is the average over everything
    """
    if sketch is not None:
        from autodiff_lab.lessons.sketching import SketchPrediction, is_pad

        if choices or ideas or tuple(names) != ("",):
            raise InvalidArgumentError("A sketch is the one answer to its question; leave names, choices, ideas out.")
        if not is_pad(sketch):
            raise InvalidArgumentError(f"sketch takes a pad of lessons.sketch_pad, but this is {a_kind(sketch)}.")
        return SketchPrediction(question, sketch)
    if choices and tuple(names) != ("",):
        raise InvalidArgumentError("A question with choices has one answer; give names or choices.")
    if isinstance(ideas, str):
        ideas = ideas_of(ideas, names, choices)
    return Prediction(question, names, choices, ideas)
