"""Entries of sequences: what Python calls, written instruction by instruction.

An entry takes a table of steps, their slots, the room of a call, and arrays and numbers.  It notes in the room where
the arrays lie, adds that to the slots, and calls one step after the other, as `pointers.run_steps` does.  Numba would
take ten times as long to translate these few instructions, which differ for each program in their number.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from autodiff_lab.kernels.lowering.kinds import BOOL, INT8, INT32, INT64, LINE, ArrayKind
from autodiff_lab.kernels.lowering.wrapping import Wrapper, count_to

_LONGS = INT64.as_pointer()


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
        first = numbers + sum(not isinstance(kind, ArrayKind) for kind in given)
        begin = b.ptrtoint(room, INT64)
        inside = b.and_(b.add(begin, INT64(8 * first + LINE - 1)), INT64(-LINE))
        for n, base in enumerate([INT64(0), inside]):
            b.store(base, b.gep(room, [INT64(n)]))
        for n, (thing, kind) in enumerate(zip(things[3:], given, strict=True), start=2):
            if isinstance(kind, ArrayKind):
                lies = b.ptrtoint(self._checked(thing, kind, arrays), INT64)
            else:
                value: Any = self._number_of(thing, kind)
                place = b.gep(room, [INT64(numbers)])
                if kind == BOOL:
                    value = b.zext(value, INT8)
                b.store(value, b.bitcast(place, value.type.as_pointer()))
                lies, numbers = b.ptrtoint(place, INT64), numbers + 1
            b.store(lies, b.gep(room, [INT64(n)]))
        return tables

    def _run(self, values: Any) -> tuple[Any, list[Any]]:
        """Fill the slots, and run the steps until one declines."""
        b = self.builder
        (steps, count), (slots, many), (room, size) = values
        own = b.gep(room, [b.sub(size, many)])
        index, _, end = count_to(b, many)
        at = b.shl(index, INT64(1))
        base, more = (b.load(b.gep(slots, [b.add(at, INT64(n))])) for n in range(2))
        b.store(b.add(b.load(b.gep(room, [base])), more), b.gep(own, [index]))
        end()
        kind = ir.FunctionType(INT32, [_LONGS]).as_pointer()
        index, after, end = count_to(b, count)
        at = b.shl(index, INT64(1))
        address, place = (b.load(b.gep(steps, [b.add(at, INT64(n))])) for n in range(2))
        said = b.call(b.inttoptr(address, kind), [b.gep(own, [place])])
        word = b.sext(said, INT64)
        declined, on = b.block, b.append_basic_block()
        b.cbranch(b.icmp_signed("!=", said, INT32(0)), after, on)
        b.position_at_end(on)
        end()
        answer = b.phi(INT64)
        answer.add_incoming(INT64(0), index.parent)
        answer.add_incoming(word, declined)
        return ir.IntType(1)(1), [answer]
