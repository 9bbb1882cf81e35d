"""Python's garbage collector while a tape records: it is called less often, and the user's settings stay what they are.

A tape holds on to everything that its ops make, some three objects an op.  The collector looks through the young ones
whenever there are 700 (2,000 in newer Pythons) more of them, and through all of them again as they age, and never finds
garbage: on a tape of 100,000 ops that took as long as the ops themselves.  So the first threshold is raised while a
tape is open, and again during its sweep, in which the objects die.

Only the interpreter's own default is raised.  It comes back when no tape is open and no sweep runs in any thread; a
threshold that the user has set meanwhile is left alone.
"""

from __future__ import annotations

from gc import get_threshold, set_threshold

DEFAULTS = (700, 2000)
"""First thresholds that Python starts with; any other was chosen by the user."""
RAISED = 50_000
"""In place of them: a look through so many young objects takes about a millisecond."""

_holders: list[None] = []  # one for each open tape and each running sweep, in all threads
_before = [0]  # what to go back to; 0 if nothing was changed


def be_patient() -> None:
    """Raise the first threshold if it is the interpreter's default; each call needs one of `be_usual` later.

    There is no lock: it would cost as much as all the rest.  Lists change atomically, and whatever the order in which
    threads come and go, the last one to leave finds what is to be put back.
    """
    _holders.append(None)
    if len(_holders) == 1:
        first = get_threshold()[0]
        if first in DEFAULTS:
            _before[0] = first
            set_threshold(RAISED)


def be_usual() -> None:
    """Put the threshold back when the last holder leaves, unless the user has set another."""
    _holders.pop()
    if not _holders and _before[0]:
        before, _before[0] = _before[0], 0  # first this, so that one who comes in between can raise it again
        if before and get_threshold()[0] == RAISED:
            set_threshold(before)
