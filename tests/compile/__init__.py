"""Tests of compiled functions."""
