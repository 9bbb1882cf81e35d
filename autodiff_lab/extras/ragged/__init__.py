"""Ragged tensors: rows of different lengths in one tensor of values, with the partitions of the rows."""
