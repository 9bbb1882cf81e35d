"""What every family of kernels stands on: which kernel runs, on how many threads, and where compiled code lies."""
