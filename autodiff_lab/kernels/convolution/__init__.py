"""Convolutions, full and depthwise."""
