"""Training loops: the iterations of an unnamed loop, each as a scope.

A loop without ``lab.name_scope`` would be drawn as one picture of everything. Its iterations show in the tapes: one is
opened again and again at the same line. From one opening to the next is an iteration, and becomes the scope ``pass 1``,
``pass 2`` and so on, so that everything that folds scopes folds iterations.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.recording.model import Application, Note
    from autodiff_lab.recording.recording import Recording

DEEPEST = 24
"""Levels of scopes that have a picture each; what lies deeper, as in a runaway recursion, is drawn in the deepest."""
LEAST = 3
"""The number of iterations from which a repetition counts as a loop."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def with_passes(recording: Recording) -> Recording:
    """Return the recording with a scope for each iteration of its training loop; itself if there is nothing to name.

    Parameters
    ----------
    recording : Recording
        A loop whose iterations already have scopes is left as it is.
    """
    recording = _shallow(recording)
    starts = _starts(recording)
    if len(starts) < LEAST or _is_named(recording, starts):
        return recording
    turn = _turns(recording.applications, starts)
    applications = tuple(
        replace(a, scope=_joined(turn[a.index], a.scope)) if a.index in turn else a for a in recording.applications
    )
    used: dict[int, set[int]] = {}
    for application in recording.applications:
        for tensor in (*application.inputs, *application.outputs):
            used.setdefault(tensor, set()).add(turn.get(application.index, 0))
    tensors = {
        key: replace(record, scope=_joined(min(used[key]), record.scope))
        if len(used.get(key, ())) == 1 and min(used[key])
        else record
        for key, record in recording.tensors.items()
    }
    return replace(recording, applications=applications, tensors=tensors)


def _shallow(recording: Recording) -> Recording:
    """Cut scope paths at the deepest level: every level costs a picture that holds all that lies inside it."""
    if all(a.scope.count("/") < DEEPEST for a in recording.applications):
        return recording

    def cut(scope: str) -> str:
        return "/".join(scope.split("/")[:DEEPEST])

    return replace(
        recording,
        applications=tuple(replace(a, scope=cut(a.scope)) for a in recording.applications),
        tensors={key: replace(record, scope=cut(record.scope)) for key, record in recording.tensors.items()},
    )


def pattern(name: str) -> str:
    """Return a name with its numbers left out: iterations of one loop have one pattern.

    Examples
    --------
    >>> pattern("step 12"), pattern("after 0.3 s")
    ('step #', 'after # s')
    """
    return _NUMBER.sub("#", name)


def _joined(turn: int, scope: str) -> str:
    return f"pass {turn}/{scope}" if scope else f"pass {turn}"


def _starts(recording: Recording) -> list[int]:
    """Return the applications at which the iterations begin: where the tape of the most frequent line is opened."""
    outer: list[Note] = []
    open_tapes: set[int] = set()
    used = {sweep.tape for sweep in recording.sweeps}
    for note in recording.notes:
        if note.kind == "tape opened":
            if not open_tapes and note.place is not None:
                outer.append(note)
            open_tapes.add(note.subject)
        elif note.kind == "tape closed":
            open_tapes.discard(note.subject)
    lines = Counter(note.place for note in outer if note.subject in used)
    if not lines:
        return []
    line = lines.most_common(1)[0][0]
    return list(dict.fromkeys(note.before for note in outer if note.place == line and note.subject in used))


def _is_named(recording: Recording, starts: Sequence[int]) -> bool:
    """Return whether the iterations already have scopes."""
    tops = {recording.applications[at].scope.partition("/")[0] for at in starts if at < len(recording.applications)}
    return len(tops) >= LEAST


def _turns(applications: Sequence[Application], starts: Sequence[int]) -> dict[int, int]:
    """Return the iteration of each application, counted from 1; what follows the loop is in none."""
    turn: dict[int, int] = {}
    lines = {a.place for a in applications[starts[0] : starts[1]]}
    for number, start in enumerate(starts, start=1):
        end = starts[number] if number < len(starts) else len(applications)
        for application in applications[start:end]:
            if number == len(starts) and application.place not in lines:
                break
            turn[application.index] = number
    return turn
