"""CUDA kernels and GPU arrays, simulated: in separate processes, because numba reads the switch at import."""
