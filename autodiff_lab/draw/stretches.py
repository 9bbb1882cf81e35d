"""Stretches: how a picture folds many ops that nobody grouped and that do not repeat.

A thousand boxes cannot be taken in, however well they are placed.  Ops that ran one after the other get a scope, named
after their places in the program, and these scopes are split in turn, until each can be looked at.
"""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_OPS = 1000
"""Ops directly in a scope beyond which they are split."""
MOST_STRETCHES = 20
"""Stretches in which they are split."""
SHORT = 100
"""Ops in a stretch that is not split again."""


def split(scopes: dict[int, str]) -> bool:
    """Give the ops of crowded scopes a scope for each stretch of them, and return whether there were any.

    Parameters
    ----------
    scopes : dict of int to str
        The scope of each op, in the order in which they ran; it is changed.

    Examples
    --------
    >>> scopes = dict.fromkeys(range(2000), "")
    >>> split(scopes), scopes[0], scopes[1999]
    (True, 'ops 1 to 100', 'ops 1901 to 2000')
    >>> split(dict.fromkeys(range(500), ""))
    False
    """
    own: defaultdict[str, list[int]] = defaultdict(list)
    for index, scope in scopes.items():
        own[scope].append(index)
    crowded = {scope: indices for scope, indices in own.items() if len(indices) > MOST_OPS}
    for scope, indices in crowded.items():
        for index, path in zip(indices, _paths(0, len(indices)), strict=True):
            scopes[index] = "/".join([*([scope] if scope else []), *path])
    return bool(crowded)


def _paths(first: int, count: int) -> Iterator[Sequence[str]]:
    """Yield the stretches in which each of `count` ops lies, the outermost first."""
    parts = min(MOST_STRETCHES, ceil(2 * count / SHORT)) if count > SHORT else 0
    if not parts:
        yield from ((),) * count
    for part in range(parts):
        start, end = count * part // parts, count * (part + 1) // parts
        name = f"ops {first + start + 1} to {first + end}"
        for inner in _paths(first + start, end - start):
            yield (name, *inner)
