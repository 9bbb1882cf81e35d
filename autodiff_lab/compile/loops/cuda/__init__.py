"""Loops on a GPU: the text of a kernel, the kernel, and its launch."""
