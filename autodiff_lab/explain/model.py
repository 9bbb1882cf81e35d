"""Explanation: one named cause, in words, with the user's line and a suggestion.

`recording.explain` and `tape.explain` return one; it prints as a short text, and displays as Markdown in a notebook.
"""

from __future__ import annotations

from dataclasses import dataclass

from autodiff_lab.events import Place

CAUSES = {
    "not_watched": "the tape did not watch the source",
    "watched_too_late": "the source was watched after it had been used",
    "not_trainable": "the variable is not trainable, so the tape did not watch it",
    "watching_off": "the tape does not watch variables automatically",
    "left_engine": "the value left the engine and came back as a constant",
    "overwritten": "a tensor was overwritten by a plain array",
    "replaced": "a variable was replaced by a tensor",
    "integer": "there is an integer or a boolean on the path",
    "state_read": "the value went through the state of a variable",
    "stop_gradient": "stop_gradient is on the path",
    "not_differentiable": "an op on the path has no derivative",
    "outside_tape": "an op on the path ran outside the tape's block",
    "target_before_tape": "the target was computed before the tape's block began",
    "recording_stopped": "an op on the path ran inside stop_recording",
    "tape_reset": "the tape was reset after an op on the path had run",
    "inner_gradient_outside": "the inner gradient was taken outside the outer tape's block",
    "rule_gave_none": "the rule of an op returned no gradient for this input",
    "read_outside_tape": "the ops used a read of the variable that was made outside the tape's block",
    "control_flow": "the source only decided which branch ran",
    "only_read": "a function only read the value, as a setting or a condition",
    "random_draw": "the source was the parameter of a random draw without a derivative",
    "no_path": "the target does not depend on the source",
    "no_tape": "no tape recorded the program",
    "not_recorded": "nothing recorded the program, so the exact line is unknown",
    "zero": "a path exists and its value is zero",
    "not_finite": "a path exists and its value is not finite",
    "connected": "a path exists",
}
"""Every cause code, in words."""
SHORT = {
    "not_watched": "not watched",
    "watched_too_late": "watched too late",
    "not_trainable": "not trainable",
    "watching_off": "automatic watching is off",
    "left_engine": "left the engine",
    "overwritten": "overwritten by a plain array",
    "replaced": "a variable was replaced by a tensor",
    "integer": "integers on the path",
    "state_read": "went through the state of a variable",
    "stop_gradient": "stop_gradient",
    "not_differentiable": "{op} has no derivative",
    "outside_tape": "{op} ran outside the tape",
    "target_before_tape": "the target was computed before the tape",
    "recording_stopped": "{op} ran inside stop_recording",
    "inner_gradient_outside": "inner gradient taken outside the outer tape",
    "rule_gave_none": "the rule of {op} returned None",
    "control_flow": "only decided a branch",
    "only_read": "only read, as a setting or a condition",
    "random_draw": "only a parameter of a random draw",
    "zero": "zero at {op}",
}
"""The causes in a few words."""


@dataclass(frozen=True)
class Explanation:
    """Why a gradient is what it is.

    Attributes
    ----------
    cause : str
        A key of `CAUSES`.
    result : str
        ``"None"``, ``"zero"`` or ``"a number"``: a missing path and a path of value zero are never confused.
    title : str
        The question and the answer: ``"The gradient of y with respect to x is None."``
    what : str
        One sentence on the cause.
    op : str or None
        The op where the path is cut.
    place : Place or None
        File and line of the user's program.
    where : str
        The same in words, with the source line.
    fix : str
        What to try.
    also : tuple of str
        Further cuts on the same path, nearest to the source first.
    code : tuple of str
        Lines of a safe program, where there are some.
    cut : tuple of int and int or None, optional
        Where the path is cut: the id of the value that no gradient comes back to, and the index of the op that took it,
        None where it left by other ways than an op.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = lab.stop_gradient(x) * 2.0
    >>> recording.explain("y", "x").cause
    'stop_gradient'
    """

    cause: str
    result: str
    title: str
    what: str
    op: str | None = None
    place: Place | None = None
    where: str = ""
    fix: str = ""
    also: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    cut: tuple[int, int | None] | None = None

    @property
    def short(self) -> str:
        """Return the cause in a few words, without its line: ``"stop_gradient"``."""
        return SHORT.get(self.cause, CAUSES[self.cause]).format(op=self.op or "an op")

    def __str__(self) -> str:
        where = ", ".join(filter(None, [self.op, self.where]))
        rows = [("why", self.what), ("where", where), ("try", self.fix), *(("also", line) for line in self.also)]
        lines = [f"  {label:<6}{words}" for label, words in rows if words]
        return "\n".join([self.title, *lines, *(f"          {line}" for line in self.code)])

    def _repr_markdown_(self) -> str:
        rows = [("Why", escaped(self.what)), ("Where", _code(self.where)), ("Try", escaped(self.fix))]
        rows += [("Also", escaped(line)) for line in self.also]
        lines = [f"- {label}: {words}" for label, words in rows if words]
        code = ["", "```python", *self.code, "```"] if self.code else []
        return "\n".join([f"**{escaped(self.title)}**", "", *lines, *code])


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is: names such as ``w_1`` and ``<b>`` come from the user."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~$" else c for c in text)


def _code(where: str) -> str:
    """Return the place in words and the source line as code."""
    place, found, line = where.partition(": ")
    fence = "`" * (1 + max((len(run) for run in _runs(line)), default=0))
    return f"{escaped(place)}{f': {fence} {line} {fence}' if found else ''}"


def _runs(line: str) -> list[str]:
    """Return the lengths of the runs of backticks in a line."""
    return [part for part in "".join(c if c == "`" else " " for c in line).split() if part]
