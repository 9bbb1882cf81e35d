"""Finding sequences: small steps that follow each other, put side by side where the order is free.

Views belong to no place in the order.  A sequence takes what a view is of, and sees the view itself; steps that run one
by one get it from NumPy.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable

from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.recurrences.kernel import Call
from autodiff_lab.compile.sequences.kernels import Item, lines_of, sequence_kernel
from autodiff_lab.compile.sequences.steps import gives_view, joins, worth_alone

FEWEST = 2
"""Steps that are worth a call of their own."""
MOST_BYTES = 1 << 20
"""Bytes of the largest value between steps that may run in another order than in the program."""
Found = tuple[str, Region | Kernel | Line | Call]


def in_sequences(items: list[Found], program: Program, names: dict[int, str], skipped: list[str]) -> list[Found]:
    """Return steps in which small ones that may follow each other are one kernel; `items` are in an order that works.

    The compiler's errors go to `skipped`, and those steps stay as they are.
    """
    return _Joining(items, program, names, skipped).joined()


class _Joining:
    """Puts the steps of one program together."""

    def __init__(self, items: list[Found], program: Program, names: dict[int, str], skipped: list[str]) -> None:
        self.program, self.names, self.skipped = program, names, skipped
        self.whole = items
        lines = [item for _, item in items if isinstance(item, Line)]
        self.views = {line.outs[0]: line for line in lines if gives_view(line, program)}
        self.items = [one for one in items if not isinstance(one[1], Line) or one[1].outs[0] not in self.views]
        self.small = [not isinstance(item, Kernel) and joins(item, program) for _, item in self.items]
        self.readers: dict[int, list[Line]] = {}  # of a value or of views of it, without the views
        for line in program.lines:
            for i in self.seen(line.ins) if line.outs[0] not in self.views else ():
                self.readers.setdefault(i, []).append(line)

    def seen(self, values: Iterable[int]) -> dict[int, None]:
        """Return values together with those that they are views of, first the sources."""
        found: dict[int, None] = {}
        for i in values:
            chain = [i]
            while chain[-1] in self.views:
                chain.append(self.views[chain[-1]].ins[0])
            found.update(dict.fromkeys(reversed(chain)))
        return found

    def joined(self) -> list[Found]:
        """Return the steps, with sequences."""
        if not any(self.small):
            return self.whole
        made: list[Found] = []
        run: list[Item] = []
        count = 0
        for n in [*self._order(), None]:
            if n is not None and self.small[n]:
                run.append(self.items[n])  # type: ignore[arg-type]
                continue
            worth = len(run) >= FEWEST or any(worth_alone(item, self.program) for _, item in run)
            count += worth
            made += self._as_one(run, f"sequence_{count}") if worth else run
            run = []
            if n is not None:
                made.append(self.items[n])
        return self._with_views(made)

    def _as_one(self, run: list[Item], title: str) -> list[Found]:
        """Return steps as one kernel, or the steps if it cannot be compiled."""
        lines = [line for _, item in run for line in lines_of(item)]
        inside, made = {id(line) for line in lines}, {i for line in lines for i in line.outs}
        needed = {
            i for i in made
            if i in self.program.outputs or any(id(line) not in inside for line in self.readers.get(i, ()))
        }  # fmt: skip
        given_back = [i for i in self.program.outputs if i in self.views and not made.isdisjoint(self.seen([i]))]
        needed.update(given_back)
        steps = self._in_place(run, given_back)
        try:
            return [(title, sequence_kernel(steps, needed, self.program, self.names, title))]
        except Exception as error:  # noqa: BLE001 - whatever a compiler says, the steps run one by one
            self.skipped.append(f"{len(lines)} ops in one call: {type(error).__name__}: {error}")
            return list(run)

    def _in_place(self, run: list[Item], given_back: list[int]) -> list[Item]:
        """Return steps with the views that they read, each before its first reader."""
        done: set[int] = set()
        steps: list[Item] = []

        def see(values: Iterable[int]) -> None:
            for i in self.seen(values):
                if i in self.views and i not in done:
                    done.add(i)
                    steps.append(("", self.views[i]))

        for item in run:
            see(_touched(item[1])[0])
            steps.append(item)
        see(given_back)
        return steps

    def _with_views(self, made: list[Found]) -> list[Found]:
        """Return steps with the views that those outside of sequences read."""
        done = {i for _, item in made if isinstance(item, Kernel) for i in item.outs}
        steps: list[Found] = []

        def see(values: Iterable[int]) -> None:
            for value in values:
                chain = list(self.seen([value]))
                known = [n for n, i in enumerate(chain) if i in done]
                for i in chain[known[-1] + 1 if known else 0 :]:
                    if i in self.views:
                        done.add(i)
                        steps.append(("", self.views[i]))

        for item in made:
            see(_touched(item[1])[0])
            steps.append(item)
        see(self.program.outputs)
        return steps

    def _order(self) -> list[int]:
        """Return an order in which small steps stand together, if all values between them are small.

        Otherwise memory matters more, which is that of neither what comes in nor what is returned.
        """
        values = [self.program.values[i] for i in self.program.made_by if i not in self.program.outputs]
        if any(math.prod(v.shape) * v.dtype.itemsize > MOST_BYTES for v in values):
            return list(range(len(self.items)))
        maker = {i: n for n, (_, item) in enumerate(self.items) for i in _touched(item)[1]}
        users: list[list[int]] = [[] for _ in self.items]
        left = [0] * len(self.items)
        for n, (_, item) in enumerate(self.items):
            for before in {maker[i] for i in self.seen(_touched(item)[0]) if i in maker} - {n}:
                users[before].append(n)
                left[n] += 1
        ready: tuple[list[int], list[int]] = ([], [])
        for n, count in enumerate(left):
            if not count:
                heapq.heappush(ready[self.small[n]], n)
        order: list[int] = []
        now = False  # what runs one by one comes first: more can stand together afterwards
        while ready[0] or ready[1]:
            now = now if ready[now] else not now
            n = heapq.heappop(ready[now])
            order.append(n)
            for user in users[n]:
                left[user] -= 1
                if not left[user]:
                    heapq.heappush(ready[self.small[user]], user)
        return order


def _touched(item: Region | Kernel | Line | Call) -> tuple[list[int], list[int]]:
    """Return what a step reads and what it makes."""
    if isinstance(item, Region):
        return item.ins(), [i for line in item.all for i in line.outs]
    return list(item.ins), list(item.outs)
