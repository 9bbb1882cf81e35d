"""Entries of sequences: what Python calls, written instruction by instruction.

An entry takes a table of steps, their slots, the room of a call, and arrays and numbers.  It notes in the room where
the arrays lie, adds that to the slots, and calls one step after the other, as `pointers.run_steps` does.  Numba would
take ten times as long to translate these few instructions, which differ for each program in their number.
"""

# pyright: reportAttributeAccessIssue=false, reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from autodiff_lab.kernels.base.emitting import Wrapper

_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_LONGS = _LONG.as_pointer()
LINE = 64
"""Bytes of a cache line; values between the steps begin at one."""


class Entry(Wrapper):
    """Writes an entry; the first three of its arguments are the steps, the slots and the room.

    The room begins with 0, the address of the memory for values between the steps, and those of the arrays; numbers
    follow.  It ends with space for the slots.
    """

    def _values(self, things: list[Any], arrays: Any) -> Any:
        """Fill the beginning of the room; return the three tables as their addresses and lengths."""
        b, given = self.builder, self.given[3:]
        tables = [
            (b.bitcast(self._checked(thing, kind, arrays), _LONGS), self._lengths(thing, kind)[0])
            for thing, kind in zip(things[:3], self.given[:3], strict=True)
        ]
        room = tables[2][0]
        numbers = 2 + len(given)
        first = numbers + sum(not isinstance(kind, types.Array) for kind in given)
        begin = b.ptrtoint(room, _LONG)
        inside = b.and_(b.add(begin, _LONG(8 * first + LINE - 1)), _LONG(-LINE))
        for n, base in enumerate([_LONG(0), inside]):
            b.store(base, b.gep(room, [_LONG(n)]))
        for n, (thing, kind) in enumerate(zip(things[3:], given, strict=True), start=2):
            if isinstance(kind, types.Array):
                lies = b.ptrtoint(self._checked(thing, kind, arrays), _LONG)
            else:
                value: Any = self._read(thing, kind, arrays)
                place = b.gep(room, [_LONG(numbers)])
                if isinstance(kind, types.Boolean):
                    value = b.zext(value, _BYTE)
                b.store(value, b.bitcast(place, value.type.as_pointer()))
                lies, numbers = b.ptrtoint(place, _LONG), numbers + 1
            b.store(lies, b.gep(room, [_LONG(n)]))
        return tables

    def _run(self, values: Any) -> tuple[Any, Any]:
        """Fill the slots, and run the steps until one declines."""
        b = self.builder
        (steps, count), (slots, many), (room, size) = values
        own = b.gep(room, [b.sub(size, many)])
        with cgutils.for_range(b, many) as loop:
            at = b.shl(loop.index, _LONG(1))
            base, more = (b.load(b.gep(slots, [b.add(at, _LONG(n))])) for n in range(2))
            b.store(b.add(b.load(b.gep(room, [base])), more), b.gep(own, [loop.index]))
        kind = ir.FunctionType(_INT, [_LONGS]).as_pointer()
        declined = cgutils.alloca_once_value(b, _LONG(0))
        with cgutils.for_range(b, count) as loop:
            at = b.shl(loop.index, _LONG(1))
            address, place = (b.load(b.gep(steps, [b.add(at, _LONG(n))])) for n in range(2))
            said = b.call(b.inttoptr(address, kind), [b.gep(own, [place])])
            with b.if_then(b.icmp_signed("!=", said, _INT(0)), likely=False):
                b.store(_LONG(1), declined)
                loop.do_break()
        return ir.IntType(1)(1), b.load(declined)
