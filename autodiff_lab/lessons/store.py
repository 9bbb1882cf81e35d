"""What a learner has tried and passed: one JSON file in the user's data folder, and nothing leaves the machine.

Two kernels may write at the same time: each reads the file, changes its entry and replaces the file while it holds a
lock.  Where the folder cannot be written, or several people share it and ``AUTODIFF_LAB_PROGRESS=off`` is set, progress
lasts as long as the process.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "progress.json"
PATIENCE = 2.0
"""Seconds for which a process waits for another one's lock; a lock older than this was left behind."""
MOST = 10**9
"""The largest count that is believed."""

Document = dict[str, dict[str, Any]]
"""What the file holds: ``{"exercises": {id: {"passed", "tries", "codes"}}}``; other keys are kept as they are."""

_session: Document = {}


@dataclass(frozen=True)
class Tried:
    """What is known of one exercise.

    Attributes
    ----------
    passed : bool
        Whether it was ever solved.
    tries : int
        Answers that were given, blanks not counted.
    codes : dict of str to int
        How often each misconception was recognized.
    """

    passed: bool = False
    tries: int = 0
    codes: dict[str, int] | None = None


def place() -> Path | None:
    """Return the file for progress, which may not exist yet, or None if nothing is to be written.

    It is ``AUTODIFF_LAB_PROGRESS`` if that is set (``off`` writes nothing), else ``autodiff_lab/progress.json`` in the
    user's data folder.
    """
    given = os.environ.get("AUTODIFF_LAB_PROGRESS", "")
    if given:
        return None if given.lower() == "off" else Path(given)
    root = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(root) if root else Path.home() / ".local" / "share") / "autodiff_lab" / FILE
    except RuntimeError:  # a user without a home
        return None


def read() -> dict[str, Tried]:
    """Return what was tried, by the id of the exercise."""
    file = place()
    document = _session if file is None else _merged(_load(file), _session)
    return {key: tried_of(entry) for key, entry in _entries(document).items()}


def note(exercise: str, passed: bool, code: str) -> None:
    """Write down one answer; where nothing can be written, remember it for this process."""
    file = place()
    if file is not None:
        with suppress(OSError), _locked(file):
            document = _load(file, keep_damaged=True)
            _add(document, exercise, passed, code)
            _replace(file, document)
            return
    _add(_session, exercise, passed, code)


def _add(document: Document, exercise: str, passed: bool, code: str) -> None:
    before = tried_of(_entries(document).get(exercise))
    codes = dict(before.codes or {})
    if code:
        codes[code] = codes.get(code, 0) + 1
    entries = document["exercises"] = dict(_entries(document))
    entries[exercise] = {"passed": before.passed or passed, "tries": before.tries + 1, "codes": codes}


def _entries(document: Document) -> dict[str, Any]:
    entries: Any = document.get("exercises", {})
    return entries if isinstance(entries, dict) else {}


def tried_of(entry: Any) -> Tried:
    """Read one entry; whatever in it makes no sense counts as nothing."""
    if not isinstance(entry, dict):
        return Tried(codes={})
    codes = entry.get("codes")
    known = {str(code): _count(many) for code, many in codes.items()} if isinstance(codes, dict) else {}
    return Tried(entry.get("passed") is True, _count(entry.get("tries")), known)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else 0


def _merged(document: Document, session: Document) -> Document:
    merged: dict[str, Any] = dict(_entries(document))
    for key, entry in _entries(session).items():
        old, new = tried_of(merged.get(key)), tried_of(entry)
        codes = dict(old.codes or {})
        for code, many in (new.codes or {}).items():
            codes[code] = codes.get(code, 0) + many
        merged[key] = {"passed": old.passed or new.passed, "tries": old.tries + new.tries, "codes": codes}
    return {"exercises": merged}


def _load(file: Path, keep_damaged: bool = False) -> Document:
    """Read the file; a damaged one counts as empty and, before anything is written, is kept beside the new one."""
    try:
        text = file.read_bytes()
    except OSError:
        return {}
    try:
        document = json.loads(text)
        if isinstance(document, dict) and isinstance(document.get("exercises", {}), dict):
            return document
    except (ValueError, RecursionError):
        pass
    if keep_damaged:
        with suppress(OSError):
            file.with_suffix(".damaged.json").write_bytes(text)
    return {}


def _replace(file: Path, document: Document) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".progress-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream, indent=1, sort_keys=True)
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


@contextmanager
def _locked(file: Path) -> Generator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = file.with_suffix(".lock")
    until = time.monotonic() + PATIENCE
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > until:
                with suppress(OSError):
                    lock.unlink()
            time.sleep(0.01)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
