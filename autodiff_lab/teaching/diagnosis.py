"""Recognize the idea behind a wrong gradient: run every wrong engine and compare what it gives with the answer.

No wrong number is stored. An idea is named where it explains every number of an answer and no other idea does; where
several do, or where the evidence is thin, the diagnosis holds the question that would settle it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError, LabError
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.recording.recording import Recording
from autodiff_lab.teaching.books import run
from autodiff_lab.teaching.engines import Engine
from autodiff_lab.teaching.evidence import agree, is_single, is_slip, wrong_numbers
from autodiff_lab.teaching.probes import Kind, Probe, find_probe, kinds_of
from autodiff_lab.teaching.program import Point, Program
from autodiff_lab.teaching.reading import program_of
from autodiff_lab.teaching.wrong import IDEAS, wrong_engines

LISTED = 3
"""The longest tie that is shown."""
WORK = 60_000
"""Bookings after which no more single values are suspected."""

_SIGNS = ("MINUS_LOST", "SIN_SIGN", "QUOTIENT_FLIPPED")
_SEVERAL = ("MAX_SHARES",)
"""Ideas whose variants change the same rules in different ways."""
_PRODUCTS = ("OWN_VALUE", "PRODUCT_OF_SLOPES", "CONSTANT_LOST")
_GENERAL = ("LOCAL_ONLY", "INCOMING_ONLY", "CHAIN_ADDED", "SIGN", "VALUE")

Answers = dict[str, Any]
Trial = tuple[Program, Answers]


@dataclass(frozen=True)
class Diagnosis:
    """What an answer says about the idea behind it.

    Attributes
    ----------
    codes : tuple of str
        The idea that explains every number, where one is settled; see `IDEAS`. Empty for a right answer, for one that
        no known idea explains, and where a question is open.
    tie : tuple of str
        The ideas that are left where none is settled, the likeliest first, at most three.
    probe : Probe or None
        A question whose answer would settle it.
    right : bool
        Whether the answer is right.
    where : str
        The value at which alone the idea was applied; empty if it was applied everywhere.
    same_as : tuple of str
        Other ideas that come to the very same at that value, whatever the inputs are: at a single product, passing on
        what comes in as it is (INCOMING_ONLY) and multiplying two derivatives (PRODUCT_OF_SLOPES) cannot be told apart.

    Examples
    --------
    >>> Diagnosis(("OVERWRITE",))
    This is what one gets if a new contribution replaces the old one (OVERWRITE).
    """

    codes: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    probe: Probe | None = None
    right: bool = False
    where: str = ""
    same_as: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to say about a wrong idea."""
        return bool(self.codes or self.tie)

    def __repr__(self) -> str:
        if self.right:
            return "The answer is right."
        if self.codes:
            where = f", at {self.where} only" if self.where else ""
            return f"This is what one gets if {_of(self.codes)}{where}."
        if self.tie:
            return f"It could be that {_of(self.tie)}." + (f" {self.probe}" if self.probe else "")
        return "The answer is not right, and it is none of the usual wrong ones."


def _of(codes: tuple[str, ...]) -> str:
    return ", or that ".join(f"{IDEAS[code]} ({code})" for code in codes)


def diagnose_answer(
    recording: Recording, answer: object, points: Sequence[Point] | None = None, *, target: object = None
) -> Diagnosis:
    """Say which wrong idea gives an answer.

    Parameters
    ----------
    recording : Recording
        A finished one; the program that made it is not needed. Its last backward pass says what is differentiated; a
        recording without one is differentiated from its last result.
    answer : mapping, number or array
        Gradients by name: of inputs, or of any value on the way. A number or array is the gradient with respect to the
        only input. None stands for no gradient. With `points`, a sequence of such answers.
    points : sequence of mappings, optional
        For each answer, the values of inputs by name that it was given for; an empty mapping is the recorded values.
    target : Tensor, int or str, optional
        What the answer is the gradient of, if it is not the recorded target.

    Returns
    -------
    Diagnosis
        About all answers together: an idea has to explain every number. A single small integer settles nothing, and
        neither does a single number that is off by 1 or 2 or by its sign: those are slips as likely as ideas.

    Raises
    ------
    NotInRecording
        A name is not in the recording, or it has no op that could be differentiated.
    InvalidArgumentError
        The answer has no numbers, or not one answer for each point; the recording does not hold what a pass needs.

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
    >>> teaching.diagnose_answer(recording, {"a": 1, "b": 1, "y": 7, "x": 27})
    This is what one gets if a value may deliver as soon as anything has arrived (EARLY).
    >>> found = teaching.diagnose_answer(recording, 6)
    >>> found.codes, found.tie
    ((), ('OVERWRITE', 'CLOSED'))
    >>> found.probe
    What is the gradient with respect to y?
    """
    program = program_of(recording, target)
    trials = list(_trials(program, answer, points))
    right = [_gradients(p, Engine(), given) for p, given in trials]
    assert all(r is not None for r in right)
    off = wrong_numbers(trials, right)
    if not off:
        return Diagnosis(right=True)
    engines = list(_candidates(program, trials, {name for name, _, _ in off}))
    if not engines:
        return Diagnosis()
    kinds = _likely(kinds_of(program, engines))
    codes = tuple(dict.fromkeys(kind[0].code for kind in kinds))
    first = kinds[0][0]
    slip = is_slip(trials, off, codes[0] in _SIGNS and _generality(first) == 0, first.only is None)
    if len(codes) == 1 and not slip and not is_single(trials):
        where = "" if first.only is None else spoken(program.recording, first.only)
        also = tuple(dict.fromkeys(e.code for e in kinds[0] if e.code != first.code))
        return Diagnosis(codes, where=where, same_as=also)
    return Diagnosis((), codes[:LISTED], find_probe(program, trials, kinds, slip or len(codes) == 1))


def _trials(program: Program, answer: Any, points: Sequence[Point] | None) -> Iterator[Trial]:
    if points is None:
        yield program, _named(program, answer)
        return
    answers = list(answer) if isinstance(answer, Sequence | np.ndarray) and not isinstance(answer, str) else None
    if answers is None or len(answers) != len(points) or not answers:
        raise InvalidArgumentError(
            f"diagnose_answer: one answer for each of the {len(points)} points was expected, in a list."
        )
    for point, given in zip(points, answers, strict=True):
        yield program.at(point or {}), _named(program, given)


def _named(program: Program, answer: Any) -> Answers:
    """Return the numbers of an answer by name; blanks are left out.

    Raises
    ------
    InvalidArgumentError
        If there are none, or one is not a number.
    """
    if not isinstance(answer, Mapping):
        if len(program.sources) != 1:
            names = [source.name for source in program.sources]
            if not names:
                raise InvalidArgumentError(
                    "diagnose_answer: no gradient of the recording leads to an input. Record one that does."
                )
            raise InvalidArgumentError(
                f"diagnose_answer: the program has {len(names)} inputs ({', '.join(names)}); give numbers by name, "
                f'like {{"{names[0]}": 1.0}}.'
            )
        answer = {program.sources[0].name: answer}
    found: Answers = {}
    for name, given in answer.items():
        if given is ...:
            continue
        who = program.account(name)
        found[who.name] = None if given is None else _array(given, who.name)
    if not found:
        raise InvalidArgumentError("diagnose_answer: the answer holds no numbers yet.")
    return found


def _array(given: Any, name: str) -> Any:
    try:
        if isinstance(given, str | bytes):
            raise TypeError("it is a text")
        array = np.asarray(given)
        return array if array.dtype.kind in "fc" else array.astype(float)
    except (TypeError, ValueError, LabError) as error:
        raise InvalidArgumentError(f"diagnose_answer: {name} should be a number or an array: {error}.") from None


def _gradients(program: Program, engine: Engine, names: Any) -> Answers | None:
    """Return what an engine answers; None if it cannot run on this program."""
    try:
        books = run(program, engine)
    except Exception:
        if engine.code:
            return None  # an idea that does not fit the shapes, or visits every path
        raise
    return {name: books.gradient(program.account(name).tensors) for name in names}


def _candidates(program: Program, trials: list[Trial], wrong: set[str]) -> Iterator[Engine]:
    """Yield the engines that explain every number: wrong everywhere first, then wrong rules and habits at one value."""
    engines = list(_applicable(program))
    for engine in engines:
        if explains(engine, trials):
            yield engine
    left = WORK
    entries = max(len(program.entries), 1)
    possible = _behind(program, wrong)
    for engine in sorted(engines, key=_generality):
        for value in filter(possible.__contains__, _suspects(program, engine)):
            left -= entries
            if left < 0:
                return
            if explains(engine.at(value), trials):
                yield engine.at(value)


def _applicable(program: Program) -> Iterator[Engine]:
    """Yield the wrong engines, without those whose rules no op of the program uses, or that differ in such rules."""
    ops = {entry.op for entry in program.entries}
    known: set[tuple[str, frozenset[str]]] = set()
    for engine in wrong_engines():
        if engine.rules:
            key = (engine.code, frozenset(ops & engine.rules.keys()))
            if not key[1] or (key in known and engine.code not in _SEVERAL):
                continue
            known.add(key)
        yield engine


def _likely(kinds: list[Kind]) -> list[Kind]:
    """Return kinds without the farfetched, where an idea that is applied everywhere will do.

    A general idea at a single value is; where a single idea will do everywhere, so is any other at a single value.
    """
    simple = [kind for kind in kinds if kind[0].only is None]
    if len({kind[0].code for kind in simple}) == 1:
        return simple
    return [kind for kind in kinds if kind[0].only is None or _generality(kind[0]) < 1] if simple else kinds


def _generality(engine: Engine) -> int:
    """Return a sorting key: at a single op, a wrong rule explains more than a wrong idea of the chain rule."""
    return 0 if engine.rules or engine.code in _PRODUCTS else 2 if engine.code in _GENERAL else 1


def _behind(program: Program, wrong: set[str]) -> set[int]:
    """Return the values that all wrong gradients lie behind: only there can a single fault have caused them."""
    found: set[int] | None = None
    for name in wrong:
        depend = set(program.account(name).tensors)
        for entry in program.entries:
            if not depend.isdisjoint(entry.inputs):
                depend.update(entry.outputs)
        found = depend if found is None else found & depend
    return found or set()


def _suspects(program: Program, engine: Engine) -> Iterator[int]:
    """Yield the values at which an engine could be wrong."""
    for entry in reversed(program.entries):
        if not engine.rules or entry.op in engine.rules:
            yield from entry.outputs
    if not engine.rules:
        for source in program.sources:
            yield from source.tensors


def explains(engine: Engine, trials: list[Trial]) -> bool:
    """Return whether an engine gives every number of an answer."""
    for program, given in trials:
        found = _gradients(program, engine, given)
        if found is None or not all(agree(given[name], found[name], program) for name in given):
            return False
    return True
