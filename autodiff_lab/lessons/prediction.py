"""Predict first, then look: a question whose answer is committed before a picture opens, and stays beside the outcome.

A `Prediction` is the question with fields and a button; what it unlocks is an `Unlocked`, closed until something is
committed. Both are plain ipywidgets. No user needs to be present: a notebook run from top to bottom shows an open
question and a closed picture, always in the same words, and ``prediction.commit(5)`` in a cell does what the button
does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.explain.ledger import Ledger
from autodiff_lab.explain.model import Explanation
from autodiff_lab.lessons.attempt import same
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.recording.numbers import short

try:
    import ipywidgets
except ImportError as missing:
    raise MissingPackage(
        "The lessons need ipywidgets, which is not installed here. Try: pip install 'autodiff-lab[lab]'."
    ) from missing

Answer = float | str

LOCKED = "Closed until you commit a prediction above."
_FRACTION = re.compile(r"(-?[\d.]+)\s*/\s*([\d.]+)")
_ROW = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "4px 16px"}
_SIZE = 'style="font-size: 14px; line-height: 1.5; max-width: 46em"'


def read_number(text: str) -> float:
    """Read a number as people write it, with a true minus sign, a fraction or spaces.

    Raises
    ------
    ValueError
        If it is not a number.

    Examples
    --------
    >>> read_number(" −2.5 "), read_number("1/4")
    (-2.5, 0.25)
    """
    plain = text.strip().replace("−", "-").replace("–", "-")
    fraction = _FRACTION.fullmatch(plain)
    if fraction is not None and float(fraction[2]):
        return float(fraction[1]) / float(fraction[2])
    value = float(plain)
    if value - value != 0:
        raise ValueError("not finite")
    return value


class _Shown(ipywidgets.VBox):
    """A column of widgets whose text form is a sentence, the same in every run."""

    def account(self) -> str:
        """Return what is shown, as text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.account()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the live widgets, and the sentence where no script runs."""
        bundle = super()._repr_mimebundle_(**options)
        return None if bundle is None else {**bundle, "text/plain": self.account()}

    def _mime_(self) -> tuple[str, str]:
        """Return the sentence for marimo, which does not show ipywidgets."""
        return "text/html", f'<div {_SIZE}><div style="white-space: pre-line">{escape(self.account())}</div></div>'


class Prediction(_Shown):
    """A question that waits for an answer.  Made by `predict`.

    Parameters
    ----------
    question : str
        Plain text.
    names : sequence of str
        The quantities that are asked for, a number each; one empty name for a single number.
    choices : sequence of str
        Instead of numbers, answers to choose from.

    Attributes
    ----------
    answer : dict of str to float or str, or None
        What was committed; None before.
    """

    def __init__(self, question: str, names: Sequence[str] = ("",), choices: Sequence[str] = ()) -> None:
        self.question = question
        self.names, self.choices = tuple(names), tuple(choices)
        self.answer: dict[str, Answer] | None = None
        self._waiting: list[Unlocked] = []
        self._fields = self._make_fields()
        self._button = ipywidgets.Button(description="Commit", tooltip="Commit this prediction and unlock what follows")
        self._button.on_click(lambda _: self._read())
        self._note = ipywidgets.HTML()
        row = ipywidgets.HBox([*self._fields, self._button], layout=_ROW)
        if self.choices:
            row.layout.flex_flow = "column"
            row.layout.align_items = "flex-start"
        super().__init__([ipywidgets.HTML(f"<div {_SIZE}><b>{escape(question)}</b></div>"), row, self._note])
        self.add_class("autodiff-lab-prediction")

    def _make_fields(self) -> list[Any]:
        if self.choices:
            return [ipywidgets.RadioButtons(options=self.choices, value=None, layout={"width": "max-content"})]
        fields: list[Any] = []
        for name in self.names:
            field = ipywidgets.Text(
                placeholder="a number",
                description=name,
                layout={"width": "180px"},
                style={"description_width": "initial"},
            )
            field.on_msg(self._on_enter)
            fields.append(field)
        return fields

    def _on_enter(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("event") == "submit":
            self._read()

    def _read(self) -> None:
        """Return what the fields contain, or say what is wrong with it."""
        if self.choices:
            if self._fields[0].value is None:
                self._say("Choose one. A wrong guess helps more than none.")
                return
            values: list[Answer] = [self._fields[0].value]
        else:
            try:
                values = [read_number(field.value) for field in self._fields]
            except ValueError:
                self._say("Every field takes a number, like 2.5 or −1/4. A wrong guess helps more than none.")
                return
        self.commit(*values)
        if self._waiting:
            self._waiting[0].take_focus()

    def _say(self, sentence: str) -> None:
        self._note.value = f'<div role="status" {_SIZE}>{escape(sentence)}</div>'

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
        given = answers if self.choices else [self._number(answer) for answer in answers]
        self.answer = dict(zip(self.names, given, strict=True))
        for field in (*self._fields, self._button):
            field.disabled = True
        if not self.choices:
            for field, answer in zip(self._fields, given, strict=True):
                field.value = short(answer, 6, minus="−")
        self._button.description = "Committed"
        self._say(f"{self._told()} It stays here; look below.")
        for waiting in self._waiting:
            waiting.reveal()
        return self

    @staticmethod
    def _number(answer: Answer) -> float:
        try:
            return read_number(str(answer))
        except ValueError:
            raise InvalidArgumentError(f"{answer!r} is not a number.") from None

    def unlock(self, view: Any = None, outcome: Any = None) -> Unlocked:
        """Return what opens as soon as something is committed.

        Parameters
        ----------
        view : object, optional
            What is then shown: a recording, its explanation or ledger, a compiled function, a picture or a widget.
        outcome : number, str or mapping of str to number, optional
            What came out, to be shown beside the prediction.
        """
        unlocked = Unlocked(self, view, self._outcomes(outcome))
        self._waiting.append(unlocked)
        if self.answer is not None:
            unlocked.reveal()
        return unlocked

    def _outcomes(self, outcome: Any) -> dict[str, Answer]:
        if outcome is None:
            return {}
        values = outcome if isinstance(outcome, Mapping) else {self.names[0]: outcome}
        if set(values) != set(self.names):
            raise InvalidArgumentError(f"The outcome has {', '.join(values)}; expected {', '.join(self.names)}.")
        return {name: values[name] if self.choices else float(values[name]) for name in self.names}

    def _told(self) -> str:
        answer = self.answer or {}
        shown = ", ".join(f"{name} = {_shown(value)}" if name else _shown(value) for name, value in answer.items())
        return f"You predicted {shown}."

    def account(self) -> str:
        """Return the question and, if there is one, the prediction."""
        if self.answer is not None:
            return f"{self.question}\n{self._told()}"
        asked = f" ({', '.join(self.names)})" if self.names != ("",) else ""
        choices = f"\nOne of: {'; '.join(self.choices)}." if self.choices else ""
        return f"{self.question}{asked}{choices}\nNothing predicted yet."


class Unlocked(_Shown):
    """What a prediction opens: the comparison, and a view below it.  Made by `Prediction.unlock`."""

    def __init__(self, prediction: Prediction, view: Any, outcomes: dict[str, Answer]) -> None:
        self.prediction, self.view, self.outcomes = prediction, view, outcomes
        style = (
            'style="border: 1px dashed var(--jp-border-color1, #59636e); border-radius: 6px; padding: 16px;'
            'color: var(--jp-ui-font-color2, #59636e); font-size: 14px; text-align: center"'
        )
        super().__init__([ipywidgets.HTML(f'<div role="status" {style}>{LOCKED}</div>')])

    @property
    def is_open(self) -> bool:
        """Whether a prediction has been committed."""
        return self.prediction.answer is not None

    def reveal(self) -> None:
        """Show the comparison and the view."""
        children: list[Any] = [ipywidgets.HTML(self._table())] if self.outcomes else []
        view = _widget(self.view)
        self.children = [*children, view] if view is not None else children

    def take_focus(self) -> None:
        """Give the keyboard to the picture, once it is shown; where there is none, nothing happens."""
        from autodiff_lab.widgets.base import LabWidget

        for child in self.children:
            if isinstance(child, LabWidget):
                child.wants_focus = True

    def _mime_(self) -> tuple[str, str]:
        kind, text = super()._mime_()
        return kind, text + (_picture(self.view) if self.is_open else "")

    def comparison(self) -> list[tuple[str, str, str, str]]:
        """Return a row for each quantity: its name, what was predicted, what came out, and both compared."""
        answer = self.prediction.answer or {}
        return [
            (name, _shown(answer[name]), _shown(outcome), _compared(answer[name], outcome))
            for name, outcome in self.outcomes.items()
        ]

    def _table(self) -> str:
        rows = self.comparison()
        head = "".join(f'<th scope="col" style="{_CELL}">{w}</th>' for w in ("", "you predicted", "it is", ""))
        body = "".join(
            f'<tr><th scope="row" style="{_CELL}">{escape(row[0])}</th>'
            + "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in row[1:])
            + "</tr>"
            for row in rows
        )
        table = f'<table style="border-collapse: collapse; font-size: 14px"><tr>{head}</tr>{body}</table>'
        return f'<div role="status">{table}</div>'

    def account(self) -> str:
        """Return that it is closed, or the comparison."""
        if not self.is_open:
            return LOCKED
        lines = [f"{name or 'answer'}: predicted {said}, it is {is_}: {word}" for name, said, is_, word in
                 self.comparison()]  # fmt: skip
        return "\n".join(lines) or "Open."


_CELL = "text-align: left; padding: 2px 16px 2px 0; font-variant-numeric: tabular-nums"


def _shown(value: Answer) -> str:
    return value if isinstance(value, str) else short(value, 6, minus="−")


def _compared(answer: Answer, outcome: Answer) -> str:
    if isinstance(answer, str) or isinstance(outcome, str):
        return "as predicted" if answer == outcome else "not as predicted"
    if same(answer, outcome, 1e-3):
        return "as predicted"
    return f"{short(abs(answer - outcome), 4)} {'too much' if answer > outcome else 'too little'}"


def _widget(view: Any) -> Any:
    """Return a view as a widget: recordings and compiled functions become explorers, explanations become text."""
    if view is None or isinstance(view, ipywidgets.Widget):
        return view
    if isinstance(view, Picture):
        return ipywidgets.HTML(view.svg)
    from autodiff_lab.compile import Function
    from autodiff_lab.exploring.program import explorer
    from autodiff_lab.recording import Recording
    from autodiff_lab.widgets.explorer import Explorer

    if isinstance(view, Recording):
        return Explorer(view)
    if isinstance(view, Function):
        return explorer(view)
    if isinstance(view, (Explanation, Ledger)):
        return ipywidgets.HTML(_picture(view))
    raise InvalidArgumentError(
        "unlock shows a recording, its explanation or ledger, a compiled function, a picture or a widget, but this is "
        f"a {type(view).__name__}."
    )


def _picture(view: Any) -> str:
    """Return a view as SVG or as its text; an empty string if it has no static form."""
    if isinstance(view, (Explanation, Ledger)):
        style = "line-height: 1.4; white-space: pre-wrap; word-break: normal"
        return f'<pre style="{style}">{escape(str(view))}</pre>'
    if isinstance(view, Picture):
        return view.svg
    from autodiff_lab.widgets.base import LabWidget

    widget = _widget(view)
    return (widget.picture() or "") if isinstance(widget, LabWidget) else ""


def predict(question: str, names: Sequence[str] = ("",), *, choices: Sequence[str] = ()) -> Prediction:
    """Ask for a prediction.

    Parameters
    ----------
    question : str
        Plain text.
    names : sequence of str
        The quantities that are asked for, a number each; by default a single number without a name.
    choices : sequence of str
        Instead of numbers, answers to choose from.

    Returns
    -------
    Prediction
        A widget; ``.unlock(recording, outcome=...)`` is what it opens.

    Raises
    ------
    InvalidArgumentError
        If choices and several names are given.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> guess = lessons.predict("What is 2 + 2?")
    >>> guess.unlock(outcome=4)
    Closed until you commit a prediction above.
    >>> guess.commit(5).unlock(outcome=4)
    answer: predicted 5, it is 4: 1 too much
    """
    if choices and tuple(names) != ("",):
        raise InvalidArgumentError("A question with choices has one answer; give names or choices.")
    return Prediction(question, names, choices)
