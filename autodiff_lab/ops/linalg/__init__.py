"""Linear algebra: products, contractions, diagonals, systems, decompositions, functions of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.ops.linalg import (
        contraction,
        decompositions,
        diagonals,
        factors,
        functions,
        norms,
        products,
        solving,
        tridiagonal,
    )

__all__ = [
    "contraction", "decompositions", "diagonals", "factors", "functions", "norms",
    "products", "solving", "tridiagonal",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a family at its first use."""
    from autodiff_lab.ops.catalogue import family

    return family(__name__, __all__, name)
