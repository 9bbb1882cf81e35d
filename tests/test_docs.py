"""The pages of docs/ are correct: generated ones are current, every name is included or explained, all are linked."""

import re
import subprocess
import sys

import pytest

from tests.generated import names, operations
from tests.generated.public import functions
from tests.tree import ROOT

DOCS = ROOT / "docs"


@pytest.mark.extras
def test_generated_pages_are_what_the_program_says() -> None:
    """In a process of its own, because other tests register ops that belong to no page."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.generated", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.extras
def test_every_name_of_tensorflow_is_here_or_explained() -> None:
    why = names.reasons()
    silent = [
        name for family in names.families().values() for name in family if not names.is_here(name) and name not in why
    ]
    assert not silent, f"Neither here nor in tests/data/left_out.toml: {silent}"


@pytest.mark.extras
def test_a_name_that_is_left_out_is_not_here_and_is_on_the_list() -> None:
    every = {name for family in names.families().values() for name in family}
    for name, why in names.reasons().items():
        assert not names.is_here(name), f"{name} is here now: take it off tests/data/left_out.toml"
        assert name in every
        assert len(why) > 10, f"{name}: a reason is a sentence"


def test_no_name_of_tensorflow_is_listed_twice() -> None:
    every = [name for family in names.families().values() for name in family]
    assert sorted(every) == sorted(set(every))


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(((?:howto/)?[\w.-]+\.md)(?:#[\w-]+)?\)", index))
    pages = [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]
    assert linked == {path.relative_to(DOCS).as_posix() for path in pages} - {"index.md"}


@pytest.mark.extras
def test_every_public_function_has_a_row_that_fits_its_table_and_says_what_it_gives() -> None:
    rows = 0
    columns: list[str] = []
    for line in operations.page().splitlines():
        cells = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
        if line.startswith("| function | "):
            columns = cells
        elif line.startswith("| `lab."):
            rows += 1
            assert len(cells) == len(columns), line
            assert cells[1].strip(), line
    assert rows == len(functions())


def test_a_name_that_is_nowhere_is_noticed() -> None:
    assert names.is_here("math.log")
    assert not names.is_here("math.log.nothing")
    assert not names.is_here("math.no_such_name")
