"""Scripts as short as they can be while they stay readable: for exported pages, a quarter less.

Comments and needless space go, and the variables that a script itself declares get short names. Properties, keys,
methods, text and names of the browser stay, so that a reader of the page still finds its words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>\d[\w.]*)"""
    r"""|(?P<name>[A-Za-z_$][\w$]*)|(?P<sign>=>|\?\.(?!\d)|\.\.\.|\+\+|--|[^\s\w])"""
)
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)+")
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset({*"(,=:[!&|?{};+-*%<>~^", "=>", "return", "typeof", "case", ""})
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """async await break case catch class const constructor continue default delete do else extends false finally
        for from function get if import in instanceof let new null of return set static super switch this throw true
        try typeof undefined var void while with yield arguments eval export""",
    )
)
_BROWSER = frozenset(
    re.findall(
        r"\w+",
        """document window navigator location history self name status event top parent length open close print focus
        blur performance Math Number String Boolean Array Object Map Set WeakMap WeakSet Symbol JSON Date RegExp Error
        Infinity NaN isNaN parseInt parseFloat Promise Element Node Event CSS""",
    )
)
"""Names of the browser that a script may use bare: a variable that is called like one keeps its name."""
_DECLARE = frozenset({"const", "let", "class", "function", "catch"})
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_BEFORE_BLOCK = frozenset({")", "=>", "else", "try", ";", "{", "}", "finally", "do", ""})


class Piece(NamedTuple):
    """A token: its text, its kind ('name', 'text', 'number' or 'sign') and whether it begins a line."""

    text: str
    kind: str
    line: bool


@lru_cache(maxsize=8)
def shorten_script(script: str) -> str:
    r"""Return a script without comments and needless space, whose variables have short names.

    Parameters
    ----------
    script : str
        A module without imports, whose statements end with semicolons.

    Examples
    --------
    >>> print(shorten_script("const first = (value, { size }) => value.size + size; // a comment\nfirst(1, window);"))
    const a=(b,{size:c})=>b.size+c;a(1,window);
    """
    pieces = list(_pieces(script))
    partners, around = _brackets(pieces)
    kinds = [_kind(pieces, k, partners, around) for k in range(len(pieces))]
    declared = {name for k in range(len(pieces)) for name in _declared(pieces, k, partners, kinds)}
    declared -= _KEYWORDS | _BROWSER
    named = Counter(p.text for p, kind in zip(pieces, kinds, strict=True) if kind in ("variable", "shorthand"))
    taken = {*named, *_KEYWORDS} - declared
    fresh = (name for name in _short_names() if name not in taken)
    short = {name: next(fresh) for name, _ in named.most_common() if name in declared}
    made = []
    for piece, kind in zip(pieces, kinds, strict=True):
        new = short.get(piece.text, piece.text) if kind in ("variable", "shorthand") else piece.text
        made.append(piece._replace(text=f"{piece.text}:{new}" if kind == "shorthand" and new != piece.text else new))
    return _joined(made)


def _short_names() -> Iterator[str]:
    yield from _LETTERS
    for first in _LETTERS:
        for second in _LETTERS + "0123456789":
            yield first + second


def _pieces(script: str) -> Iterator[Piece]:
    """Yield the tokens; a template is cut where its expressions begin and end."""
    at, last, line = 0, "", True
    depths: list[int] = []  # open braces inside each open expression of a template
    while at < len(script):
        space = _SPACE.match(script, at)
        if space:
            at, line = space.end(), line or "\n" in space[0]
            continue
        if script[at] == "`" or (script[at] == "}" and depths and not depths[-1]):
            if script[at] == "}":
                depths.pop()
            end, opens = _end_of_text(script, at + 1)
            if opens:
                depths.append(0)
            made = Piece(script[at:end], "text", line)
        else:
            found = _REGEX.match(script, at) if script[at] == "/" and last in _BEFORE_REGEX else None
            found, kind = (found, "text") if found else (_TOKEN.match(script, at), "")
            assert found is not None, script[at : at + 40]
            made = Piece(found[0], kind or found.lastgroup or "", line)
            if depths and made.text in ("{", "}"):
                depths[-1] += 1 if made.text == "{" else -1
        yield made
        at, line = at + len(made.text), False
        last = "(" if made.text.endswith("${") else made.text


def _end_of_text(script: str, at: int) -> tuple[int, bool]:
    """Return where the text of a template ends, and whether an expression follows."""
    while script[at] != "`":
        if script.startswith("${", at):
            return at + 2, True
        at += 2 if script[at] == "\\" else 1
    return at + 1, False


def _opens(piece: Piece) -> bool:
    return piece.text in _OPEN if piece.kind == "sign" else piece.kind == "text" and piece.text.endswith("${")


def _closes(piece: Piece) -> bool:
    return piece.text in _CLOSE if piece.kind == "sign" else piece.kind == "text" and piece.text[0] == "}"


def _brackets(pieces: list[Piece]) -> tuple[dict[int, int], list[int]]:
    """Return the other end of each bracket, and for each token the bracket that it stands in, -1 for none."""
    partners: dict[int, int] = {}
    around: list[int] = []
    stack: list[int] = []
    for k, piece in enumerate(pieces):
        if _closes(piece):
            partners[k] = stack.pop()
            partners[partners[k]] = k
        around.append(stack[-1] if stack else -1)
        if _opens(piece):
            stack.append(k)
    return partners, around


def _text(pieces: list[Piece], k: int) -> str:
    return pieces[k].text if 0 <= k < len(pieces) else ""


def _kind(pieces: list[Piece], k: int, partners: dict[int, int], around: list[int]) -> str:
    """Return 'variable' or 'key' for a name, 'shorthand' if it is both, and '' for everything else."""
    if pieces[k].kind != "name" or pieces[k].text in _KEYWORDS:
        return ""
    before, after = _text(pieces, k - 1), _text(pieces, k + 1)
    if before in (".", "?."):
        return "key"
    if around[k] < 0 or pieces[around[k]].text != "{":
        return "variable"
    if before in ("{", ",") and after == ":":
        return "key"
    if before in ("{", ",") and after in (",", "}", "=") and _text(pieces, around[k] - 1) not in _BEFORE_BLOCK:
        return "shorthand"
    method = after == "(" and before in ("{", "}", ";", ",", "async", "get", "set", "static")
    return "key" if method and _text(pieces, partners[k + 1] + 1) == "{" else "variable"


def _declared(pieces: list[Piece], k: int, partners: dict[int, int], kinds: list[str]) -> Iterator[str]:
    """Yield the names that a token declares: those of a variable, a function, a class, or parameters."""
    text, before = pieces[k].text, _text(pieces, k - 1)
    if (
        pieces[k].kind == "name"
        and before not in (".", "?.")
        and text in ("const", "let", "class", "function", "catch")
    ):
        yield from _bound(pieces, k + 1, partners, kinds)
        if text == "function" and _text(pieces, k + 1) != "(":
            yield from _bound(pieces, k + 2, partners, kinds)
    elif text == "=>":
        yield from _bound(pieces, partners.get(k - 1, k - 1), partners, kinds)
    elif text == "(" and (before == "constructor" or kinds[k - 1] == "key") and _text(pieces, partners[k] + 1) == "{":
        yield from _bound(pieces, k, partners, kinds)


def _bound(pieces: list[Piece], k: int, partners: dict[int, int], kinds: list[str]) -> Iterator[str]:
    """Yield the names that the pattern at a token binds; what stands in a default is none of them."""
    if k not in partners:
        if kinds[k] in ("variable", "shorthand"):
            yield pieces[k].text
        return
    at, default = k + 1, False
    while at < partners[k]:
        default = (default or pieces[at].text == "=") and pieces[at].text != ","
        if not default:
            yield from _bound(pieces, at, partners, kinds)
        at = max(partners.get(at, at), at) + 1


def _joined(pieces: list[Piece]) -> str:
    """Put tokens together, with a space only where two would become one; most lines stay."""
    made: list[str] = []
    last = ""
    for piece in pieces:
        if piece.line and last and last[-1] not in "{;,(":
            made.append("\n")
        elif last and _would_join(last, piece.text):
            made.append(" ")
        made.append(piece.text)
        last = piece.text
    return "".join([*made, "\n"])


def _would_join(last: str, text: str) -> bool:
    words = (last[-1].isalnum() or last[-1] in "_$") and (text[0].isalnum() or text[0] in "_$")
    return words or (text[0] in "+-/" and last[-1] == text[0])
