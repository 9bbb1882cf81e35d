"""Sums, means, extremes and log-sum-exps over axes."""
