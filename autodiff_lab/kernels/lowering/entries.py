"""Entries of sequences: what Python calls, written instruction by instruction.

An entry takes a table of steps, their slots, the room of a call, and arrays and numbers.  It notes in the room where
the arrays lie, adds that to the slots, and calls one step after the other, as `pointers.run_steps` does.  Numba would
take ten times as long to translate these few instructions, which differ for each program in their number.
"""

from __future__ import annotations

from itertools import groupby
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

    def _values(self, args: Any, arrays: Any) -> Any:
        """Fill the beginning of the room; return the three tables as their addresses and lengths."""
        b, given = self.builder, self.given[3:]
        things = [self._argument(args, INT64(n)) for n in range(3)]
        tables = [
            (b.bitcast(self._checked(thing, kind, arrays), _LONGS), self._lengths(thing, kind)[0])
            for thing, kind in zip(things, self.given[:3], strict=True)
        ]
        room = tables[2][0]
        numbers = 2 + len(given)
        first = numbers + sum(not isinstance(kind, ArrayKind) for kind in given)
        begin = b.ptrtoint(room, INT64)
        inside = b.and_(b.add(begin, INT64(8 * first + LINE - 1)), INT64(-LINE))
        for n, base in enumerate([INT64(0), inside]):
            b.store(base, b.gep(room, [INT64(n)]))
        at = 0
        for (_, kind), alike in groupby(given, lambda kind: (isinstance(kind, ArrayKind), kind)):
            count = sum(1 for _ in alike)
            if isinstance(kind, ArrayKind):
                self._note_arrays(args, kind, arrays, room, at, count)
            else:
                self._note_numbers(args, kind, room, at, range(numbers, numbers + count))
                numbers += count
            at += count
        return tables

    def _note_numbers(self, args: Any, kind: Any, room: Any, at: int, places: range) -> None:
        """Note numbers of one kind, and where they lie."""
        b = self.builder
        for n, number in enumerate(places, start=at):
            value: Any = self._number_of(self._argument(args, INT64(3 + n)), kind)
            place = b.gep(room, [INT64(number)])
            if kind == BOOL:
                value = b.zext(value, INT8)
            b.store(value, b.bitcast(place, value.type.as_pointer()))
            b.store(b.ptrtoint(place, INT64), b.gep(room, [INT64(2 + n)]))

    def _note_arrays(self, args: Any, kind: ArrayKind, arrays: Any, room: Any, at: int, count: int) -> None:
        """Note where arrays of one kind lie, one after the other; written once, as there may be a thousand of them."""
        b = self.builder
        index, _, end = count_to(b, INT64(count))
        place = b.add(index, INT64(at))
        lies = b.ptrtoint(self._checked(self._argument(args, b.add(place, INT64(3))), kind, arrays), INT64)
        b.store(lies, b.gep(room, [b.add(place, INT64(2))]))
        end()

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
