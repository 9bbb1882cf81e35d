"""Page: a recording as one HTML file that anyone can open and step through, with no server, kernel or network.

It holds the explorer's own script on a model that stands in for the kernel (``page.js``), and the scene as JSON.  Long
text is packed (gzip, base64) and read by ``unpack.js``: the page of x·x + sin x takes 113 kB instead of 173, that
of a whole training of 10,000 ops 2 MB instead of 6.  Its Content-Security-Policy allows exactly these scripts and
styles, by their hashes, and nothing from anywhere else, so that even a hostile recording can do no more than show text.
Without JavaScript it shows the picture and the trace.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from autodiff_lab.draw.assets import WIDGETS, compact_style, module_text, sheets, style_text, without_comments
from autodiff_lab.draw.markup import json_text
from autodiff_lab.draw.measures import Color
from autodiff_lab.draw.packing import gzipped, piece
from autodiff_lab.draw.running import wanted_files
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.still import still
from autodiff_lab.draw.thinning import LONGEST, MOST, kept, said
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.draw.values import clipped
from autodiff_lab.explain import remarks
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.text import text

_HERE = Path(__file__).parent
_ROOM = """
html { color-scheme: light dark; }
body { margin: 0; padding: 16px; }
noscript pre { overflow-x: auto; }
body, .autodiff-lab { background: var(--lab-paper); }
.explorer { max-width: 1600px; min-height: calc(100vh - 32px); margin: 0 auto; }
.explorer .panels { flex: 1 0 auto; }
.explorer .stage { display: flex; flex-direction: column; flex: 1 0 auto; }
.explorer:not(:fullscreen) .graph { flex: 1 0 min(420px, max(180px, 100vh - 320px)); height: auto; resize: none; }
@media (max-width: 700px) {
body { padding: 8px; }
.explorer { min-height: calc(100vh - 16px); }
}
"""
_BEGIN = """
const state = await readState(document.getElementById("state"));
widget.render({ model: standInModel(state), el: document.getElementById("explorer") });
"""
_LOAD = """
const script = document.createElement("script");
script.type = "module";
script.textContent = await unpacked(document.getElementById("script"));
document.body.append(script);
"""
_LONGEST_ACCOUNT = 20_000
_LONGEST_SCRIPT = 30_000
"""More characters than these are packed; fewer can be read and searched in the file."""


def page(
    recording: Recording, title: str | None = None, color: Color | None = None, max_bytes: int | None = MOST
) -> str:
    """Return a recording as a self-contained HTML page.

    Parameters
    ----------
    recording : Recording
        What to show.
    title : str, optional
        Title of the page; by default that of the recording.
    color : mapping or callable, optional
        As for `Explorer`.
    max_bytes : int, optional
        Above which its numbers are thinned; None for no limit.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = x * x
    >>> "<b>" in page(recording, "A <b> square")
    False
    """
    timeline = Timeline(recording)
    otherwise = _without_script(recording, timeline)
    payload = scene(recording, color=color, timeline=timeline)
    name = clipped(title or payload["title"] or "Recording")
    payload["title"] = name
    families = frozenset({"families.js", *wanted_files(payload["running"])})
    before, after = _around(name, WIDGETS / "explorer", otherwise, families)
    besides = sum(len(part.encode()) for part in (before, _holder({}), after))
    found = kept(payload, max_bytes, besides)
    size = said(found, max_bytes, besides, "as a page", "to_html(..., max_bytes=None)")
    state = {"size": size, "step": payload["start"], "unfolded": payload["open"], "passes": [], "wants_focus": True}
    holder = _packed("state", found.packed_in(state)) if found.pieces else _holder({"scene": found.payload} | state)
    return f"{before}\n{holder}\n{after}"


def document(
    title: str, state: dict[str, Any], widget: Path, otherwise: str = "", families: frozenset[str] | None = None
) -> str:
    """Return a page that shows one widget.

    Parameters
    ----------
    title : str
        Any text; it is escaped.
    state : dict
        The traits of the widget, JSON-able.
    widget : pathlib.Path
        Folder of the widget.
    otherwise : str
        Markup shown where no script runs.
    families : frozenset of str, optional
        As for `module_text`.
    """
    before, after = _around(title, widget, otherwise, families)
    return f"{before}\n{_holder(state | {'wants_focus': True})}\n{after}"


def _around(title: str, widget: Path, otherwise: str, families: frozenset[str] | None) -> tuple[str, str]:
    """Return what a page has before and after its state."""
    module = module_text(widget / "widget.js", families).replace("\nexport default", "\nconst widget =")
    scripts, holders = _scripts(f"{module}\n{module_text(_HERE / 'page.js')}\n{_BEGIN}")
    style = compact_style(style_text(*sheets(widget), hosted=False) + _ROOM)
    styles = [style, *re.findall(r"<style[^>]*>(.*?)</style>", otherwise, re.DOTALL)]
    before = "\n".join([
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts, styles)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>", f"<style>{style}</style>", "</head>", '<body class="autodiff-lab">',
        f'<main id="explorer"><h1 class="unseen">{escape(title)}</h1></main>', f"<noscript>{otherwise}</noscript>",
    ])  # fmt: skip
    after = "\n".join([*holders, "</body>", "</html>", ""])
    return _written(before), _written(after)


def _written(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # a name may hold half a character, which no file can


def _holder(state: dict[str, Any]) -> str:
    """Return the element that holds the state: as JSON, or packed if that is long, to about a tenth."""
    text = json_text(state)
    if len(text) <= LONGEST:
        return f'<script type="application/json" id="state">{_written(text)}</script>'
    return _packed("state", gzipped([piece(text)]))


@lru_cache(16)
def _scripts(whole: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scripts that will run, and their elements: a long one is packed, and a short one loads it."""
    script = without_comments(whole)
    if len(script) <= _LONGEST_SCRIPT:
        return (script,), (f'<script type="module">{script}</script>',)
    load = without_comments(module_text(_HERE / "unpack.js") + _LOAD)
    return (load, script), (_packed("script", gzipped([piece(script)])), f'<script type="module">{load}</script>')


def _packed(name: str, packed: bytes) -> str:
    """Return the element that holds a long text."""
    return f'<script type="application/gzip" id="{name}">{base64.b64encode(packed).decode()}</script>'


def _policy(scripts: tuple[str, ...], styles: list[str]) -> str:
    run, look = (" ".join(f"'{_hash(text)}'" for text in texts) for texts in (scripts, styles))
    return f"default-src 'none'; script-src {run}; style-src {look}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _without_script(recording: Recording, timeline: Timeline) -> str:
    """Return the picture and the trace, for a reader without JavaScript; neither may dominate the page."""
    picture = still(recording, themed=False, timeline=timeline)
    long = len(recording.order) > _LONGEST_ACCOUNT // 10
    account = text(recording, most=_LONGEST_ACCOUNT // 10, room=_LONGEST_ACCOUNT)
    if not long and len(account) <= _LONGEST_ACCOUNT:
        account = "\n".join([account, *remarks(recording)])
    if long or len(account) > _LONGEST_ACCOUNT:
        account = account[:_LONGEST_ACCOUNT] + "\n⋯"
    return f"<p>Stepping needs JavaScript; this is the end of the program.</p>{picture}<pre>{escape(account)}</pre>"
