"""Tests of values that consist of several tensors, and of state."""
