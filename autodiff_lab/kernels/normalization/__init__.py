"""Mean and variance over axes, and values normalized by them."""
