"""Every exception of the package.  It imports no other layer, so any layer may raise them.

Each class subclasses the built-in that a user would catch, and each message says what happened, where, and what to
try.  The page ``docs/errors.md`` has a failing and a corrected program for each of them::

    LabError (Exception)
    ├── InvalidArgumentError (ValueError)
    │   ├── DtypeMismatch (TypeError too)
    │   ├── ShapeMismatch
    │   ├── DeviceMismatch
    │   ├── NotCallable (TypeError too)
    │   └── BadInterval
    ├── ConversionError (ValueError and TypeError)
    │   ├── NotRectangular
    │   └── NotOneTensor
    ├── TapeSpent (RuntimeError)
    ├── TapeMisused (RuntimeError)
    ├── RecordingError (ValueError)
    │   ├── RecordingTooLarge
    │   └── RecordingVersionError
    ├── NotInRecording (LookupError)
    ├── StillRecording (RuntimeError)
    ├── LayoutFailed (RuntimeError)
    ├── OutOfRangeError (IndexError)
    ├── QueueBlocked (RuntimeError)
    ├── NoGraph (RuntimeError)
    ├── UnimplementedError (NotImplementedError)
    ├── MissingPackage (ImportError)
    └── DeviceError (RuntimeError)
        └── DeviceMemoryError (MemoryError)

An op between target and source that has no derivative rule raises a plain `LookupError`, as TensorFlow code expects.
"""

import linecache
import os
import re
import sys
from types import TracebackType
from typing import Any, Self

_OURS = os.path.join(os.path.dirname(__file__), "")  # noqa: PTH118, PTH120 - pathlib would make our import longer
_EXECUTED = r"In\[(\d+)\]"
_IPYTHON_INPUT = r"<ipython-input-(\d+)-"


def cell_of(name: str) -> str | None:
    """Return ``cell 3`` for the file name of the third notebook cell that ran, None for other names."""
    old_style = re.match(_IPYTHON_INPUT, name)
    if old_style is not None:
        return f"cell {old_style[1]}"
    number = execution_count(name)
    if number is not None:
        return f"cell {number}"
    return "a notebook cell" if "ipykernel_" in name else None


def execution_count(name: str) -> str | None:
    """Ask IPython which cell a file name belongs to; on any failure the answer is None."""
    ipython: Any = sys.modules.get("IPython")
    try:
        shell = ipython.get_ipython()
        described = shell.compile.format_code_name(name)
        match = re.search(_EXECUTED, described[1]) if described else None
    except Exception:  # noqa: BLE001 - labels are optional, and shells differ
        return None
    return match[1] if match else None


def _users_line() -> str:
    """Return where the innermost frame outside this package is; empty if that is not a file, as in a console."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith("<"):
        return ""
    name, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(name, number, frame.f_globals).strip()
    return f"  at {cell_of(name) or name}, line {number}" + (f": {text}" if text else "")


def _users_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    kept: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(trace)
        trace = trace.tb_next
    for each in reversed(kept):
        trace = TracebackType(trace, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return trace


class LabError(Exception):
    """Base of every exception that this package raises on purpose.

    Below the message a traceback shows the user's line as a note, because the last frames are the package's own.
    IPython and notebooks leave these frames out; ``%xmode Verbose`` shows them.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*words)
        if "\n  at " not in str(words[0] if words else ""):
            line = _users_line()
            if line:
                self.add_note(line)

    def _render_traceback_(self) -> list[str]:
        """Return the traceback in lines; IPython asks an exception for it."""
        shown: Any = sys.modules["IPython"].get_ipython().InteractiveTB
        trace = None if shown.mode == "Verbose" else _users_frames(self.__traceback__)
        return shown.structured_traceback(type(self), self, trace or self.__traceback__)


OpError = LabError
"""The name that TensorFlow code catches."""


class InvalidArgumentError(LabError, ValueError):
    """An argument has a value that the op cannot take."""


class DtypeMismatch(InvalidArgumentError, TypeError):
    """Two tensors have different dtypes; nothing is cast implicitly."""


class ShapeMismatch(InvalidArgumentError):
    """The shapes of the inputs do not match."""


class NotCallable(InvalidArgumentError, TypeError):
    """What should be a function cannot be called."""


class BadInterval(InvalidArgumentError):
    """An interval, or the number of samples in it, cannot be plotted."""


class ConversionError(LabError, ValueError, TypeError):
    """A Python or NumPy value cannot become a tensor."""


class NotRectangular(ConversionError):
    """Nested lists whose rows differ in length."""


class NotOneTensor(ConversionError):
    """A ragged or sparse tensor was passed to an op that takes a single tensor.

    A function that other values may answer for catches it and passes itself to the `value`'s method ``__lab_apply__``;
    for all others it is the error that the user sees, with the value's own advice in ``CURE``.
    """

    def __init__(self, value: object) -> None:
        why = getattr(value, "WHY", f"A {type(value).__name__} is not a single tensor, so this op does not accept it.")
        super().__init__(f"{why} {getattr(value, 'CURE', '')}".rstrip())
        self.value: Any = value


class TapeSpent(LabError, RuntimeError):
    """A second gradient was requested from a non-persistent tape."""


class TapeMisused(LabError, RuntimeError):
    """A tape was entered twice, or used in a way that its current state does not allow."""


class RecordingError(LabError, ValueError):
    """A recording file is damaged or is not a recording."""


class RecordingTooLarge(RecordingError):
    """A recording file is larger than the limit."""


class RecordingVersionError(RecordingError):
    """A recording file has a version that this release cannot read."""


class NotInRecording(LabError, LookupError):
    """A recording does not contain the requested tensor, name or path."""


class StillRecording(LabError, RuntimeError):
    """A recording was used before its block had ended."""


class LayoutFailed(LabError, RuntimeError):
    """A graph could not be laid out: too large for the time limit, or Graphviz is not installed."""


class OutOfRangeError(LabError, IndexError):
    """A dataset or a queue has no more elements."""


class QueueBlocked(LabError, RuntimeError):
    """A queue is full or empty, and waiting would block forever."""


class NoGraph(LabError, RuntimeError):
    """A placeholder was created outside a graph, where operations run eagerly and need values."""


class UnimplementedError(LabError, NotImplementedError):
    """The request makes sense but is not implemented."""


class MissingPackage(LabError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def of(cls, what: str, package: str, extra: str, otherwise: str = "") -> Self:
        """Return the error for something that needs a package of an extra.

        Parameters
        ----------
        what : str
            The subject of the sentence, for example ``"DOT output"``.
        package : str
            What is missing.
        extra : str
            The extra of this package that installs it: a key of ``optional-dependencies`` in ``pyproject.toml``.
        otherwise : str
            What else one can do, as a continuation of the last sentence.

        Examples
        --------
        >>> print(MissingPackage.of("DOT output", "graphviz", "graphviz"))
        DOT output needs graphviz, which is not installed. Try: pip install 'autodiff-lab[graphviz]'
        """
        install = f"pip install 'autodiff-lab[{extra}]'"
        return cls(f"{what} needs {package}, which is not installed. Try: {install}{otherwise}")


class DeviceError(LabError, RuntimeError):
    """A GPU was requested that does not exist, or for something that it cannot hold or do."""


class DeviceMismatch(InvalidArgumentError):
    """The tensors of an op are on different devices."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A GPU, or the CPU during an op, is out of memory."""


class DeviceWarning(UserWarning):
    """An operation is much slower on a GPU than necessary."""
