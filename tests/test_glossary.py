"""Words that the glossary of CONTRIBUTING.md retired do not come back, as names or in docstrings and messages.

They are in the last column of the table: in code style if they are retired as names, in quotation marks if they are
phrases.  `NAMES_OF_OTHERS` lists names from other libraries, `NAMES_OF_OPS` those of ops that must not change.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.tree import PACKAGE, ROOT, project_files, shown

FOLDERS = ["engine", "ops", "kernels", "compile", "extras", "gpu"]

READ = {".py", ".js", ".css", ".md", ".ipynb"}
APART = {"CONTRIBUTING.md", "test_glossary.py"}  # they name what is retired
NOT_A = re.compile(r"(?<!here )\b(?:is|are) no (?!longer\b|slower\b|larger\b|more\b|less\b|other\b|need\b)[a-z]+")
"""`is no tensor` and its like, which should read "is not a"; "there is no tensor" and "where is no" are left alone."""

# Retired words left by folder. The counts may only fall; a folder at 0 needs no row.
LEFT: dict[str, int] = {}

NAMES_OF_OTHERS = {"negative_slope", "shared_axes"}
# Ops keep the names that saved recordings hold.
NAMES_OF_OPS = {"logsumexp_shares", "running_top", "standardize", "standardize_grad"}

ROW = re.compile(r"^\| [^|]+ \| [^|]+ \|(?P<retired>[^|]*)\|$", re.MULTILINE)


@cache
def retired() -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the retired names, and a pattern for each retired phrase, as the glossary has them."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("## Words")[2].partition("\n## ")[0]
    cells = [row["retired"] for row in ROW.finditer(table)]
    names = {name for cell in cells for name in re.findall(r"`([a-z]+)`", cell)}
    said = [phrase for cell in cells for phrase in re.findall(r'"([^"]+)"', cell)]
    return names, [re.compile(rf"\b{phrase.replace(' ', chr(92) + 's+')}\b") for phrase in said]


def parts(name: str) -> set[str]:
    """Return the words of an identifier.

    >>> sorted(parts("_row_slopesOf"))
    ['of', 'row', 'slopes']
    """
    return set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")) - {""}


def findings(path: Path) -> Iterator[str]:
    """Yield the retired words of a file: in identifiers, in strings that are names, in docstrings and in messages."""
    names, phrases = retired()
    text = path.read_text(encoding="utf-8")
    lowered = text.lower()  # most files hold none of it, and reading them word by word takes a hundred times as long
    if not any(name in lowered for name in names) and not any(phrase.search(text) for phrase in phrases):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        where = f"{path.relative_to(PACKAGE)}:{token.start[0]}"
        if token.string.strip("\"'") in NAMES_OF_OTHERS | NAMES_OF_OPS:
            continue
        if token.type == tokenize.NAME and parts(token.string) & names:
            yield f"{where}: the name {token.string}"
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            if re.fullmatch(r"[rf]?[\"'][\w.]+[\"']", token.string) and parts(token.string.strip("rf\"'")) & names:
                yield f"{where}: the name {token.string}"
            yield from (f"{where}: {m.group()!r}" for phrase in phrases for m in phrase.finditer(token.string))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            said = re.findall(r"(?<!`)\b[a-z]+\b", ast.get_docstring(node) or "")
            for word in sorted(set(said) & names - {"share", "shares", "running"}):  # the verbs stay
                yield f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}: the word {word} in a docstring"


@pytest.mark.parametrize("folder", [name for name in FOLDERS if (PACKAGE / name).is_dir()])
def test_retired_words_do_not_come_back(folder: str, figure: Callable[[str, str], None]) -> None:
    found = [line for path in sorted((PACKAGE / folder).rglob("*.py")) for line in findings(path)]
    figure(f"retired words in {folder}", str(len(found)))
    assert len(found) <= LEFT.get(folder, 0), "The glossary of CONTRIBUTING.md has other words:\n" + "\n".join(found)


@pytest.mark.parametrize("part", ["autodiff_lab", "docs", "notebooks", "tests", "top level"])
def test_retired_phrases_do_not_come_back_anywhere(part: str) -> None:
    """In code, comments, documents, lessons and scripts; copies of lessons are left out.

    Phrases that are right elsewhere are not searched: a gradient by hand, the whole numbers of a lesson.
    """
    elsewhere_right = ("tensor", "number", "numbers", "index", "array", "by", "greatest")
    phrases = [phrase for phrase in retired()[1] if not phrase.pattern.removesuffix(r"\b").endswith(elsewhere_right)]
    found = [
        f"{shown(path)}: {match.group()!r}"
        for path in project_files()
        if path.suffix in READ and path.name not in APART and "played" not in path.parts
        if (path.relative_to(ROOT).parts[0] if len(path.relative_to(ROOT).parts) > 1 else "top level") == part
        for phrase in [*phrases, NOT_A]
        for match in phrase.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, "The glossary of CONTRIBUTING.md has other words:\n" + "\n".join(found)


def test_the_glossary_names_each_word_once_and_has_words_for_what_it_retires() -> None:
    names, phrases = retired()
    assert {"slope", "share", "standardize", "running"} <= names
    assert len(phrases) >= 10
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words")[2].partition("\n## ")[0]
    words = Counter(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE))
    assert len(words) >= 30
    assert not [word for word, times in words.items() if times > 1]


def test_the_search_finds_names_strings_and_phrases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_glossary.PACKAGE", tmp_path)
    path = tmp_path / "toy.py"
    path.write_text(
        'def row_slopes(negative_slope):\n    """Return what\n    hangs\n    on it."""\n    return "_share"\n'
    )
    assert [line.partition(": ")[2] for line in findings(path)] == [
        "the name row_slopes", "'hangs\\n    on'", 'the name "_share"',
    ]  # fmt: skip
