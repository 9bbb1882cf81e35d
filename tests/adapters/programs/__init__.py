"""Programs as users of PyTorch and JAX write them; each makes its model, then returns what is to be recorded."""
