"""Random numbers made from a counter."""
