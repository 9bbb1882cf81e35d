"""Linear algebra: products, contractions, diagonals, systems, decompositions, functions of matrices."""

from autodiff_lab.ops.linalg import contraction, decompositions, diagonals, eigen, functions, products, solving

__all__ = ["contraction", "decompositions", "diagonals", "eigen", "functions", "products", "solving"]
