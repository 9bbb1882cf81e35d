"""Sorting, the largest elements of rows, and searches in sorted rows."""
