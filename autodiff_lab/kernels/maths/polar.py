"""Sizes, directions, exponentials and quotients of complex numbers inside compiled code.

Squares of float32 fit into float64; those of float64 may not, so that the larger part is taken out of the root.
Quotients are computed as NumPy does: R. L. Smith, Algorithm 116, Communications of the ACM 5 (1962).
"""
# ruff: noqa: ANN001, ANN201

# pyright: reportReturnType=false
from __future__ import annotations

from math import cos, exp, inf, nan, sin, sqrt

from numpy import float32, float64

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import choose


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


@register_jitable
def double_exponential(z):
    """Return e to the power of a complex128, at the infinities as C99 says, up to the signs of zeros."""
    re, im = z.real, z.imag
    if im == 0:
        return complex(exp(re), im)
    if not abs(im) < inf:
        return complex(0.0, 0.0) if re == -inf else complex(inf, nan) if re == inf else complex(nan, nan)
    if re > 700 and re < inf:  # e^re may overflow where its product with a cosine does not
        size = exp(re * 0.5)
        return complex(size * cos(im) * size, size * sin(im) * size)
    return complex(exp(re) * cos(im), exp(re) * sin(im))


@register_jitable
def single_exponential(z):
    """Return e to the power of a complex64."""
    found = double_exponential(complex(float64(z.real), float64(z.imag)))
    return complex(float32(found.real), float32(found.imag))


@register_jitable(forceinline=True)
def quotient(x, y):
    """Return x / y, complex numbers of one dtype; without a branch, so that loops become vectors."""
    upright = abs(y.real) >= abs(y.imag)
    large, small = choose(upright, y.real, y.imag), choose(upright, y.imag, y.real)
    part = small / large
    scale = 1 / (large + small * part)
    re = choose(upright, x.real + x.imag * part, x.real * part + x.imag) * scale
    im = choose(upright, x.imag - x.real * part, x.imag * part - x.real) * scale
    none = large == 0
    return complex(choose(none, x.real / abs(y.real), re), choose(none, x.imag / abs(y.real), im))


single_quotient = double_quotient = quotient
