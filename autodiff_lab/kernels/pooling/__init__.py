"""Largest and mean values of windows."""
