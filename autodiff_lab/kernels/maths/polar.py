"""Sizes and directions of complex numbers inside compiled code.

Squares of float32 fit into float64; those of float64 may not, so that the larger part is taken out of the root.
"""
# ruff: noqa: ANN001, ANN201

# pyright: reportReturnType=false
from __future__ import annotations

from math import inf, sqrt

from numpy import float32, float64

from autodiff_lab.kernels.base.deferred import register_jitable


@register_jitable
def single_absolute(z):
    """Return the absolute value of a complex64."""
    re, im = float64(z.real), float64(z.imag)
    return float32(inf) if abs(re) == inf or abs(im) == inf else float32(sqrt(re * re + im * im))


@register_jitable
def double_absolute(z):
    """Return the absolute value of a complex128."""
    re, im = abs(z.real), abs(z.imag)
    most, least = im if re < im else re, re if re < im else im  # noqa: FURB136 - nan stays
    if most == 0 or most == inf or least == inf:  # noqa: PLR1714 - `in` is outside of what is translated
        return most + least
    part = least / most
    return most * sqrt(1 + part * part)


@register_jitable
def single_direction(z):
    """Return a complex64 over its absolute value, and 0 for 0."""
    size = single_absolute(z)
    return complex(z.real, z.imag) if size == 0 else complex(z.real / size, z.imag / size)


@register_jitable
def double_direction(z):
    """Return a complex128 over its absolute value, and 0 for 0."""
    size = double_absolute(z)
    return complex(z.real, z.imag) if size == 0 else complex(z.real / size, z.imag / size)
