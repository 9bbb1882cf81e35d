"""Every example in the README, CONTRIBUTING and docs/ runs, and prints what the document says it prints.

A fenced ``python`` block runs in order with the others of its document, sharing names. Prompts (``>>>``) make it a
doctest; otherwise a fenced ``text`` block right after it holds what it prints. A block under the comment
``<!-- not run: reason -->`` is skipped, with that reason.
"""

import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import CHOSEN
from tests.amputation import marked
from tests.tree import ROOT, project_files, shown

BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+?) -->\s*)?"
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\s*^```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
DOCUMENTS = [
    path
    for path in project_files()
    if path.suffix == ".md" and (path.parent.name != "decisions" or path.name == "README.md")
]

USES_HIDDEN = {"docs/errors.md", "docs/devices.md"}
"""Documents with examples of `extras` or of devices."""


@dataclass(frozen=True)
class Example:
    """A fenced block: its line, its code, and its expected output, if any."""

    line: int
    code: str
    printed: str | None
    reason: str | None


def examples(text: str) -> list[Example]:
    return [
        Example(text[: match.start("code")].count("\n") + 1, match["code"], match["printed"], match["reason"])
        for match in BLOCK.finditer(text)
    ]


def run(example: Example, names: dict[str, object], where: str) -> None:
    """Run an example among the names that the blocks before it left, and compare what it prints."""
    if ">>>" in example.code:
        test = doctest.DocTestParser().get_doctest(example.code, names, where, where, example.line - 1)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(test, out=said.write, clear_globs=False)
        assert not runner.failures, said.getvalue()
        names.update(test.globs)
        return
    said = io.StringIO()
    code = compile("\n" * (example.line - 1) + example.code, where, "exec")
    with contextlib.redirect_stdout(said):
        exec(code, names)
    if example.printed is not None:
        assert said.getvalue().strip() == example.printed.strip()


@pytest.fixture
def kernels_of_the_package() -> Iterator[None]:
    """Forget the kernels that an example registers; those of the package, which load on demand, stay."""
    yield
    for name in [name for name, kernel in CHOSEN.items() if not kernel.reference.__module__.startswith("autodiff_lab")]:
        del CHOSEN[name]


WITH_EXAMPLES = [path for path in DOCUMENTS if examples(path.read_text(encoding="utf-8"))]


@pytest.mark.usefixtures("kernels_of_the_package")
@pytest.mark.parametrize("path", marked(WITH_EXAMPLES, lambda path: shown(path) in USES_HIDDEN), ids=shown)
def test_every_example_of_a_document_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example may write a file
    lab.keras.utils.clear_session()  # other tests of this process made layers, too, which count their names
    names: dict[str, object] = {"__name__": "__main__"}
    for example in examples(path.read_text(encoding="utf-8")):
        if example.reason is None:
            run(example, names, str(path))


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_example_is_run_or_says_why_not(path: Path) -> None:
    waiting = [
        f"{shown(path)}:{example.line} is not run: {example.reason}"
        for example in examples(path.read_text(encoding="utf-8"))
        if example.reason is not None
    ]
    if waiting:
        pytest.skip("; ".join(waiting))


LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)|!\[[^\]]*\]\((?!https?:)([^)\s]+)\)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_relative_link_of_a_document_leads_somewhere(path: Path) -> None:
    targets = [first or second for first, second in LINK.findall(path.read_text(encoding="utf-8"))]
    assert not [target for target in targets if not (path.parent / target).exists()]


SAMPLE = """# Title

```python
a = 20
```

Words.

```python
print(a + 1)
```

```text
21
```

<!-- not run: a reason -->
```python
never()
```
"""


def test_blocks_share_names_and_their_output_is_compared() -> None:
    first, second, third = examples(SAMPLE)
    names: dict[str, object] = {}
    run(first, names, "sample")
    run(second, names, "sample")
    assert third.reason == "a reason"
    with pytest.raises(AssertionError):
        run(Example(1, "print(1)", "2", None), names, "sample")
    with pytest.raises(AssertionError):
        run(Example(1, ">>> a + 1\n22\n", None, None), names, "sample")


def test_the_documents_are_found() -> None:
    assert ROOT / "README.md" in DOCUMENTS
