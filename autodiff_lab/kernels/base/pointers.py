"""Machine code that is called by address: what a sequence of compiled steps needs to run as one call.

A step is a function of one argument, the address of its slots: numbers of 64 bits that are sizes and
addresses of arrays.  `run_steps` fills the slots of one call and calls one step after the other.
"""
# ruff: noqa: ANN001

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable, types

STEP = "int32(CPointer(int64))"
"""The signature of a step; it returns 0, or something else if it declines what it met."""


@intrinsic
def at(typing_context: Any, address: Any, size: Any, number: Any) -> Any:
    """Return the array of `size` numbers that begins at an address."""
    row = types.Array(number.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from numba.np.arrayobj import populate_array

        kind = context.get_data_type(row.dtype)
        bytes_of_one = ir.IntType(64)(context.get_abi_sizeof(kind))
        made = context.make_array(row)(context, builder)
        data = builder.inttoptr(args[0], kind.as_pointer())
        populate_array(made, data, [args[1]], [bytes_of_one], bytes_of_one, meminfo=None)
        return made._getvalue()

    return row(types.int64, types.int64, number), generate


@intrinsic
def call_step(typing_context: Any, function: Any, slots: Any) -> Any:
    """Call the step at an address with the address of its slots."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(64).as_pointer()])
        at = builder.inttoptr(args[0], kind.as_pointer())
        return builder.call(at, [builder.inttoptr(args[1], ir.IntType(64).as_pointer())])

    return types.int32(types.int64, types.int64), generate


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
