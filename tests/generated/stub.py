"""The stub of the package: every public name and where it comes from, for editors and type checkers, which run nothing.

A name is written once, in `autodiff_lab/__init__.py`: as an import, or in the table of lazily loaded names.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator

import autodiff_lab
from tests.tree import PACKAGE

HEAD = "# Public names for editors and type checkers; `make docs-renew` writes this from `__init__.py`."
TAIL = """
__version__: str
newaxis: None

def load_ipython_extension(ipython: object) -> None: ...
"""


def page() -> str:
    """Write the stub."""
    modules = sorted({*vars(autodiff_lab)["_MODULES"], "errors", "events", "ops"})
    late = [f"from autodiff_lab.{home} import {name}" for name, home in vars(autodiff_lab)["_LATE"].items()]
    lines = [
        HEAD,
        f"from autodiff_lab import {', '.join(modules)}",
        *_eager(),
        *late,
        "from autodiff_lab.ops.array.grids import space_to_batch as space_to_batch_nd",
        f"__all__ = {list(autodiff_lab.__all__)!r}",
        TAIL,
    ]
    text = "\n".join(lines)
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PACKAGE / "__init__.pyi"), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


def _eager() -> Iterator[str]:
    """Imports of public names that run at once, as they are written."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module != "autodiff_lab":
            public = [alias for alias in node.names if not (alias.asname or alias.name).startswith("_")]
            if public:
                yield ast.unparse(ast.ImportFrom(node.module, public, 0))
