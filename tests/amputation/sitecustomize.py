"""Hide `gpu`, `extras` and the CUDA kernels from every Python process of an amputated run.

Python imports a module of this name when it starts, so processes that tests start have them hidden too.
"""

import sys
from collections.abc import Sequence
from types import ModuleType


def is_hidden(module: str) -> bool:
    """Return whether an amputated run hides a module, by its dotted name."""
    package, first, *rest = (*module.split("."), "")
    if package != "autodiff_lab":
        return False
    if first in {"kernels", "compile"} and rest[0] != "cuda":  # the engine still knows the arrays of `kernels.cuda`
        return any(part.startswith("cuda") for part in rest[1:])
    return first in {"extras", "gpu"}


class Hidden:
    """A finder that reports every hidden module as missing."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Raise for a hidden module; leave every other module to the finders that follow."""
        if is_hidden(name):
            raise ModuleNotFoundError(f"No module named {name!r}: this run hides it", name=name)


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Hidden())  # pyright: ignore[reportArgumentType]
