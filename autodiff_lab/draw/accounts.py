"""Several backward passes over one program, booking by booking: the account of each value, and the audit at the end.

A pass is a recording: that of the right engine first, then those of engines that are wrong on purpose. All of them are
drawn on one graph of accounts, from the inputs at the top to the result at the bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.draw import geometry
from autodiff_lab.draw.assets import WIDGETS, without_comments
from autodiff_lab.draw.layout import OWN, layout
from autodiff_lab.draw.markup import picture, words
from autodiff_lab.draw.model import Edge, Graph, Node
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.explain.expressions import own_name, spoken
from autodiff_lab.recording.model import Flow, Step
from autodiff_lab.recording.numbers import short
from autodiff_lab.recording.recording import Recording

MOST_ACCOUNTS, MOST_BOOKINGS = 24, 200
"""What is larger than this is not shown side by side."""
WIDTH, HEIGHT = 104.0, 72.0
MARGIN, TOP = 12.0, 20.0
LINE = 20.0
"""Of an account, around a graph, above it for a stamp, and of a line of text; all of these are in pixels."""
MOST_SLOTS = 5
STAMP = "paid out early"

STYLE = without_comments((WIDGETS / "engines" / "accounts.css").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Account:
    """One value of the program: its tensor's id, its name and number, and how many bookings are due to it."""

    key: int
    name: str
    value: str
    due: int


@dataclass(frozen=True, slots=True)
class State:
    """What an account shows after some bookings.

    `booked` bookings are in and `holds` is their amount, empty before the first; `order` are the turns in which
    it paid out; `early` says whether it paid out before all of its bookings were in, `now` whether it has just
    paid or been paid.
    """

    booked: int = 0
    holds: str = ""
    order: tuple[int, ...] = ()
    early: bool = False
    now: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """One backward pass: what it is called, its states and a sentence after each booking, and the audit at its end."""

    name: str
    idea: str
    states: tuple[tuple[State, ...], ...]
    sentences: tuple[str, ...]
    audit: tuple[str, ...]

    def early(self, accounts: Sequence[Account]) -> list[str]:
        """Return the names of the accounts that paid out too early."""
        return [account.name for account, state in zip(accounts, self.states[-1], strict=True) if state.early]


class Accounts:
    """Backward passes over one program, ready to be shown side by side.

    Parameters
    ----------
    passes : sequence of (str, str, Recording)
        The name, the idea in words, and the recording of each pass; the first one is right.

    Attributes
    ----------
    accounts : tuple of Account
        In the order in which the program computed them.
    passes : tuple of Pass
        As given.

    Raises
    ------
    InvalidArgumentError
        If the program does not consist of scalars, or is too large to be shown side by side.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    ...     _ = tape.gradient(y, x)
    >>> print(Accounts([("right", "", recording)]).account())
    right: dy/dx = 6 = 3 + 3
    """

    def __init__(self, passes: Sequence[tuple[str, str, Recording]]) -> None:
        right = passes[0][2]
        self.accounts = _accounts(right)
        self.graph = _graph(right, self.accounts)
        self.passes = tuple(_Reader(recording, self.accounts).read(name, idea) for name, idea, recording in passes)

    @property
    def last(self) -> int:
        """The number of bookings of the longest pass."""
        return max(len(each.states) for each in self.passes) - 1

    def account(self) -> str:
        """Return the audit of each pass, and who paid out early, as text."""
        lines: list[str] = []
        for each in self.passes:
            lines += [f"{each.name}: {each.audit[0]}", *(f"  {line}" for line in each.audit[1:])]
            early = each.early(self.accounts)
            if early:
                lines.append(f"  {' and '.join(early)} paid out early")
        return "\n".join(lines)

    def panel(self, which: int, step: int) -> tuple[str, float, float]:
        """Return the markup of one pass after some bookings, its width and its height."""
        drawn = layout(_turned(self.graph), engine=OWN)
        states = self.passes[which].states
        shown = states[min(step, len(states) - 1)]
        parts = [_edge(tuple((y + MARGIN, x + TOP) for x, y in curve)) for curve in drawn.curves]
        for at, (account, state) in enumerate(zip(self.accounts, shown, strict=True)):
            box = drawn.boxes[f"t{account.key}"]
            parts.append(_drawn(at, account, state, box.y - WIDTH / 2 + MARGIN, box.x - HEIGHT / 2 + TOP))
        return "".join(parts), drawn.height + 2 * MARGIN, drawn.width + TOP + MARGIN

    def svg(self) -> str:
        """Return all passes at their ends, side by side, as one picture."""
        parts: list[str] = []
        left = bottom = 0.0
        for which, each in enumerate(self.passes):
            markup, width, height = self.panel(which, self.last)
            head = words("lab-title", MARGIN, 24, each.name)
            lines = [words("lab-booked", MARGIN, height + 48 + LINE * n, t) for n, t in enumerate(_wrapped(each.audit))]
            place = f'transform="translate({left:g} 0)"'
            parts.append(f'<g {place}>{head}<g transform="translate(0 32)">{markup}</g>{"".join(lines)}</g>')
            left += max(width, 232.0)
            bottom = max(bottom, height + 48 + LINE * len(lines))
        return picture("lab-accounts", STYLE, "Accounts of backward passes", self.account(), left, bottom, parts)

    def facts(self) -> dict[str, Any]:
        """Return what the page needs, as JSON."""
        markup, width, height = self.panel(0, 0)
        return {
            "markup": markup, "width": width, "height": height, "last": self.last,
            "names": [account.name for account in self.accounts],
            "passes": [
                {"name": each.name, "idea": each.idea, "audit": list(each.audit), "sentences": list(each.sentences),
                 "states": [[_shown(a, s) for a, s in zip(self.accounts, row, strict=True)] for row in each.states]}
                for each in self.passes
            ],
        }  # fmt: skip


def _shown(account: Account, state: State) -> list[Any]:
    """Return what is written on an account: slots, bookings, amount, order, and whether it is early and now."""
    slots = "●" * state.booked + "○" * (account.due - state.booked)
    slots = slots if len(slots) <= MOST_SLOTS else f"{slots[: MOST_SLOTS - 1]}‥"
    booked = f"{state.booked} of {account.due}" if account.due else "seed"
    order = f"#{'·'.join(map(str, state.order))}" if state.order else ""
    return [slots, booked, state.holds, order, state.early, state.now]


def _drawn(at: int, account: Account, state: State, x: float, y: float) -> str:
    slots, booked, holds, order, early, now = _shown(account, state)
    css = "lab-account" + " lab-early" * early + " lab-now" * now
    return "".join([
        f'<g class="{css}" data-at="{at}" transform="translate({x:.1f} {y:.1f})">',
        f'<rect class="lab-body" width="{WIDTH:g}" height="{HEIGHT:g}" rx="6"/>',
        words("lab-title", 8, 20, _cut(account.name)), words("lab-value", WIDTH - 8, 20, account.value, "end"),
        words("lab-slots", 8, 42, slots), words("lab-booked", WIDTH - 8, 42, booked, "end"),
        words("lab-order", 8, 62, order), words("lab-holds", WIDTH - 8, 62, holds, "end"),
        words("lab-stamp", WIDTH / 2, -6, STAMP if early else "", "middle"), "</g>",
    ])  # fmt: skip


def _edge(curve: geometry.Curve) -> str:
    line, tip = geometry.path(geometry.shortened(curve)), geometry.arrowhead(curve)
    return f'<path class="lab-line" d="{line}"/><path class="lab-tip" d="{tip}"/>'


def _cut(name: str) -> str:
    return name if len(name) <= 6 else f"{name[:5]}‥"


def _wrapped(lines: Sequence[str]) -> list[str]:
    """Return an audit with each of its parts on a line."""
    return [part.strip() for line in lines for part in line.split(";")]


def _accounts(right: Recording) -> tuple[Account, ...]:
    due: dict[int, int] = {}
    for step in right.sweeps[-1].steps:
        for flow in step.flows:
            due[flow.input] = due.get(flow.input, 0) + 1
    keys = sorted({*due, *right.sweeps[-1].targets}, key=lambda key: right.numbers[key])
    if len(keys) > MOST_ACCOUNTS or sum(due.values()) > MOST_BOOKINGS:
        raise InvalidArgumentError(
            f"The program has {len(keys)} values with {sum(due.values())} contributions; up to {MOST_ACCOUNTS} with "
            f"{MOST_BOOKINGS} are shown side by side. Try a smaller program."
        )
    for key in keys:
        if right.tensors[key].snapshot.shape != ():
            raise InvalidArgumentError(
                f"{spoken(right, key)} has shape {right.tensors[key].snapshot.shape}; accounts hold one number each. "
                "Record a program of scalars."
            )
    return tuple(Account(key, _named(right, key), _number(right, key), due.get(key, 0)) for key in keys)


def _named(recording: Recording, key: int) -> str:
    """Return what an account is called: sentences name it, so a value without a name is its formula, never `%2`."""
    return own_name(recording, key) or f"({spoken(recording, key)})"


def _graph(right: Recording, accounts: Sequence[Account]) -> Graph:
    nodes = tuple(Node(f"t{a.key}", "op", a.name, width=WIDTH, height=HEIGHT) for a in accounts)
    edges = [
        Edge(f"t{flow.input}", f"t{output}", flow.input, flow.position)
        for step in right.sweeps[-1].steps
        for flow in step.flows
        for output in _outputs(right, step)
    ]
    return Graph(nodes, tuple(edges))


def _turned(graph: Graph) -> Graph:
    """Return the graph with its sizes exchanged: a layout from left to right then is one from the top, on its side."""
    nodes = tuple(Node(n.key, n.kind, n.label, width=n.height, height=n.width) for n in graph.nodes)
    return Graph(nodes, graph.edges)


def _outputs(recording: Recording, step: Step) -> tuple[int, ...]:
    return recording.applications[step.application].outputs


def _number(recording: Recording, key: int | None) -> str:
    if key is None:
        return ""
    array = np.asarray(recording.tensors[key].snapshot.array)
    return short(array.reshape(-1)[0], minus="−") if array.size else ""


class _Reader:
    """Goes through the bookings of one pass."""

    def __init__(self, recording: Recording, accounts: Sequence[Account]) -> None:
        self.recording, self.sweep = recording, recording.sweeps[-1]
        self.accounts = {account.key: account for account in accounts}
        self.booked = dict.fromkeys(self.accounts, 0)
        self.holds: dict[int, int] = dict(zip(self.sweep.targets, self.sweep.seeds, strict=True))
        self.holds.update(carried for carried in self.sweep.carried if carried[0] in self.accounts)
        self.order: dict[int, list[int]] = {key: [] for key in self.accounts}
        self.early: set[int] = set()

    def read(self, name: str, idea: str) -> Pass:
        states = [self._states(frozenset())]
        names = " and ".join(self.accounts[key].name for key in self.sweep.targets)
        sentences = [f"Before the first booking. {names} holds {self._amount(self.sweep.targets[0])}."]
        for number, step in enumerate(self.sweep.steps, start=1):
            paying = [key for key in _outputs(self.recording, step) if key in self.accounts]
            for key in paying:
                self.order[key].append(number)
                if self.booked[key] < self.accounts[key].due:
                    self.early.add(key)
            for flow in step.flows:
                self.booked[flow.input] += 1
                self.holds[flow.input] = flow.total
                states.append(self._states(frozenset({*paying, flow.input})))
                sentences.append(self._sentence(step, flow, paying))
        return Pass(name, idea, tuple(states), tuple(sentences), tuple(self._audit()))

    def _amount(self, key: int) -> str:
        return _number(self.recording, self.holds.get(key))

    def _states(self, now: frozenset[int]) -> tuple[State, ...]:
        return tuple(
            State(self.booked[key], self._amount(key), tuple(self.order[key]), key in self.early, key in now)
            for key in self.accounts
        )

    def _sentence(self, step: Step, flow: Flow, paying: Sequence[int]) -> str:
        payer = self.accounts[paying[0]] if paying else None
        to = self.accounts[flow.input].name
        amount, incoming = _number(self.recording, flow.outgoing), _number(self.recording, step.incoming[0])
        local = "" if flow.local is None else short(np.asarray(flow.local.array).reshape(-1)[0], minus="−")
        sums = (
            f"{_signed(incoming)} × {_signed(local)} = {amount}" if local and self._multiplied(step, flow) else amount
        )
        said = f"{payer.name if payer else 'An op'} pays {sums} to {to}, which now holds {self._amount(flow.input)}."
        if payer and payer.key in self.early and self.booked[payer.key] < payer.due:
            said += f" Too early: {self.booked[payer.key]} of {payer.due} bookings of {payer.name} are in."
        return said

    def _multiplied(self, step: Step, flow: Flow) -> bool:
        """Return whether the amount is what came in times the local derivative, as it is in a right pass."""
        if step.incoming[0] is None or flow.local is None:
            return False
        arrays = [self.recording.tensors[key].snapshot.array for key in (step.incoming[0], flow.outgoing)]
        incoming, outgoing = (float(np.asarray(array).reshape(-1)[0]) for array in arrays)
        return bool(np.isclose(incoming * float(np.asarray(flow.local.array).reshape(-1)[0]), outgoing, rtol=1e-4))

    def _audit(self) -> list[str]:
        target = self.accounts[self.sweep.targets[0]].name
        found: list[str] = []
        for position, source in enumerate(self.sweep.sources):
            known = source in self.recording.tensors
            name = _named(self.recording, source) if known else self.sweep.called(position)
            try:
                found.append(self.recording.ledger(source).headline)
            except NotInRecording:
                found.append(f"d{target}/d{name}: nothing was booked")
        return found or [f"No gradient of {target} was asked for"]


def _signed(number: str) -> str:
    return f"({number})" if number.startswith("−") else number
