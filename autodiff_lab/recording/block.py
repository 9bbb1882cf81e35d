"""`record`: the block that is recorded, and the names of the variables around it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from autodiff_lab.events.listener import SINKS, Listener, sinks_now
from autodiff_lab.recording.choosing import Choice
from autodiff_lab.recording.journal import Journal
from autodiff_lab.recording.names import NOTHING_INSIDE, names_in
from autodiff_lab.recording.recorder import BUDGET, Keeper, Recorder, Writer, in_words
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import WHOLE, Policy, keep

NOTHING_INSIDE.add(Recording)  # it is among the variables around most blocks


class record:  # noqa: N801 - it is used as a statement: `with record() as recording:`
    """Record what ops, tapes and variables do in a ``with`` block.

    Parameters
    ----------
    title : str
        The heading of pictures.
    whole : int
        Elements up to which a value is kept in full; larger ones are summarized. Leaves are kept in full up to
        10,000 elements, beyond which the recording is not replayable.
    policy : callable, optional
        ``policy(array, leaf) -> Snapshot``, instead of `whole`.
    budget : int
        Bytes of values that may be held until the recording is first used; later ones are summarized at once.
    namespace : mapping of str to object, optional
        Where the names of tensors are looked up, instead of the local variables around the block.
    only, skip : str or sequence of str
        Names of ops, scopes or results, with ``*`` and ``?`` as wildcards: which ops are recorded. A result has the
        name that a recording of all ops shows, and those of the variables that hold it when the block ends. What is
        left out still runs, and its results are leaves where a recorded op uses them. Ops and scopes of `skip` take
        no memory.
    to : str or pathlib.Path, optional
        A file that is written while the program runs, so that a long recording takes little memory; summaries of values
        go there at once. `load_recording` reads it, also after the program was stopped.

    Returns
    -------
    Recording
        By ``as``.  It can be used once the block has ended, also when the block raised: it then ends with
        the op that failed, and the exception propagates.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = x * x
    ...     grad = tape.gradient(y, x)
    >>> recording
    <Recording: 1 op, 1 backward pass>
    >>> with lab.record(skip="exp") as recording:
    ...     z = lab.sqrt(lab.exp(x))
    >>> print(recording.to_text(lines=False))
    %0: f32 = constant  # 20.09
    %1: f32 = sqrt(%0)  # z = 4.482
    1 op was left out of this recording

    Raises
    ------
    InvalidArgumentError
        If a pattern is not a text, or empty.
    OSError
        If the file cannot be written.
    """

    __slots__ = ("_listener", "_namespace", "_recorder", "_to")

    def __init__(
        self,
        title: str = "",
        *,
        whole: int = WHOLE,
        policy: Policy | None = None,
        budget: int = BUDGET,
        namespace: Mapping[str, object] | None = None,
        only: str | Sequence[str] = (),
        skip: str | Sequence[str] = (),
        to: str | Path | None = None,
    ) -> None:
        if policy is None:
            policy = keep if whole == WHOLE else partial(keep, whole=whole)
        self._recorder = Recorder(policy, budget, title)
        if only != () or skip != ():
            self._recorder.choice = Choice(only, skip) or None
        self._namespace = namespace
        self._to = to

    def __enter__(self) -> Recording:
        recorder = self._recorder
        if self._to is None:
            self._listener: Listener = Keeper(recorder)
        else:
            recorder.journal = Journal(self._to, recorder.policy, recorder.title, recorder.choice)
            self._listener = Writer(recorder, recorder.journal)
        SINKS.set((*sinks_now(), self._listener))
        return self._recorder.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        listener = self._listener
        sinks = sinks_now()
        last = sinks and sinks[-1] is listener
        SINKS.set(sinks[:-1] if last else tuple([sink for sink in sinks if sink is not listener]))
        recorder = self._recorder
        if self._namespace is not None:
            recorder.names = names_in(self._namespace)
        else:
            recorder.names = names_around(2)
        recorder.finish(error)
        problem = listener.error or (None if recorder.journal is None else recorder.journal.error)
        if problem is not None:
            warnings.warn(
                f"The recording stopped early: {in_words(problem)}. The program was not disturbed.",
                RuntimeWarning,
                stacklevel=2,
            )


def names_around(depth: int, find: Callable[[Any], int | None] | None = None) -> dict[int, list[str]]:
    """Return names by id of the variables around a block, `depth` calls further out; see `names_in`."""
    frame = _frame_of_block(depth + 1)
    variables = frame.f_locals
    names = names_in(variables, find)
    return names if variables is frame.f_globals else names_in(frame.f_globals, find) | names


def _frame_of_block(depth: int) -> FrameType:
    """Return the frame that holds the block: the caller's, or behind an ExitStack the one that runs it."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_globals.get("__name__") == "contextlib":
        frame = frame.f_back
    return frame
