"""Loops over memory: runs of elementwise lines as one loop or one CUDA kernel, and the generated module."""
