"""Helper for tests of devices: the copies that were reported during a block."""

from collections.abc import Generator
from contextlib import contextmanager

import autodiff_lab as lab


@contextmanager
def copies() -> Generator[list[lab.events.Transferred]]:
    """Collect the copies between CPU and GPU that nobody asked for by name."""
    told: list[lab.events.Transferred] = []

    def hear(event: object) -> None:
        if isinstance(event, lab.events.Transferred):
            told.append(event)

    with lab.events.observing(hear):
        yield told
