"""Pictures of the site: one for each theme, and recordings that can be stepped through in the page.

``<picture>`` elements become two images of which the theme shows one, and two more for readers who ask for less motion
where the first ones move; ``static/site.css`` chooses, and a picture that is not shown is not loaded. The comment
``<!-- shows: recording -->`` after an example becomes a frame with what `recording.to_html` writes, where ``recording``
is a name that the examples of the document have made; a program of its own runs them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tree import ROOT

SHOWS = re.compile(r"^<!-- shows: (?P<what>[\w.]+)(?:, (?P<height>\d+) px)?(?:: (?P<title>[^>]+?))? -->$", re.MULTILINE)
HEIGHT = 640
PICTURE = re.compile(r"<picture>(?P<inside>.*?)</picture>", re.DOTALL)
DARK = re.compile(r'<source media="\(prefers-color-scheme: dark\)" srcset="(?P<file>[^"]+)">')
LIGHT = re.compile(r'<img src="(?P<file>[^"]+)"\s+alt="(?P<alt>[^"]+)"', re.DOTALL)
STILL = re.compile(
    r'<source media="\(prefers-reduced-motion: reduce\)(?P<dark> and \(prefers-color-scheme: dark\))?" '
    r'srcset="(?P<file>[^"]+)">'
)
IMAGE = """
```{{image}} {file}
:class: {classes}
:alt: {alt}
:loading: lazy
```
"""


def frame(address: str, title: str, height: int) -> str:
    """Return the HTML of a frame with a page that can be stepped through."""
    return (
        f'<div class="stepping"><iframe src="{address}" title="{title}" height="{height}" loading="lazy"></iframe>'
        f'<p><a href="{address}">Open this page on its own</a></p></div>'
    )


def page_name(document: Path, docs: Path, what: str) -> str:
    """Return the name of the page that shows a value of a document.

    >>> page_name(Path("docs/howto/a.md"), Path("docs"), "recording")
    'howto-a-recording.html'
    """
    return "-".join([*document.relative_to(docs).with_suffix("").parts, what]) + ".html"


def write(docs: Path) -> None:
    """Write the pages of every document that shows something, into docs/pages."""
    folder = docs / "pages"
    folder.mkdir(exist_ok=True)
    for document in sorted([*docs.glob("*.md"), *docs.glob("howto/*.md")]):
        if SHOWS.search(document.read_text(encoding="utf-8")):
            run(document, docs, folder)


def run(document: Path, docs: Path, folder: Path) -> None:
    """Run the examples of a document in a process and a folder of their own, and write its pages."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(
            [sys.executable, "-m", "tests.site.shown", str(document), str(docs), str(folder)],
            cwd=work,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"The examples of {document} do not make what it shows:\n{done.stdout}{done.stderr}")


def with_pictures(text: str, page: Path, docs: Path) -> str:
    """Return the text of a page with its pictures in the form that the site shows."""
    up = Path(os.path.relpath(docs / "pages", page.parent)).as_posix()

    def shown(found: re.Match[str]) -> str:
        title = found["title"] or "A recording that can be stepped through"
        height = int(found["height"] or HEIGHT)
        return frame(f"{up}/{page_name(page, docs, found['what'])}", title, height)

    return PICTURE.sub(_themes, SHOWS.sub(shown, text))


def _themes(found: re.Match[str]) -> str:
    dark, light = DARK.search(found["inside"]), LIGHT.search(found["inside"])
    if dark is None or light is None:
        return found.group()
    still = {bool(each["dark"]): each["file"] for each in STILL.finditer(found["inside"])}
    moving = " moving" if still else ""
    files = [(light["file"], "only-light" + moving), (dark["file"], "only-dark" + moving)]
    if still:
        files += [(still[False], "only-light still"), (still.get(True, still[False]), "only-dark still")]
    alt = " ".join(light["alt"].split())
    return "".join(IMAGE.format(file=file, classes=classes, alt=alt) for file, classes in files)


def copy(source: Path, target: Path) -> None:
    """Copy the pages beside those of the site."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
