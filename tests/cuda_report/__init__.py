"""The compiler's report on the CUDA kernels, on any machine: ``python -m tests.cuda_report`` prints it."""
