"""GradientTape: notes the ops that depend on what it watches, and sweeps back over them for gradients.

A tape is a sink.  Which inputs it tracked is decided when an op runs, so that watching acts from then on.  Keys are
tensor ids, so that a tape keeps alive only what a rule may read.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self

from autodiff_lab.engine import nest
from autodiff_lab.engine.backward import DEFAULT, Sweep, UnconnectedGradients, asks_for_zeros, cotangents, zeros_of
from autodiff_lab.engine.collector import be_patient, be_usual
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, warn_if_integer
from autodiff_lab.engine.knowledge import known
from autodiff_lab.engine.moving import remember
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.sweep import Engine
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, TapeMisused, TapeSpent
from autodiff_lab.events import (
    SINKS,
    TapeClosed,
    TapeOpened,
    TapeSwitched,
    TensorWatched,
    fresh_id,
    heard,
    place_now,
    sinks_now,
    tell_listeners,
)

if TYPE_CHECKING:
    from autodiff_lab.explain import Explanation

_NOBODY, _NONE = frozenset[int](), UnconnectedGradients.NONE


class GradientTape:
    """Records ops for automatic differentiation, inside its ``with`` block.

    Parameters
    ----------
    persistent : bool
        Whether `gradient` may be called more than once; the tape then keeps all values until it is deleted.
    watch_accessed_variables : bool
        Whether trainable variables are watched when they are read.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> with lab.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    Tensor(6.0, shape=(), dtype=float32)
    """

    listens = hears_all = traces = False
    ops = RAW  # which rules are given; a tensor that answers for itself may bring others

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._id = fresh_id()
        self._persistent, self._automatic, self.lean = persistent, watch_accessed_variables, not persistent
        self.tracked: Any = set[int]()
        self.reads: dict[Any, Tensor] = {}  # the present read of every variable
        self._entries: list[Any] | None = []
        self.append: Any = self._entries.append
        self._watched: dict[Variable, list[int]] = {}  # ids of every read that is watched
        self._was_watched: list[weakref.ref[Variable]] = []
        self._used_at: Any = None
        self._open = False

    # --- recording -------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        sinks = sinks_now()
        if any(sink is self for sink in sinks):
            raise TapeMisused("This tape is already recording. Use a second GradientTape for a nested block.")
        if heard():
            tell_listeners(TapeOpened(self._id, self._persistent, place_now(), self._automatic))
        SINKS.set((*sinks, self))
        if not self._open:
            self._open = True
            be_patient()
        return self

    def __exit__(self, *error: object) -> None:
        SINKS.set(tuple([sink for sink in sinks_now() if sink is not self]))
        if self._open:
            self._open = False
            be_usual()
        if heard():
            tell_listeners(TapeClosed(self._id, self.watched_reads()))

    def stop_recording(self) -> AbstractContextManager[None]:
        """Do not record the ops of a block.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0)
        >>> with lab.GradientTape() as tape:
        ...     with tape.stop_recording():
        ...         y = x * x
        >>> print(tape.gradient(y, x))
        None
        """
        return self._paused(place_now())

    @contextmanager
    def _paused(self, place: Any) -> Generator[None]:
        sinks = sinks_now()
        if not any(sink is self for sink in sinks):
            raise TapeMisused("stop_recording: this tape is not recording. Call it inside the tape's block.")
        SINKS.set(tuple([_ReadsOnly(self) if sink is self else sink for sink in sinks]))
        tell_listeners(TapeSwitched(self._id, "paused", place))
        try:
            yield
        finally:
            tell_listeners(TapeSwitched(self._id, "resumed", None))
            SINKS.set(
                tuple([self if sink.__class__ is _ReadsOnly and sink.tape is self else sink for sink in sinks_now()])
            )

    def reset(self) -> None:
        """Forget everything recorded so far, and go on recording."""
        self._entries = []
        self.append = self._entries.append
        self.tracked, self.reads, self._watched = set(), {}, {}
        tell_listeners(TapeSwitched(self._id, "reset", place_now()))

    def watch(self, tensor: Any) -> None:
        """Track a tensor, a variable, or a nested structure of them, from now on.

        Raises
        ------
        ConversionError
            If something else is given: only a tensor has an identity to watch.
        """
        for source in nest.flatten(tensor)[0]:
            if isinstance(source, Variable):
                self._watched.setdefault(source, [])
                self.reads.pop(source, None)  # the next read inside the tape is watched
                warn_if_integer(source._held.dtype)
            elif isinstance(source, Tensor):
                warn_if_integer(source._held.dtype)
                if source._held.dtype in DIFFERENTIABLE and self.tracked is not _NOBODY:
                    self.tracked.add(source._id)
            else:
                raise ConversionError(
                    f"watch: expected a tensor or a variable, got {source!r}, which is converted to a new tensor at "
                    "each use. Try x = lab.constant(...), tape.watch(x), and use x."
                )
            if heard():
                tell_listeners(TensorWatched(self._id, source._id, place_now()))

    def note(self, event: Any, tensor: Tensor, how: str) -> None:
        """Ignore a value that left or entered; only recordings use it."""

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read inside the block."""
        if not self.reads:
            remember(self)
        self.reads[variable] = tensor
        if (self._automatic and variable.trainable) or variable in self._watched:
            self._watched.setdefault(variable, []).append(tensor._id)
            if tensor._held.dtype in DIFFERENTIABLE and self.tracked is not _NOBODY:
                self.tracked.add(tensor._id)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables watched so far, in the order of their first use."""
        if self._watched:
            return tuple(self._watched)
        return tuple(v for ref in self._was_watched if (v := ref()) is not None)

    def watched_reads(self) -> tuple[int, ...]:
        """Return the ids of the tensors as which watched variables were read inside the block, for events."""
        return tuple(key for keys in self._watched.values() for key in keys)

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the ops on the tape, in order; empty once a one-shot tape is spent."""
        return tuple(entry[0].name for entry in self._entries or ())

    @property
    def saved_bytes(self) -> int:
        """Bytes of the values that the tape keeps for its sweep, each counted once."""
        held: dict[int, int] = {}
        for _, out, ins, _, _ in self._entries or ():
            for tensor in (*(out if out.__class__ is tuple else (out,)), *ins):
                if tensor._held.nbytes:
                    held[tensor._id] = tensor._held.nbytes
        return sum(held.values())

    # --- gradients -------------------------------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        *,
        engine: Engine | None = None,
    ) -> Any:
        """Return the derivative of the sum of the target's elements with respect to each source.

        Parameters
        ----------
        target : Tensor, Variable, or a nested structure of them
            What to differentiate; several targets are added.
        sources : Tensor, Variable, or a nested structure of them
            What to differentiate with respect to; intermediate results may be sources.
        output_gradients : like `target`, optional
            Cotangents of the target, ones if not given.
        unconnected_gradients : UnconnectedGradients
            What to give for a source that no path reaches.
        engine : Engine, optional
            Another set of operations, rules or accumulation, for lessons.

        Returns
        -------
        Tensor, `IndexedSlices`, None, or a structure of them like `sources`
            Each of its source's shape and dtype; slices for a source of which only `gather` takes rows.

        Raises
        ------
        TapeSpent
            A `RuntimeError`: a one-shot tape was used a second time.
        LookupError
            An op on the path has no derivative rule.
        ValueError
            If `unconnected_gradients` is unknown.
        ShapeMismatch
            If a cotangent does not have its target's shape.
        """
        zero = unconnected_gradients is not _NONE and asks_for_zeros(unconnected_gradients)
        leaves, rebuild = nest.flatten(sources)
        targets = self._targets(target)
        run = self._begin(targets, leaves, cotangents(targets, output_gradients), engine=engine, rows=True)
        run.finish()
        results = run.results()
        if zero:
            results = [zeros_of(s) if r is None else r for r, s in zip(results, leaves, strict=True)]
        return rebuild(results)

    def steps(self, target: Any, sources: Any = (), *, engine: Engine | None = None) -> Sweep:
        """Return the sweep as an iterator: one entry of the tape at a time, for stepping in plain Python.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant(3.0)
        >>> with lab.GradientTape(persistent=True) as tape:
        ...     tape.watch(x)
        ...     y = x * x
        ...     z = y * y
        >>> steps = tape.steps(z, [x, y])
        >>> next(steps), print(steps.adjoint(y))
        Tensor(18.0, shape=(), dtype=float32)
        (1, None)
        >>> next(steps), print(steps.adjoint(x))
        Tensor(108.0, shape=(), dtype=float32)
        (0, None)
        """
        targets = self._targets(target)
        return self._begin(targets, nest.flatten(sources)[0], cotangents(targets, None), engine=engine, pause=True)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivative of each element of the target with respect to each element of each source.

        One sweep carries a stack of unit cotangents; see `autodiff_lab.transforms.jacobians`.
        Shapes: target (*t), source (*s) -> (*t, *s).

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant([1.0, 2.0])
        >>> with lab.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.jacobian(y, x))
        Tensor([[2. 0.]
         [0. 4.]], shape=(2, 2), dtype=float32)
        """
        from autodiff_lab.transforms.jacobians import jacobian

        return jacobian(self, target, sources, unconnected_gradients)

    def batch_jacobian(
        self,
        target: Tensor,
        source: Tensor,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the Jacobian of each row of the target with respect to the same row of the source; rows must not mix.

        Shapes: target (b, *t), source (b, *s) -> (b, *t, *s); zeros if there is no path.  ShapeMismatch is raised if
        the first axes differ, or *t or *s is empty.
        """
        from autodiff_lab.transforms.jacobians import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients)

    def explain(self, target: Any, source: Any) -> Explanation:
        """Say why a gradient is None, zero or a number: by op and line if recorded, else by what the tape knows.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0, trainable=False, name="x")
        >>> with lab.GradientTape() as tape:
        ...     y = x * 2.0
        >>> tape.explain(y, x).cause
        'not_trainable'
        """
        from autodiff_lab.explain.live import of_tape

        return of_tape(self._id, target, source, known(self, target, source))

    def _targets(self, target: Any) -> list[Tensor]:
        """Targets as tensors; a variable stands for its present read."""
        if target.__class__ is Tensor:
            return [target]
        return [
            convert(leaf) if not isinstance(leaf, Variable) else self._read_inside(leaf)
            for leaf in nest.flatten(target)[0]
        ]

    def _read_inside(self, variable: Variable) -> Tensor:
        tensor = self.reads.get(variable)
        if tensor is None or tensor._held is not variable._held:
            tensor = variable.read()
            self.note_read(variable, tensor)
        return tensor

    def _begin(
        self,
        targets: list[Tensor],
        sources: list[Any],
        seeds: list[Tensor | None],
        *,
        lead: int = 0,
        engine: Engine | None = None,
        pause: bool = False,
        rows: bool = False,
    ) -> Sweep:
        """Prepare a sweep; a one-shot tape is spent by it."""
        if self._entries is None:
            used = self._used_at
            where = f" It was used up at {used[0]}, line {used[1]}." if used else ""
            raise TapeSpent(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)."
                f"{where} Try GradientTape(persistent=True), or compute all gradients in one call."
            )
        for source in sources:
            if not isinstance(source, (Tensor, Variable)):
                raise ConversionError(
                    f"gradient: expected a tensor or a variable as source, got {type(source).__name__}. "
                    "Differentiate with respect to the tensor that the ops used."
                )
        return Sweep(self, targets, sources, seeds, lead, engine or DEFAULT, pause, rows)

    def _spend(self) -> None:
        self._used_at = place_now()
        self._was_watched = [weakref.ref(v) for v in self._watched]
        self._entries, self.tracked = None, _NOBODY
        self.append = _forget
        self.reads, self._watched = {}, {}


def _forget(entry: Any) -> None:
    """Ignore ops: a spent tape that is still open keeps none."""


class _ReadsOnly:
    """A tape that does not record: variables that are read stay listed, ops are not heard."""

    listens = hears_all = lean = traces = False
    tracked = _NOBODY

    def __init__(self, tape: GradientTape) -> None:
        self.tape, self.reads, self.note_read, self.note = tape, tape.reads, tape.note_read, tape.note
