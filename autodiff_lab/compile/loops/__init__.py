"""Loops over memory: runs of elementwise lines as one loop of Numba or one kernel of CUDA, and the generated module."""
