"""Breakpoints in a backward pass: it stops where a condition holds, an adjoint is looked at or edited, and it goes on.

Nothing is taken over: the backward pass is an iterator that the caller advances, so a stop is the body of a ``for``
loop.  The tape is stepped by `GradientTape.steps`; names and lines come from the recording that captured the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, NotCallable, TapeMisused
from autodiff_lab.events.listener import trace_now
from autodiff_lab.exploring.stop import Stop
from autodiff_lab.recording.recorder import RECENT
from autodiff_lab.recording.recording import Recording

SOURCE = "source"
"""What stands for the op at the stops for sources, which no op made."""
SHOWN = 20


class Stops:
    """A backward pass that stops: an iterator of `Stop`.  Made by `breakpoint_when`.

    Attributes
    ----------
    current : Stop or None
        Where it waits.
    """

    def __init__(
        self, tape: GradientTape, target: Any, sources: Any, wanted: Callable[[Stop], bool], needs: frozenset[str]
    ) -> None:
        self._leaves, self._rebuild = nest.flatten(sources)
        self._entries = list(tape._entries or ())
        self._recording = _recording_of(tape)
        self._wanted = wanted
        self.current: Stop | None = None
        if needs and self._recording is None:
            raise TapeMisused(
                f"breakpoint_when: nothing recorded this program, so its {' and '.join(sorted(needs))}s are not known. "
                "Put `with lab.record() as recording:` around it."
            )
        self._made = self._makers()
        self._results = {t._id for _, out, *_ in self._entries for t in (out if isinstance(out, tuple) else (out,))}
        self._failed, self._found = False, None
        self._names = [entry[0].name for entry in self._entries]
        self._sweep = tape.steps(target, sources)
        self._stopping = self._run()

    def __iter__(self) -> Stops:
        return self

    def __next__(self) -> Stop:
        while True:
            self.current = None
            try:
                self.current = next(self._stopping)
            except StopIteration:
                raise
            except BaseException:
                self._failed = True
                raise
            if self._wanted(self.current):
                return self.current

    def gradient(self) -> Any:
        """Let the pass run to its end without further stops, and return the gradients.

        Returns
        -------
        Tensor, None, or a structure of them like the sources

        Raises
        ------
        TapeMisused
            If the pass has raised an error.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant(2.0)
        >>> with lab.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = lab.exp(x * x)
        >>> stops = lab.breakpoint_when(tape, y, x, op="multiply")
        >>> next(stops).adjoint = 1.0
        >>> print(stops.gradient())
        Tensor(4.0, shape=(), dtype=float32)
        """
        self._wanted = lambda stop: False
        for _ in self:
            pass
        if self._failed:
            raise TapeMisused("This backward pass has raised an error, so it has no gradients. Begin a new one.")
        if self._found is None:
            self._found = self._sweep.results()
        return self._rebuild(self._found)

    def each(self, function: Callable[[Stop], object]) -> Any:
        """Call a function at every stop, and return the gradients; what it returns replaces the adjoint, None keeps it.

        Parameters
        ----------
        function : callable
            Takes a `Stop`.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant(2.0)
        >>> with lab.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = lab.exp(x * x)
        >>> print(lab.breakpoint_when(tape, y, x, op="multiply").each(lambda stop: stop.adjoint / 2.0))
        Tensor(109.1963, shape=(), dtype=float32)
        """
        if not callable(function):
            raise NotCallable(f"each: expected a function of a stop, got {type(function).__name__}.")
        for stop in self:
            answer = function(stop)
            if answer is not None:
                stop.adjoint = answer
        return self.gradient()

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops on the tape, in order."""
        return tuple(self._names)

    # --- what stops ask ---------------------------------------------------------------------------------------------

    def read(self, source: Any) -> Any:
        """Return the adjoint of a tensor or variable so far."""
        return self._sweep.adjoint(source)

    def write(self, source: Any, value: Tensor | None) -> None:
        """Replace the adjoint of a tensor or variable; of a variable that was read several times, their sum."""
        sweep = self._sweep
        keys = [key for key in sweep._keys(source) if key in sweep.adjoints]
        for key in keys[1:] if value is not None else keys:
            del sweep.adjoints[key]
        if value is None:
            return
        if source._held.dtype.kind == "c":
            from autodiff_lab.ops.math.complex_numbers import conj

            value = conj(value)
        sweep.adjoints[keys[0]] = value._held if sweep._raw else value

    def known_of(self, source: Any) -> tuple[str, Any]:
        """Return the name of a value and its place in the program, as far as they are known."""
        if isinstance(source, Variable):
            return (source.name or "").removesuffix(":0"), None
        recording = self._recording
        record = None if recording is None else recording.tensors.get(source._id)
        place = self._made.get(source._id)
        return ("" if record is None else record.name or ""), place

    def words_of(self, place: Any) -> str:
        """Return a place in words, with its source line."""
        if self._recording is None or place is None:
            return ""
        line = self._recording.line(place)
        return self._recording.where(place) + (f": {line}" if line else "")

    # --- the pass ---------------------------------------------------------------------------------------------------

    def _makers(self) -> dict[int, Any]:
        """Return where each result of a recorded op was made."""
        if self._recording is None:
            return {}
        return {key: made.place for made in self._recording.applications for key in made.outputs}

    def _run(self) -> Iterator[Stop]:
        """Yield a stop before each entry that moves something, from the last; then one for each source."""
        adjoints = self._sweep.adjoints
        while self._entries:
            op, out, ins, _, _ = self._entries.pop()
            index = len(self._entries)
            keys = [t._id for t in (out if isinstance(out, tuple) else (out,))]
            if adjoints.keys().isdisjoint(keys):
                continue
            yield Stop(self, op.name, out, ins, index)
            if not adjoints.keys().isdisjoint(keys):  # unless the adjoint was set to None
                went = next(self._sweep)
                assert went == index
        for _ in self._sweep:  # what is left moves nothing
            pass
        for leaf in self._leaves:
            made_here = not isinstance(leaf, Variable) and leaf._id in self._results  # it had its stop there
            if not made_here and self._sweep.adjoint(leaf) is not None:
                yield Stop(self, SOURCE, leaf, (), None)


def breakpoint_when(
    tape: GradientTape,
    target: object,
    sources: object,
    *,
    op: str | None = None,
    name: str | None = None,
    line: int | str | None = None,
    condition: Callable[[Stop], object] | None = None,
) -> Stops:
    """Run a backward pass that stops where all these conditions hold, before the op passes its adjoint on.

    Without any of them it stops at every op, and at the end at every source.

    Parameters
    ----------
    tape : GradientTape
        As for `GradientTape.gradient`; a tape that is not persistent is spent.
    target : Tensor, Variable, or a nested structure of them
        What to differentiate.
    sources : Tensor, Variable, or a nested structure of them
        What to differentiate with respect to.
    op : str, optional
        The op, such as ``"log"``; ``"source"`` for the sources.
    name : str, optional
        What the program calls the result: the name of a variable, or of a line's result.  Needs a recording.
    line : int or str, optional
        The number of the line, or a part of its text.  Needs a recording.
    condition : callable, optional
        Takes a `Stop` and says whether to stop there.

    Returns
    -------
    Stops
        An iterator of stops.  At each, ``stop.adjoint`` may be read and set; ``.gradient()`` runs to the end.

    Raises
    ------
    InvalidArgumentError
        If no op of this name is on the tape, or something is not of the kind that is expected.
    TapeMisused
        If a name or a line is given and nothing recorded the program, or if a compiled function calls this.
    TapeSpent
        If the tape has been used up.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable([0.0, 4.0], name="x")
    >>> with lab.record(), lab.GradientTape() as tape:
    ...     root = lab.sqrt(x)
    ...     loss = lab.reduce_sum(lab.where(x > 1.0, root, x))
    >>> def is_nan(stop):
    ...     return lab.reduce_any(lab.math.is_nan(stop.adjoint))
    >>> stops = lab.breakpoint_when(tape, loss, x, condition=is_nan)
    >>> for stop in stops:
    ...     print(stop)
    ...     stop.adjoint = lab.where(lab.math.is_nan(stop.adjoint), 1.0, stop.adjoint)
    source x: adjoint [ nan 0.25]
    >>> print(stops.gradient())
    Tensor([1.   0.25], shape=(2,), dtype=float32)
    """
    _check(tape, op, name, line, condition)

    def wanted(stop: Stop) -> bool:
        if (op is not None and stop.op != op) or (name is not None and stop.name != name):
            return False
        if isinstance(line, str) and line not in stop.where.partition(": ")[2]:
            return False
        if isinstance(line, int) and stop.line != line:
            return False
        return condition is None or bool(condition(stop))

    needs = {"name"} if name is not None else set()
    return Stops(tape, target, sources, wanted, frozenset(needs | ({"line"} if line is not None else set())))


def _check(tape: Any, op: Any, name: Any, line: Any, condition: Any) -> None:
    """Raise what `breakpoint_when` raises for arguments that cannot be."""
    if not isinstance(tape, GradientTape):
        raise InvalidArgumentError(f"breakpoint_when: expected a GradientTape, got {type(tape).__name__}.")
    if trace_now() is not None:
        raise TapeMisused(
            "breakpoint_when: a compiled function does not stop. Call its python_function instead, or switch compiling "
            "off with lab.config.run_functions_eagerly(True)."
        )
    for said, what in ((op, "op"), (name, "name")):
        if said is not None and not isinstance(said, str):
            raise InvalidArgumentError(f"breakpoint_when: {what} should be text, but is a {type(said).__name__}.")
    if line is not None and (isinstance(line, bool) or not isinstance(line, (int, str))):
        raise InvalidArgumentError(
            f"breakpoint_when: line should be a number or a part of its text, but is a {type(line).__name__}."
        )
    if condition is not None and not callable(condition):
        raise NotCallable(f"breakpoint_when: condition should be a function, but is a {type(condition).__name__}.")
    known = {*tape.operations, SOURCE}
    if op is not None and tape._entries is not None and op not in known:
        some = ", ".join(sorted(known)[:SHOWN])
        raise InvalidArgumentError(f"breakpoint_when: no op {op!r} is on this tape. There are: {some}.")


def _recording_of(tape: GradientTape) -> Recording | None:
    """Return what was recorded while this tape was open, the latest first."""
    for reference in reversed(RECENT):
        recording = reference()
        if recording is not None:
            heard = recording.so_far()
            if any(tape._id in (note.subject, note.by) for note in heard.notes):
                return heard
    return None
