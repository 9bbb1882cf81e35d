"""CUDA kernels for heavy ops (`overrides` lists them), and arrays that live on a GPU (`array`)."""
