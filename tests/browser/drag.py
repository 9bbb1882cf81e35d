"""One drag, frame by frame: what the browser does while an input is dragged and a recording computes itself again.

``python -m tests.browser.drag [OPS FRAMES]`` prints a table in milliseconds of the page's main thread, which
docs/explorer.md shows for 50 ops.
"""

import json
import sys
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, WINDOW, find_chromium
from tests.browser.pages import explorer, save
from tests.browser.test_running import DRAG, chain

WORK = {
    "EventDispatch": "script",
    "FireAnimationFrame": "script",
    "FunctionCall": "script",
    "UpdateLayoutTree": "style",
    "Layout": "layout",
    "PrePaint": "paint",
    "Paint": "paint",
    "Layerize": "layers",
    "Commit": "layers",
}
"""Events of Chromium's trace, by what they are part of."""
COLUMNS = ["script", "style", "layout", "paint", "layers"]
CATEGORIES = ["devtools.timeline", "blink.user_timing", "disabled-by-default-devtools.timeline"]
MARK = "frame "


def traced(ops: int, frames: int) -> list[dict[str, Any]]:
    """Drag the input of a chain of ops in an exported page; return the events of the page's main thread."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), headless=True, args=FLAGS)
        page = browser.new_page(viewport=WINDOW)
        page.goto(save(chain(ops), Path(folder)).as_uri())
        root = explorer(page).element_handle()
        page.evaluate(DRAG, {"root": root, "frames": 3})  # the first frames compile the scripts
        browser.start_tracing(page=page, categories=CATEGORIES)
        page.evaluate(DRAG, {"root": root, "frames": frames})
        events = json.loads(browser.stop_tracing())["traceEvents"]
        browser.close()
    (thread,) = {(e["pid"], e["tid"]) for e in events if str(e["name"]).startswith(MARK)}
    return sorted((e for e in events if (e["pid"], e["tid"]) == thread), key=lambda e: e["ts"])


def account(events: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Return for each frame the milliseconds of each kind of work, and from its start to the next as ``length``.

    Work inside other work, such as a layout that a script asks for, counts once, as what it is.
    """
    marks = [e["ts"] for e in events if e["name"].startswith(MARK)]
    rows: list[dict[str, float]] = []
    for start, end in pairwise(marks):
        row: dict[str, float] = defaultdict(float, length=(end - start) / 1000)
        open_: list[tuple[float, str]] = []  # the work around the next event, and when it ends
        for e in events:
            if e["name"] not in WORK or e.get("ph") != "X" or not start <= e["ts"] < end:
                continue
            while open_ and open_[-1][0] <= e["ts"]:
                open_.pop()
            row[WORK[e["name"]]] += e["dur"] / 1000
            if open_:
                row[open_[-1][1]] -= e["dur"] / 1000
            open_.append((e["ts"] + e["dur"], WORK[e["name"]]))
        rows.append(row)
    return rows


def table(rows: list[dict[str, float]]) -> str:
    """Return the account as a table in Markdown, with the median at its end."""
    lines = [
        f"| frame | {' | '.join(COLUMNS)} | all work | to the next frame |",
        "|---|" + "---:|" * (len(COLUMNS) + 2),
    ]
    shown = [[*(row[c] for c in COLUMNS), sum(row[c] for c in COLUMNS), row["length"]] for row in rows]
    medians = [sorted(column)[len(rows) // 2] for column in zip(*shown, strict=True)]
    names = [*map(str, range(1, len(rows) + 1)), "median"]
    for name, numbers in zip(names, [*shown, medians], strict=True):
        lines.append(f"| {name} | " + " | ".join(f"{number:.1f}" for number in numbers) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    asked = [int(number) for number in sys.argv[1:]]
    print(table(account(traced(*(asked or (50, 12))))))
