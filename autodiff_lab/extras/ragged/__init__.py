"""Ragged tensors: rows of different lengths, stored as one tensor of values and the partition into rows."""
