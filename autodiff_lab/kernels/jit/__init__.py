"""Numba kernels: overrides of the reference, compiled when they are first wanted; importing them imports Numba."""
