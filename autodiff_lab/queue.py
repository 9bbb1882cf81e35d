"""Queues: ``lab.queue``."""

from autodiff_lab.extras.queue import FIFOQueue

__all__ = ["FIFOQueue"]
