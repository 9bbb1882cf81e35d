"""Damaged and hostile recording files: refused with `RecordingError`, or read and shown like any other, within limits.

`FUZZ_COUNT` says how many are tried, `FUZZ_FIRST` is the first seed.
"""

import contextlib
import json
from functools import cache
from pathlib import Path
from random import Random

import pytest

from autodiff_lab.errors import LabError, RecordingError
from autodiff_lab.recording import Recording, load_recording
from autodiff_lab.recording.wire import to_json
from tests.mutations import COUNT, FIRST, bounds, changed, damaged
from tests.recording.generated import asked, drawn, recorded
from tests.recording.programs import failing, higher_order, square_plus_sine

CHUNK = 50
DRAWN = 5
"""Of so many files that load one is drawn, because pictures take longest."""


@cache
def files() -> list[bytes]:
    """Files to damage."""
    recordings = [square_plus_sine(), higher_order(), failing(), *map(recorded, (3, 5, 11, 18, 23, 41, 77))]
    return [json.dumps(to_json(recording), separators=(",", ":")).encode() for recording in recordings]


def hostile(seed: int) -> bytes:
    """The file of a seed."""
    random = Random(seed)
    content = random.choice(files())
    if random.random() < 0.3:
        return damaged(content, random)
    return json.dumps(changed(json.loads(content), random)).encode()


def used(recording: Recording, folder: Path, draw: bool) -> None:
    """Ask everything; only errors of ours may come, and only from what says so."""
    answers = dict(asked(recording))
    recording.save(folder / "again.json")
    assert dict(asked(load_recording(folder / "again.json"))) == answers
    if draw:
        with contextlib.suppress(LabError):  # a graph too large to lay out, for example
            assert all(dict(drawn(recording)).values())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, CHUNK))
def test_a_damaged_file_is_refused_or_shown(start: int, tmp_path: Path) -> None:
    """In at most 2 s of CPU time and 256 MB more than the file has."""
    path = tmp_path / "hostile.json"
    for seed in range(start, min(start + CHUNK, FIRST + COUNT)):
        content = hostile(seed)
        path.write_bytes(content)
        try:
            with bounds(len(content)):
                recording = load_recording(path)
        except RecordingError:
            continue
        try:
            with bounds(len(content)):
                used(recording, tmp_path, seed % DRAWN == 0)
        except BaseException as error:
            error.add_note(f"seed {seed}: {content[:2000]!r}")
            raise
