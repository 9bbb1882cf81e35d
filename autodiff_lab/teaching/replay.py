"""Recordings of passes that no program made: of an engine, right or wrong, and of forward mode.

A replay keeps the ops of a finished recording and replaces its backward passes by one of the engine's. It can be
stepped, printed, saved, and audited like any other recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.engine.silence import quietly
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.recording.model import Flow, Moment, Note, Step, Sweep, TensorRecord
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot, keep
from autodiff_lab.teaching.books import Booking, Books, run
from autodiff_lab.teaching.engines import Engine
from autodiff_lab.teaching.program import Entry, Program, ancestors
from autodiff_lab.teaching.reading import program_of
from autodiff_lab.teaching.walks import pushed


def replay(recording: Recording, engine: Engine | None = None) -> Recording:
    """Return a recording of the same program with the backward pass of another engine.

    Parameters
    ----------
    recording : Recording
        A finished one; the program that made it is not needed. Its last backward pass says what is differentiated,
        with respect to what; where there is none, it is the last result, with respect to variables and watched tensors.
    engine : Engine, optional
        By default the right one.

    Returns
    -------
    Recording
        With one backward pass. `to_text`, `ledger` and the explorer work on it.

    Raises
    ------
    NotInRecording
        The recording has no op that could be differentiated.
    InvalidArgumentError
        The recording does not hold what a pass needs, or the pass visits every path of a large program.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x = lab.Variable(2.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = 3.0 * x
    ...     a = 2.0 * y
    ...     b = 5.0 * y
    ...     c = a + b
    >>> wrong = teaching.replay(recording, teaching.Engine(accumulate=lambda old, new: new))
    >>> print(wrong.ledger(x).headline)
    dc/dx = 6; paths add to 21; 15 missing
    """
    engine = Engine() if engine is None else engine
    program = program_of(recording)
    books = run(program, engine)
    made = _Replay(program)
    accounts = engine.starting(Books(program, engine))
    seeds = tuple(made.tensor(accounts.get(key, np.zeros(program.values[key].shape)), key) for key in program.targets)
    carried = tuple((key, made.tensor(g, key)) for key, g in accounts.items() if key not in program.targets)
    steps = made.steps(books)
    results = tuple(made.result(books.gradient(source.tensors), source.tensors) for source in program.sources)
    return made.recording(seeds, carried, results, steps)


def forward(recording: Recording, seeds: Any = None, target: object = None) -> Recording:
    """Return a recording of the same program in which tangents are carried forward, op by op.

    Each op's result gets, from each of its inputs, that input's tangent times the local derivative. The derivatives are
    those of the rules at unit cotangents, so the pass needs no backward sweep and visits the ops in the order in which
    they ran.

    Parameters
    ----------
    recording : Recording
        A finished one; the program that made it is not needed.
    seeds : mapping, number, or list of mappings, optional
        The tangents of inputs by name, id or tensor; inputs that are not named have none. By default the first input
        has a tangent of ones; a number is the tangent of the only input. A list makes a pass for each mapping.
    target : Tensor, int or str, optional
        The result whose tangent is asked for; by default that of the last backward pass, or the last result.

    Returns
    -------
    Recording
        With a pass for each mapping, whose steps have the phase ``"tangent"``.

    Raises
    ------
    NotInRecording
        A name is not in the recording.
    InvalidArgumentError
        A tangent does not have the shape of its input, or the recording does not hold a value that is needed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x, y = lab.Variable(2.0, name="x"), lab.Variable(3.0, name="y")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     f = x * y + lab.sin(x)
    >>> print(teaching.forward(recording, {"x": 1.0}).to_text(lines=False))
    %0: f32 = variable                  # x = 2
    %1: f32 = variable                  # y = 3
    %2: f32 = multiply(%0, %1)          # 6
    %3: f32 = sin(%0)                   # 0.9093
    %4: f32 = add(%2, %3)               # f = 6.909
    forward pass from %0 (x)
    %0: tangent f32                     # 1
    multiply: %2 += f32                 # 3
    sin: %3 += f32                      # -0.4161
    add: %4 += f32, %4 += f32           # 3 (1 of 2), -0.4161 (2 of 2, total 2.584)
    %4: tangent f32                     # 2.584
    """
    several = list(seeds) if isinstance(seeds, Sequence) and not isinstance(seeds, (str, bytes)) else [seeds]
    if not all(isinstance(each, Mapping) for each in several[1:]) or not several:
        raise InvalidArgumentError("A list of seeds holds a mapping for each pass, such as [{'x': 1.0}, {'y': 1.0}].")
    together = {name: None for each in several for name in each} if isinstance(several[0], Mapping) else seeds
    program = _with_inputs(recording, together, target)
    made = _Replay(program)
    passes = [_forward_pass(program, each, made, at) for at, each in enumerate(several)]
    return made.finished("tangent", *passes)


def _forward_pass(program: Program, seeds: Any, made: _Replay, number: int) -> Sweep:
    """Return the pass that begins with these tangents."""
    tangents = _tangents(program, seeds)
    books = Books(program, Engine())
    first = tuple(tangents)
    ids = {key: made.tensor(tangent, key) for key, tangent in tangents.items()}
    steps: list[Step] = []
    for entry in program.entries:
        flows = quietly(_carry, books, entry, tangents, ids, made)
        if flows:
            incoming = tuple(ids.get(key) if at in entry.need else None for at, key in enumerate(entry.inputs))
            steps.append(Step(len(steps), entry.application, incoming, tuple(flows)))
    results = tuple(ids.get(key) for key in program.targets)
    came = tuple(ids[key] for key in first)
    return Sweep(number, 0, first, came, program.targets, results, tuple(steps), forward=True)


def _with_inputs(recording: Recording, seeds: Any, target: Any) -> Program:
    """Return the program with the seeded inputs among its sources, so that every op behind them is visited."""
    if not isinstance(seeds, Mapping):
        return program_of(recording, target)
    known = program_of(recording, target)
    given = [known.account(name) for name in seeds]
    sources = {s.keys: s for s in (*known.sources, *given)}
    plain = replace(recording.so_far(), sweeps=())
    return program_of(plain, known.targets[-1], [min(s.keys) for s in sources.values() if s.tensors])


def _tangents(program: Program, seeds: Any) -> dict[int, Any]:
    if not program.sources:
        raise InvalidArgumentError("The recorded program has no input that a tangent could be carried from.")
    if seeds is None:
        seeds = {program.sources[0].name: np.ones(program.values[program.sources[0].tensors[0]].shape)}
    elif not isinstance(seeds, Mapping):
        if len(program.sources) != 1:
            names = ", ".join(source.name for source in program.sources)
            raise InvalidArgumentError(f"The program has several inputs: {names}. Give their tangents by name.")
        seeds = {program.sources[0].name: seeds}
    found: dict[int, Any] = {}
    for name, tangent in seeds.items():
        for key in program.account(name).tensors:
            shape = program.number(key).shape
            try:
                array = np.asarray(tangent, dtype=float)
                found[key] = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
            except (TypeError, ValueError) as error:
                raise InvalidArgumentError(f"The tangent of {name} should have shape {shape}: {error}.") from None
    return found


def _carry(books: Books, entry: Entry, tangents: dict[int, Any], ids: dict[int, int], made: _Replay) -> list[Flow]:
    """Carry the tangents of an entry's inputs to its results; return the flows."""
    flows: list[Flow] = []
    moving = [at for at in entry.need if entry.inputs[at] in tangents]
    for output in entry.outputs:
        for count, at in enumerate(moving, start=1):
            outgoing, local = pushed(books, entry, at, output, tangents[entry.inputs[at]])
            total = outgoing if count == 1 else tangents[output] + outgoing
            tangents[output] = total
            sent = made.tensor(outgoing, output)
            ids[output] = sent if count == 1 else made.tensor(total, output)
            kept = None if local is None else _snapshot(local, made.dtype(output))
            flows.append(Flow(at, output, sent, ids[output], count, len(moving), kept))
    return flows


def _snapshot(array: Any, dtype: str) -> Snapshot:
    """Return an array as a recording keeps it, in the dtype of the value that it belongs to."""
    array = np.asarray(array)
    if dtype in ("float16", "float32", "complex64"):
        return keep(quietly(array.astype, dtype), True)
    found = keep(array, True)
    return replace(found, dtype=dtype) if dtype.startswith("bfloat") else found


class _Replay:
    """A recording under construction: the ops of the program, and what a pass adds."""

    def __init__(self, program: Program) -> None:
        self.program = program
        recording = program.recording
        needed = ancestors(recording, program.targets)
        self.kept = [a for a in recording.applications if a.cause is None or a.index in needed]
        self.index = {a.index: at for at, a in enumerate(self.kept)}
        used = {key for a in self.kept for key in (*a.inputs, *a.outputs)}
        used.update(program.targets, (key for source in program.sources for key in source.tensors))
        used.update(note.subject for note in recording.notes if note.kind in ("left", "watched"))
        self.tensors = {key: record for key, record in recording.tensors.items() if key in used}
        self.next = max([0, *recording.tensors, *(r.variable or 0 for r in recording.tensors.values())]) + 1
        self.ids: dict[int, tuple[int, Any]] = {}

    def dtype(self, like: int) -> str:
        return self.program.recording.tensors[like].snapshot.dtype

    def tensor(self, array: Any, like: int) -> int:
        """Return the id of an array that the pass made; the same array has the same id."""
        known = self.ids.get(id(array))
        if known is not None and known[1] is array:
            return known[0]
        key = self.next
        self.next += 1
        self.ids[id(array)] = (key, array)
        self.tensors[key] = TensorRecord(key, "gradient", None, _snapshot(array, self.dtype(like)))
        return key

    def result(self, array: Any, tensors: tuple[int, ...]) -> int | None:
        return None if array is None else self.tensor(array, tensors[0])

    def steps(self, books: Books) -> tuple[Step, ...]:
        """Return the bookings as steps: those of one entry that follow each other, from the same incoming."""
        expected = Counter(b.entry.inputs[b.position] for b in books.bookings)
        arrived: Counter[int] = Counter()
        groups: list[list[Booking]] = []
        for booking in books.bookings:
            last = groups[-1][-1] if groups else None
            same = last is not None and last.entry is booking.entry and _same(last.incoming, booking.incoming)
            if same and booking.position not in [b.position for b in groups[-1]]:
                groups[-1].append(booking)
            else:
                groups.append([booking])
        steps: list[Step] = []
        for group in groups:
            entry, incoming = group[0].entry, group[0].incoming
            parts = incoming if len(entry.outputs) > 1 else (incoming,)
            flows: list[Flow] = []
            for booking in group:
                key = entry.inputs[booking.position]
                arrived[key] += 1
                flows.append(
                    Flow(
                        booking.position,
                        key,
                        self.tensor(booking.outgoing, key),
                        self.tensor(booking.total, key),
                        arrived[key],
                        expected[key],
                        self.local(books, booking),
                    )
                )
            came = tuple(self.tensor(g, key) for g, key in zip(parts, entry.outputs, strict=True))
            steps.append(Step(len(steps), entry.application, came, tuple(flows)))
        return tuple(steps)

    def local(self, books: Books, booking: Booking) -> Snapshot | None:
        """Return the local derivative that the engine took, for elementwise ops."""
        recording, entry = self.program.recording, booking.entry
        info = recording.ops.get(recording.applications[entry.application].op)
        if info is None or not info.elementwise or len(entry.outputs) != 1:
            return None
        local = books.engine.local(books, entry, booking.position)
        return _snapshot(quietly(local.unfitted, local.ones), self.dtype(entry.outputs[0]))

    def recording(
        self,
        seeds: tuple[int, ...],
        carried: tuple[tuple[int, int], ...],
        results: tuple[int | None, ...],
        steps: tuple[Step, ...],
    ) -> Recording:
        program, old = self.program, self.program.sweep
        sources = tuple(source.tensors[-1] if source.tensors else min(source.keys) for source in program.sources)
        if old is not None:
            sources = old.sources
            for result, before in zip(results, old.results, strict=True):
                name = None if before is None else program.recording.tensors[before].name
                if result is not None and name and self.tensors[result].name is None:
                    self.tensors[result] = replace(self.tensors[result], name=name)
        tape, place = (0, None) if old is None else (old.tape, old.place)
        pass_ = Sweep(0, tape, program.targets, seeds, sources, results, steps, place, carried=carried)
        return self.finished("backward", pass_)

    def finished(self, phase: str, *sweeps: Sweep) -> Recording:
        """Return the whole recording."""
        recording, index = self.program.recording, self.index
        tensors = {key: self._record(record) for key, record in self.tensors.items()}
        applications = tuple(
            replace(a, index=index[a.index], cause=index.get(-1 if a.cause is None else a.cause)) for a in self.kept
        )
        passes = tuple(
            replace(sweep, steps=tuple(replace(step, application=index[step.application]) for step in sweep.steps))
            for sweep in sweeps
        )
        order = [Moment("forward", at) for at in range(len(applications))]
        order += [Moment(phase, step.application, sweep.index, step.index) for sweep in passes for step in sweep.steps]
        return Recording(
            ops=recording.ops,
            tensors=tensors,
            applications=applications,
            sweeps=passes,
            order=tuple(order),
            notes=tuple(self._notes(tensors)),
            sources=recording.sources,
            labels=recording.labels,
            replayable=recording.replayable,
            title=recording.title,
            framework=recording.framework,
        )

    def _record(self, record: TensorRecord) -> TensorRecord:
        """Return the record of a value; what only a dropped backward pass made is a leaf now."""
        if record.application is None:
            return record
        made = self.index.get(record.application)
        return replace(record, application=made, kind=record.kind if made is not None else "gradient")

    def _notes(self, tensors: dict[int, TensorRecord]) -> list[Note]:
        """Return the notes, counted by the applications that are left."""
        kept = sorted(self.index)
        notes = [n for n in self.program.recording.notes if n.kind not in ("left", "watched") or n.subject in tensors]
        return [replace(note, before=sum(at < note.before for at in kept)) for note in notes]


def _same(one: Any, other: Any) -> bool:
    """Return whether what came in is the very same array, or arrays."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return all(a is b for a, b in zip(one, other, strict=True))
    return one is other
