"""Seeded damage to files that are read back, and the limits within which reading them must end.

`damaged` changes bytes and `changed` a JSON value.  Both draw from a `random.Random`, so that a seed names a case.
`bounds` stops a block that takes more CPU time or memory than a hostile file may cost.
"""

from __future__ import annotations

import copy
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

COUNT = int(os.environ.get("FUZZ_COUNT", "100"))
"""Cases of each generator: 300 in `make test`, the environment's in `make test-fuzz`."""
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
"""The first seed, so that several runs try different cases."""
SECONDS, MEGABYTES = 2.0, 256

WORDS = (
    b"nan", b"-inf", b"1e999", b"-1", b"99999999999999999999", b"null", b"true", b"\x00", b"\xff\xfe", b'"', b"\\ud800",
    b"[[[[", b"{}", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x00\x00\x00\x80",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 63, 64, 2**31, 2**53, 2**53 + 1, 2**63, 10**30, 0.5, -0.0, 1e308, 5e-324,
    "", "a", "nan", "inf", "-inf", "0", "x" * 3000, "\ud800", "\u202e\u2028\x00\x1b[31m", "<script>", "%s{0}\\frac{",
    "float32", "int8", "bfloat16", "string", "complex64", "bool", "left", "assigned", "tape reset", "watched",
    [], {}, [[]], [0], [1, 2, 3], [2**31, 2**31], [0, 2**40], [1] * 40, ["a", None], {"a": 1}, {"": {"": []}},
)  # fmt: skip


class OutOfBounds(BaseException):
    """A block exceeded its CPU time; `except Exception` does not catch this."""


def damaged(content: bytes, random: Random) -> bytes:
    """Bytes with one to four changes: bits turned over, pieces cut, doubled, moved, replaced or put in."""
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(content) + 1)
        end = min(len(content), at + random.choice((1, 1, 2, 4, 8, 64, 1024)))
        match random.randrange(7):
            case 0 if at < len(content):
                content = content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]
            case 1:
                content = content[:at] + content[end:]
            case 2:
                content = content[:at]
            case 3:
                content = content[:end] + content[at:end] * random.choice((1, 2, 50)) + content[end:]
            case 4:
                content = content[:at] + random.choice(WORDS) + content[end:]
            case 5:
                to = random.randrange(len(content) + 1)
                content = content[:to] + content[at:end] + content[to:]
            case _:
                content = content[:at] + random.randbytes(end - at) + content[end:]
    return content


def changed(content: Any, random: Random) -> Any:
    """A JSON value with one to four changes in a copy: members replaced, removed, doubled, swapped or shifted."""
    content = copy.deepcopy(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        parent, key = _spot(content, random)
        if parent is None:
            return random.choice(VALUES)
        match random.randrange(8):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, list):
                parent[key:key] = [copy.deepcopy(parent[key]) for _ in range(random.choice((1, 1, 3, 60)))]
            case 2 if isinstance(parent, dict):
                parent[random.choice(("id", "op", "values", "summary", "shape", "place"))] = parent.pop(key)
            case 3:
                other, place = _spot(content, random)
                parent[key] = copy.deepcopy(other[place])
            case _:
                parent[key] = _another(parent[key], random)
    return content


def _another(value: Any, random: Random) -> Any:
    """Something in place of a value: a number near it, a part of a text, a list around it, or anything at all."""
    like = [other for other in VALUES if type(other) is type(value)]
    if random.random() < 0.6:
        return copy.deepcopy(random.choice(like if like and random.random() < 0.7 else VALUES))
    if isinstance(value, (int, float)):
        return value + random.choice((-1, 1, 2, 1000, 0.5))
    if isinstance(value, str):
        return value[: random.randrange(len(value) + 1)] + random.choice(("", "\0", "{9}"))
    for _ in range(random.choice((1, 2, 40, 400))):
        value = [value]
    return value


def _spot(content: Any, random: Random) -> tuple[Any, Any]:
    """A container inside a JSON value and one of its keys; shallow and deep places have the same chance."""
    found: tuple[Any, Any] = (None, None)
    while isinstance(content, (dict, list)) and content:
        key = random.choice(list(content)) if isinstance(content, dict) else random.randrange(len(content))
        found = content, key
        if random.random() < 0.25:
            break
        content = content[key]
    return found


@contextmanager
def bounds(size: int, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> Generator[None]:
    """Stop a block by `OutOfBounds` or MemoryError when it takes too much; `size` bytes are allowed on top.

    Where a system has no such limits, or outside the main thread, the block just runs.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    free = _limit_memory(size + megabytes * 2**20)
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        free()


def _stop(number: int, frame: FrameType | None) -> None:
    raise OutOfBounds("more CPU time than a hostile file may cost")


def _limit_memory(more: int) -> Callable[[], None]:
    """Let the address space grow by so many bytes and no further; gives what takes the limit back."""
    sizes = Path("/proc/self/statm")
    if not sizes.exists():
        return lambda: None
    import resource

    now = int(sizes.read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_AS, before)
