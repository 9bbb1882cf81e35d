"""Every operation, one block each, in small files by family; importing this package completes the registry."""

from autodiff_lab.ops import array, image, linalg, math, nn, random, signal, sparse, strings

__all__ = ["array", "image", "linalg", "math", "nn", "random", "signal", "sparse", "strings"]
