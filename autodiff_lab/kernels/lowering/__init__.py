"""Loops in a subset of Python, translated to LLVM's instructions without Numba: see `translating`."""
