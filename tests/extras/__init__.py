"""Tests of values of more than one tensor, and of state."""
