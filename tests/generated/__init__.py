"""Generated pages of docs/ and the stub of the package.

``make docs-renew`` writes them, and tests/test_docs.py checks that they are current.
"""

from collections.abc import Callable
from pathlib import Path

from tests.generated import guide, inventory, names, operations, solutions, stub
from tests.tree import PACKAGE, ROOT

PAGES: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "inventory.md": inventory.page,
    ROOT / "docs" / "ops.md": operations.page,
    ROOT / "docs" / "solutions.md": solutions.page,
    ROOT / "docs" / "teachers_guide.md": guide.page,
    ROOT / "docs" / "tensorflow_names.md": names.page,
    PACKAGE / "__init__.pyi": stub.page,
}
