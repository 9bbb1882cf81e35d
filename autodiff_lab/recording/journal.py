"""The journal: a recording that is written line by line while the program runs, so that memory stays small.

The first line says what the file is, every other one is an event as a JSON list, and the last one holds the names of
tensors and what ended the program.  A file without its last line was cut short: everything before can still be read.
Each source file is copied once, because it may have changed by the time the journal is read.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodiff_lab import events as told
from autodiff_lab.errors import RecordingError, RecordingTooLarge, RecordingVersionError
from autodiff_lab.events.listener import fresh_id
from autodiff_lab.recording.choosing import Choice
from autodiff_lab.recording.numbers import counted
from autodiff_lab.recording.parameters import plain
from autodiff_lab.recording.schema import Field
from autodiff_lab.recording.snapshot import kept

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording
    from autodiff_lab.recording.snapshot import Policy

FORMAT = "autodiff_lab journal"
VERSION = 1
BUFFER = 1 << 16
"""Bytes that are written at once; this much is lost at most where a program is killed."""
LONGEST_SOURCE = 1 << 20
FIELDS: dict[str, str] = {
    "OpDescribed": "sssLsbbsL", "TensorMet": "isS!Ibps", "TensorNamed": "is", "OpApplied": "sTTdVIps",
    "OpFailed": "sTdssps", "TensorLeft": "isp", "TensorRead": "ips", "Transferred": "sisp", "VariableAssigned": "is-Ip",
    "FaultFound": "sispI", "TapeOpened": "ibpb", "TapeClosed": "iT", "TapeSwitched": "isp", "TensorWatched": "iip",
    "SweepStarted": "iiTTTpTTL", "GradientFlowed": "iiiiOii?T", "SweepEnded": "iO",
}  # fmt: skip
"""The fields of each event: integers (i), texts (s), flags (b), tuples of integers (T) and of texts (L), data (d), a
value (!), values (V), a place (p) or null.

I, S, O and ``?`` are integers, texts, tuples of integers and values that may be null; ``-`` is not kept.
"""


class Ids:
    """A set of ids of tensors that takes a bit for each one made since, as ids only grow.

    Examples
    --------
    >>> ids = Ids()
    >>> ids.add(3)
    >>> 3 in ids, 4 in ids
    (True, False)
    """

    def __init__(self) -> None:
        self._first, self._bits, self._before = fresh_id(), bytearray(), set[int]()

    def add(self, key: int) -> None:
        """Take in an id."""
        if key < self._first:
            self._before.add(key)
            return
        byte, bit = divmod(key - self._first, 8)
        if byte >= len(self._bits):
            self._bits.extend(bytes(byte + 4096 - len(self._bits)))
        self._bits[byte] |= 1 << bit

    def update(self, keys: list[int]) -> None:
        """Take in several ids."""
        for key in keys:
            self.add(key)

    def __contains__(self, key: int) -> bool:
        if key < self._first:
            return key in self._before
        byte, bit = divmod(key - self._first, 8)
        return byte < len(self._bits) and bool(self._bits[byte] >> bit & 1)


class Journal:
    """The observer that writes events.

    Parameters
    ----------
    path : str or Path
        Where; a file that is there is replaced.
    policy : callable
        What is kept of each value.
    title : str
        The heading of pictures.
    choice : Choice or None
        Which ops the reader keeps.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: str | Path, policy: Policy, title: str = "", choice: Choice | None = None) -> None:
        self.path, self.policy = Path(path), policy
        self.error: OSError | None = None
        self._sources: set[str] = set()
        self._file = self.path.open("w", BUFFER, encoding="ascii", newline="\n")
        patterns = {} if choice is None else {"only": choice.only, "skip": choice.skip}
        self._write({"format": FORMAT, "version": VERSION, "title": title} | patterns)

    def __call__(self, event: Any) -> None:
        """Write an event."""
        name = type(event).__name__
        leaf = name == "TensorMet"
        row: list[Any] = [name]
        for code, value in zip(FIELDS[name], event, strict=True):
            if code == "p" and value is not None:
                self._copy(value[0])
            row.append(self._encoded(code, value, leaf))
        self._write(row)

    def _encoded(self, code: str, value: Any, leaf: bool) -> Any:
        from autodiff_lab.recording.wire import data_to_json, value_to_json

        if code == "-" or value is None:
            return None
        if code in "!?":
            return value_to_json(kept(self.policy, value, leaf))
        if code == "V":
            return [value_to_json(kept(self.policy, each, False)) for each in value]
        return data_to_json(plain(value)) if code == "d" else value

    def _copy(self, name: str) -> None:
        """Write the text of a source file, once."""
        if name not in self._sources:
            self._sources.add(name)
            text = "".join(linecache.getlines(name))
            self._write(["source", name, text if len(text) <= LONGEST_SOURCE else ""])

    def _write(self, row: Any) -> None:
        self._file.write(json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n")

    def flush(self) -> None:
        """Write what is waiting."""
        if not self._file.closed:
            self._file.flush()

    def close(self, names: dict[int, list[str]], error: str | None, left_out: int = 0) -> None:
        """Write the last line; where that is not possible, `error` says why."""
        if self._file.closed:
            return
        try:
            with self._file:
                self._write(["end", list(names.items()), error, left_out])
        except OSError as failure:
            self.error = failure


def is_journal(path: Path) -> bool:
    """Return whether a file begins as a journal does."""
    with path.open("rb") as file:
        return file.read(len(FORMAT) + 12).startswith(f'{{"format":"{FORMAT}"'.encode())


def read_journal(path: Path, limit: int, partial: bool) -> Recording:
    """Read a journal; see `load_recording`."""
    size = path.stat().st_size
    if size > limit:
        raise RecordingTooLarge(
            f"{path.name} has {size:,} bytes, and at most {limit:,} are read. If you trust the file, try "
            f"load_recording(path, limit={size})."
        )
    lines = _Lines(path)
    if lines.wrong and not (partial and lines.events):
        raise lines.complaint()
    try:
        return lines.recording()
    except (RecordingError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise RecordingError(f"{path.name} is not a valid journal: its events do not fit together. {error}") from None


class _Lines:
    """What the lines of a journal say, up to the first that is damaged."""

    def __init__(self, path: Path) -> None:
        self.path, self.number, self.wrong = path, 0, ""
        self.events: list[Any] = []
        self.sources: dict[str, str] = {}
        self.names: dict[int, list[str]] = {}
        self.error: str | None = None
        self.left_out = 0
        self.head: Field = Field({}, "")
        ended = False
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    self.number = number
                    if ended:
                        raise RecordingError("there is more after the last line")
                    ended = self._take(line)
        except RecordingVersionError:
            raise
        except RecordingError as error:
            self.wrong = str(error).rstrip(".")
        if not (ended or self.wrong):
            self.wrong = "the last line is missing: the program was stopped, or is still running"

    def _take(self, line: bytes) -> bool:
        """Take in a line; return whether it is the last."""
        try:
            row = Field(json.loads(line.decode("ascii")), "")
        except (ValueError, RecursionError):
            raise RecordingError("it is damaged or cut short") from None
        if self.number == 1:
            self.head = row
            version = row.get("version").integer(1)
            if version > VERSION:
                raise RecordingVersionError(
                    f"{self.path.name} has version {version}, and this release reads up to {VERSION}. Try a newer "
                    "autodiff_lab."
                )
            return False
        kind, *fields = row.items(1)
        word = kind.text()
        if word == "source":
            name, text = row.items(3, 3)[1:]
            self.sources[name.text()] = text.text()
        elif word == "end":
            names, error, count = row.items(4, 4)[1:]
            for pair in names.items():
                key, called = pair.items(2, 2)
                self.names[key.integer()] = [each.text() for each in called.items()]
            self.error, self.left_out = error.maybe_text(), count.integer()
        elif word not in FIELDS:
            raise kind.wrong("the name of an event")
        else:
            most = len(FIELDS[word]) + 1
            row.items(most - len(_EVENTS[word]._field_defaults), most)  # older journals lack what was added since
            self.events.append(_EVENTS[word](*map(_decoded, FIELDS[word], fields)))
        return word == "end"

    def complaint(self) -> RecordingError:
        """Return what is wrong, and what could be read."""
        ops = sum(type(event) is told.OpApplied for event in self.events)
        could = f"{counted(len(self.events), 'event')} before it, {counted(ops, 'op')} among them, can be read: try "
        could += "load_recording(path, partial=True)." if self.events else ""
        return RecordingError(
            f"{self.path.name}, line {self.number}: {self.wrong}. "
            + (could if self.events else "Nothing before it can be read.")
        )

    def recording(self) -> Recording:
        """Put the events together, and check the whole as any other file is checked."""
        from autodiff_lab.recording.build import build_from
        from autodiff_lab.recording.reader import recording_from
        from autodiff_lab.recording.recorder import Recorder
        from autodiff_lab.recording.wire import to_json

        recorder = Recorder(title=self.head.get("title", "").text())
        recorder.names, recorder.left_out = self.names, self.left_out
        recorder.error = f"RecordingError: {self.wrong} (line {self.number})" if self.wrong else self.error
        only, skip = ([each.text() for each in self.head.get(name, []).items()] for name in ("only", "skip"))
        with _as_they_were(self.sources):
            made = build_from(self.events, recorder, Choice(only, skip) or None)
        return recording_from(to_json(made))


@contextmanager
def _as_they_were(sources: dict[str, str]) -> Generator[None]:
    """Let source files have the text that a journal holds of them."""
    before = {name: linecache.cache.get(name) for name in sources}
    for name, text in sources.items():
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    try:
        yield
    finally:
        for name, entry in before.items():
            if entry is None:
                linecache.cache.pop(name, None)  # a traceback may have cleared it
            else:
                linecache.cache[name] = entry


def _decoded(code: str, field: Field) -> Any:
    if code in "pISO?d-" and field.value is None:
        return None
    return _READ[code](field)


def _tuple_of(read: Callable[[Field], Any]) -> Callable[[Field], tuple[Any, ...]]:
    return lambda field: tuple([read(each) for each in field.items()])


def _value(field: Field) -> Any:
    from autodiff_lab.recording.reader import value_from

    return value_from(field)


def _place(field: Field) -> tuple[str, int]:
    name, line = field.items(2, 2)
    return name.text(), line.integer()


_READ: dict[str, Callable[[Field], Any]] = {
    "i": Field.integer, "I": Field.integer, "s": Field.text, "S": Field.text, "b": Field.boolean, "d": Field.data,
    "p": _place, "!": _value, "?": _value, "-": lambda field: None, "T": _tuple_of(Field.integer),
    "O": _tuple_of(Field.maybe_integer), "L": _tuple_of(Field.text), "V": _tuple_of(_value),
}  # fmt: skip
_EVENTS: dict[str, Any] = {name: getattr(told, name) for name in FIELDS}
