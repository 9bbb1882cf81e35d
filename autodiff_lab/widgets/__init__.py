"""Widgets, one folder each: thin Python around plain JavaScript."""
