r"""Regular expressions in the syntax of RE2, which TensorFlow uses, by Python's `re`.

This module handles the differences: strings are UTF-8 and `.` is a character, but ``\w``, ``\d`` and ``\s`` are ASCII;
``$`` is the very end; ``[[:alpha:]]`` is a class; and in a rewrite ``\0`` is the whole match and ``\1`` a group.
"""

from __future__ import annotations

import re
from functools import lru_cache

from autodiff_lab.errors import InvalidArgumentError

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\$", re.DOTALL)
_BARE = re.compile(r"\\.|\[", re.DOTALL)
_NAMED = re.compile(r"\[:(\w+):\]")


def decoded(text: bytes) -> str:
    """Decode bytes to text, keeping those that are not UTF-8 as surrogates."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Encode text to bytes, the inverse of `decoded`."""
    return text.encode("utf-8", "surrogateescape")


def _escaped(found: re.Match[str]) -> str:
    """Escape an opening bracket inside a class, which Python would read as the start of a nested set."""
    return r"\[" if found[0] == "[" else found[0]


@lru_cache(maxsize=256)
def compiled(pattern: str, what: str) -> re.Pattern[str]:
    """Compile an RE2 pattern with Python's `re`.

    Raises
    ------
    InvalidArgumentError
        If it is not a valid regular expression.
    """
    lines = re.match(r"\(\?[a-z]*m", pattern) is not None

    def piece(found: re.Match[str]) -> str:
        part = found[0]
        if part == "$":
            return part if lines else r"\Z"
        if part == r"\z":
            return r"\Z"
        if part.startswith("["):
            inside = _NAMED.sub(lambda name: _CLASSES.get(name[1], name[0]), part[1:-1])
            return f"[{_BARE.sub(_escaped, inside)}]"
        return part

    try:
        return re.compile(_PIECES.sub(piece, pattern), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"{what}: {pattern!r} is not a valid regular expression: {error}.") from None


def rewrite_parts(rewrite: str, groups: int, what: str) -> list[str | int]:
    r"""Split a rewrite into its pieces: text, and numbers of groups.

    Raises
    ------
    InvalidArgumentError
        If a backslash is followed by anything but a digit or a backslash, or the pattern has no such group.

    Examples
    --------
    >>> rewrite_parts(r"<\0>", 0, "f")
    ['<', 0, '>']
    """
    parts: list[str | int] = []
    for piece in re.findall(r"\\.?|[^\\]+", rewrite, re.DOTALL):
        if not piece.startswith("\\"):
            parts.append(piece)
        elif piece == "\\\\":
            parts.append("\\")
        elif piece[1:].isdecimal() and piece.isascii():
            if int(piece[1]) > groups:
                raise InvalidArgumentError(
                    f"{what}: the rewrite {rewrite!r} refers to group {piece[1]}, but the pattern has {groups}."
                )
            parts.append(int(piece[1]))
        else:
            raise InvalidArgumentError(
                f"{what}: expected a digit or a backslash after each backslash of the rewrite, got {rewrite!r}. "
                r"Try '\\'."
            )
    return parts


def replaced(text: bytes, pattern: str, rewrite: str, everywhere: bool) -> bytes:
    r"""Rewrite the first match, or every match, in a text.

    Examples
    --------
    >>> replaced(b"aba", "a", r"[\0]", True)
    b'[a]b[a]'
    """
    expression = compiled(pattern, "regex_replace")
    parts = rewrite_parts(rewrite, expression.groups, "regex_replace")
    whole, made, at = decoded(text), [], 0
    last = -1  # where the previous match ended: an empty match there does not count
    for match in expression.finditer(whole):
        if match.start() == match.end() == last:
            continue
        made += [whole[at : match.start()], *(p if isinstance(p, str) else match[p] or "" for p in parts)]
        at = last = match.end()
        if not everywhere:
            break
    return encoded("".join([*made, whole[at:]]))


def matches(text: bytes, pattern: str) -> bool:
    """Return whether a pattern matches an entire text."""
    return compiled(pattern, "regex_full_match").fullmatch(decoded(text)) is not None
