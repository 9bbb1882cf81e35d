"""The user's names of tensors, best first: the given name, the assignment in the source, the local variables.

A picture that says ``loss`` is clear, one that says ``%17`` is not.  Names are read, never guessed: from `name=`, from
``y = x * x`` at the line where the op ran, and from the variables around the block when it ended.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any

from autodiff_lab.events import Place
from autodiff_lab.events.listener import Identified
from autodiff_lab.recording.model import Application, OpInfo, Sweep, TensorRecord
from autodiff_lab.recording.statements import Statement, Statements

MEMBERS = 1000
"""How many elements of a list, tuple, dict or object are searched for tensors."""
_UNNAMED = {"Variable", ""}
NOTHING_INSIDE: set[type] = {
    str, bytes, int, float, complex, bool, type, ABCMeta, NoneType, FunctionType, BuiltinFunctionType, ModuleType,
    type(annotations),
}  # fmt: skip
"""Classes of what holds no tensors; the last is that of a name in most modules, such as this one."""
_bases: Any = type.__dict__["__mro__"].__get__  # whatever the class itself says
_NOT_THE_USERS = {"In", "Out", "exit", "quit"}


def given_name(name: str | None) -> str | None:
    """Return the name passed to `Variable` or `constant`: ``"w:0"`` is ``"w"``, and the default name does not count.

    Examples
    --------
    >>> given_name("w:0"), given_name("Variable:0"), given_name(None)
    ('w', None, None)
    """
    if name is None:
        return None
    name = name.removesuffix(":0")
    return None if name in _UNNAMED else name


def id_of(value: Any) -> int | None:
    """Return the id of a tensor or variable of autodiff_lab, None for anything else."""
    return value._id if issubclass(type(value), Identified) else None


def names_in(namespace: Mapping[str, Any], find: Callable[[Any], int | None] | None = None) -> dict[int, list[str]]:
    """Return names by id of the tensors and variables in a namespace, and of those one level inside its containers.

    A tensor may have several, the simplest first; which one is shown is decided when the sources are read.  `find`
    returns the id of an object, for tensors of another framework.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> weights = [lab.Variable(1.0), lab.Variable(2.0)]
    >>> list(names_in({"weights": weights, "_hidden": lab.Variable(3.0)}).values())
    [['weights[0]'], ['weights[1]']]
    """
    find = find or id_of
    names: dict[int, list[str]] = {}
    inside: list[tuple[str, Any]] = []
    for name, value in tuple(namespace.items()):
        kind = type(value)
        if kind in NOTHING_INSIDE or name[:1] == "_":
            continue
        key = find(value)
        if key is not None:
            names.setdefault(key, []).append(name)
        elif NOTHING_INSIDE.isdisjoint(_bases(kind)) and name not in _NOT_THE_USERS:
            inside.append((name, value))
    for name, value in inside:
        form, members = _members(value)
        for part, member in members:
            if type(member) not in NOTHING_INSIDE and (key := find(member)) is not None:
                names.setdefault(key, []).append(name + form.format(part))
    return names


def _members(value: Any) -> tuple[str, Iterable[tuple[Any, Any]]]:
    """Return what a list, tuple, dict or plain object holds, by index, key or name, and the form that names one.

    The methods are those of the built-in types, so that no user code runs here.  Names are made of what is found alone:
    most containers hold no tensor.
    """
    bases = _bases(type(value))
    if tuple in bases:
        fields = getattr(type(value), "_fields", None)
        members = tuple.__iter__(value)
        return (".{}", zip(fields, members, strict=False)) if fields else ("[{}]", enumerate(members))
    if list in bases:
        return "[{}]", enumerate(list.__getitem__(value, slice(MEMBERS)))
    if dict in bases:
        items = list(islice(dict.items(value), MEMBERS))
        return "[{!r}]", [item for item in items if type(item[0]) in (str, int)]
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return "", ()
    items = list(islice(attributes.items(), MEMBERS)) if type(attributes) is dict else []
    return ".{}", [item for item in items if item[0][:1] != "_"]


def one_line(words: str) -> str:
    """Return a user's text on one line, without control characters."""
    if not words.isprintable():
        words = "".join(c if c.isprintable() else " " for c in words)
    return " ".join(words.split())


@lru_cache(4096)  # a page asks for most names many times
def short_name(name: str) -> str:
    r"""Return a name on one line, with its middle left out if it is too long for a line.

    Examples
    --------
    >>> short_name("two\nlines"), short_name(70 * "a")
    ('two lines', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa⋯aaaaaaaaaaaaaaa')
    """
    words = one_line(name)
    return words if len(words) <= 60 else f"{words[:40]}⋯{words[-15:]}"


_Run = tuple[tuple[Statement, ...], list[Application]]
"""The assignments of a line, and the ops that the line ran."""


class Namer:
    """Finds the names of everything in a recording; `names` are the local variables by id.

    The name of a loop variable comes last: after ``for w in weights`` the last weight is still ``weights[3]``.
    """

    def __init__(
        self,
        statements: Statements,
        names: Mapping[int, Sequence[str]],
        ops: Mapping[str, OpInfo],
        files: Iterable[str] = (),
    ) -> None:
        self._statements = statements
        self._ops = {*ops, *(call for info in ops.values() for call in info.calls)}
        passing = {name for file in files for name in statements.loop_names(file)}
        self._locals = {key: min(found, key=lambda name: name in passing) for key, found in names.items()}

    def names(
        self,
        tensors: Mapping[int, TensorRecord],
        applications: Sequence[Application],
        sweeps: Sequence[Sweep],
        met_in_sweeps: set[int],
    ) -> dict[int, str]:
        """Return names by tensor id; unnamed tensors are absent."""
        found: dict[int, str] = {}
        working: set[Place | None] = {None}
        for statements, runs in self._statements_run(applications):
            working.update(a.place for a in runs)
            for statement, own in self._shared_out(statements, runs):
                found.update(self._of_outputs(statement, own))
        for sweep in sweeps:
            found.update(self._of_results(sweep))
        for key, record in tensors.items():
            if record.kind == "variable":
                name = record.name or self._locals.get(record.variable or 0)
            elif record.application is None and record.place not in working and key not in met_in_sweeps:
                name = record.name or found.get(key) or self._of_leaf(record) or self._locals.get(key)
            else:
                name = record.name or found.get(key) or self._locals.get(key)
            if name:
                found[key] = name
        return {key: name for key, name in found.items() if name}

    def _statements_run(self, applications: Sequence[Application]) -> Iterator[_Run]:
        """Return the assignments that ran ops in the forward pass, with the applications at their lines, in order."""
        runs: dict[tuple[int, ...], _Run] = {}
        for application in applications:
            if application.cause is None and application.place is not None:
                statements = self._statements.all_at(application.place)
                if any(statement.targets for statement in statements):
                    key = tuple(map(id, statements))
                    runs.setdefault(key, (statements, []))[1].append(application)
        yield from runs.values()

    def _shared_out(
        self, statements: tuple[Statement, ...], runs: list[Application]
    ) -> Iterator[tuple[Statement, list[Application]]]:
        """Yield each statement of a line with the ops that it ran; nothing if that is uncertain."""
        if len(statements) == 1:
            yield statements[0], runs
            return
        counts = [statement.count_ops(self._ops) for statement in statements]
        own: list[list[Application]] = [[] for _ in statements]
        for run in _executions([a.op for a in runs], sum(counts)):
            if len(run) != sum(counts):
                return
            at = 0
            for count, mine in zip(counts, own, strict=True):
                mine += [runs[index] for index in run[at : at + count]]
                at += count
        yield from zip(statements, own, strict=True)

    def _of_outputs(self, statement: Statement, runs: list[Application]) -> Iterator[tuple[int, str]]:
        executions = _executions([a.op for a in runs], statement.count_ops(self._ops))
        for run in _chained(executions, runs) if statement.loops_inside else executions:
            last = runs[run[-1]]
            if len(statement.targets) == 1:
                if len(last.outputs) == 1 and not statement.makes_container:
                    yield last.outputs[0], statement.targets[0]
            elif len(last.outputs) == len(statement.targets):
                yield from zip(last.outputs, statement.targets, strict=True)
            else:
                for position, target in zip(statement.lasts(self._ops, len(run)), statement.targets, strict=False):
                    if len(runs[run[position]].outputs) == 1:
                        yield runs[run[position]].outputs[0], target

    def _of_results(self, sweep: Sweep) -> Iterator[tuple[int, str]]:
        calls = [one for one in self._statements.all_at(sweep.place) if one.targets and one.is_call]
        if len(calls) == 1 and len(calls[0].targets) == len(sweep.results):
            for result, target in zip(sweep.results, calls[0].targets, strict=True):
                if result is not None:
                    yield result, target

    def _of_leaf(self, record: TensorRecord) -> str | None:
        statement = self._statements.at(record.place)
        if statement is not None and len(statement.targets) == 1 and statement.makes_leaf:
            return statement.targets[0]
        return None


def _chained(executions: Iterable[list[int]], runs: list[Application]) -> list[list[int]]:
    """Join executions of which each reads what the one before it made: partial sums are not what a statement names."""
    joined: list[list[int]] = []
    for run in executions:
        made = {key for index in joined[-1] for key in runs[index].outputs} if joined else set[int]()
        if any(not made.isdisjoint(runs[index].inputs) for index in run):
            joined[-1] += run
        else:
            joined.append(run)
    return joined


def _executions(ops: list[str], at_least: int) -> Iterator[list[int]]:
    """Split the ops that one statement ran into its executions.

    A statement in a loop runs the same ops again and again; the shortest repeating pattern that is not shorter than
    the operations written in it is one execution.
    """
    count = len(ops)
    for period in range(max(1, min(at_least, count)), count + 1):
        if count % period == 0 and ops[period:] == ops[:-period]:
            for start in range(0, count, period):
                yield list(range(start, start + period))
            return
