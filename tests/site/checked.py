"""Check a built site: ``python -m tests.site.checked build/site`` reports what its pages would load from another host.

Links that a reader may follow are fine; scripts, styles, fonts, pictures and frames must be files of the site. The
start page, with all it loads, must weigh less than a megabyte.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

START_PAGE_BYTES = 1_000_000
LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "srcset",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
"""Attributes whose address a browser loads by itself, by element."""
LOADING_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "preconnect", "dns-prefetch"}
IN_STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


class Loaded(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element loads."""
        values = {name: value or "" for name, value in attrs}
        if tag == "link" and LOADING_RELATIONS & set(values.get("rel", "").split()):
            self.addresses.append(values.get("href", ""))
        elif tag in LOADING and values.get(LOADING[tag]):
            self.addresses.append(values[LOADING[tag]].split()[0])
        self.addresses += IN_STYLE.findall(values.get("style", ""))


def loaded(page: Path) -> list[str]:
    """Return the addresses that a page loads, in the order of the page."""
    text = page.read_text(encoding="utf-8")
    parser = Loaded()
    parser.feed(text)
    styles = re.findall(r"<style.*?</style>", text, re.DOTALL)
    return parser.addresses + [address for style in styles for address in IN_STYLE.findall(style)]


def is_elsewhere(address: str) -> bool:
    """Return whether an address is on another host.

    >>> [is_elsewhere(address) for address in ("https://example.org/x.js", "//example.org/x.js", "_static/x.js")]
    [True, True, False]
    """
    return bool(urlsplit(address).netloc)


def weight(page: Path) -> int:
    """Return the size of a page with everything that it loads, in bytes; frames count with what they load."""
    files, waiting = set[Path](), [page]
    while waiting:
        file = waiting.pop()
        if file in files or not file.is_file():
            continue
        files.add(file)
        if file.suffix == ".html":
            waiting += [(file.parent / unquote(urlsplit(address).path)).resolve() for address in loaded(file)]
    return sum(file.stat().st_size for file in files)


def problems(site: Path) -> list[str]:
    """Return what is wrong with a site, a line each."""
    found = [
        f"{path.relative_to(site)} loads {address}"
        for path in sorted(site.rglob("*.html"))
        for address in loaded(path)
        if is_elsewhere(address)
    ]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)} loads {address}" for address in IN_STYLE.findall(path.read_text("utf-8"))]
    size = weight(site / "index.html")
    if size >= START_PAGE_BYTES:
        found.append(f"index.html loads {size:,} bytes; {START_PAGE_BYTES:,} is the most")
    return found


if __name__ == "__main__":
    report = problems(Path(sys.argv[1]))
    print(
        "\n".join(report)
        or f"The start page loads {weight(Path(sys.argv[1]) / 'index.html'):,} bytes, all from the site."
    )
    sys.exit(bool(report))
