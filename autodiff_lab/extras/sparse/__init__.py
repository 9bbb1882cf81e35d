"""Sparse tensors: the coordinates and values of the elements that are not zero."""
