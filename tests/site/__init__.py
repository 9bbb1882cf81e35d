"""The documentation site: a Sphinx extension that turns the Markdown of docs/ into linked pages.

The pages are written to be read in a checkout as well, so they contain plain Markdown. When the site is built,
`links` redirects links that leave docs/, `contents` makes the navigation from the lists of links, `pictures` shows
pictures for both themes and recordings that can be stepped through, `lessons` executes the notebooks, `reference`
writes pages from the docstrings, and `formulas` turns LaTeX into MathML. ``python -m tests.site`` builds everything.
"""

from pathlib import Path
from typing import Any

from tests.site import contents, formulas, lessons, links, pictures, reference
from tests.tree import ROOT

DOCS = ROOT / "docs"


def setup(app: Any) -> dict[str, bool]:
    """Register the parts with Sphinx."""
    app.connect("builder-inited", _generate)
    app.connect("source-read", _read)
    app.connect("build-finished", _finish)
    app.connect("autodoc-process-docstring", reference.readable)
    app.connect("html-page-context", _accessible, priority=900)  # after the theme has made its navigation
    formulas.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _generate(app: Any) -> None:
    """Write what is generated into docs/, where git ignores it."""
    docs = Path(app.srcdir)
    links.copy_project_pages(docs)
    reference.write(docs / "api")
    lessons.write(docs / "lessons", docs / "pages")
    pictures.write(docs)


def _read(app: Any, name: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    path = Path(app.env.doc2path(name))
    if path.suffix != ".md":
        return
    docs = Path(app.srcdir)
    text = contents.with_navigation(source[0], path, docs)
    text = pictures.with_pictures(text, path, docs)
    source[0] = links.inside(text, path, docs)


def _accessible(_app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Let the keyboard scroll wide blocks of code, and give the captions of the navigation the level of headings."""
    if "body" in context:
        body = context["body"].replace("<pre>", '<pre tabindex="0">')
        context["body"] = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
    if "furo_navigation_tree" in context:
        tree = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def _finish(app: Any, error: Exception | None) -> None:
    """Copy the pages that frames show."""
    if error is None and app.builder.format == "html":
        pictures.copy(Path(app.srcdir) / "pages", Path(app.outdir) / "pages")
