"""Scripts and style sheets of the widgets as text, for notebooks and for exported pages alike.

A widget's script is a few small ES modules, so that each can be read, typed and tested alone.  There is no bundler:
`module_text` follows their ``import … from "./name.js"`` lines and writes them one after the other as one module, which
is what a notebook front end and a page without a server can load.  Top-level names must therefore differ between
modules; a test lets node check the result.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from autodiff_lab.draw.theme import css_variables

WIDGETS = Path(__file__).parent.parent / "widgets"
_IMPORT = re.compile(r'^import (?:\{[^}]*\}|\w+) from "(\.[^"]+)";\n', re.MULTILINE)
_TABLES = re.compile(r'^import \{\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_TYPE = re.compile(r"/\*\* @[^*]*\*/ ?")
_AROUND = re.compile(r"\s*([{};])\s*|(?<=[:,])[ ]+")
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


@lru_cache
def module_text(start: Path, families: frozenset[str] | None = None) -> str:
    """Return a script and everything that it imports as the text of one ES module.

    Parameters
    ----------
    start : pathlib.Path
        The script with the ``export default``.
    families : frozenset of str, optional
        Names of the files to take along of those that only fill a table (``import {} from "./name.js"``); by default
        all of them.

    Raises
    ------
    FileNotFoundError
        If it, or a module that it imports, is not there.

    Examples
    --------
    >>> "export default" in module_text(WIDGETS / "explorer" / "widget.js")
    True
    """
    parts: list[str] = []
    _collect(start.resolve(), parts, {}, families)
    return "\n".join(parts)


@lru_cache
def sheets(folder: Path) -> tuple[Path, ...]:
    """Return the style sheets of a widget: those of the folders that its script imports from, then its own.

    Parameters
    ----------
    folder : pathlib.Path
        Holds ``widget.js`` and style sheets.

    Examples
    --------
    >>> [path.name for path in sheets(WIDGETS / "jacobian_map")]
    ['plot.css', 'widget.css']
    """
    seen: dict[Path, None] = {}
    _collect((folder / "widget.js").resolve(), [], seen)
    folders = dict.fromkeys(path.parent for path in seen if path.parent not in (folder.resolve(), WIDGETS.resolve()))
    return tuple(sheet for place in (*folders, folder) for sheet in sorted(place.glob("*.css")))


def _collect(path: Path, parts: list[str], seen: dict[Path, None], families: frozenset[str] | None = None) -> None:
    if path in seen:
        return
    seen[path] = None
    text = path.read_text(encoding="utf-8")
    left_out = (
        set() if families is None else {name for name in _TABLES.findall(text) if Path(name).name not in families}
    )
    for name in _IMPORT.findall(text):
        if name not in left_out:
            _collect((path.parent / name).resolve(), parts, seen, families)
    parts.append(_EXPORT.sub("", _IMPORT.sub("", text)))


@lru_cache
def style_text(*paths: Path, hosted: bool = True) -> str:
    """Return the colours and rules that all widgets share, followed by the style sheets given.

    A standalone page has no host whose theme must be followed, and leaves such rules out (`hosted`).

    Examples
    --------
    >>> "--lab-forward" in style_text()
    True
    """
    sheets = [path.read_text(encoding="utf-8") for path in (WIDGETS / "base.css", *paths)]
    return "\n".join([css_variables(".autodiff-lab", hosted=hosted), *sheets])


def without_comments(text: str) -> str:
    r"""Return a script or style sheet without comment lines, types and indentation, which a page does not need.

    Inside a line only types (``/** @type ... */``) are removed, so that nothing that merely looks like a comment is
    touched; our scripts have no multi-line strings.

    Examples
    --------
    >>> print(without_comments("// why\n  const a = 1; // kept\n"), end="")
    const a = 1; // kept
    """
    return _INDENT.sub("", _TYPE.sub("", _COMMENT.sub("", text)))


@lru_cache(16)
def compact_style(text: str) -> str:
    r"""Return a style sheet without comments and without the space that it does not need.

    Examples
    --------
    >>> compact_style("/* why */\n.box {\n  color: red;\n}\n")
    '.box{color:red;}'
    """
    return _AROUND.sub(lambda found: found[1] or "", without_comments(text)).strip()
