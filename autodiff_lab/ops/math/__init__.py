"""Mathematics, elementwise and over axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.ops.math import (
        arithmetic,
        bits,
        clipping,
        comparison,
        complex_numbers,
        counting,
        cumulative,
        elementary,
        exponential,
        gamma,
        guarded,
        normal,
        reductions,
        segments,
        statistics,
        trigonometric,
    )

__all__ = [
    "arithmetic", "bits", "clipping", "comparison", "complex_numbers", "counting", "cumulative", "elementary",
    "exponential", "gamma", "guarded", "normal", "reductions", "segments", "statistics", "trigonometric",
]


def __getattr__(name: str) -> Any:
    """Load a family at its first use."""
    from autodiff_lab.ops.catalogue import family

    return family(__name__, __all__, name)
