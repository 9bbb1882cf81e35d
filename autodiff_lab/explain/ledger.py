"""The ledger of a gradient: every path from source to target with the product of its local derivatives.

The chain rule says that a gradient is a sum over paths; here the sum is written out, for programs of scalars.  The
number of paths can grow exponentially, so they are counted without being listed, and only the largest are listed.
Paths are followed along the ops, and not in the order in which the pass visited them: where the pass
lost a contribution, or made one twice, the sum over paths shows it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_lab.errors import DtypeMismatch, NotInRecording, ShapeMismatch
from autodiff_lab.explain.expressions import in_code, spoken
from autodiff_lab.explain.subjects import Subject, subject
from autodiff_lab.recording.choosing import demand_all
from autodiff_lab.recording.model import Flow, Step, Sweep
from autodiff_lab.recording.numbers import dimensions, short
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot
from autodiff_lab.recording.statements import parsed

LISTED = 20


@dataclass(frozen=True)
class Factor:
    """One op on a path: the op, its result, and its derivative with respect to the input that the path comes from.

    `side` distinguishes two ways through one op: ``"left"`` and ``"right"`` in ``x * x``.
    """

    op: str
    result: str
    derivative: float
    side: str = ""

    def __str__(self) -> str:
        return f"{self.op}{self.side and f' ({self.side})'} {short(self.derivative)}"


@dataclass(frozen=True)
class LedgerPath:
    """One path: its ops from the source to the target, and what it adds to the gradient."""

    factors: tuple[Factor, ...]
    product: float


@dataclass(frozen=True)
class Ledger:
    """What adds up to a gradient.

    Attributes
    ----------
    source, target : str
        Their names.
    paths : tuple of LedgerPath
        The largest paths by absolute value, largest first.
    count : int
        The number of all paths.
    total : float
        The gradient that the backward pass found; of one target among several, without the paths of the others.
    added : float
        The sum over all paths; what the gradient should be if all local derivatives are right.
    balanced : bool
        Whether the two agree up to rounding, as they do after a right backward pass.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = x * x + lab.sin(x)
    ...     grad = tape.gradient(y, x)
    >>> print(recording.ledger(x))
    dy/dx = 5.01 = 3 + 3 - 0.99
          3   multiply (left) 3    add 1
          3   multiply (right) 3   add 1
      -0.99   sin -0.99            add 1
    """

    source: str
    target: str
    paths: tuple[LedgerPath, ...]
    count: int
    total: float
    added: float
    balanced: bool = True

    @property
    def rest(self) -> float:
        """The sum over the paths that are not listed."""
        return self.added - sum(path.product for path in self.paths)

    @property
    def headline(self) -> str:
        """The gradient and its sum: ``"dy/dx = 5.01 = 3 + 3 - 0.99"``.

        After a wrong pass, what is wrong with it: ``"dc/dx = 6; paths add to 21; 15 missing"``.
        """
        names = [name if in_code(name) == name else f"({name})" for name in (self.target, self.source)]
        if any(parsed(name) is None for name in names):
            names = [f"the gradient of {self.target} with respect to {self.source}"]
        gradient = f"{'/'.join(f'd{name}' for name in names) if len(names) == 2 else names[0]} = {short(self.total)}"
        if not self.balanced:
            return f"{gradient}; paths add to {short(self.added)}; {self._difference()}"
        sums = _sum([path.product for path in self.paths]) if 1 < self.count == len(self.paths) <= LISTED // 2 else ""
        return gradient + (f" = {sums}" if sums else "")

    def _difference(self) -> str:
        """Return what the gradient lacks, or has too much of."""
        missing = self.added - self.total
        return f"{short(missing)} missing" if missing * self.added > 0 else f"{short(-missing)} too much"

    def __str__(self) -> str:
        values = [short(path.product) for path in self.paths]
        width = max((len(v) for v in values), default=0)
        factors = [_grouped(path.factors) for path in self.paths]
        columns = [
            max(len(row[i]) for row in factors if i < len(row)) for i in range(max(map(len, factors), default=0))
        ]
        rows = [
            f"  {value:>{width + 2}}   " + "   ".join(f"{word:<{columns[i]}}" for i, word in enumerate(row))
            for value, row in zip(values, factors, strict=True)
        ]
        return "\n".join([self.headline, *(row.rstrip() for row in rows), *self._left_out()])

    def _left_out(self) -> list[str]:
        hidden = self.count - len(self.paths)
        if not hidden:
            return []
        return [f"  and {hidden:,} smaller paths of {self.count:,}, together {short(self.rest)}"]

    def _repr_markdown_(self) -> str:
        from autodiff_lab.explain.model import escaped

        rows = [f"| {short(path.product)} | {escaped(' · '.join(_grouped(path.factors)))} |" for path in self.paths]
        head = f"**{escaped(self.headline)}**"
        return "\n".join([head, "", "| adds | local derivatives |", "|---:|:---|", *rows, "", *self._left_out()])


def _grouped(factors: tuple[Factor, ...]) -> list[str]:
    """Return factors as words, a run of equal ones as one: ``"add 1 ×18"``."""
    runs: list[list[Any]] = []
    for word in map(str, factors):
        if runs and runs[-1][0] == word:
            runs[-1][1] += 1
        else:
            runs.append([word, 1])
    return [word if count == 1 else f"{word} ×{count}" for word, count in runs]


def _sum(terms: list[float]) -> str:
    text = short(terms[0])
    for term in terms[1:]:
        text += f" - {short(-term)}" if term < 0 else f" + {short(term)}"
    return text


def ledger(recording: Recording, source: Any, target: Any = None, limit: int = LISTED) -> Ledger:
    """List the paths from a source to the target of a backward pass; see `Recording.ledger`.

    Raises
    ------
    NotInRecording
        A `LookupError`: no recorded backward pass led from the target to the source.
    ShapeMismatch
        A `ValueError`: a value on the way is not a scalar, so that a path has no single number.
    DtypeMismatch
        A `TypeError`: a value on the way is complex or a text.
    """
    demand_all(recording, "ledger")
    s = subject(recording, source, "source")
    t = None if target is None else subject(recording, target, "target")
    for sweep in reversed(recording.sweeps):
        if sweep.forward:
            continue
        reached = any(flow.input in s.tensors for step in sweep.steps for flow in step.flows)
        reached = reached or any(tensor in s.tensors for tensor, _ in sweep.carried)
        if reached and (t is None or t.keys & set(sweep.targets)):
            whole = _Paths(recording, sweep, s, None, limit).ledger()
            if t is None or t.keys.issuperset(sweep.targets):
                return whole
            part = _Paths(recording, sweep, s, t, limit).ledger()
            return replace(part, total=part.added + whole.total - whole.added, balanced=whole.balanced)
    raise NotInRecording(
        f"No backward pass of the recording leads to {s.name}. Call tape.gradient(target, {in_code(s.name)}) inside "
        "the recording; recording.explain(target, source) says why a gradient is missing."
    )


@dataclass(frozen=True)
class _Link:
    """A path from a tensor to the target, as a linked list; `product` includes everything behind it."""

    product: float
    factor: Factor | None = None
    behind: _Link | None = None


class _Paths:
    """Keeps, for every tensor that a sweep reached, the largest paths to the target, their number and their sum."""

    def __init__(self, recording: Recording, sweep: Sweep, source: Subject, target: Subject | None, limit: int) -> None:
        self.recording, self.sweep, self.source, self.limit = recording, sweep, source, limit
        targets = [t for t in sweep.targets if target is None or t in target.keys]
        seeds = dict(zip(sweep.targets, sweep.seeds, strict=True))
        self.name = " + ".join(spoken(recording, t) for t in targets)
        self.ways: dict[int, list[_Link]] = {t: [_Link(self.number(seeds[t]))] for t in targets}
        self.count: dict[int, int] = dict.fromkeys(targets, 1)
        self.sums: dict[int, float] = {t: self.number(seeds[t]) for t in targets}
        self.sizes: dict[int, float] = {t: abs(s) for t, s in self.sums.items()}

    def ledger(self) -> Ledger:
        # A wrong pass may visit an op several times, or too early.
        visited = {(step.application, flow.position): (step, flow) for step in self.sweep.steps for flow in step.flows}
        for key in sorted(visited, key=lambda key: (-key[0], key[1])):
            self.follow(*visited[key])
        tensors = self.source.tensors
        links = [link for tensor in tensors for link in self.ways.get(tensor, [])]
        count = sum(self.count.get(tensor, 0) for tensor in tensors)
        largest = heapq.nlargest(self.limit, links, key=lambda link: _size(link.product))
        adjoints = self.sweep.adjoints()
        found = [adjoints[t] for t in tensors if t in adjoints]
        total, added = sum(map(self.number, found)), sum(self.sums.get(t, 0.0) for t in tensors)
        size = sum(self.sizes.get(t, 0.0) for t in tensors)
        precise = max((_rounding(self.recording.tensors[g].snapshot.dtype) for g in found), default=0.0)
        balanced = not math.isfinite(total - added) or abs(total - added) <= precise * max(size, abs(total))
        return Ledger(self.source.name, self.name, tuple(map(_unrolled, largest)), count, total, added, balanced)

    def follow(self, step: Step, flow: Flow) -> None:
        """Extend the paths to an op's outputs by the op itself, towards one input."""
        application = self.recording.applications[step.application]
        links = [link for output in application.outputs for link in self.ways.get(output, [])]
        if not links:
            return
        twice = len(application.inputs) == 2 and application.inputs[0] == application.inputs[1]
        side = ("left", "right")[flow.position] if twice else ""
        result = spoken(self.recording, application.outputs[0])
        factor = Factor(application.op, result, self.local(step, flow), side)
        longer = [_Link(link.product * factor.derivative, factor, link) for link in links]
        both = [*self.ways.get(flow.input, []), *longer]
        self.ways[flow.input] = heapq.nlargest(self.limit, both, key=lambda link: _size(link.product))
        count = sum(self.count.get(output, 0) for output in application.outputs)
        self.count[flow.input] = self.count.get(flow.input, 0) + count
        for kept, factor_ in ((self.sums, factor.derivative), (self.sizes, abs(factor.derivative))):
            more = factor_ * sum(kept.get(output, 0.0) for output in application.outputs)
            kept[flow.input] = kept.get(flow.input, 0.0) + more

    def local(self, step: Step, flow: Flow) -> float:
        if flow.local is not None and flow.local.array is not None and flow.local.size == 1:
            return _real(flow.local, f"the derivative of {self.recording.applications[step.application].op}")
        incoming = sum(self.number(g) for g in step.incoming if g is not None)
        outgoing = self.number(flow.outgoing)
        return outgoing / incoming if incoming else float("nan") if outgoing else 0.0

    def number(self, tensor: int) -> float:
        """Return a value as one number."""
        value = self.recording.tensors[tensor].snapshot
        if value.size != 1 or value.array is None:
            raise ShapeMismatch(
                f"ledger: {spoken(self.recording, tensor)} has shape {dimensions(value.shape) or '()'}, and a path has "
                "a single number only where every value is a scalar. Try the ledger of a scalar program, such as one "
                "for a single element of this value."
            )
        return _real(value, spoken(self.recording, tensor))


def _real(value: Snapshot, name: str) -> float:
    """Return a scalar as a float."""
    array = np.asarray(value.array).reshape(())
    if array.dtype.kind not in "fiub":
        raise DtypeMismatch(
            f"ledger: {name} is {value.dtype}, and the paths of a ledger are products of real numbers. Try the ledger "
            "of a program of floats, such as the real and the imaginary part separately."
        )
    return float(array)


def _rounding(dtype: str) -> float:
    """Return how far a sum may be off by rounding, relative to its terms."""
    bits = {"float16": 11, "bfloat16": 8, "float32": 24}.get(dtype, 53)
    return min(2.0 ** (9 - bits), 0.05)


def _size(number: float) -> float:
    """Return a sorting key: nan first, so that it is never hidden."""
    return float("inf") if math.isnan(number) else abs(number)


def _unrolled(link: _Link) -> LedgerPath:
    factors: list[Factor] = []
    product = link.product
    current: _Link | None = link
    while current is not None and current.factor is not None:
        factors.append(current.factor)
        current = current.behind
    return LedgerPath(tuple(factors), product)
