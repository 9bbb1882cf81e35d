"""Markup that pictures and pages share: escaped text and JSON, and the frame of a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from autodiff_lab.draw.theme import RADIUS, css_variables

_UNWRITABLE = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\N{LEFT-TO-RIGHT EMBEDDING}-\N{RIGHT-TO-LEFT OVERRIDE}]"
    "|[\N{LEFT-TO-RIGHT ISOLATE}-\N{POP DIRECTIONAL ISOLATE}]"
)
"""What XML forbids, and what turns around everything that is written after it."""


def written(text: str) -> str:
    r"""Return text of any origin as it may stand in XML: escaped, without what XML forbids or what turns text around.

    Examples
    --------
    >>> written('<b>&"\x00')
    '&lt;b&gt;&amp;&quot;�'
    """
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def words(css: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    """Return text at a position.

    Examples
    --------
    >>> words("lab-muted", 0, 12, "unit")
    '<text class="lab-muted" x="0" y="12" text-anchor="start">unit</text>'
    """
    return f'<text class="{css}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{written(text)}</text>'


def picture(
    kind: str,
    style: str,
    title: str,
    account: str,
    width: float,
    height: float,
    inside: Iterable[str],
    theme: str = "auto",
    themed: bool = True,
) -> str:
    """Return a picture in the house style: title, description, style sheet, paper and content.

    Parameters
    ----------
    kind : str
        The class of the root element.
    style : str
        The style sheet of this kind of picture; a font name in it cannot end the element.
    title, account : str
        What it shows, and the same in words; both are escaped.
    width, height : float
        In pixels.
    inside : iterable of str
        Markup.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.
    themed : bool
        Whether to include its colours; inside a page that has them this is not necessary.

    Raises
    ------
    ValueError
        For an unknown theme.

    Examples
    --------
    >>> picture("lab-chart", "", "Bytes", "one: 1 B", 10, 10, [])[:4]
    '<svg'
    """
    colours = css_variables(f".lab-theme-{theme}", theme)
    rules = re.sub(r"\s+", " ", (colours if themed else "") + style.strip())
    size = f'width="{width:g}" height="{height:g}"'
    return "".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind} lab-theme-{theme}" role="img" {size} ',
        f'viewBox="0 0 {width:g} {height:g}"><title>{written(title)}</title><desc>{written(account)}</desc>',
        f"<style>{escape(rules, quote=False).replace('&gt;', '>')}</style>",
        f'<rect class="lab-paper" {size} rx="{RADIUS}"/>', *inside, "</svg>",
    ])  # fmt: skip


def json_text(state: Any) -> str:
    r"""Return JSON that may stand inside a script element: no markup can begin in it.

    Examples
    --------
    >>> json_text({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
