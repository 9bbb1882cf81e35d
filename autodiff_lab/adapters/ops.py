"""How the ops of another framework are written: as the op of autodiff_lab that each is like, or by an entry of its own.

An op keeps the framework's name, which its users know; symbol, formula and sentence come from the op that it is like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.events import OpDescribed


class OpTable:
    """Describes the ops of a framework.

    Parameters
    ----------
    like : mapping of str to str
        Names of the framework by the op of autodiff_lab that behaves the same.
    entries : mapping of str to tuple
        For ops that are like none: symbol, formula, one formula of the local derivative for each input, a sentence
        that completes "this op ...", and whether the op works elementwise. The entry of ``"compiled"`` is also that of
        ``"compiled: step"``, with the longer name as its symbol.
    calls : mapping of str to iterable of str
        Further names by which programs call an op.

    Examples
    --------
    >>> own = {"relu3": ("relu³", "{0}_+^3", ("3 {0}_+^2",), "cubes {0} where it is positive", True)}
    >>> table = OpTable({"mul": "multiply"}, own)
    >>> told = table.describe("mul")
    >>> told.op, told.like, told.elementwise
    ('mul', 'multiply', True)
    >>> table.describe("relu3").latex, table.describe("relu3: inner").symbol, table.describe("unheard of").symbol
    ('{0}_+^3', 'relu3: inner', 'unheard of')
    """

    def __init__(
        self,
        like: Mapping[str, str],
        entries: Mapping[str, tuple[str, str, tuple[str, ...], str, bool]] | None = None,
        calls: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.like, self.entries, self.calls = like, entries or {}, calls or {}
        self._described: dict[tuple[str, bool], OpDescribed] = {}

    def describe(self, op: str, differentiable: bool = True) -> OpDescribed:
        """Return the description of an op."""
        found = self._described.get((op, differentiable))
        if found is None:
            found = self._described[op, differentiable] = self._describe(op, differentiable)
        return found

    def _describe(self, op: str, differentiable: bool) -> OpDescribed:
        like, calls = self.like.get(op, ""), tuple(self.calls.get(op, ()))
        kind = op.partition(": ")[0]
        if kind in self.entries:
            symbol, latex, slopes, sentence, elementwise = self.entries[kind]
            symbol = symbol if kind == op else op
            return OpDescribed(op, symbol, latex, slopes, sentence, elementwise, differentiable, like, calls)
        if like in REGISTRY:
            _, symbol, latex, slopes, sentence, elementwise, _ = REGISTRY[like].describe()
            symbol = op if symbol == like else symbol  # a name, not a sign: users know their own
            like = "" if like == op else like
            return OpDescribed(op, symbol, latex, slopes, sentence, elementwise, differentiable, like, calls)
        return OpDescribed(op, op, "", (), "", False, differentiable, like, calls)

    def is_elementwise(self, op: str) -> bool:
        """Return whether an op works element by element."""
        return self.describe(op).elementwise
