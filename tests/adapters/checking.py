"""Checks of a recorded program: the same numbers, the framework's own gradients, contributions that add up."""

from __future__ import annotations

import numpy as np

from autodiff_lab.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot


def everything(array: object, leaf: bool) -> Snapshot:
    """Keep every value in full."""
    from autodiff_lab.recording.snapshot import snapshot

    return snapshot(array, 1 << 40)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays are the same bit for bit."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def share_sums(recording: Recording) -> tuple[int, int, list[str]]:
    """Return how many adjoints were read by an op, and how many of them are the sum of their recorded contributions."""
    right, all_, wrong = 0, 0, []
    for sweep in recording.sweeps:
        sums: dict[int, np.ndarray] = {}
        seeded = set(sweep.targets)
        for step in sweep.steps:
            application = recording.applications[step.application]
            for output, g in zip(application.outputs, step.incoming, strict=True):
                if g is None or output in seeded:
                    continue
                arrived = recording.tensors[g].snapshot.array
                if arrived is None:
                    continue
                all_ += 1
                if output in sums and np.allclose(sums[output], arrived, rtol=1e-4, atol=1e-5, equal_nan=True):
                    right += 1
                else:
                    wrong.append(f"{application.op} at {recording.where(application.place)}")
            for flow in step.flows:
                share = recording.tensors[flow.outgoing].snapshot.array
                if share is not None:
                    share = np.asarray(share, np.complex128 if np.iscomplexobj(share) else np.float64)
                    sums[flow.input] = share + sums[flow.input] if flow.input in sums else share
    return right, all_, wrong
