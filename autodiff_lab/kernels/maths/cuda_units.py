"""Instructions of a GPU's special-function unit that Numba has no name for, as functions of float32."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.extending import intrinsic

single: Any = types.__dict__["float32"]


def _instruction(name: str) -> Any:
    """Return a PTX instruction of one float32."""

    def instruction(context: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            number = ir.FloatType()
            return builder.asm(ir.FunctionType(number, [number]), f"{name} $0, $1;", "=f,f", given, False)

        return single(single), generate

    return intrinsic(instruction)


inverse = _instruction("rcp.approx.ftz.f32")
"""1 / x within 1 ulp; where x or the result is below 2^-126 in size it counts as 0."""
sqrt = _instruction("sqrt.approx.f32")
"""The square root within 1 ulp."""
rsqrt = _instruction("rsqrt.approx.f32")
"""One over the square root within 2 ulp."""
