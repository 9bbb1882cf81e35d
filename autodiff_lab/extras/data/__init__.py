"""Datasets: their sources, the steps that transform elements, and batching."""
