"""What opens after a commit: the prediction beside the outcome, and below them a picture or what a function prints.

`autodiff_lab.lessons.prediction` makes the questions; everything here waits for one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.explain.ledger import Ledger
from autodiff_lab.explain.model import Explanation
from autodiff_lab.lessons.attempt import same
from autodiff_lab.lessons.forms import DRAWS, Shown, carrying, is_widget
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.recording.numbers import short
from autodiff_lab.testing import GradientCheck

if TYPE_CHECKING:
    from autodiff_lab.lessons.prediction import Prediction

Answer = float | str

LOCKED = "Closed until you commit a prediction above."
AGREED = "as predicted"


class Unlocked(Shown):
    """What a prediction opens: the comparison, and a view below it.  Made by `Prediction.unlock`.

    An outcome or a view that is a function is called when the prediction is committed, and not before.
    """

    def __init__(self, prediction: Prediction, view: Any, outcome: Any = None, call: bool = False) -> None:
        self.prediction, self.printed = prediction, ""
        self.view: Any = view
        self.outcomes: dict[str, Answer] = {}
        self._call = call
        self._made: Any = None
        self._outcome: Any = outcome
        if outcome is not None and not callable(outcome):
            self.outcomes = prediction.outcomes_of(outcome)
        super().__init__(f'<div role="status" class="locked">{LOCKED}</div>')

    @property
    def is_open(self) -> bool:
        """Whether a prediction has been committed."""
        return self.prediction.answer is not None

    def reveal(self) -> None:
        """Show the comparison and the view."""
        with carrying():
            self.fill(*self._opened())

    def _opened(self) -> Iterator[Any]:
        outcome: Any = self._outcome
        if callable(outcome):
            self._outcome = None
            self.outcomes = self.prediction.outcomes_of(outcome())
        if self._call:
            self._run()
        if self.outcomes:
            yield self._table()
        if self.printed:
            yield _text(self.printed)
        if self.view is not None:
            yield _part(self.view) if self._made is None else self._made

    def _run(self) -> None:
        """Call the view, and keep what it prints; a value that is not a picture is shown as text."""
        printed = StringIO()
        with redirect_stdout(printed):
            value = self.view()
        self._call = False
        self.view = None
        text = printed.getvalue().rstrip()
        if hasattr(value, "savefig"):
            value = _figure(value)
        if value is not None:
            try:
                self._made, self.view = _part(value), value
            except InvalidArgumentError:
                text = f"{text}\n{value!r}".strip()
        self.printed = text

    def take_focus(self) -> None:
        """Give the keyboard to the picture, once it is shown; where there is none, nothing happens."""
        if not DRAWS:
            return
        from autodiff_lab.widgets.base import LabWidget

        for child in self.children:
            if isinstance(child, LabWidget):
                child.wants_focus = True

    def picture(self) -> str | None:
        """Return the picture of what was opened, for places where no script runs."""
        from autodiff_lab.widgets.base import LabWidget

        return next((child.picture() for child in self.children if isinstance(child, LabWidget)), None)

    def comparison(self) -> list[tuple[str, str, str, str]]:
        """Return a row for each quantity: its name, what was predicted, what came out, and both compared."""
        answer = self.prediction.answer or {}
        return [
            (name, shown(answer[name]), shown(outcome), self.prediction.judged(name, answer[name], outcome))
            for name, outcome in self.outcomes.items()
        ]

    def _table(self) -> str:
        rows = self.comparison()
        head = "".join(f'<th scope="col">{word}</th>' for word in ("", "you predicted", "it is", ""))
        body = "".join(
            f'<tr><th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in rows
        )
        return f'<div role="status"><table><tr>{head}</tr>{body}</table></div>'

    def account(self) -> str:
        """Return that it is closed, or the comparison."""
        if not self.is_open:
            return LOCKED
        lines = [f"{name or 'answer'}: predicted {said}, it is {is_}: {word}" for name, said, is_, word in
                 self.comparison()]  # fmt: skip
        words = "" if DRAWS or self.view is None else in_words(self.view)
        return "\n".join([*lines, *self.printed.splitlines(), *words.splitlines()]) or "Open."


def shown(value: Answer) -> str:
    """Return an answer as people write it.

    >>> shown(-2.5), shown("twice")
    ('−2.5', 'twice')
    """
    return value if isinstance(value, str) else short(value, 6, minus="−")


def compared(answer: Answer, outcome: Answer) -> str:
    """Return whether an answer agrees with the outcome, or by how much it does not.

    >>> compared(9.0, 6.0), compared("a", "a")
    ('3 too much', 'as predicted')
    """
    if isinstance(answer, str) or isinstance(outcome, str):
        return AGREED if answer == outcome else "not as predicted"
    if same(answer, outcome, 1e-3):
        return AGREED
    return f"{short(abs(answer - outcome), 4)} {'too much' if answer > outcome else 'too little'}"


def _part(view: Any) -> Any:
    """Return a view as a widget or as markup: recordings and compiled functions become explorers."""
    if is_widget(view):
        return view
    if isinstance(view, Picture):
        return view.svg
    from autodiff_lab.compile import Function
    from autodiff_lab.recording import Recording

    if isinstance(view, (Explanation, Ledger)) or (
        not DRAWS and isinstance(view, (Recording, Function, GradientCheck))
    ):
        return _text(in_words(view))
    if isinstance(view, GradientCheck):
        return view._repr_mimebundle_()["text/html"]
    if isinstance(view, Recording):
        from autodiff_lab.widgets.explorer import Explorer

        return Explorer(view)
    if isinstance(view, Function):
        from autodiff_lab.exploring.program import explorer

        return explorer(view)
    raise InvalidArgumentError(
        "unlock shows a recording, its explanation or ledger, the check of a gradient, a compiled function, a picture "
        f"or a widget, but this is a {type(view).__name__}."
    )


def in_words(view: Any) -> str:
    """Return what a view shows, as text; of a recording, its printed form.

    >>> in_words(Picture("a line", "<svg/>"))
    'a line'
    """
    from autodiff_lab.recording import Recording

    return view.to_text() if isinstance(view, Recording) else str(view)


def _figure(figure: Any) -> Picture:
    """Return a figure of matplotlib as a picture."""
    drawn = StringIO()
    figure.savefig(drawn, format="svg")
    text = drawn.getvalue()
    return Picture("A figure.", text[text.index("<svg") :])


def _text(words: str) -> str:
    style = "line-height: 1.4; white-space: pre-wrap; word-break: normal"
    return f'<pre style="{style}">{escape(words)}</pre>'
