"""Every operation, one block each, in small files by family; a family loads at the first use of one of its ops.

`operators` stands in for Python's operators until then.  The registry and the namespaces of ops load missing families
by `catalogue`, which knows all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.namespace import find_ops_by
from autodiff_lab.ops.catalogue import family, late, load
from autodiff_lab.ops.operators import install

if TYPE_CHECKING:
    from autodiff_lab.extras.families import image, signal, sparse, strings
    from autodiff_lab.ops import array, linalg, math, nn, random

__all__ = ["array", "image", "linalg", "math", "nn", "random", "signal", "sparse", "strings"]

_EXTRAS = {name: f"families.{name}" for name in ("image", "signal", "sparse", "strings")}

install()
find_ops_by(load)
_from_extras = late(__name__, _EXTRAS)


def __getattr__(name: str) -> Any:
    """Load a family at its first use."""
    return _from_extras(name) if name in _EXTRAS else family(__name__, __all__, name)
