"""Sparse tensors: the places and the values of what is not zero."""
