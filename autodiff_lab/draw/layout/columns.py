"""Columns for the nodes of a layered layout, such that edges are short.

The network simplex method of Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (IEEE
Transactions on Software Engineering 19, 1993): a spanning tree of edges of length 1 fixes all columns; as long as a
tree edge exists whose removal lets one half of the tree move so that edges become shorter in sum, it is exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST_WORK = 1_500_000
"""Visits of nodes and edges after which the columns found so far are used: about a second."""

Pair = tuple[str, str]


def shorten(columns: Mapping[str, int], edges: Sequence[Pair]) -> dict[str, int]:
    """Return columns in which the sum of the lengths of edges is as small as possible.

    Parameters
    ----------
    columns : mapping of str to int
        Columns in which the source of every edge is left of its target.
    edges : sequence of (str, str)
        Source and target.  An edge that occurs several times counts several times.

    Returns
    -------
    dict of str to int
        For every node; the leftmost column of each connected part is 0.

    Examples
    --------
    A chain of five, and a leaf that only the last node uses:

    >>> chain = [("a", "b"), ("b", "c"), ("c", "d"), ("leaf", "d")]
    >>> shorten({"a": 0, "b": 1, "c": 2, "d": 3, "leaf": 0}, chain)["leaf"]
    2
    """
    found = dict(columns)
    near: dict[str, list[int]] = {key: [] for key in columns}
    for number, (source, target) in enumerate(edges):
        near[source].append(number)
        near[target].append(number)
    work = MOST_WORK
    seen: set[str] = set()
    for key in columns:
        if key in seen:
            continue
        part = _Part(key, edges, near, found)
        seen.update(part.members)
        if work > 0:
            work = part.optimize(work)
        first = min(found[member] for member in part.members)
        for member in part.members:
            found[member] -= first
    return found


class _Part:
    """A connected part of the graph, and the spanning tree that fixes its columns."""

    def __init__(
        self, start: str, edges: Sequence[Pair], near: Mapping[str, list[int]], columns: dict[str, int]
    ) -> None:
        self.start, self.edges, self.near, self.columns = start, edges, near, columns
        self.members = [start]
        seen = {start}
        for key in self.members:  # grows while it is walked
            for number in near[key]:
                other = self.other(number, key)
                if other not in seen:
                    seen.add(other)
                    self.members.append(other)
        self.numbers = sorted({number for key in self.members for number in near[key]})
        self.tree: set[int] = set()

    def other(self, number: int, key: str) -> str:
        source, target = self.edges[number]
        return target if key == source else source

    def slack(self, number: int) -> int:
        """Return by how many columns an edge is longer than necessary."""
        source, target = self.edges[number]
        return self.columns[target] - self.columns[source] - 1

    def optimize(self, work: int) -> int:
        """Exchange tree edges until none improves; return what is left of the work allowed."""
        cost = len(self.members) + len(self.numbers)
        work -= self._span(work)
        while work > 0 and len(self.tree) == len(self.members) - 1:
            work -= cost
            leaving, inside, moves_right = self._worst()
            if leaving < 0:
                break
            entering = self._entering(inside, moves_right)
            if entering < 0:
                break
            step = self.slack(entering)
            for key in inside:
                self.columns[key] += step if moves_right else -step
            self.tree.remove(leaving)
            self.tree.add(entering)
        return work

    def _span(self, work: int) -> int:
        """Make the tree: reach what edges of length 1 reach, then move all of that to the next node, and so on."""
        reached = {self.start}
        spent, fresh = 0, [self.start]
        while len(reached) < len(self.members) and spent < work:
            while fresh:
                key = fresh.pop()
                for number in self.near[key]:
                    other = self.other(number, key)
                    if other not in reached and self.slack(number) == 0:
                        reached.add(other)
                        self.tree.add(number)
                        fresh.append(other)
            spent += len(self.numbers)
            outgoing = [n for n in self.numbers if (self.edges[n][0] in reached) != (self.edges[n][1] in reached)]
            if not outgoing:
                break
            best = min(outgoing, key=self.slack)
            step = self.slack(best) if self.edges[best][0] in reached else -self.slack(best)
            for key in reached:
                self.columns[key] += step
            fresh = [self.edges[best][0] if self.edges[best][0] in reached else self.edges[best][1]]
        return spent

    def _worst(self) -> tuple[int, set[str], bool]:
        """Return the tree edge with which most is gained, the nodes on its far side, and whether these move right.

        More edges leave a side that should move right than enter it.  The balance of a side is the sum over its nodes
        of outgoing minus incoming edges, because edges inside cancel.
        """
        parent = self._walk(self.start, -1)
        balance = dict.fromkeys(parent, 0)
        for number in self.numbers:
            source, target = self.edges[number]
            balance[source] += 1
            balance[target] -= 1
        best, top, right = 0, "", False
        for key in reversed(parent):
            number = parent[key]
            if number < 0:
                continue
            leads_out = self.edges[number][0] == key
            # A side whose tree edge leads out can only move left, or the edge would become too short.
            gain = -balance[key] if leads_out else balance[key]
            if gain > best:
                best, top, right = gain, key, not leads_out
            balance[self.other(number, key)] += balance[key]
        return (parent[top], set(self._walk(top, parent[top])), right) if top else (-1, set(), False)

    def _walk(self, start: str, last: int) -> dict[str, int]:
        """Return the nodes that tree edges other than `last` connect with a node, each with the edge that led to it."""
        led = {start: last}
        order = [start]
        for key in order:
            for number in self.near[key]:
                other = self.other(number, key)
                if number in self.tree and number != last and other not in led:
                    led[other] = number
                    order.append(other)
        return led

    def _entering(self, side: set[str], moves_right: bool) -> int:
        """Return the edge that stops the move first."""
        stops = (
            number
            for number in self.numbers
            if (self.edges[number][0] in side) == moves_right and (self.edges[number][1] in side) != moves_right
        )
        return min(stops, key=self.slack, default=-1)
