"""Machine code that is called by address: what a sequence of compiled steps needs to run as one call.

A step is a function of one argument, the address of its slots: numbers of 64 bits that are sizes and
addresses of arrays.  `run_steps` fills the slots of one call and calls one step after the other.
"""
# ruff: noqa: ANN001

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable

STEP = "int32(CPointer(int64))"
"""The signature of a step; it returns 0, or something else if it declines what it met."""


@intrinsic("row of 2", "int64", "int64", "=")
def at(site: Any, address: Any, size: Any, number: Any) -> Any:
    """Return the array of `size` numbers that begins at an address."""
    return site.row(site.builder.inttoptr(address, site.element(2).as_pointer()), size, 2)


@intrinsic("int32", "int64", "int64")
def call_step(site: Any, function: Any, slots: Any) -> Any:
    """Call the step at an address with the address of its slots."""
    longs = ir.IntType(64).as_pointer()
    kind = ir.FunctionType(ir.IntType(32), [longs])
    step = site.builder.inttoptr(function, kind.as_pointer())
    return site.builder.call(step, [site.builder.inttoptr(slots, longs)])


@register_jitable
def run_steps(steps, slots, room) -> int:
    """Run steps in order; return what the first said that declined, else 0.

    `steps` has the address of each step and the place of its first slot; `slots` has, for each slot, the base that is
    added to it.  `room` begins with the bases of this call, and ends with space for the slots.
    """
    first = room.size - slots.shape[0]
    for n in range(slots.shape[0]):
        room[first + n] = room[slots[n, 0]] + slots[n, 1]
    begin = room.ctypes.data + 8 * first
    for n in range(steps.shape[0]):
        said = call_step(steps[n, 0], begin + 8 * steps[n, 1])
        if said != 0:
            return said
    return 0
