"""Recurrent cells over whole sequences, and their gradients."""
