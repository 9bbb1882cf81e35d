"""Which ops a recording keeps: by op, by scope, by the name of the result.

What is left out still runs.  Its results are leaves of the recording where a kept op uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from autodiff_lab.errors import InvalidArgumentError, NotInRecording

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording

LEFT_OUT = "left out"
"""Kind of the note that says how many ops were left out."""


class Choice:
    """Patterns that say which ops are kept.

    Parameters
    ----------
    only, skip : str or sequence of str
        Each is the name of an op, a scope, or the name of a result, in which ``*`` and ``?`` are wild. A scope stands
        for everything inside it. An op is kept if a pattern of `only` fits, or there is none, and no pattern of `skip`
        does. A result has the name that a recording of all ops shows (from ``name=``, or from the assignment at its
        line, also inside functions) and those of the variables that hold it when the block ends.

    Raises
    ------
    InvalidArgumentError
        If a pattern is not a text, or is empty.

    Examples
    --------
    >>> choice = Choice(only="encoder", skip=["cast"])
    >>> choice.keeps("matmul", "model/encoder/layer1"), choice.keeps("cast", "encoder"), choice.keeps("exp", "")
    (True, False, False)
    >>> choice.skips("cast", ""), choice.skips("exp", "")
    (True, False)
    """

    def __init__(self, only: str | Sequence[str] = (), skip: str | Sequence[str] = ()) -> None:
        self.only, self.skip = _patterns("only", only), _patterns("skip", skip)
        self.skips = cache(self._skips)

    def __bool__(self) -> bool:
        return bool(self.only or self.skip)

    def _skips(self, op: str, scope: str) -> bool:
        """Return whether an op is left out whatever its results are called: known while the program runs."""
        return _fits(self.skip, op, scope, ())

    def keeps(self, op: str, scope: str, names: Iterable[str] = ()) -> bool:
        """Return whether an op is kept whose results have these names."""
        names = tuple(names)
        return (not self.only or _fits(self.only, op, scope, names)) and not _fits(self.skip, op, scope, names)


def _patterns(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, (list, tuple, set)) else None
    if patterns is None or not all(isinstance(each, str) and each for each in patterns):
        raise InvalidArgumentError(
            f"record: {argument} takes names of ops, scopes or results, got {given!r}. Try {argument}='matmul'."
        )
    return patterns


def _fits(patterns: tuple[str, ...], op: str, scope: str, names: tuple[str, ...]) -> bool:
    parts = scope.split("/") if scope else []
    scopes = ["/".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)]
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in (op, *scopes, *names))


def left_out(recording: Recording) -> str:
    """Return how many ops a recording left out, in words, or an empty text."""
    return next((note.detail for note in recording.notes if note.kind == LEFT_OUT), "")


def demand_all(recording: Recording, what: str) -> None:
    """Refuse to follow paths through a recording that lacks some of them.

    Raises
    ------
    NotInRecording
        If ops were left out.
    """
    if left_out(recording):
        raise NotInRecording(
            f"{what} follows every path, and this recording left out {left_out(recording)}. Try lab.record() without "
            "only= and skip=."
        )
