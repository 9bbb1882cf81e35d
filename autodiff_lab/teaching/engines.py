"""Engines: how a backward pass walks, starts, combines, adds up and differentiates, each part replaceable.

`Engine()` is right. A wrong idea about derivatives is an engine with one part replaced, so that the idea can be run,
stepped through, and recognized by the numbers it gives. `lab.Engine` replaces rules and accumulation in a
`GradientTape` while a program runs; an engine of this module works on a finished recording and also replaces the walk.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.teaching.books import Books, Local
from autodiff_lab.teaching.program import Entry
from autodiff_lab.teaching.walks import Walk, backwards

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording
    from autodiff_lab.teaching.program import Array

Start = Callable[[Books], Mapping[int, Any]]


def seeded(books: Books) -> dict[int, Array]:
    """Return the accounts as a right pass starts: the seeds of the targets, and nothing else."""
    accounts: dict[int, Any] = {}
    for target, seed in zip(books.program.targets, books.program.seeds, strict=True):
        accounts[target] = accounts[target] + seed if target in accounts else seed
    return accounts


@dataclass(frozen=True)
class Engine:
    """How a backward pass works; every part may be replaced.

    Attributes
    ----------
    code : str
        The name of the idea; empty for an engine that is right.
    idea : str
        The idea in words that continue "this is what one gets if".
    walk : callable
        Takes the `Books` of the pass and delivers, entry by entry.
    start : callable
        Takes the books and returns what the accounts hold before the pass, by tensor id, seeds included.
    combine : callable
        Takes what came in at an op and the `Local` derivative; returns the contribution.
    rules : dict of str to rules
        In place of the rules of the ops of these names, as for `lab.Engine`.
    accumulate : callable
        Takes what an account holds and a new contribution; returns what it holds then.
    only : int or None
        The id of the one value at which the engine is wrong: at the op that made it, and at its account.
    by_account : bool
        Whether `combine` belongs to the account that receives, and not to the op that sends.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x = lab.Variable(2.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = 3.0 * x
    ...     c = 2.0 * y + 5.0 * y
    >>> overwriting = teaching.Engine("OVERWRITE", accumulate=lambda old, new: new)
    >>> {name: float(g) for name, g in overwriting.gradients(recording, ["y", "x"]).items()}
    {'y': 2.0, 'x': 6.0}
    """

    code: str = ""
    idea: str = ""
    walk: Walk = backwards
    start: Start = seeded
    combine: Callable[[Any, Local], Any] = operator.mul
    rules: Mapping[str, Any] = field(default_factory=dict)
    accumulate: Callable[[Any, Any], Any] = operator.add
    only: int | None = None
    by_account: bool = False

    def at(self, value: int) -> Engine:
        """Return the same engine, wrong at a single value: at the op that made it, and at its account.

        Parameters
        ----------
        value : int
            The id of a tensor; `recording.name_of` gives its name.
        """
        return replace(self, only=value)

    def gradients(self, recording: Recording, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Run a pass over a finished recording and return the gradients that this engine reports.

        Parameters
        ----------
        recording : Recording
            A finished one.
        names : sequence of str, optional
            The values whose gradients are returned; by default all that a pass comes to, last op first.

        Returns
        -------
        dict of str to array or None
            float64; None where nothing came in.

        Raises
        ------
        NotInRecording, InvalidArgumentError
            A name is unknown; the recording does not hold what a pass needs, or the pass visits every path.
        """
        from autodiff_lab.teaching.books import run
        from autodiff_lab.teaching.reading import program_of

        program = program_of(recording)
        books = run(program, self)
        asked = program.accounts if names is None else {name: program.account(name) for name in names}
        return {name: books.gradient(who.tensors) for name, who in asked.items()}

    def starting(self, books: Books) -> Mapping[int, Array | float]:
        """Return the accounts at the start; those of a right pass but for the one value that `only` names."""
        found = dict(self.start(books))
        if self.only is None:
            return found
        right = seeded(books)
        if self.only in found:
            right[self.only] = found[self.only]
        return right

    def local(self, books: Books, entry: Entry, position: int) -> Local:
        """Return the local derivative that this engine takes for right."""
        rules = entry.rules
        if self.rules and self._wrong_at(entry):
            rules = self.rules.get(entry.op, rules)
        return Local(books.program, entry, position, rules)

    def contribution(self, books: Books, entry: Entry, position: int, incoming: Array) -> Array:
        """Return what an op contributes to one of its inputs."""
        local = self.local(books, entry, position)
        wrong = self.only in (None, entry.inputs[position]) if self.by_account else self._wrong_at(entry)
        return np.asarray(self.combine(incoming, local) if wrong else incoming * local)

    def added(self, books: Books, key: int, old: Array, new: Array) -> Array:
        """Return what an account holds after a booking."""
        return self.accumulate(old, new) if self.only in (None, key) else old + new

    def _wrong_at(self, entry: Entry) -> bool:
        return self.only is None or self.only in entry.outputs


def right_rules(op: str) -> Any:
    """Return the rules of a registered op, for an engine that reorders them or takes some of them."""
    return REGISTRY[op].rules
