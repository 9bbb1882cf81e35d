"""Nested tapes as frames: what ran in the block of an inner tape, and what its backward pass ran for an outer tape.

Each frame is a scope, so that the explorer folds and opens it as any other; it is open at first.  Only frames that hold
what a second derivative is made of are drawn: those of tapes inside tapes of which a gradient was asked.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from autodiff_lab.draw.loops import Loop, renamed
from autodiff_lab.draw.scopes import inside, prefixes, shown_ops

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autodiff_lab.recording.model import Application
    from autodiff_lab.recording.recording import Recording

MOST = 40
"""Frames; a recording with more, as of a training loop, is shown without, and `left_out` says so."""


class Frame(NamedTuple):
    """A scope that is the frame of a 'tape', or of a backward 'pass', and a sentence that says what is in it."""

    kind: str
    words: str


class _Wanted(NamedTuple):
    kind: str
    label: str
    words: str
    indices: frozenset[int]


def with_frames(recording: Recording, loops: Sequence[Loop]) -> tuple[Recording, tuple[Loop, ...], dict[str, Frame]]:
    """Return the recording with a scope for each frame, the loops with their new paths, and the frames by path.

    Parameters
    ----------
    recording : Recording
        Its loops have scopes already.
    loops : sequence of Loop
        A frame that would cut through one of them is left out.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(2.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as outer:
    ...         with lab.GradientTape() as inner:
    ...             y = x * x * x
    ...         slope = inner.gradient(y, x)
    ...     curvature = outer.gradient(slope, x)
    >>> sorted(with_frames(recording.so_far(), ())[2])
    ['gradient of y', 'inner tape']
    """
    shown = shown_ops(recording)
    wanted = _wanted(recording, shown)
    if not wanted or len(wanted) > MOST:
        return recording, tuple(loops), {}
    scopes = {index: application.scope for index, application in shown.items()}
    turns = [list(loop.turns) for loop in loops]
    frames: dict[str, Frame] = {}
    for one in sorted(wanted, key=lambda one: (-len(one.indices), min(one.indices))):
        path = _enclose(one, scopes, turns)
        if path:
            frames[path] = Frame(one.kind, one.words)
    moved = tuple(Loop(loop.label, tuple(paths)) for loop, paths in zip(loops, turns, strict=True))
    return renamed(recording, scopes), moved, frames


def left_out(recording: Recording) -> str:
    """Return a remark on frames that are not drawn because there are too many; empty if all are drawn.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(2.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape():
    ...     for _ in range(41):
    ...         with lab.GradientTape() as inner:
    ...             y = x * x
    ...         slope = inner.gradient(y, x)
    >>> left_out(recording.so_far()).partition(";")[0]
    'The frames around nested tapes are left out'
    """
    count = len(_wanted(recording, shown_ops(recording)))
    if count <= MOST:
        return ""
    return (
        f"The frames around nested tapes are left out; there are {count}, and up to {MOST} are drawn. "
        "Record fewer steps to see them."
    )


def _wanted(recording: Recording, shown: dict[int, Application]) -> list[_Wanted]:
    return [*_tapes(recording, shown), *_passes(recording, shown)]


def _tapes(recording: Recording, shown: dict[int, Application]) -> Iterator[_Wanted]:
    """Yield what ran in the block of each tape that was opened in that of another, if its gradient was taken."""
    used = {sweep.tape for sweep in recording.sweeps}
    opened: dict[int, int] = {}
    inner: set[int] = set()
    for note in recording.notes:
        if note.kind == "tape opened":
            inner |= {note.subject} if opened else set()
            opened[note.subject] = note.before
        elif note.kind == "tape closed" and note.subject in opened:
            start = opened.pop(note.subject)
            indices = frozenset(index for index in shown if start <= index < note.before)
            if indices and note.subject in inner and note.subject in used:
                yield _Wanted("tape", "inner tape", "what ran in the block of the inner tape", indices)


def _passes(recording: Recording, shown: dict[int, Application]) -> Iterator[_Wanted]:
    """Yield what each backward pass ran and an outer tape recorded."""
    made = {
        tensor: sweep.index
        for sweep in reversed(recording.sweeps)
        for step in sweep.steps
        for flow in step.flows
        for tensor in (flow.outgoing, flow.total)
    }
    ran: defaultdict[int, set[int]] = defaultdict(set)
    now: int | None = None
    for application in reversed([a for a in shown.values() if a.cause is not None]):
        # What a rule computes on the way comes before what it delivers.
        now = next((sweep for tensor in application.outputs if (sweep := made.get(tensor)) is not None), now)
        if now is not None:
            ran[now].add(application.index)
    for at, indices in sorted(ran.items()):
        names = [recording.tensors[target].name or "" for target in recording.sweeps[at].targets]
        of = f"gradient of {names[0]}" if len(names) == 1 and names[0].isidentifier() else "inner gradient"
        yield _Wanted("pass", of, "what this backward pass ran, and an outer tape recorded", frozenset(indices))


def _enclose(one: _Wanted, scopes: dict[int, str], turns: list[list[str]]) -> str:
    """Move ops into a scope of their own, inside the scopes that they share; return its path, ``""`` if none fits."""
    around = _common([scopes[index] for index in one.indices])
    members = {turn: {i for i, scope in scopes.items() if inside(scope, turn)} for paths in turns for turn in paths}
    cut = [turn for turn, ran in members.items() if turn != around and inside(turn, around) and ran & one.indices]
    if any(members[turn] - one.indices for turn in cut) or any(
        0 < len(set(paths) & set(cut)) < len(paths) for paths in turns
    ):
        return ""
    taken = {path for scope in scopes.values() for path in prefixes(scope)}
    joined = (f"{around}/{name}" if around else name for name in _names(one.label))
    path = next(name for name in joined if name not in taken)
    for index in one.indices:
        scopes[index] = path + _rest(scopes[index], around)
    for paths in turns:
        paths[:] = [path + _rest(turn, around) if turn in cut else turn for turn in paths]
    return path


def _names(label: str) -> Iterator[str]:
    yield label
    number = 2
    while True:
        yield f"{label} {number}"
        number += 1


def _rest(scope: str, around: str) -> str:
    rest = scope[len(around) :].lstrip("/")
    return f"/{rest}" if rest else ""


def _common(scopes: Sequence[str]) -> str:
    """Return the innermost scope around all of them."""
    shared = set(prefixes(scopes[0])).intersection(*map(prefixes, scopes))
    return max(shared, key=len, default="")
