"""Products of matrices, contractions, and triangular systems."""
