"""Links of the documentation: those that leave docs/ lead to the pages that the site has in their place.

A link to a lesson leads to the executed lesson, one to CONTRIBUTING or CHANGELOG to a page with its text, one to a
folder to the README in it. What the site does not have, such as the source, is named without a link.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.tree import ROOT

PROJECT_PAGES = {"CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changelog.md"}
"""Files of the root that become pages of the site."""

LINK = re.compile(r"(?<!!)\[(?P<label>[^\]]*)\]\((?P<target>(?!https?:|mailto:)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
OUTSIDE = re.compile(r"https?://[^\s)\"'`<>\]]+")
FENCE = re.compile(r"(^```.*?^```$|^~~~.*?^~~~$)", re.MULTILINE | re.DOTALL)
NO_PLACES = ("127.0.0.1", "localhost", "www.w3.org/2000/svg", "example.org")
"""Addresses that are not checked: of servers started here, of examples, and of XML vocabularies."""


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change a Markdown text where it is not a block of code."""
    return "".join(part if place % 2 else change(part) for place, part in enumerate(FENCE.split(text)))


def on_the_site(target: Path, docs: Path) -> Path | None:
    """Return the page that the site has for a file of the project, or None.

    >>> on_the_site(ROOT / "CHANGELOG.md", ROOT / "docs").name
    'changelog.md'
    >>> on_the_site(ROOT / "Makefile", ROOT / "docs") is None
    True
    """
    if target.is_dir():
        target /= "README.md"
    if target.is_relative_to(docs):
        return target
    if target == ROOT / "README.md":
        return docs / "index.md"
    if target.is_relative_to(ROOT / "notebooks"):
        return docs / "lessons" / page_of_lesson(target) if target.suffix == ".ipynb" else docs / "lessons.md"
    page = PROJECT_PAGES.get(target.relative_to(ROOT).as_posix()) if target.is_relative_to(ROOT) else None
    return docs / page if page else None


def page_of_lesson(notebook: Path) -> str:
    """Return the name of a lesson's page; those in other languages follow the English ones.

    >>> page_of_lesson(ROOT / "notebooks" / "de" / "01_was_ist_eine_ableitung.ipynb")
    'de_01_was_ist_eine_ableitung.ipynb'
    """
    return "_".join(notebook.relative_to(ROOT / "notebooks").parts)


def redirected(text: str, start: Path, page: Path, docs: Path) -> str:
    """Return Markdown whose links, relative to the folder `start`, lead to pages of the site from `page`."""

    def one(found: re.Match[str]) -> str:
        target = on_the_site(Path(os.path.normpath(start / found["target"])), docs)
        if target is None:
            return found["label"]
        path = Path(os.path.relpath(target, page.parent)).as_posix()
        return f"[{found['label']}]({path}{found['anchor'] or ''})"

    return outside_code(text, lambda part: LINK.sub(one, part))


def inside(text: str, page: Path, docs: Path) -> str:
    """Return the text of a page of docs/ with its links redirected."""
    return redirected(text, page.parent, page, docs)


def copy_project_pages(docs: Path) -> None:
    """Write the pages of the root into docs/project."""
    for name, place in PROJECT_PAGES.items():
        page = docs / place
        page.parent.mkdir(exist_ok=True)
        text = redirected((ROOT / name).read_text(encoding="utf-8"), ROOT, page, docs)
        page.write_text(text, encoding="utf-8")


def outside(texts: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield every address of another host with the files that mention it.

    >>> list(outside({"a.md": "see https://example.com/x.", "b.md": "<https://example.com/x>"}))
    [('https://example.com/x', ['a.md', 'b.md'])]
    """
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        for address in sorted({match.group().rstrip(".,;:") for match in OUTSIDE.finditer(text)}):
            if not any(place in address for place in NO_PLACES):
                found.setdefault(address, []).append(name)
    yield from sorted(found.items())
