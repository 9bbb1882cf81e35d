"""Pages of docs/ and the stub of the package, written by the program, so that they cannot say what is not so.

``make docs-renew`` writes them, and tests/test_docs.py holds them to what the program says.
"""

from collections.abc import Callable
from pathlib import Path

from tests.generated import names, operations, stub
from tests.tree import PACKAGE, ROOT

PAGES: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "ops.md": operations.page,
    ROOT / "docs" / "tensorflow_names.md": names.page,
    PACKAGE / "__init__.pyi": stub.page,
}
