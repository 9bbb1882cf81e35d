"""Sizes, directions, exponentials and quotients of complex numbers inside compiled code.

Squares of float32 fit into float64; those of float64 may not, so that the larger part is taken out of the root.
Quotients are computed as NumPy does: R. L. Smith, Algorithm 116, Communications of the ACM 5 (1962).
"""
# ruff: noqa: ANN001, ANN201

# pyright: reportReturnType=false
from __future__ import annotations

from math import cos, exp, inf, nan, sin, sqrt
from typing import Any

from numpy import float32, float64

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import choose
from autodiff_lab.kernels.maths.single import SINGLE, VECTOR_DOUBLE


@register_jitable(forceinline=True)
def single_absolute(z):
    """Return the absolute value of a complex64."""
    re, im = float64(z.real), float64(z.imag)
    return choose((abs(re) == inf) | (abs(im) == inf), float32(inf), float32(sqrt(re * re + im * im)))


@register_jitable(forceinline=True)
def double_absolute(z):
    """Return the absolute value of a complex128."""
    re, im = abs(z.real), abs(z.imag)
    most, least = choose(re < im, im, re), choose(re < im, re, im)  # nan stays
    part = least / most
    size = choose(most == 0, most + least, most * sqrt(1 + part * part))
    return choose((most == inf) | (least == inf), inf, size)


@register_jitable(forceinline=True)
def _towards(z, size, one):  # noqa: ANN202
    """Return a complex number over its size: 0 for 0, and as NumPy does where one of its parts is infinite."""
    re, im = z.real, z.imag
    wide, high = abs(re) == inf, abs(im) == inf
    none, far, unit = size == 0, size == inf, choose(wide & high, one * nan, one)
    along = choose(wide, choose(re > 0, unit, -unit), one - one)
    across = choose(high, choose(im > 0, unit, -unit), one - one)
    return complex(choose(none, re, choose(far, along, re / size)), choose(none, im, choose(far, across, im / size)))


@register_jitable(forceinline=True)
def single_direction(z):
    """Return a complex64 over its absolute value, and 0 for 0."""
    return _towards(z, single_absolute(z), float32(1))


@register_jitable(forceinline=True)
def double_direction(z):
    """Return a complex128 over its absolute value, and 0 for 0."""
    return _towards(z, double_absolute(z), 1.0)


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


def _waves(number: Any, functions: Any) -> Any:
    """Make the exponential function of complex numbers for loops, in which angles are not too large."""
    exp_of, sine, cosine, half, zero, infinity = (
        *(functions[name] for name in ("exp", "sin", "cos")),
        *map(number, (0.5, 0, inf)),
    )

    @register_jitable(forceinline=True)
    def wave(z):  # noqa: ANN202
        """Return e to the power of z; its root is multiplied twice, so that it overflows where the result does."""
        re, im = z.real, z.imag
        root = exp_of(re * half)
        x, y = root * cosine(im) * root, root * sine(im) * root
        x = choose((re == infinity) & (im - im != zero), infinity, x)
        none = re == -infinity  # whatever the angle
        return complex(choose(none, zero, x), choose(im == zero, im, choose(none, zero, y)))

    return wave


single_wave, double_wave = _waves(float32, SINGLE), _waves(float64, VECTOR_DOUBLE)


@register_jitable(forceinline=True)
def _quotient(x, y, one):  # noqa: ANN202
    """Return x / y, complex numbers of the dtype of `one`; without a branch, so that loops become vectors."""
    upright = abs(y.real) >= abs(y.imag)
    large, small = choose(upright, y.real, y.imag), choose(upright, y.imag, y.real)
    part = small / large
    scale = one / (large + small * part)
    re = choose(upright, x.real + x.imag * part, x.real * part + x.imag) * scale
    im = choose(upright, x.imag - x.real * part, x.imag * part - x.real) * scale
    none = large == 0
    return complex(choose(none, x.real / abs(y.real), re), choose(none, x.imag / abs(y.real), im))


@register_jitable(forceinline=True)
def single_quotient(x, y):
    """Return x / y for complex64."""
    return _quotient(x, y, float32(1))


@register_jitable(forceinline=True)
def double_quotient(x, y):
    """Return x / y for complex128."""
    return _quotient(x, y, 1.0)
