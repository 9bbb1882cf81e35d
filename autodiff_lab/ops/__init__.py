"""Every operation, one block each, in small files by family; importing this package completes the registry."""

from autodiff_lab.ops import array, linalg, math, nn, random

__all__ = ["array", "linalg", "math", "nn", "random"]
