"""Benchmarks on a GPU, against PyTorch and JAX on the same card: ``python -m tests.benchmarks.gpu``, `make bench-gpu`.

Needs NumPy, numba-cuda and CuPy, and uses PyTorch and JAX if they are installed; it installs nothing.
"""
