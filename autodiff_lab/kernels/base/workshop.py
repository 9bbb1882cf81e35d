"""The process that compiles for another one: see `elsewhere`.  It reads requests and replies with machine code."""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import sys
from contextlib import suppress
from typing import Any

from autodiff_lab.kernels.base import choose, measuring, store
from autodiff_lab.kernels.base.elsewhere import Override, receive, send

ALLOCATIONS = 1_000_000
"""Objects after which the garbage collector runs: a compiler makes many that live, and the process soon ends."""


def main(stays: float, answers: int) -> None:
    """Do what is wished for, and answer into a pipe, until the other process ends or says nothing for some seconds."""
    gc.set_threshold(ALLOCATIONS, 50, 50)
    with suppress(ValueError, OSError, AttributeError):  # the terminal's signals are for the other process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(answers, "wb")

    def say(*message: Any) -> None:
        with suppress(OSError):  # the other process has ended; what is in the folder serves the next one
            send(out, message)

    store.WRITTEN.append(lambda name, data: say("code", name, data))
    measuring.TELL.append(lambda key, value: say("measured", key, value))
    into = os.fdopen(0, "rb", buffering=0)
    with suppress(EOFError, OSError):
        while _comes(into, stays):
            wishes = list(map(pickle.loads, receive(_Whole(into))))
            for wish in wishes:
                with suppress(Exception):  # the other process finds out what is missing, and why
                    _do(wish)
            say("done")


def _comes(stream: Any, stays: float) -> bool:
    """Wait for a message; return whether one came."""
    if sys.platform == "win32":  # pipes cannot be waited for there
        return True
    return bool(select.select([stream], [], [], stays)[0])


class _Whole:
    """Reads as many bytes of a pipe as it is asked for."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end."""
        data = b""
        while len(data) < size and (part := self._stream.read(size - len(data))):
            data += part
        return data


def _do(wish: str | Override) -> None:
    """Compile, and measure if that is wished for."""
    if isinstance(wish, str):
        store.load(wish)
        return
    kernel = choose.Chosen(wish.name, wish.reference, wish.override, lambda *arrays, **params: 0)
    if not wish.given:
        kernel.compile(wish.dtype)
    elif kernel.takes(wish.dtype):
        measuring.pays(kernel.name, kernel.reference, kernel.override(), wish.given, wish.params)
