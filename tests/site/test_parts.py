"""The parts of the documentation site, each by itself; `make docs` builds the whole."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("docutils", reason="the site needs autodiff-lab[docs]")

from tests.site import DOCS, contents, formulas, lessons, links, pictures, publishing, reference, shown
from tests.site.checked import loaded, problems
from tests.tree import ROOT


def config() -> dict[str, object]:
    """Return the names of docs/conf.py, run in a process of its own as it changes the path."""
    code = "import runpy, json; names = runpy.run_path('docs/conf.py'); print(json.dumps(names['PUBLIC_ADDRESS']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {"PUBLIC_ADDRESS": done.stdout.strip().strip('"')}


def test_the_public_address_is_named_everywhere_or_nowhere() -> None:
    import tomllib

    address = str(config()["PUBLIC_ADDRESS"])
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if address:
        assert urls.get("Documentation") == address
        assert address in readme
    else:
        assert not urls
        assert not [url for url, _ in links.outside({"README.md": readme})]


def test_every_page_is_in_the_navigation_once() -> None:
    listed: list[str] = []
    for name in sorted(contents.LISTS):
        text = contents.with_navigation((DOCS / name).read_text(encoding="utf-8"), DOCS / name, DOCS)
        for tree in text.split("```{toctree}")[1:]:
            listed += [line[1:] for line in tree.partition("```")[0].splitlines() if line.startswith("/")]
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("decisions/*.md")]
    }
    assert sorted(listed) == sorted({*pages, "project/contributing", "project/changelog"} - {"index"})


def test_links_that_leave_the_documents_lead_to_pages_of_the_site() -> None:
    page = DOCS / "howto" / "a.md"
    text = "[a](../tapes.md#zero), [b](../../CONTRIBUTING.md), [c](../../Makefile), [d](../decisions/)\n"
    text += "[e](../../notebooks/de/01_was_ist_eine_ableitung.ipynb)\n```\n[f](../../Makefile)\n```\n"
    assert links.inside(text, page, DOCS) == (
        "[a](../tapes.md#zero), [b](../project/contributing.md), c, [d](../decisions/README.md)\n"
        "[e](../lessons/de_01_was_ist_eine_ableitung.ipynb)\n```\n[f](../../Makefile)\n```\n"
    )


def test_both_pictures_of_an_element_are_shown_by_theme() -> None:
    readme = (DOCS / "performance.md").read_text(encoding="utf-8")
    text = pictures.with_pictures(readme, DOCS / "performance.md", DOCS)
    assert text.count(":class: only-light") == text.count(":class: only-dark") == readme.count("<picture>") > 0


def test_a_moving_picture_has_a_still_one_for_readers_who_ask_for_less_motion() -> None:
    for document in sorted(DOCS.glob("**/*.md")):
        written = document.read_text(encoding="utf-8")
        text = pictures.with_pictures(written, document, DOCS)
        moving, still = (
            len(re.findall(rf"^:class: only-\w+ {kind}$", text, re.MULTILINE)) for kind in ("moving", "still")
        )
        assert moving == still == 2 * written.count('(prefers-reduced-motion: reduce)" srcset')
        assert moving or "images/stepping-" not in written
    start = pictures.with_pictures((DOCS / "index.md").read_text(encoding="utf-8"), DOCS / "index.md", DOCS)
    for theme in ("light", "dark"):
        assert f"images/stepping-{theme}.png\n:class: only-{theme} moving\n" in start
        assert f"images/explorer-{theme}.png\n:class: only-{theme} still\n" in start
    style = (DOCS / "static" / "site.css").read_text(encoding="utf-8")
    assert re.search(
        r"\(prefers-reduced-motion: reduce\) \{\s*body.* img\.moving \{ display: none !important; \}", style
    )


def test_what_a_document_shows_is_written_as_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = DOCS / "start.md"
    pages = shown.write(document, DOCS, tmp_path)
    assert [page.name for page in pages] == ["start-recording.html", "start-curve.html"]
    assert not [address for page in pages for address in loaded(page)]
    text = pictures.with_pictures(document.read_text(encoding="utf-8"), document, DOCS)
    assert all(f'src="pages/{page.name}" title="' in text for page in pages)


@pytest.mark.parametrize("notebook", sorted(lessons.NOTEBOOKS.rglob("*.ipynb")), ids=lambda path: path.stem)
def test_the_page_of_a_lesson_says_where_its_questions_can_be_answered(notebook: Path) -> None:
    page = DOCS / "lessons" / links.page_of_lesson(notebook)
    title = nbformat.read(notebook, as_version=4).cells[0].source
    text = lessons.introduced(title, notebook, page)
    assert "Shift+Enter" in title or "Umschalt+Enter" in title
    assert not re.search(r"(Shift|Umschalt)\+Enter", text)
    notes = re.findall(r"^:::\{note\}\n(.*?)^:::$", text, re.MULTILINE | re.DOTALL)
    assert len(notes) == 1
    assert "JupyterLab" in notes[0]
    found = re.search(r"\{download\}`[^<`]+ <([^>`]+)>`", notes[0])
    assert found
    assert (page.parent / found[1]).resolve() == notebook
    assert (page.parent / "../start.md").resolve().exists()
    assert "](../start.md#install)" in notes[0]
    assert text.index(":::") < text.index("- **")


def test_an_address_of_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<script src="https://example.org/a.js"></script><a href="https://example.org/">fine</a>'
        '<link rel="stylesheet" href="s.css"><img src="//example.org/i.png"><style>@import "http://example.org/b.css";</style>'
    )
    (tmp_path / "s.css").write_text("body { background: url(https://example.org/c.png) }")
    assert [line.split()[-1] for line in problems(tmp_path)] == [
        "https://example.org/a.js", "//example.org/i.png", "http://example.org/b.css", "https://example.org/c.png",
    ]  # fmt: skip
    (tmp_path / "index.html").write_text(f'<img src="big.png">{"x" * 10}')
    (tmp_path / "s.css").unlink()
    (tmp_path / "big.png").write_bytes(bytes(1_000_000))
    assert "bytes" in problems(tmp_path)[0]


def test_the_workflow_is_a_shell_script_of_commands_that_exist() -> None:
    text = publishing.script(publishing.PAGE.read_text(encoding="utf-8"))
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    assert "-m tests.site --out build/site" in text
    assert "-m tests.site.checked build/site" in text
    assert text.count("== left out: actions/") == 4


def test_every_public_name_is_described_once() -> None:
    text = "\n".join(line for _, _, lines in reference.pages() for line in lines)
    described = [line.split(":: ")[1] for line in text.splitlines() if line.startswith((".. auto", ".. py:data"))]
    assert len(described) == len(set(described)) > 700
    for name in ("tanh", "GradientTape", "record", "layers.Dense", "errors.LabError", "events.observing", "nn.relu"):
        assert f"autodiff_lab.{name}" in described


def test_formulas_become_mathml_and_keep_their_latex() -> None:
    text = formulas.mathml(r"\frac{x < 1}{2}", "block")
    assert "<mfrac>" in text
    assert r'alttext="\frac{x &lt; 1}{2}"' in text


def test_the_page_of_events_has_a_row_for_each_with_its_fields() -> None:
    import autodiff_lab as lab

    page = (DOCS / "events.md").read_text(encoding="utf-8")
    kinds = [k for k in vars(lab.events).values() if inspect.isclass(k) and hasattr(k, "_fields")]
    assert len(kinds) >= 16
    assert {kind.__name__ for kind in kinds} <= set(lab.events.__all__)
    assert not [name for name in lab.events.__all__ if f"`{name}`" not in page]
    for kind in kinds:
        assert f"| `{kind.__name__}` | {', '.join(f'`{field}`' for field in kind._fields)} |" in page
