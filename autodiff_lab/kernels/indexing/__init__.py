"""Gathers, scatters and sums of segments."""
