"""Copies of arrays whose axes lie in another order in memory."""
