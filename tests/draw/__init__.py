"""Tests of drawing, on recordings written by hand."""
