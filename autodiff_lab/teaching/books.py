"""The accounts of one backward pass, and the local derivatives that it multiplies.

Every value of the program has an account. A pass visits entries in some order and *delivers*: it takes what has come in
at an entry's result, multiplies it by the local derivatives, and books the products on the accounts of the inputs. What
is multiplied with what, how a booking is added, and in which order entries are visited are up to the `Engine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.sweep import fit
from autodiff_lab.errors import InvalidArgumentError

if TYPE_CHECKING:
    from autodiff_lab.teaching.engines import Engine
    from autodiff_lab.teaching.program import Array, Entry, Program

MOST = 20_000
"""Bookings after which a pass is stopped: a walk that visits every path can go on for years."""


class Endless(InvalidArgumentError):
    """A pass makes more bookings than anyone would look at."""


class Local:
    """The local derivative of an entry with respect to one of its inputs, as an engine's `combine` gets it.

    ``incoming * local`` is what the op's rule makes of a cotangent: the product with the local derivative for scalars,
    and with the Jacobian for arrays. In sums and on its own, `local` stands for the rule at a cotangent of ones.

    Examples
    --------
    >>> from autodiff_lab import teaching
    >>> squared = teaching.Engine(combine=lambda incoming, local: incoming * local * local.unit)
    >>> added = teaching.Engine(combine=lambda incoming, local: incoming + local)
    """

    __slots__ = ("_entry", "_program", "_rules", "position")
    __array_ufunc__ = None
    """Lets ``array * local`` come here."""

    def __init__(self, program: Program, entry: Entry, position: int, rules: Any) -> None:
        self._program, self._entry, self.position, self._rules = program, entry, position, rules

    @property
    def op(self) -> str:
        """The name of the op."""
        return self._entry.op

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The values of its inputs."""
        return tuple(self._program.values[key] for key in self._entry.inputs)

    @property
    def output(self) -> Any:
        """The value of the op; a tuple for several results."""
        made = [self._program.values[key] for key in self._entry.outputs]
        return tuple(made) if len(made) > 1 else made[0]

    @property
    def constant(self) -> tuple[bool, ...]:
        """For each input, whether it does not depend on what the gradient is taken with respect to."""
        return tuple(key not in self._program.moving for key in self._entry.inputs)

    @property
    def uses(self) -> int:
        """How many contributions the account of the input gets in a complete pass."""
        return self._program.uses.get(self._entry.inputs[self.position], 1)

    def unfitted(self, incoming: Array) -> Array:
        """Return the contribution before broadcasting is undone: it may have the shape of the result."""
        entry, rules = self._entry, self._rules
        if rules is None:
            return self._recorded(incoming)
        g = list(incoming) if isinstance(incoming, tuple) else incoming
        z, values = self.output, self.inputs
        if isinstance(rules, tuple):
            rule = rules[self.position]
            found = None if rule is None else rule(RAW, g, z, *values, **entry.params)
        else:
            (found,) = rules(RAW, g, z, *values, need=(self.position,), **entry.params)
        return np.zeros_like(values[self.position]) if found is None else found

    def fitted(self, contribution: Array) -> Array:
        """Return a contribution in the shape of the input: summed over the axes along which the input was broadcast."""
        return fit(RAW, np.asarray(contribution), self.inputs[self.position], 0)

    def _recorded(self, incoming: Any) -> Any:
        if self.position not in self._entry.locals:
            raise InvalidArgumentError(
                f"The rule of {self.op} is not known, and no backward pass of the recording went through it."
            )
        return incoming * self._entry.locals[self.position]

    @property
    def ones(self) -> Any:
        """A cotangent of ones, of the shape of the result."""
        made = self.output
        return tuple(np.ones(z.shape) for z in made) if isinstance(made, tuple) else np.ones(made.shape)

    def __mul__(self, incoming: Any) -> Any:
        return self.fitted(self.unfitted(incoming))

    __rmul__ = __mul__

    @property
    def unit(self) -> Array:
        """The local derivative: the rule at a cotangent of ones."""
        return self * self.ones

    def __add__(self, other: Any) -> Any:
        return self.unit + other

    __radd__ = __add__

    def __neg__(self) -> Any:
        return -self.unit

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.unit, dtype=dtype)

    def __float__(self) -> float:
        return float(self.unit)


@dataclass(frozen=True, slots=True)
class Booking:
    """A contribution as it was booked: what came in, what went out, and the account afterwards."""

    entry: Entry
    position: int
    incoming: Any
    outgoing: Any
    total: Any


class Books:
    """The accounts of a pass that is under way; an engine's `walk` and `start` get them.

    Attributes
    ----------
    program : Program
        What is differentiated; ``books.program.entries`` are its ops in the order in which they ran.
    adjoints : dict of int to array
        The accounts, by tensor id.
    arrivals : dict of int to list of array
        The contributions that were booked on each account.
    bookings : list of Booking
        All of them in order.
    only : int or None
        The value at which alone the engine is wrong; None if it is wrong everywhere.

    Examples
    --------
    >>> from autodiff_lab import teaching
    >>> def last_op_alone(books):
    ...     books.deliver(books.entries[-1])
    >>> engine = teaching.Engine(walk=last_op_alone)
    """

    def __init__(self, program: Program, engine: Engine) -> None:
        self.program, self.engine, self.only = program, engine, engine.only
        self.adjoints: dict[int, Any] = {}
        self.arrivals: dict[int, list[Any]] = {}
        self.bookings: list[Booking] = []
        self.adjoints = {**engine.starting(self)}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The ops of the program, in the order in which they ran."""
        return self.program.entries

    @property
    def targets(self) -> tuple[int, ...]:
        """Where the pass starts."""
        return self.program.targets

    def maker(self, tensor: int) -> Entry | None:
        """Return the entry that made a value, None for an input."""
        return self.program.makers.get(tensor)

    def incoming(self, entry: Entry) -> Any:
        """Return what has come in at the result of an entry, None if nothing has; a tuple for several results."""
        found = [self.adjoints.get(key) for key in entry.outputs]
        if all(g is None for g in found):
            return None
        if len(found) == 1:
            return found[0]
        shapes = [self.program.values[key].shape for key in entry.outputs]
        return tuple(np.zeros(s) if g is None else g for g, s in zip(found, shapes, strict=True))

    def deliver(self, entry: Entry, position: int | None = None, incoming: Array | None = None) -> None:
        """Book the contributions of an entry on the accounts of its inputs.

        Parameters
        ----------
        entry : Entry
            The op that is visited.
        position : int, optional
            The only input to deliver to; all of them by default.
        incoming : array, optional
            What came in; by default what is on the account of the entry's result.

        Raises
        ------
        Endless
            After 20,000 bookings.
        """
        incoming = self.incoming(entry) if incoming is None else incoming
        if incoming is None:
            return
        for at in entry.need if position is None else (position,):
            if at in entry.need:
                self.book(entry, at, incoming)

    def book(self, entry: Entry, position: int, incoming: Array) -> None:
        """Make one contribution and add it to the account that it belongs to."""
        key = entry.inputs[position]
        engine = self.engine
        outgoing = engine.contribution(self, entry, position, incoming)
        old = self.adjoints.get(key)
        total = outgoing if old is None else engine.added(self, key, old, outgoing)
        self.adjoints[key] = total
        self.arrivals.setdefault(key, []).append(outgoing)
        self.bookings.append(Booking(entry, position, incoming, outgoing, total))
        if len(self.bookings) > MOST:
            raise Endless(
                f"This pass makes more than {MOST:,} bookings on a program of {len(self.entries)} ops: it visits every "
                "path. Try a smaller program."
            )

    def gradient(self, tensors: tuple[int, ...]) -> Any:
        """Return what the accounts of a value hold, summed over the reads of a variable; None if nothing came."""
        held = [self.adjoints[key] for key in tensors if key in self.adjoints]
        return None if not held else held[0] if len(held) == 1 else sum(held[1:], held[0])


def run(program: Program, engine: Engine) -> Books:
    """Run a pass over a program and return its books.

    Raises
    ------
    Endless
        An `InvalidArgumentError`: it does not come to an end in 20,000 bookings.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    >>> books = teaching.run(teaching.program_of(recording), teaching.Engine())
    >>> [float(booking.total) for booking in books.bookings]
    [3.0, 6.0]
    """
    books = Books(program, engine)
    quietly(engine.walk, books)
    return books
