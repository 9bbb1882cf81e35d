"""Everything that can be recorded can be shown, saved, loaded, pickled and drawn: seeded programs over the registry."""

import pickle
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autodiff_lab.recording import Recording, load_recording
from tests.mutations import COUNT, FIRST
from tests.recording.generated import asked, drawn, recorded

CHUNK = 50
DRAWN = 15
"""Of so many recordings one is drawn, because pictures take longest."""


def same(copied: Recording, recording: Recording) -> bool:
    """Whether two recordings hold the same values, bit by bit, and the same parameters, nan being the same as nan."""
    pairs = zip(copied.tensors.values(), recording.tensors.values(), strict=True)
    return all(
        a.snapshot == b.snapshot
        and (a.snapshot.array is None or a.snapshot.array.dtype == b.snapshot.array.dtype)
        and (a.name, a.scope, a.kind) == (b.name, b.scope, b.kind)
        for a, b in pairs
    ) and [repr(a.params) for a in copied.applications] == [repr(a.params) for a in recording.applications]


def on_lines(answer: str) -> bool:
    """Whether a text has no characters that a terminal would act on, and no half ones."""
    return all(line.isprintable() for line in answer.split("\n"))


@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, CHUNK))
def test_a_copy_gives_the_same_answers(start: int, tmp_path: Path) -> None:
    """Loaded from its file, and from a pickle, a recording holds the same values and answers in the same words."""
    for seed in range(start, min(start + CHUNK, FIRST + COUNT)):
        recording = recorded(seed)
        answers = dict(asked(recording))
        recording.save(tmp_path / "r.json")
        for copied in (load_recording(tmp_path / "r.json"), pickle.loads(pickle.dumps(recording))):  # noqa: S301
            assert same(copied, recording), seed
            assert dict(asked(copied)) == answers, seed
        assert all(map(on_lines, answers.values())), seed


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, CHUNK))
def test_it_can_be_drawn(start: int) -> None:
    """As SVG that is XML, as DOT, in a notebook and as a page, live and loaded."""
    for seed in range(start, min(start + CHUNK, FIRST + COUNT), DRAWN):
        recording = recorded(seed)
        pictures = dict(drawn(recording))
        assert ElementTree.fromstring(pictures["svg"]) is not None
        assert all(pictures.values()), seed
