"""Scans along an axis: cumulative sums, products and log-sum-exps, linear recurrences."""
