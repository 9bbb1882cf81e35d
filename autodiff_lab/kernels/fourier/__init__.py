"""Fourier transforms of small arrays inside compiled code."""
