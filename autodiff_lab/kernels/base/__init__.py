"""What all families of kernels share: which kernel runs, on how many threads, and where compiled code is kept."""
