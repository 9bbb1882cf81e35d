"""Derivatives that users write, and Jacobians."""
