"""Tests that run on a GPU: a real one, or a simulated one; `make test-gpu` and `make test-simulated`.

They need NumPy, CuPy, numba-cuda and pytest; tests that need SciPy are skipped with a reason without it.
"""
