"""Values that left the engine, and the constants they may have come back as.

A recording knows that a tensor left (by `numpy()`, `float()`, a NumPy function, `bool()`) and that an array or
number came in later; whether the one became the other is judged from the evidence: the same value, the same line, or a
variable that one line assigns and the other reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from autodiff_lab.events import Place
from autodiff_lab.explain.words import READS, STORES
from autodiff_lab.recording.model import Note, TensorRecord
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.statements import parsed

CERTAIN, LIKELY, POSSIBLE, READ, DECIDED = 10.0, 40.0, 200.0, 500.0, 1000.0
"""Costs: the same value or line, a value connected by a common line, a kept value, one that a function of ours read in
that line, and one that decided a branch."""
LOOKED_AT = 200
"""How many exits are considered for one constant, latest first."""
_DECIDES = re.compile(r"\b(if|elif|while|and|or|not|min|max|sorted)\b")
_GOES_ON = re.compile(r"\s*(else|elif)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:[eE][-+]?\d+)?|(?<![\w])\.\d+")


@dataclass(frozen=True)
class Line:
    """The names that a source line assigns and reads, the numbers written in it, and whether it keeps its value."""

    assigns: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()
    keeps: bool = True


class Leaving:
    """Finds, for a constant, the tensors that it may once have been."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.exits = [n for n in recording.notes if n.kind == "left" and n.subject in recording.tensors]
        self.reads = [n for n in recording.notes if n.kind == "read" and n.subject in recording.tensors]
        self.deciding = [n for n in self.exits if self._decides(n)]

    def exits_behind(self, tensor: int, born: int) -> Iterator[tuple[Note, float]]:
        """Return the exits that a leaf may have come back from, each with a cost that grows with the doubt."""
        record = self.recording.tensors[tensor]
        if not self.exits or self._is_written_out(record):
            return
        earlier = [n for n in self.exits if n.before <= born and n.subject != tensor and n.detail != "branch"]
        for note in earlier[-LOOKED_AT:]:
            cost = self._cost(note, record)
            if cost is not None:
                yield note, cost

    def reads_behind(self, tensor: int, born: int) -> Iterator[tuple[Note, float]]:
        """Return the reads by functions of our own that a tensor may be the result of, each with a cost."""
        record = self.recording.tensors[tensor]
        made = record.application is not None
        for note in self.reads[-LOOKED_AT:] if record.variable is None else ():
            if note.before > born or note.subject >= tensor:  # ids grow: what was there before is not a result
                continue
            same_line = note.place is not None and note.place == record.place
            next_op = made and note.detail == "condition" and note.before == born
            if same_line or next_op or (not made and self._assigned_there(note, record)):
                yield note, READ

    def _assigned_there(self, note: Note, leaf: TensorRecord) -> bool:
        return bool(parts_of(self.recording.line(note.place)).assigns & parts_of(self.recording.line(leaf.place)).reads)

    def decisions(self, tensor: int, born: int, target: bool) -> Iterator[tuple[Note, float]]:
        """Return the exits that decided whether a tensor's line ran; a target no op made may be the chosen value."""
        record = self.recording.tensors[tensor]
        chosen = target and record.application is None
        for note in [n for n in self.deciding if n.before <= born or chosen][-LOOKED_AT:]:
            if chosen or self._governs(note.place, record.place):
                yield note, DECIDED

    def _decides(self, note: Note) -> bool:
        line = self.recording.line(note.place)
        return (
            bool(_DECIDES.search(line))
            or note.detail in ("index", "int", "branch")
            or (not line and note.detail == "bool")
        )

    def _governs(self, decision: Place | None, place: Place | None) -> bool:
        """Return whether a line is the deciding line itself or stands in the block below it, judged by indentation."""
        if decision is None or place is None or decision[0] != place[0]:
            return False
        if decision[1] == place[1]:
            return True
        lines = self.recording.sources.get(place[0], {})
        margin = _margin(lines.get(decision[1], ""))
        between = [text for number, text in lines.items() if decision[1] < number <= place[1] and text.strip()]
        return bool(between) and all(_margin(text) > margin or _GOES_ON.match(text) for text in between)

    def cause(self, note: Note) -> str:
        """Return an exit's cause: through a store, or in a line that gives a plain array the tensor's own name."""
        if note.kind == "read":
            return READS.get(note.detail, "only_read")
        if note.detail in STORES:
            return "state_read"
        line = parts_of(self.recording.line(note.place))
        name = self.recording.tensors[note.subject].name
        own = line.assigns & line.reads
        return "overwritten" if (name in own if name else own) else "left_engine"

    def _cost(self, note: Note, leaf: TensorRecord) -> float | None:
        left = parts_of(self.recording.line(note.place))
        came = parts_of(self.recording.line(leaf.place))
        if note.place is not None and note.place == leaf.place:
            return CERTAIN
        if left.assigns & came.reads:
            return CERTAIN + 1
        if self._same_value(note, leaf):
            return LIKELY
        return POSSIBLE if left.keeps else None

    def _same_value(self, note: Note, leaf: TensorRecord) -> bool:
        a, b = self.recording.tensors[note.subject].snapshot, leaf.snapshot
        if a.shape != b.shape or a.array is None or b.array is None or not a.size:
            return False
        left, came = np.asarray(a.array), np.asarray(b.array)
        if left.dtype.kind not in "fiubc" or came.dtype.kind not in "fiubc":
            return False
        telling = a.size > 1 or left.item() not in (0, 1, -1)
        return telling and bool(np.allclose(left, came, rtol=1e-6, equal_nan=True))

    def _is_written_out(self, leaf: TensorRecord) -> bool:
        """Return whether the numbers of a constant are written in the line where it came in."""
        array = leaf.snapshot.array
        if array is None or leaf.snapshot.size > 64 or np.asarray(array).dtype.kind not in "fiuc":
            return False
        rough = 1e-2 if leaf.snapshot.dtype in ("float16", "bfloat16") else 1e-6  # 0.1 is 0.10009765625 there
        written = parts_of(self.recording.line(leaf.place)).numbers
        parts = [part for x in np.asarray(array).ravel().tolist() for part in (x.real, x.imag) if part or not x]
        return bool(written) and all(any(np.isclose(abs(x), w, rtol=rough) for w in written) for x in parts)


def _margin(text: str) -> int:
    return len(text) - len(text.lstrip())


@cache
def parts_of(line: str) -> Line:
    """Take a source line apart; an incomplete one is read word by word.

    Examples
    --------
    >>> sorted(parts_of("y = np.mean(x2, axis=0)").reads), sorted(parts_of("y = np.mean(x2, axis=0)").assigns)
    (['np', 'x2'], ['y'])
    """
    numbers = frozenset(float(n) for n in _NUMBER.findall(line))
    tree = parsed(line)
    if tree is None:
        words = frozenset(re.findall(r"[A-Za-z_]\w*", line))
        assigned = re.match(r"([A-Za-z_]\w*)\s*[-+*/]?=[^=]", line)
        kept = assigned is not None or line.startswith("return")
        return Line(frozenset({assigned[1]} if assigned else ()), words, numbers, kept or not line)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    inner = _names_inside(tree)
    assigns = frozenset(n.id for n in names if isinstance(n.ctx, ast.Store)) - inner
    reads = frozenset(n.id for n in names if isinstance(n.ctx, ast.Load)) - inner
    augmented = frozenset(
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    )
    returns = any(isinstance(node, ast.Return | ast.Yield | ast.Lambda) for node in ast.walk(tree))
    return Line(assigns, reads | augmented, numbers, bool(assigns) or returns or not line)


def _names_inside(tree: ast.AST) -> frozenset[str]:
    """Return the names that exist in a part of the line only: those of comprehensions and lambda parameters."""
    inside: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension):
            inside.update(part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))
        elif isinstance(node, ast.arg):
            inside.add(node.arg)
    return frozenset(inside)
