"""The function explorer as one HTML file: the same script on a model that lives in the page."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any

# The model answers like a notebook's, and sends nowhere.
_START = """
const carried = JSON.parse(document.getElementById("state").textContent);
const bytes = Uint8Array.from(atob(carried.samples), letter => letter.charCodeAt(0));
const values = { ...carried, samples: new DataView(bytes.buffer) };
const model = {
  get: name => values[name],
  set: (name, value) => { values[name] = value; },
  on() {}, off() {}, send() {}, save_changes() {},
};
explorer.render({ model, el: document.getElementById("explorer") });
"""

_GROUND = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 1040px; padding: 16px; }
"""


def page(facts: dict[str, Any], samples: bytes, state: dict[str, Any], script: str, style: str) -> str:
    """Return a page that shows the explorer with the network off.

    Parameters
    ----------
    facts : dict
        As the widget's trait.
    samples : bytes
        As the widget's trait.
    state : dict
        The other traits.
    script, style : str
        The widget's script as one module, and its style sheet.

    Examples
    --------
    >>> page({"title": "f < g"}, b"", {}, "export default {};", "").splitlines()[3]
    '<title>f &lt; g</title>'
    """
    carried = {"facts": facts, "samples": base64.b64encode(samples).decode(), "wants_focus": True, **state}
    # Inside a script element only "<" could end it; JSON may spell it as an escape.
    data = json.dumps(carried, allow_nan=False).replace("<", "\\u003c")
    runnable = script.replace("export default", "const explorer =", 1)
    return "\n".join([
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f"<title>{escape(facts['title'])}</title>",
        '<meta name="viewport" content="width=device-width">',
        f"<style>{style}{_GROUND}</style>",
        '<body class="autodiff-lab">',
        f'<main id="explorer"><h1 class="unseen">{escape(facts["title"])}</h1></main>',
        f'<script type="application/json" id="state">{data}</script>',
        f'<script type="module">\n{runnable}\n{_START}</script>',
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip
