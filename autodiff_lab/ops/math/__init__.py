"""Mathematics, elementwise and over axes."""

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
    special,
    statistics,
    trigonometric,
)

__all__ = [
    "arithmetic", "bits", "clipping", "comparison", "complex_numbers", "counting", "cumulative", "elementary",
    "exponential", "gamma", "guarded", "normal", "reductions", "segments", "special", "statistics", "trigonometric",
]
