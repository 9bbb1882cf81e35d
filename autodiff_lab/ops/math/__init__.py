"""Mathematics, elementwise and over axes."""

from autodiff_lab.ops.math import (
    arithmetic,
    clipping,
    comparison,
    complex_numbers,
    cumulative,
    elementary,
    exponential,
    gamma,
    guarded,
    normal,
    reductions,
    special,
    statistics,
    trigonometric,
)

__all__ = [
    "arithmetic", "clipping", "comparison", "complex_numbers", "cumulative", "elementary", "exponential", "gamma",
    "guarded", "normal", "reductions", "special", "statistics", "trigonometric",
]
