"""What the compiler makes of the CUDA kernels, on any machine: ``python -m tests.cuda_report`` prints it."""
