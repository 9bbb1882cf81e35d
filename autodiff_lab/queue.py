"""Queues: ``lab.queue``."""

from autodiff_lab.structures.queue import FIFOQueue

__all__ = ["FIFOQueue"]
