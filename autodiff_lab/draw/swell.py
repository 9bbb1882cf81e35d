"""How a formula swells when a step is repeated: its signs, those of its derivative, and the entries of a tape.

A program is a list of parts, each written once; a formula writes a part wherever it is used.  Counting is exact.
``widgets/swell/formula.js`` is the twin in the page, which also reads a step that somebody types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, line, points
from autodiff_lab.recording.numbers import short

SIGNS_A_PAGE, PAGE = 3_000, 1e-4
"""What fits on a page, and how thick it is, in metres."""
LANDMARKS: Mapping[str, float] = {"the door": 2.0, "Mount Everest": 8_849.0, "the moon": 3.844e8, "the Sun": 1.496e11}
"""Their heights or distances, in metres."""
LONGEST = 60
"""Signs of a formula that is written out."""
_BINDS = {"+": 1, "−": 1, "×": 2, "÷": 2, "^": 4}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a formula.

    Attributes
    ----------
    sign : str
        What is written for it: ``"×"``, ``"sin"``, ``"4"`` or ``"x"``.
    kind : str
        Which rule of school differentiates it: ``"x"``, ``"number"``, ``"sum"``, ``"product"``, ``"quotient"``,
        ``"power"`` (with a number as exponent), or ``"call"`` for the chain rule.
    inputs : tuple of int
        Indices of the parts that it is made of, all smaller than its own.
    """

    sign: str
    kind: str
    inputs: tuple[int, ...] = ()


Rule = Callable[[Sequence[int], Sequence[int]], int]
_RULES: dict[str, Rule] = {
    "x": lambda t, d: 1,  # 1
    "number": lambda t, d: 1,  # 0
    "sum": lambda t, d: 1 + sum(d),  # a′ + b′
    "product": lambda t, d: 3 + sum(t) + sum(d),  # a′·b + a·b′
    "quotient": lambda t, d: 6 + t[0] + 2 * t[1] + sum(d),  # (a′·b − a·b′) / b^2
    "power": lambda t, d: 5 + t[0] + d[0],  # n·a^m·a′
    "call": lambda t, d: 3 * len(t) - 1 + len(t) * sum(t) + sum(d),  # f′(a)·a′, and a sum of these for several inputs
}
"""Signs of a derivative by the signs of its inputs and of their derivatives: nothing is simplified."""


@dataclass(frozen=True, eq=False)
class Swell:
    """A step that is repeated.

    Attributes
    ----------
    parts : tuple of Part
        Of all rounds, each written once.
    roots : tuple of int
        The part that is the result after 0, 1, 2, ... rounds.
    entries : tuple of int
        How many entries the tape has after as many.
    places : mapping of int to pair of float
        Where the picture of a recording of the first rounds shows a part.

    Examples
    --------
    >>> parts = Part("x", "x"), Part("+", "sum", (0, 0)), Part("+", "sum", (1, 1))
    >>> swell = Swell(parts, (0, 1, 2), (0, 1, 2))
    >>> swell.text, swell.signs(2), swell.derivative_signs(2), swell.merged(2)
    ('x + x', 7, 7, (3, 2))
    """

    parts: tuple[Part, ...]
    roots: tuple[int, ...]
    entries: tuple[int, ...]
    places: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def _sizes(self) -> tuple[list[int], list[int]]:
        formula: list[int] = []
        derivative: list[int] = []
        for part in self.parts:
            own = [formula[i] for i in part.inputs], [derivative[i] for i in part.inputs]
            formula.append(1 + sum(own[0]))
            derivative.append(_RULES[part.kind](*own))
        return formula, derivative

    @property
    def rounds(self) -> int:
        """How many rounds are known."""
        return len(self.roots) - 1

    def signs(self, n: int) -> int:
        """Return the signs of the formula after n rounds, written out."""
        return self._sizes[0][self.roots[n]]

    def derivative_signs(self, n: int) -> int:
        """Return the signs of its derivative by the rules of school, nothing simplified."""
        return self._sizes[1][self.roots[n]]

    def merged(self, n: int) -> tuple[int, int]:
        """Return how many parts are left when equal ones are one, and how many of these are ops."""
        met: set[int] = set()
        waiting = [self.roots[n]]
        while waiting:
            part = waiting.pop()
            if part not in met:
                met.add(part)
                waiting += self.parts[part].inputs
        return len(met), sum(bool(self.parts[part].inputs) for part in met)

    @property
    def text(self) -> str:
        """One round as a formula."""
        return self.written(self.roots[1])

    def written(self, part: int) -> str:
        """Return a part as a formula, with no more parentheses than it needs."""
        if self._sizes[0][part] > LONGEST:
            return f"a formula of {told(self._sizes[0][part])} signs"
        return self._written(part)[0]

    def _written(self, index: int) -> tuple[str, int]:
        """Return a part as a formula, and how strongly it binds."""
        part = self.parts[index]
        if not part.inputs:
            return part.sign, 5 if part.kind == "x" or part.sign[0].isdigit() else 1
        inputs = [self._written(i) for i in part.inputs]
        if part.kind == "sum" and len(inputs) == 1:
            text, strength = inputs[0]
            return f"−{text if strength > 1 else f'({text})'}", 1
        if part.sign not in _BINDS or len(inputs) != 2:
            return f"{part.sign}({', '.join(text for text, _ in inputs)})", 5
        own = _BINDS[part.sign]
        left, right = (
            text if strength >= own + (at == (part.sign != "^") and part.sign != "+") else f"({text})"
            for at, (text, strength) in enumerate(inputs)
        )
        sign = {"×": "·", "÷": " / ", "^": "^"}.get(part.sign, f" {part.sign} ")
        return f"{left}{sign}{right}", own

    def facts(self, derivative: bool = True) -> dict[str, Any]:
        """Return this as JSON, for the page."""
        return {
            "parts": [{"sign": part.sign, "kind": part.kind, "inputs": part.inputs} for part in self.parts],
            "roots": self.roots, "entries": self.entries, "derivative": derivative,
            "places": {str(part): spot for part, spot in self.places.items()},
        }  # fmt: skip

    def account(self, n: int, derivative: bool = True) -> str:
        """Return as text how long the formula is after n rounds, and what is left of it."""
        parts, ops = self.merged(n)
        count = self.derivative_signs(n) if derivative else self.signs(n)
        lines = [
            f"x ← {self.text}, {n} {'time' if n == 1 else 'times'}",
            f"  formula, written out: {told(self.signs(n))} signs",
            f"  its derivative, nothing simplified: {told(count)} signs" if derivative else "",
            f"  equal parts merged: {parts:,} parts, {ops:,} of them ops",
            f"  tape: {self.entries[n]:,} {'entry' if self.entries[n] == 1 else 'entries'}",
            f"  on paper the {'derivative' if derivative else 'formula'} {reach(count)}",
        ]
        return "\n".join(filter(None, lines))

    def plot(self, n: int, derivative: bool = True) -> Plot:
        """Return all counts against the number of rounds, on a logarithmic axis."""
        x = list(range(1, self.rounds + 1))
        curves: dict[str, tuple[list[int], str]] = {"formula": ([self.signs(k) for k in x], "ink")}
        if derivative:
            curves["derivative"] = [self.derivative_signs(k) for k in x], "backward"
        curves["tape"] = list(self.entries[1:]), "forward"
        layers: list[Layer] = []
        for counts, role in curves.values():
            seen = [max(float(count), 1.0) for count in counts]
            layers += [line(x, seen, role), points([n], [seen[n - 1]], role, 4.0)]
        labels = tuple(Label(name, float(x[-1]), float(max(each[0][-1], 1)), each[1]) for name, each in curves.items())
        top = max(float(max(each[0])) for each in curves.values())
        axes = Axis(1.0, float(max(self.rounds, 2)), "n"), Axis(1.0, max(10.0, 10 * top), "signs, entries", log=True)
        return Plot(*axes, tuple(layers), labels, f"x ← {self.text}, n times", self.account(n, derivative))


def told(count: int) -> str:
    """Return a count as people read it.

    Examples
    --------
    >>> told(6139), told(10**17)
    ('6,139', '1e17')
    """
    return f"{count:,}" if count < 10**6 else short(float(count), 3)


def reach(signs: int) -> str:
    """Return what becomes of so many signs on paper, as the rest of a sentence.

    Examples
    --------
    >>> for signs in (577, 92_161, 6 * 10**7, 507 * 10**15, 5 * 10**18):
    ...     print(reach(signs))
    fits on a page
    takes 31 pages
    is a pile of 2 m: as high as the door
    is a pile of 17 million km: 44 times as far as the moon
    is a pile of 170 million km: as far as the Sun
    """
    pages = -(-signs // SIGNS_A_PAGE)
    height = signs / SIGNS_A_PAGE * PAGE
    if pages == 1:
        return "fits on a page"
    if pages < 100:
        return f"takes {pages} pages"
    reached = [name for name, far in LANDMARKS.items() if height >= far]
    if not reached:
        return f"is a pile of {length(height)}"
    times = height / LANDMARKS[reached[-1]]
    how = "high" if LANDMARKS[reached[-1]] < 1e6 else "far"
    as_far = f"as {how} as {reached[-1]}"
    return f"is a pile of {length(height)}: {f'{short(times, 2)} times ' if times >= 1.95 else ''}{as_far}"


def length(metres: float) -> str:
    """Return a length in the unit that suits it, with two digits.

    Examples
    --------
    >>> [length(metres) for metres in (0.31, 25.0, 384_400_000.0, 1.69e10, 3e20)]
    ['31 cm', '25 m', '380,000 km', '17 million km', '3e17 km']
    """
    if metres < 1:
        return f"{short(metres * 100, 2)} cm"
    if metres < 1000:
        return f"{short(float(f'{metres:.2g}'), 2)} m"
    km = float(f"{metres / 1000:.2g}")
    if km < 1e6:
        return f"{km:,.0f} km" if km >= 10 else f"{short(km, 2)} km"
    return f"{short(km / 1e6, 2)} million km" if km < 1e9 else f"{short(km, 2)} km"
