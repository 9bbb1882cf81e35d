"""What a field of the wire form may hold, checked one by one, with the path of the field in every error.

A `Field` is a value together with its location in the file; its methods return the value as the requested kind or raise
`RecordingError` with a message such as ``tensors[3].shape[1]: expected an integer of at least 0, found "a"``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from autodiff_lab.errors import RecordingError

FORMAT = "autodiff_lab recording"
VERSION = 1
LARGEST_ID = 2**53
"""Beyond it, other languages lose digits of integers."""
DEEPEST = 50
"""How deeply lists and objects may nest in parameters."""
NUMBER = "$"
"""The one key of an object that stands for a number that JSON does not have: among parameters "nan" is a text."""
_MISSING: Any = object()
_TURNING = re.compile(
    "[\N{LEFT-TO-RIGHT EMBEDDING}-\N{RIGHT-TO-LEFT OVERRIDE}\N{LEFT-TO-RIGHT ISOLATE}-\N{POP DIRECTIONAL ISOLATE}]"
)
WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Field:
    """A value and its path."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str) -> None:
        self.value, self.path = value, path

    def wrong(self, expected: str) -> RecordingError:
        """Return the error for a value that is not what was expected."""
        return RecordingError(f"{self.path or 'the file'}: expected {expected}, found {_excerpt(self.value)}.")

    def get(self, key: str, default: Any = _MISSING) -> Field:
        """Return a member of an object."""
        if type(self.value) is not dict:
            raise self.wrong("an object")
        path = f"{self.path}.{key}" if self.path else key
        if key not in self.value and default is _MISSING:
            raise RecordingError(f"{path} is missing.")
        return Field(self.value.get(key, default), path)

    def items(self, least: int = 0, most: int | None = None) -> list[Field]:
        """Return the elements of a list."""
        if type(self.value) is not list:
            raise self.wrong("a list")
        if len(self.value) < least or (most is not None and len(self.value) > most):
            raise self.wrong(
                f"a list of {least} to {most} elements"
                if most is not None and most != least
                else f"a list of {least} elements"
            )
        return [Field(item, f"{self.path}[{i}]") for i, item in enumerate(self.value)]

    def members(self) -> Iterator[tuple[Field, Field]]:
        """Return the keys and values of an object."""
        if type(self.value) is not dict:
            raise self.wrong("an object")
        for key, value in self.value.items():
            path = f"{self.path}[{json.dumps(clean(key))}]"
            yield Field(key, path), Field(value, path)

    def integer(self, least: int = 0, most: int = LARGEST_ID) -> int:
        """Return an integer; True and 1.0 do not count."""
        if type(self.value) is not int or not least <= self.value <= most:
            bounds = f"of at least {least}" if most == LARGEST_ID else f"from {least} to {most}"
            raise self.wrong(f"an integer {bounds}")
        return self.value

    def maybe_integer(self, least: int = 0, most: int = LARGEST_ID) -> int | None:
        """Return an integer or None."""
        return None if self.value is None else self.integer(least, most)

    def text(self) -> str:
        """Return a text; lone surrogates are replaced."""
        if type(self.value) is not str:
            raise self.wrong("a text")
        return clean(self.value)

    def maybe_text(self) -> str | None:
        """Return a text or None."""
        return None if self.value is None else self.text()

    def boolean(self) -> bool:
        """Return a boolean."""
        if type(self.value) is not bool:
            raise self.wrong("true or false")
        return self.value

    def number(self) -> float:
        """Return a number; it may be given as one of the words nan, inf and -inf."""
        value = WORDS.get(self.value, self.value) if type(self.value) is str else self.value
        if type(value) not in (int, float):
            raise self.wrong('a number, "nan", "inf" or "-inf"')
        try:
            return float(value)
        except OverflowError:
            raise self.wrong("a number that a double can hold") from None

    # A `Field` for each element would take far more memory than the file, so those of the right type need none.

    def numbers(self) -> list[float]:
        """Return the elements of a list as numbers."""
        return [x if type(x) is float else Field(x, f"{self.path}[{i}]").number() for i, x in enumerate(self.value)]

    def integers(self, least: int, most: int) -> list[int]:
        """Return the elements of a list as integers."""
        for i, x in enumerate(self.value):
            if type(x) is not int or not least <= x <= most:
                Field(x, f"{self.path}[{i}]").integer(least, most)
        return self.value

    def booleans(self) -> list[bool]:
        """Return the elements of a list as booleans."""
        for i, x in enumerate(self.value):
            if type(x) is not bool:
                Field(x, f"{self.path}[{i}]").boolean()
        return self.value

    def data(self, depth: int = DEEPEST) -> Any:
        """Return any plain data, lists as tuples, ``{"$": "nan"}`` as the number; data nested too deeply is refused."""
        value = self.value
        if depth == 0:
            raise self.wrong(f"data nested at most {DEEPEST} deep")
        if type(value) is dict and value.keys() == {NUMBER}:
            return self.get(NUMBER).number()
        if type(value) is dict:
            return {_own_key(key.text()): member.data(depth - 1) for key, member in self.members()}
        if type(value) is list:
            return tuple([item.data(depth - 1) for item in self.items()])
        return self.text() if type(value) is str else value


def _own_key(key: str) -> str:
    """Return the key of a user's object; a key that begins with the mark of a number has a second mark in the file."""
    return key.removeprefix(NUMBER) if key.startswith(2 * NUMBER) else key


def clean(text: str) -> str:
    r"""Return a text without lone surrogates, which UTF-8 cannot hold, and without what turns other text around.

    Letters that are written from right to left stay.

    Examples
    --------
    >>> clean("a\ud800b"), clean("a\u202eb")
    ('a?b', 'a�b')
    """
    if text.isascii():
        return text
    return _TURNING.sub("\N{REPLACEMENT CHARACTER}", text.encode("utf-8", "replace").decode("utf-8"))


def _excerpt(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"an object with {len(value)} members"
    if isinstance(value, list):
        return f"a list of {len(value)} elements"
    if isinstance(value, int) and abs(value) > LARGEST_ID:
        return "a number with too many digits"
    shown = json.dumps(clean(value) if isinstance(value, str) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
