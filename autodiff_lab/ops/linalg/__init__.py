"""Linear algebra."""

from autodiff_lab.ops.linalg import products

__all__ = ["products"]
