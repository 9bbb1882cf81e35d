"""Steps of optimizers over flat arrays."""
