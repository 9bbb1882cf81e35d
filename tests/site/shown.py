"""Write the pages that a document shows: ``python -m tests.site.shown document docs folder``.

The examples run as in tests/test_documents.py, up to each comment ``<!-- shows: name -->``.
"""

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

from tests.site.pictures import SHOWS, page_name
from tests.test_documents import examples, run


def write(document: Path, docs: Path, folder: Path) -> list[Path]:
    """Run a document's examples and write what it shows; return the pages."""
    text = document.read_text(encoding="utf-8")
    waiting = [example for example in examples(text) if example.reason is None]
    names: dict[str, Any] = {"__name__": "__main__"}
    pages: list[Path] = []
    for found in SHOWS.finditer(text):
        line = text[: found.start()].count("\n")
        while waiting and waiting[0].line <= line:
            with contextlib.redirect_stdout(io.StringIO()):
                run(waiting.pop(0), names, str(document))
        page = folder / page_name(document, docs, found["what"])
        names[found["what"]].to_html(page)
        pages.append(page)
    return pages


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
