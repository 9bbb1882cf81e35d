"""Kernels: arrays in, arrays out.  `reference` is complete, in NumPy, and written to be read."""
