"""Datasets: where elements come from, what the steps make of them, and how they are batched."""
