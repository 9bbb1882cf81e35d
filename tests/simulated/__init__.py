"""CUDA kernels and arrays of a GPU, simulated: in processes of their own, because numba reads the switch at import."""
