"""Lessons in other languages: the English original with the words of a catalogue, ``make lessons-translated``.

A catalogue, such as ``catalogues/de/01.toml``, has an entry for each cell that a learner reads, by the cell's id: of a
text cell the text, of a code cell pairs of words, English and translated, that are replaced in its strings and
comments. ``original`` is a digest of the English cell, so that a translation of something that has changed is noticed.
The notebook is written to ``notebooks/de/``. ``python -m tests.lessons.translate fr 07`` starts a catalogue.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat

from tests.lessons.play import NOTEBOOKS, cells
from tests.lessons.renew import shipped
from tests.tree import ROOT, shown

CATALOGUES = ROOT / "tests" / "lessons" / "catalogues"
SENTENCE = re.compile(r"[^\W\d_]{2,}\W* \W*[^\W\d_]{2,}")
"""Two words: a string that somebody reads. Names and codes have no spaces."""


def digest(source: str) -> str:
    """Return what a catalogue keeps of an English cell."""
    return sha256(source.encode()).hexdigest()[:12]


def catalogues() -> list[Path]:
    """Return all catalogues; the folder is the language, the name the lesson's number."""
    return sorted(CATALOGUES.glob("*/*.toml"))


def target(catalogue: Path) -> Path:
    """Return the notebook that a catalogue makes."""
    name = tomllib.loads(catalogue.read_text(encoding="utf-8"))["name"]
    return NOTEBOOKS / catalogue.parent.name / f"{name}.ipynb"


def translated(catalogue: Path) -> Any:
    """Return the notebook of a catalogue, without outputs, as every learner opens it."""
    (original,) = NOTEBOOKS.glob(f"{catalogue.stem}_*.ipynb")
    entries = tomllib.loads(catalogue.read_text(encoding="utf-8"))["cells"]
    notebook = shipped(nbformat.read(original, as_version=4))
    for cell in notebook.cells:
        entry = entries.get(cell.id, {})
        if cell.cell_type == "markdown":
            cell.source = entry.get("text", cell.source).strip("\n")
        else:
            cell.outputs = []
            cell.source = with_words(cell.source, entry.get("words", []))
    notebook.metadata["language"] = catalogue.parent.name
    return notebook


def with_words(source: str, pairs: list[list[str]]) -> str:
    """Return a code cell with other words, the longest replaced first.

    >>> with_words('print("two", x)  # two ends', [["two", "zwei"], ["two ends", "zwei Enden"]])
    'print("zwei", x)  # zwei Enden'
    """
    for english, words in sorted(pairs, key=lambda pair: -len(pair[0])):
        source = source.replace(english, words)
    return source


def wrong(catalogue: Path) -> list[str]:
    """Return what is wrong with a catalogue, a line for each cell, in words that say what to do."""
    entries = dict(tomllib.loads(catalogue.read_text(encoding="utf-8"))["cells"])
    where, found = shown(catalogue), list[str]()
    for cell in cells(f"{catalogue.stem}_"):
        entry = entries.pop(cell.id, None)
        if entry is None:
            if cell.cell_type == "markdown" or read_by_learners(cell.source):
                found.append(f'{where} has no [cells.{cell.id}]; its original is "{digest(cell.source)}"')
            continue
        if entry["original"] != digest(cell.source):
            found.append(
                f"{where}, {cell.id}: the English cell has changed. Compare the translation with it, then write "
                f'original = "{digest(cell.source)}"'
            )
        elif cell.cell_type == "markdown":
            if not entry.get("text", "").strip():
                found.append(f"{where}, {cell.id}: the text is missing")
        else:
            found += [f"{where}, {cell.id}: {problem}" for problem in _wrong_code(cell.source, entry["words"])]
    return found + [f"{where}, {name}: the lesson has no such cell" for name in entries]


def _wrong_code(source: str, pairs: list[list[str]]) -> list[str]:
    problems = [f"{english!r} is not in the cell" for english, _ in pairs if english not in source]
    new = with_words(source, pairs)
    left = sorted(read_by_learners(source) & read_by_learners(new) - {words for _, words in pairs})
    problems += [f"{english!r} is not translated" for english in left]
    if program(source) != program(new):
        problems.append("more than strings and comments would change")
    return problems


def read_by_learners(source: str) -> set[str]:
    """Return the strings of a cell that are sentences or choices, and its comments.

    >>> sorted(read_by_learners('f(x, "ONE_PATH", "in words", choices=["one", "two"])  # x'))
    ['# x', 'in words', 'one', 'two']
    """
    found: set[str] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        if token.type == tokenize.STRING:  # also a whole f-string, where Python does not take them apart
            text = re.sub(r"""^[a-zA-Z]*("{3}|'{3}|"|')(.*)\1$""", r"\2", text, flags=re.DOTALL)
        elif token.type != tokenize.COMMENT and tokenize.tok_name[token.type] != "FSTRING_MIDDLE":
            continue
        if token.type == tokenize.COMMENT or SENTENCE.search(text):
            found.add(text)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "choices" and isinstance(node.value, ast.List):
            found |= {str(n.value) for n in node.value.elts if isinstance(n, ast.Constant)}
    return found


def program(source: str) -> str:
    """Return what a cell does: all of it but the words in its strings; formats and fields of f-strings count."""

    class Wordless(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.Constant("") if isinstance(node.value, str) else node

        def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
            return node

        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
            return ast.JoinedStr([part for part in node.values if isinstance(part, ast.FormattedValue)])

    return ast.dump(Wordless().visit(ast.parse(source)))


def start(language: str, lesson: str) -> Path:
    """Write a catalogue with the English words in the places of the translated ones, and return where it is."""
    path = CATALOGUES / language / f"{lesson}.toml"
    (original,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    parts = [f"# Lesson {lesson.lstrip('0')}: replace the English by your language.", f'name = "{original.stem}"']
    for cell in cells(f"{lesson}_"):
        words = sorted(read_by_learners(cell.source)) if cell.cell_type == "code" else []
        if cell.cell_type == "markdown" or words:
            parts += ["", f"[cells.{cell.id}]", f'original = "{digest(cell.source)}"']
        if cell.cell_type == "markdown":
            parts += [f"text = '''\n{cell.source}\n'''"]
        elif words:
            quoted = [json.dumps(text, ensure_ascii=False) for text in words]
            parts += ["words = [", *(f"    [{text}, {text}]," for text in quoted), "]"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:  # never over somebody's work
        file.write("\n".join(parts) + "\n")
    return path


def main(arguments: list[str]) -> int:
    """Write all translated lessons, or start the catalogue of a language and a lesson."""
    if arguments:
        language, lesson = arguments
        print(f"wrote {shown(start(language, lesson))}")
        return 0
    problems = [line for catalogue in catalogues() for line in wrong(catalogue)]
    for catalogue in catalogues():
        target(catalogue).parent.mkdir(exist_ok=True)
        nbformat.write(translated(catalogue), target(catalogue))
        print(f"wrote {shown(target(catalogue))}")
    print("\n".join(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
