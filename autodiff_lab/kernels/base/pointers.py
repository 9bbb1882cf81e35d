"""Machine code that is called by address: what a sequence of compiled steps needs to run as one call.

Needs Numba.  A step is a function of one argument, the address of its slots: numbers of 64 bits that are sizes and
addresses of arrays.  `run_steps` fills the slots of one call and calls one step after the other.
"""
# ruff: noqa: ANN001

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic, register_jitable

STEP = "int32(CPointer(int64))"
"""The signature of a step; it returns 0, or something else if it declines what it met."""


@intrinsic
def pointer(typing_context: Any, address: Any, number: Any) -> Any:
    """Return an address as a pointer to numbers of a dtype."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(number.dtype)(types.int64, number), generate


@intrinsic
def call_step(typing_context: Any, function: Any, slots: Any) -> Any:
    """Call the step at an address with the address of its slots."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(64).as_pointer()])
        at = builder.inttoptr(args[0], kind.as_pointer())
        return builder.call(at, [builder.inttoptr(args[1], ir.IntType(64).as_pointer())])

    return types.int32(types.int64, types.int64), generate


@register_jitable
def at(address, size, number) -> Any:
    """Return the array of `size` numbers that begins at an address."""
    return carray(pointer(address, number), size)


@register_jitable
def run_steps(steps, slots, room) -> int:
    """Run steps in order; return whether one declined.

    `steps` has the address of each step and the place of its first slot; `slots` has, for each slot, the base that is
    added to it.  `room` begins with the bases of this call, and ends with space for the slots.
    """
    first = room.size - slots.shape[0]
    for n in range(slots.shape[0]):
        room[first + n] = room[slots[n, 0]] + slots[n, 1]
    begin = room.ctypes.data + 8 * first
    for n in range(steps.shape[0]):
        if call_step(steps[n, 0], begin + 8 * steps[n, 1]) != 0:
            return 1
    return 0
