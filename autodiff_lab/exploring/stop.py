"""One place where a backward pass waits: what is known of the op, and its adjoint, to be read and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.lean import Hollow
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, ShapeMismatch, TapeMisused

if TYPE_CHECKING:
    from autodiff_lab.exploring.stopping import Stops


class Stop:
    """A place where a backward pass waits: an op whose adjoint has all its contributions, or a source at the end.

    Attributes
    ----------
    op : str
        The op, ``"source"`` for a source.
    index : int or None
        The place of its entry on the tape; None for a source.
    name : str
        What the program calls its result; empty if nothing recorded the program.
    line : int or None
        The line of the program, None if it is not known.
    where : str
        The line in words, with its source; empty if it is not known.
    value : Tensor, None, or a tuple of them
        The result of the op; None where the tape has not kept it.
    inputs : tuple of Tensor or None
        What the op read.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.GradientTape() as tape:
    ...     y = lab.sin(x * x)
    >>> for stop in lab.breakpoint_when(tape, y, x):
    ...     print(stop)
    sin: adjoint 1.0
    multiply: adjoint -0.91113025
    source x: adjoint -5.4667816
    """

    def __init__(self, stops: Stops, op: str, out: Any, ins: tuple[Any, ...], index: int | None) -> None:
        self._stops, self._out = stops, out
        self.op, self.index = op, index
        self.value = tuple(map(_kept, out)) if isinstance(out, tuple) else _kept(out)
        self.inputs = tuple(map(_kept, ins))
        first = out[0] if isinstance(out, tuple) else out
        self.name, place = stops.known_of(first)
        self.line = None if place is None else place[1]
        self.where = stops.words_of(place)
        self._adjoint = self._read()

    @property
    def adjoint(self) -> Any:
        """The adjoint, a tensor; for an op of several results a tuple, with None for those that got none.

        It stays readable.  It may be set before the pass goes on: to anything of the same shape, or to None, which ends
        this path.

        Raises
        ------
        TapeMisused
            If it is set after the pass has gone on.
        ShapeMismatch, DtypeMismatch
            If it is set to something that is not like the result.
        """
        return self._adjoint

    @adjoint.setter
    def adjoint(self, value: Any) -> None:
        if self._stops.current is not self:
            raise TapeMisused(
                f"The backward pass has gone on since it stopped at {self.op}. Set an adjoint before the next stop."
            )
        outs = self._out if isinstance(self._out, tuple) else (self._out,)
        values = tuple(value) if isinstance(self._out, tuple) and isinstance(value, (tuple, list)) else (value,)
        if len(values) != len(outs):
            raise ShapeMismatch(f"{self.op} has {len(outs)} results, so its adjoint is a tuple of {len(outs)}.")
        checked = [_like(each, t, self.op) for each, t in zip(values, outs, strict=True)]
        for t, each in zip(outs, checked, strict=True):
            self._stops.write(t, each)
        self._adjoint = self._read()

    def _read(self) -> Any:
        if isinstance(self._out, tuple):
            return tuple(self._stops.read(t) for t in self._out)
        return self._stops.read(self._out)

    def __repr__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        name = f" {self.name}" if self.name else ""
        adjoints = self.adjoint if isinstance(self.adjoint, tuple) else (self.adjoint,)
        said = ", ".join("none" if g is None else _short(g) for g in adjoints)
        return f"{self.op}{name}{where}: adjoint {said}"


def _kept(t: Any) -> Any:
    """Return a tensor as it is if its value is there, else None."""
    return None if isinstance(t._held, Hollow) else t


def _like(value: Any, t: Any, op: str) -> Tensor | None:
    """Return what an adjoint is set to as a tensor like the result."""
    if value is None:
        return None
    shape = tuple(t._held.shape)
    tensor = value if isinstance(value, Tensor) else constant(value, dtype=t._held.dtype)
    if tuple(tensor._held.shape) != shape:
        raise ShapeMismatch(
            f"The adjoint at {op} has shape {shape}, and what it is set to has shape {tuple(tensor._held.shape)}."
        )
    if tensor._held.dtype != t._held.dtype:
        raise DtypeMismatch(f"The adjoint at {op} is {t._held.dtype}, and what it is set to is {tensor._held.dtype}.")
    return tensor


def _short(g: Tensor) -> str:
    text = " ".join(str(g.numpy()).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
