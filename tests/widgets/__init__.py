"""Widgets on the Python side; the browser tests press them."""
