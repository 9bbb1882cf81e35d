"""The documentation lists exactly the causes that exist."""

import re

from autodiff_lab.explain import CAUSES
from tests.tree import ROOT


def test_the_document_lists_every_cause() -> None:
    """One row of the table for each cause, and no row for another."""
    text = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(rows) == sorted({*CAUSES})
