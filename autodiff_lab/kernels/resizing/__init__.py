"""Images of another size."""
