"""Bitwise operations on integers: ``lab.bitwise``."""

from autodiff_lab.ops.math.bits import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    population_count,
    right_shift,
)

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "population_count", "right_shift"]
