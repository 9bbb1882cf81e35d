"""Benchmarks on a GPU, against PyTorch and JAX on the same card: ``python -m tests.benchmarks.gpu``, `make bench-gpu`.

Needs NumPy, optree, numba-cuda and CuPy, and takes PyTorch and JAX where they are installed; nothing is installed here.
"""
