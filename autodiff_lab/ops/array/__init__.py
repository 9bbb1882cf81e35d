"""Arrays: making, shaping, joining, indexing, casting."""

from autodiff_lab.ops.array import casting, creation, gathering, indexing, joining, shaping

__all__ = ["casting", "creation", "gathering", "indexing", "joining", "shaping"]
