"""All rows: the cases by hand, the import statement, and the programs at their sizes."""

from __future__ import annotations

from tests.benchmarks.cases import CASES, IMPORT
from tests.benchmarks.cases.case import Case
from tests.benchmarks.programs import PROGRAMS

ROWS: dict[str, Case] = {**CASES, **PROGRAMS}
NAMES = (*CASES, IMPORT, *PROGRAMS)
