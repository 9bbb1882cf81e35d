"""Softmax and cross entropy of rows."""
