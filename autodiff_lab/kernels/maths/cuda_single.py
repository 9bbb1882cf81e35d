"""Quick functions of float32 for generated kernels: without branches where a library has them, and two ulp at most.

A kernel that reads and writes 16 bytes an element has time for some 120 instructions; exact quotients and roots, sines
and cosines of CUDA's library take 10 to 30 each, half of them to look for cases that are rare.  Here a reciprocal is
that of the special-function unit, and its range is mended by a scale that is 1 as a rule, so that infinities, zeros and
subnormal numbers give what IEEE 754 says.  A divisor that divides twice is inverted once: the compiler sees that it is
the same.  A sine and a cosine of one angle share its reduction; angles beyond 100,000 are left to the library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import SIMULATED, cuda, math

f32, i32 = np.float32, np.int32
_ONE, _BIG, _SMALL, _UP, _DOWN = f32(1), f32(2.0**100), f32(2.0**-100), f32(2.0**64), f32(2.0**-64)
FAR = f32(100_000)
_TURNS, _SHIFT = f32(2 / np.pi), f32(1.5 * 2**23)
_HIGH, _MIDDLE, _LOW = f32(-1.5707963705062866), f32(4.371138828673793e-08), f32(1.7151245100059142e-15)

if SIMULATED:

    def _inverse(x: Any) -> Any:
        return _ONE / x

    def sqrt(x: Any) -> Any:
        """Return the square root."""
        return np.sqrt(x)

    def rsqrt(x: Any) -> Any:
        """Return one over the square root."""
        return _ONE / np.sqrt(x)

    def _fused_simulated(x: Any, y: Any, z: Any) -> Any:
        return f32(np.float64(x) * np.float64(y) + np.float64(z))

    _fused = _fused_simulated

    def _bits(x: Any) -> Any:
        return x.view(np.int32)

    def _number(x: Any) -> Any:
        return np.int32(x).view(f32)

else:
    _library, _types = import_module("numba.cuda.libdevice"), import_module("numba.cuda.types")

    def _instruction(name: str) -> Any:
        """Return a PTX instruction of one float32, for which Numba has no name."""
        ir, single = import_module("llvmlite.ir"), _types.float32

        def instruction(context: Any, x: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
                number = ir.FloatType()
                return builder.asm(ir.FunctionType(number, [number]), f"{name} $0, $1;", "=f,f", given, False)

            return single(single), generate

        return import_module("numba.cuda.extending").intrinsic(instruction)

    # Of the special-function unit, within 1 ulp, 1 ulp and 2 ulp; 1 / x is 0 where x or the result is below 2^-126.
    _inverse, sqrt, rsqrt = map(_instruction, ("rcp.approx.ftz.f32", "sqrt.approx.f32", "rsqrt.approx.f32"))
    _bits, _number = _library.float_as_int, _library.int_as_float

    @cuda.jit(device=True)
    def _fused_once(x: Any, y: Any, z: Any) -> Any:
        return cuda.fma(x, y, z)

    _fused = _fused_once


@cuda.jit(device=True)
def quotient(x: Any, y: Any) -> Any:
    """Write x / y, within 2 ulp."""
    size = abs(y)
    scale = _DOWN if size > _BIG else _UP if size < _SMALL else _ONE
    return (x * scale) * _inverse(y * scale)


@cuda.jit(device=True)
def is_far(x: Any) -> Any:
    """Whether the quick functions do not reach an angle."""
    return abs(x) > FAR


@cuda.jit(device=True)
def _turned(x: Any) -> Any:
    """The number of quarter turns nearest to x, in the last bits of a float32, and what is left of x."""
    shifted = _fused(x, _TURNS, _SHIFT)  # the last bits of a number of this size count integers
    n = shifted - _SHIFT
    return shifted, _fused(n, _LOW, _fused(n, _MIDDLE, _fused(n, _HIGH, x)))


@cuda.jit(device=True)
def _sine_near(r: Any) -> Any:
    """The sine up to 45 degrees."""
    z = r * r
    return ((f32(-1.9515295891e-4) * z + f32(8.3321608736e-3)) * z - f32(1.6666654611e-1)) * (z * r) + r


@cuda.jit(device=True)
def _cosine_near(r: Any) -> Any:
    """The cosine up to 45 degrees."""
    z = r * r
    c = (f32(2.443315711809948e-5) * z - f32(1.388731625493765e-3)) * z + f32(4.166664568298827e-2)
    return c * (z * z) + (_ONE - f32(0.5) * z)


@cuda.jit(device=True)
def _quarter_turn(x: Any, turn: Any) -> Any:
    """The sine of x plus `turn` quarter turns."""
    shifted, r = _turned(x)
    sine, cosine = _sine_near(r), _cosine_near(r)  # both: who asks for a sine mostly asks for the cosine too
    quarter = i32(_bits(shifted) + turn)
    value = cosine if i32(quarter & i32(1)) == i32(1) else sine
    return _number(i32(_bits(value) ^ i32(i32(quarter & i32(2)) << i32(30))))


@cuda.jit(device=True)
def sin(x: Any, far: Any) -> Any:
    """The sine; `far` asks for that of the library, which takes any angle."""
    return math.sin(x) if far else _quarter_turn(x, 0)


@cuda.jit(device=True)
def cos(x: Any, far: Any) -> Any:
    """The cosine."""
    return math.cos(x) if far else _quarter_turn(x, 1)


@cuda.jit(device=True)
def tan(x: Any, far: Any) -> Any:
    """The tangent."""
    if far:
        return math.tan(x)
    shifted, r = _turned(x)
    sine, cosine = _sine_near(r), _cosine_near(r)
    return quotient(-cosine, sine) if _bits(shifted) & 1 else quotient(sine, cosine)
