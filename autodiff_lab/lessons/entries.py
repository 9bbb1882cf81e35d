"""Fresh programs as lists of entries, and the plain engines that walk them: right and wrong.

An entry is what a tape keeps of an op: the name of its result, and for each input its name and the local derivative.
Lesson 8 hands such lists to the engines that learners repair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autodiff_lab.lessons.dealing import one_of

Entry = tuple[str, list[tuple[str, float]]]
"""The name of a result, and each input with the local derivative."""
Accounts = dict[str, float]
Walk = Callable[[list[Entry], str], Accounts]
Gate = tuple[str, str, tuple[str, ...], float]
"""The name of a result, the op, the names of its inputs, and a constant."""

NUDGE = 1e-4
STEADY = 1e-5
LARGEST = 20.0
SMALLEST = 1e-3
"""Every value, local derivative and gradient is at least this: at a zero, wrong engines come out right or raise."""
DOUBLINGS = 40

_VALUES: dict[str, Callable[..., float]] = {
    "add": lambda k, a, b: a + b,
    "multiply": lambda k, a, b: a * b,
    "scale": lambda k, a: k * a,
    "sin": lambda k, a: math.sin(a),
}
_LOCALS: dict[str, Callable[..., tuple[float, ...]]] = {
    "add": lambda k, a, b: (1.0, 1.0),
    "multiply": lambda k, a, b: (b, a),
    "scale": lambda k, a: (k,),
    "sin": lambda k, a: (math.cos(a),),
}


@dataclass(frozen=True)
class Dealt:
    """A program that was dealt: its entries, its result, and the gradients as central differences measure them.

    Examples
    --------
    >>> dealt = deal(np.random.default_rng(0))
    >>> found = walk_backwards(dealt.entries, dealt.end)
    >>> all(abs(found[name] - slope) < 1e-5 for name, slope in dealt.gradients.items())
    True
    """

    entries: list[Entry]
    end: str
    gradients: Accounts

    def copy(self) -> list[Entry]:
        """Return the entries as lists of their own, which may be changed."""
        return [(out, list(uses)) for out, uses in self.entries]


def deal(rng: np.random.Generator, most: int = 7) -> Dealt:
    """Deal a program in which some value between input and result is used more than once.

    Parameters
    ----------
    rng : numpy.random.Generator
        Deals.
    most : int
        The largest number of entries.
    """
    while True:
        names = iter(rng.permutation(list("abcdefghklmnpqrstuvwxyz")).tolist())
        inputs = {next(names): float(rng.uniform(-1.5, 1.5)) for _ in range(int(rng.integers(1, 4)))}
        gates = _needed(list(_gates(rng, names, list(inputs), int(rng.integers(4, most + 1)))))
        values = _run(gates, inputs)
        made = {gate[0] for gate in gates}
        used = [name for gate in gates for name in gate[2]]
        if max(map(abs, values.values())) > LARGEST or not any(used.count(name) > 1 for name in made):
            continue
        entries = [(out, list(zip(ins, _LOCALS[op](k, *(values[i] for i in ins)), strict=True)))
                   for out, op, ins, k in gates]  # fmt: skip
        end = gates[-1][0]
        slopes = {name: _slope(gates, values, name) for name in values if name in used or name == end}
        sizes = [*values.values(), *slopes.values(), *(local for _, uses in entries for _, local in uses)]
        if all(map(math.isfinite, slopes.values())) and min(map(abs, sizes)) >= SMALLEST:
            return Dealt(entries, end, slopes)


def _gates(rng: np.random.Generator, names: Iterator[str], known: list[str], count: int) -> Iterator[Gate]:
    known = list(known)
    for _ in range(count):
        op = one_of(rng, ("add", "multiply", "multiply", "add", "scale", "sin"))
        ins = tuple(one_of(rng, known[-4:]) for _ in range(2 if op in ("add", "multiply") else 1))
        out = next(names)
        yield out, op, ins, one_of(rng, (-2.0, 3.0, 5.0))
        known.append(out)


def _needed(gates: list[Gate]) -> list[Gate]:
    """Return the gates that the last one depends on."""
    needed, kept = {gates[-1][0]}, list[Gate]()
    for gate in reversed(gates):
        if gate[0] in needed:
            needed.update(gate[2])
            kept.append(gate)
    return kept[::-1]


def _run(gates: list[Gate], given: Accounts, nudged: Accounts | None = None) -> Accounts:
    """Return the value of everything; what is nudged keeps its value, whatever its gate says."""
    nudged = nudged or {}
    values = given | nudged
    for out, op, ins, k in gates:
        values[out] = nudged[out] if out in nudged else _VALUES[op](k, *(values[name] for name in ins))
    return values


def _slope(gates: list[Gate], values: Accounts, name: str) -> float:
    """Return the central difference of the result with respect to a value; nan if it depends on the step too much."""
    end = gates[-1][0]
    wide, narrow = (
        (_run(gates, values, {name: values[name] + h})[end] - _run(gates, values, {name: values[name] - h})[end])
        / (2 * h)
        for h in (NUDGE, NUDGE / 2)
    )
    steady = abs(wide - narrow) <= STEADY * max(1.0, abs(narrow))
    return (4 * narrow - wide) / 3 if steady else math.nan  # what is left of the error is of fourth order


def doublings(count: int = DOUBLINGS) -> Dealt:
    """Return the program ``v1 = v0 + v0; v2 = v1 + v1; ...``, which has 2 to the power of `count` paths.

    Examples
    --------
    >>> doublings().gradients["v0"]
    1099511627776.0
    """
    entries: list[Entry] = [(f"v{n + 1}", [(f"v{n}", 1.0), (f"v{n}", 1.0)]) for n in range(count)]
    return Dealt(entries, f"v{count}", {f"v{n}": 2.0 ** (count - n) for n in range(count + 1)})


def walk_backwards(
    entries: list[Entry], end: str, add: Callable[[float | None, float], float] | None = None,
    start: Accounts | None = None,
) -> Accounts:  # fmt: skip
    """Return the accounts after a walk over the entries, the last one first.

    Parameters
    ----------
    entries : list of Entry
        In the order of recording.
    end : str
        Where the walk starts.
    add : callable, optional
        What an account holds after a booking, from what it held (None before the first) and the contribution; by
        default their sum.
    start : dict, optional
        What the accounts hold before the seed is set.
    """
    accounts = {**(start or {}), end: 1.0}
    for out, uses in reversed(entries):
        for name, local in uses:
            new = accounts.get(out, 0.0) * local
            accounts[name] = accounts.get(name, 0.0) + new if add is None else add(accounts.get(name), new)
    return accounts


def _recursive(entries: list[Entry], end: str, again: bool, all_first: bool, flipped: bool) -> Accounts:
    made, done, accounts = dict(entries), set[str](), {end: 1.0}

    def deliver(out: str) -> None:
        if out in done and not again:
            return
        done.add(out)
        uses = made.get(out, [])[:: -1 if flipped else 1]
        if all_first:
            for name, local in uses:
                accounts[name] = accounts.get(name, 0.0) + accounts[out] * local
        for name, local in uses:
            if not all_first:
                accounts[name] = accounts.get(name, 0.0) + accounts[out] * local
            deliver(name)

    deliver(end)
    return accounts


def _in_order(entries: list[Entry], end: str, key: Any) -> Accounts:
    """Return the accounts after a walk in another order than that of recording, reversed."""
    return walk_backwards(sorted(entries, key=key) if key else entries[::-1], end)


def _stronger(old: float | None, new: float) -> float:
    return new if old is None or abs(new) > abs(old) else old


def _engines() -> Iterator[tuple[str, Walk]]:
    yield "OVERWRITE", partial(walk_backwards, add=lambda old, new: new)
    yield "OVERWRITE", partial(walk_backwards, add=lambda old, new: new if old is None else old)
    for all_first in (True, False):
        for flipped in (False, True):
            yield "EARLY", partial(_recursive, again=True, all_first=all_first, flipped=flipped)
            yield "CLOSED", partial(_recursive, again=False, all_first=all_first, flipped=flipped)
    yield "ONE_PATH", partial(walk_backwards, add=_stronger)
    for key in (None, lambda entry: entry[0]):
        yield "ORDER_BY_NAME", partial(_in_order, key=key)
    yield "ORDER_BY_NAME", lambda entries, end: walk_backwards(sorted(entries, reverse=True), end)


WRONG: tuple[tuple[str, Walk], ...] = tuple(_engines())
"""Wrong engines, the most telling first; variants of an idea have the same code."""


def stale(dealt: Dealt, left: Accounts) -> Iterator[tuple[str, Accounts]]:
    """Yield what engines give that do not empty a ledger which holds what an earlier pass left."""
    yield "STALE", walk_backwards(dealt.entries, dealt.end, start=left)
    seeded = walk_backwards([*dealt.entries], dealt.end, start={})
    made = {out for out, _ in dealt.entries}
    yield "STALE_LEAVES", {name: g + (0.0 if name in made else left.get(name, 0.0)) for name, g in seeded.items()}
    with_seed = {**left, dealt.end: left.get(dealt.end, 0.0) + 1.0}
    accounts = dict(with_seed)
    for out, uses in reversed(dealt.entries):
        for name, local in uses:
            accounts[name] = accounts.get(name, 0.0) + accounts[out] * local
    yield "STALE", accounts
