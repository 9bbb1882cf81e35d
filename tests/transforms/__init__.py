"""Tests of custom derivatives, Jacobians, forward mode and recomputation."""
