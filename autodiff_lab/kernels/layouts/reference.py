"""Copies of arrays in which elements lie in the order of the axes, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_order(x: Any) -> Any:
    """Copy an array so that its elements lie in the order of its axes."""
    return np.array(x, order="C", ndmin=x.ndim)
