"""Formulas: the LaTeX of an op to MathML, so that a page can show them without script or network.

Recordings carry the LaTeX of their ops (``{0}``, ``{1}`` stand for the inputs); the names of the inputs are the user's
text and never become LaTeX or markup: the formula is converted with marks in their place, cleaned to a short list of
elements, and filled afterwards.  The front end fills the same marks itself, so one formula serves every use of an op.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from string import Formatter
from xml.etree import ElementTree

FIRST_MARK = 0xE000
"""Character that stands for input 0 in a converted formula; those after it stand for the inputs after it."""
MOST_INPUTS = 32
_LONGEST = 2_000
_SPACE = "http://www.w3.org/1998/Math/MathML"
_INPUT = re.compile(r"\{([0-9]{1,2})\}")
_ELEMENTS = frozenset(
    ["math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover",
     "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded"]
)  # fmt: skip
_ATTRIBUTES = frozenset(
    ["display", "mathvariant", "stretchy", "fence", "form", "width", "lspace", "rspace", "accent", "columnalign",
     "separator", "linethickness"]
)  # fmt: skip


@lru_cache(maxsize=2048)
def template(latex: str, inputs: int = MOST_INPUTS) -> str:
    """Return LaTeX as MathML, with marks (see `FIRST_MARK`) where the inputs belong.

    Parameters
    ----------
    latex : str
        With ``{0}``, ``{1}``, ... for the inputs.
    inputs : int
        How many there are: in the formula of a unary op, ``{2}`` is an exponent.

    Returns
    -------
    str
        A ``<math>`` element; readable plain text, which does not start with ``<``, where the formula cannot be
        converted or latex2mathml is not installed.

    Examples
    --------
    >>> template("").startswith("<")
    False
    """
    if not latex or len(latex) > _LONGEST:
        return plain(latex[:_LONGEST], inputs)
    try:
        from latex2mathml.converter import convert

        return _cleaned(ElementTree.fromstring(convert(_marked(latex, inputs, "{\\text{%s}}"))))
    except Exception:  # noqa: BLE001 - a formula is optional: whatever is wrong with it, the text remains
        return plain(latex, inputs)


def _marked(latex: str, inputs: int, frame: str) -> str:
    r"""Put a framed mark where each input belongs, and one brace where two stand: ``\frac{{1}}{{{1}}}`` is 1 over b.

    LaTeX that another program wrote with single braces is accepted with only the inputs marked.
    """

    def mark(position: int) -> str:
        return frame % chr(FIRST_MARK + position) if position < min(inputs, MOST_INPUTS) else f"{{{position}}}"

    try:
        parts = [(text, name) for text, name, _, _ in Formatter().parse(latex)]
        return "".join(text + ("" if name is None else mark(_position(name))) for text, name in parts)
    except ValueError:
        return _INPUT.sub(lambda found: mark(int(found[1])), latex)


def _position(name: str) -> int:
    if _INPUT.fullmatch(f"{{{name}}}") is None:
        raise ValueError(name)
    return int(name)


def _cleaned(element: ElementTree.Element) -> str:
    """Rebuild an element with only the elements and attributes of the two lists."""
    name = element.tag.rpartition("}")[2]
    if name == "mover" and len(element) == 2 and element[1].text in _BARS:
        # Few fonts stretch a bar, so the style sheet draws it over the whole.
        return f'<mrow class="overline">{_cleaned(element[0])}</mrow>'
    inside = escape(element.text or "", quote=False)
    after = iter(element[1:])
    for child in element:
        inside += _cleaned(child) + escape(child.tail or "", quote=False)
        follows = next(after, None)
        if name not in ("math", "mrow") or follows is None:
            continue
        if _is_function(child) or (_is_input(child, last=True) and _is_input(follows, last=False)):
            inside += _THIN_SPACE  # two names would run together: hiddenW2
    if name not in _ELEMENTS:
        return inside
    if name == "mtext" and len(inside) == 1 and ord(inside) >= FIRST_MARK:
        name = "mi"  # an input is set like a variable: a single letter is slanted
    kept = {key: value for key, value in element.attrib.items() if key in _ATTRIBUTES}
    if name == "math":
        kept = {"xmlns": _SPACE, **kept}
    written = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
    return f"<{name}{written}>{inside}</{name}>"


_BARS = frozenset("\u00af\u2015\u203e")
_THIN_SPACE = '<mspace width="0.167em"></mspace>'


def _is_input(element: ElementTree.Element, last: bool) -> bool:
    """Return whether an element begins with an input, or ends with one; powers and indices are not its end."""
    while len(element):
        element = element[-1 if last and element.tag.endswith("mrow") else 0]
    return len(element.text or "") == 1 and ord(element.text or "") >= FIRST_MARK


def _is_function(element: ElementTree.Element) -> bool:
    """Return whether an element is a name such as cos, or a power of one, which a space separates from what follows."""
    name = element.tag.rpartition("}")[2]
    if name in ("msup", "msub") and len(element):
        return _is_function(element[0])
    return name in ("mi", "mo") and len(element.text or "") > 1 and (element.text or "").isalpha()


_WORDS = {
    r"\cdot": "·", r"\times": "×", r"\odot": "⊙", r"\top": "ᵀ", r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\sum": "Σ",
    r"\pi": "π", r"\sigma": "σ", r"\partial": "∂", r"\infty": "∞", r"\pm": "±", r"\quad": " ", r"\,": " ", r"\;": " ",
    r"\left": "", r"\right": "",
}  # fmt: skip


@lru_cache(maxsize=2048)
def plain(latex: str, inputs: int = MOST_INPUTS) -> str:
    r"""Return LaTeX as readable text with the same marks, for places without MathML.

    Examples
    --------
    >>> fill(plain(r"\cos {0}"), ["x"]), fill(plain(r"{0} \cdot {1}"), ["x", "y"])
    ('cos x', 'x · y')
    >>> fill(plain(r"\frac{1}{\sqrt{{0}}}", 1), ["x"])
    '(1)/(√(x))'
    """
    text = _marked(latex, inputs, "%s")
    text = re.sub(r"\\(?:operatorname|mathrm|mathbf|mathit|text|mathop)\*?\{([^{}]*)\}", r"\1", text)
    before = ""
    while before != text:  # from the innermost braces outwards
        before = text
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"√(\1)", text)
        text = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", text)
    for word in sorted(_WORDS, key=len, reverse=True):
        text = text.replace(word, _WORDS[word])
    text = re.sub(r"\\([A-Za-z]+)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("{", "").replace("}", "").replace("\\", "")).strip().lstrip("<")


def fill(text: str, names: Sequence[str]) -> str:
    """Put names where the marks are, in plain text.

    Examples
    --------
    >>> fill(plain("{0} + {1}"), ["x", "y"])
    'x + y'
    """
    for position, name in enumerate(names[:MOST_INPUTS]):
        text = text.replace(chr(FIRST_MARK + position), name)
    return text


def mathml(latex: str, names: Sequence[str]) -> str:
    r"""Return LaTeX as markup that may stand in a page: MathML, else escaped text.

    Parameters
    ----------
    latex : str
        With ``{0}``, ``{1}``, ... for the inputs.
    names : sequence of str
        What the inputs are called; any text, it is escaped.

    Examples
    --------
    >>> "<script" in mathml(r"\cos {0}", ["<script>"])
    False
    """
    made = template(latex, len(names))
    if made.startswith("<"):
        return fill(made, [escape(name) for name in names])
    return escape(fill(made, names))
