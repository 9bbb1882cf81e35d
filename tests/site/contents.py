"""The navigation of the site, made from the lists of links that readers of a checkout use.

In a page of `LISTS`, the links of every section become a table of contents with the section's heading as its caption.
"""

import re
from pathlib import Path

from tests.site.links import LINK, on_the_site, outside_code
from tests.site.reference import ORDER

LISTS = {"index.md", "decisions/README.md"}
"""Pages whose sections are parts of the navigation."""
FOLDERS = {"lessons.md": "lessons", "api.md": "api"}
"""Pages that lead to every page of a generated folder."""

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def tree(names: list[str], caption: str = "") -> str:
    """Return a hidden table of contents in MyST's syntax."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def sections(text: str) -> list[tuple[str, list[str]]]:
    r"""Return the headings of a page, each with the targets of the links below it.

    >>> sections("# T\n[z](z.md)\n## A\n- [x](x.md)\n- [y](y.md#part)\n## B\n- [x](x.md)\n")
    [('', ['z.md']), ('A', ['x.md', 'y.md']), ('B', ['x.md'])]
    """
    parts = HEADING.split(text)
    headings, bodies = ["", *parts[1::2]], parts[0::2]
    found: list[tuple[str, list[str]]] = []
    for heading, body in zip(headings, bodies, strict=True):
        targets: list[str] = []
        outside_code(body, lambda part, targets=targets: targets.extend(m["target"] for m in LINK.finditer(part)) or "")
        found.append((heading, list(dict.fromkeys(targets))))
    return found


def pages_of(folder: Path) -> list[str]:
    """Return the pages of a generated folder, in the order that it gives or else by name."""
    order = folder / ORDER
    files = (
        order.read_text(encoding="utf-8").split() if order.exists() else sorted(p.name for p in folder.glob("*.ipynb"))
    )
    return [f"{folder.name}/{file.rpartition('.')[0]}" for file in files]


def with_navigation(text: str, page: Path, docs: Path) -> str:
    """Return the text of a page with the tables of contents that belong to it."""
    name = page.relative_to(docs).as_posix()
    if name in FOLDERS:
        return text + tree(pages_of(docs / FOLDERS[name]))
    if name not in LISTS:
        return text
    listed: set[Path] = {page}
    for heading, targets in sections(text)[1:]:  # links of the introduction are mentions
        pages = [on_the_site((page.parent / target).resolve(), docs) for target in targets]
        fresh = [path for path in pages if path is not None and path not in listed]
        listed.update(fresh)
        if fresh:
            text += tree([f"/{path.relative_to(docs).with_suffix('').as_posix()}" for path in fresh], heading)
    return text
