"""The text of a compiled recurrence: buffers, what comes in, the iterations, and what goes out.

All values of an iteration lie in one piece of memory at fixed places, so that the compiler sees that they do not
overlap. The text has no names of the user's and not the number of iterations: machine code is shared by sequences of
any length.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from autodiff_lab.compile.loops.text import indented, preamble
from autodiff_lab.compile.program.program import Program
from autodiff_lab.compile.program.reroll import Carried
from autodiff_lab.compile.recurrences.body import VALUE, Body, given
from autodiff_lab.compile.recurrences.integers import constants_named
from autodiff_lab.compile.recurrences.joins import without_joins
from autodiff_lab.compile.recurrences.nests import Nest, NestWriter, Order, Piece
from autodiff_lab.compile.recurrences.products import Tiled, along, copied_in_rows, is_small, tiled, written_out
from autodiff_lab.compile.recurrences.statements import Apply, Each, Literal, Product, Reduce, Statement
from autodiff_lab.compile.recurrences.views import View, strides_of, whole
from autodiff_lab.compile.scalars.rolled import Roll

SHORT = 9
"""Elements below which a loop may be unrolled."""
USED = ["from autodiff_lab.kernels.base.deferred import unordered", "from autodiff_lab.kernels.maths.bits import put"]
"""How elements are gone through in any order, and how one array is copied to another."""
_IN_TEXT = {"bool": "bool_", "int32": "int32", "int64": "int64"}
ALIGNED = 16
"""Numbers of float32 in 64 bytes: where every buffer begins."""


class Text:
    """The text of one loop, and what it takes.

    Attributes
    ----------
    outside : list
        Flat arrays that come in: by value, by loop and statement (what an earlier loop stored), or by table.
    numbers : list of int
        Where what moves from turn to turn begins, and its steps; addresses of steps that it calls.
    stacks, finals : list of int
        Statements of which every value is stored, and of which the last one is.
    multiplies : bool
        Whether it calls BLAS.
    module, step : str
        A module whose `loop` Python calls, and one whose `step` is a step of a sequence.
    """

    def __init__(self, roll: Roll, number: int, program: Program, finals: list[int]) -> None:
        self.program, self.finals = program, finals
        self.kept = {at: initial for (n, at), initial in roll.kept.items() if n == number}
        self.stacks = list(self.kept)
        self.body = body = Body(roll, number, program, {*finals, *self.kept})
        self.sources = {law: self._settled(body.values[law.at]) for law in body.carried}
        self.last = {at: self._safe(body.values[at]) for at in finals}
        stores = [self._store(at) for at in self.stacks]
        kept = {one.base for one in (*self.sources.values(), *self.last.values()) if isinstance(one, View)}
        body.statements, stores = _apart(without_joins([*body.statements, *stores], kept))
        self.order = Order([*body.statements, *stores])
        self.multiplies = any(isinstance(piece, Product) for piece in self.order.pieces)
        self.outside: list[Any] = []
        self.numbers: list[int] = []
        self._windows: dict[tuple[Any, int, int], list[View]] = {}
        self._named: dict[Any, str] = {}
        self._constants: dict[Any, str] = {}
        self._sizes = self._measured()
        self._within = self._in_place()
        self._places = self._arranged()
        self.module, self.step = self._modules()

    # --- what is stored, and where ----------------------------------------------------------------------------------

    def _shape(self, at: int) -> tuple[int, ...]:
        return self.program.values[self.body.turns[0][at].outs[0]].shape

    def _settled(self, value: View | Literal) -> View | Literal:
        """Return a value that the next turn reads; it is copied if it only looks at what came from a turn before."""
        looks = isinstance(value, View) and not isinstance(value.base, int)
        return self.body.copied(value) if looks and isinstance(value, View) else value

    def _safe(self, value: View | Literal) -> View | Literal:
        """Return a value that is there after the last turn; what that turn took from the one before no longer is."""
        if isinstance(value, View) and isinstance(value.base, tuple) and isinstance(value.base[0], Carried):
            return self.body.copied(value)
        return value

    def _store(self, at: int) -> Each:
        """Return the statement that stores a value in its stack."""
        shape, shift = self._shape(at), int(self.kept[at] is not None)
        size, base = math.prod(shape), ("stack", at)
        target = View(base, shape, strides_of(shape), 0, shift * size, size)
        value = self.body.values[at]
        return Each("{0}", (value.spread(shape) if isinstance(value, View) else value,), target, base)

    def _measured(self) -> dict[Any, int]:
        """Return the sizes of buffers."""
        found: dict[Any, int] = {}
        for one in self.body.statements:
            found[one.out] = max(found.get(one.out, 0), one.target.ends()[1] + 1 if not one.target.moves else 0)
        for law in self.body.carried:
            found.update({(law, ago): math.prod(self._shape(law.at)) for ago in range(1, law.lag + 1)})
        return found

    def _in_place(self) -> dict[Any, int]:
        """Return what is carried where the new value may overwrite the old one, as nothing reads it afterwards."""
        order, found = self.order, dict[Any, int]()
        for law in self.body.carried:
            base, at = (law, 1), law.at
            alone = law.lag == 1 and sum(other.at == at for other in self.body.carried) == 1
            if not alone or self.sources[law] != whole(at, self._shape(at)):
                continue
            writers = [one for one in self.body.statements if one.out == at]
            last = order.last_read.get(base, -1)
            cells = [one for one in writers if isinstance(one, Each) and one.is_cell]
            if len(cells) == len(writers) > 1 and last < order.begun[at]:
                found[base] = at
                continue
            piece = order.pieces[order.written[at]]
            if len(writers) != 1 or last > order.written[at] or isinstance(writers[0], Reduce):
                continue
            if last == order.written[at] and not self._read_alike(piece, base, writers[0]):
                continue
            found[base] = at
        return found

    def _read_alike(self, piece: Piece, base: Any, writer: Any) -> bool:
        """Return whether a nest reads each element of a base only where it writes the same one."""
        if not isinstance(piece, Nest):
            return False
        views = [view for one in piece.statements for view in one.ins if isinstance(view, View) and view.base == base]
        return all(view._replace(base=writer.target.base) == writer.target for view in views)

    def _arranged(self) -> dict[Any, int]:
        """Give each buffer its place; each dtype has a memory of its own."""
        for law in self.body.carried:
            source = self.sources[law]
            if isinstance(source, View):
                self.order.stored.add(source.base)
        for at in self.finals:
            value = self.last[at]
            if isinstance(value, View):
                self.order.stored.add(value.base)
        places: dict[Any, int] = {}
        self.ends = dict.fromkeys(self._memories(), 0)
        for base, size in self._sizes.items():
            if base in self._within or not (base in self.order.stored or isinstance(base, tuple)):
                continue
            kind = self.body.kind_of(base)
            places[base] = self.ends[kind]
            self.ends[kind] += -(-size // ALIGNED) * ALIGNED
        return places | {base: places[at] for base, at in self._within.items()}

    def _memories(self) -> dict[str, str]:
        """Return the names of the memories in which buffers lie, by dtype."""
        return {self.body.dtype.name: "held", "bool": "truths", "int32": "short_integers", "int64": "integers"}

    # --- names -------------------------------------------------------------------------------------------------------

    def _name(self, base: Any) -> str:
        """Return the name of the flat array in which a base lies."""
        if base in self._places:
            return self._memories()[self.body.kind_of(base)]
        name = self._named.get(base)
        if name is None:
            prefix = {"stack": "s", "final": "o"}.get(base[0]) if isinstance(base, tuple) else None
            name = f"{prefix}{base[1]}" if prefix else f"x{len(self.outside)}"
            self._named[base] = name
            if prefix is None:
                self.outside.append(base)
        return name

    def _place(self, view: View) -> tuple[str, int]:
        """Return the flat array that holds a view, and the number of its first element there."""
        if not view.moves:
            return self._name(view.base), self._places.get(view.base, 0) + view.offset
        key = (view.base, view.first, view.step)
        self._name(view.base)
        self._windows.setdefault(key, []).append(view)
        low = min(one.ends()[0] for one in self._moving[key])
        return f"w{list(self._windows).index(key)}", view.offset - low

    def _literal(self, number: Any) -> str:
        key = (number.dtype.name, number.tobytes())
        if key not in self._constants:
            self._constants[key] = f"c{len(self._constants)}"
            self._values[self._constants[key]] = number
        return self._constants[key]

    def _stride(self, view: View, stride: int) -> str:
        """Return a stride; those of what comes in may depend on the number of turns, so they are arguments."""
        if not (view.moves and isinstance(view.base, tuple) and view.base[0] == VALUE) or stride < SHORT:
            return str(stride)
        return f"q{self._strides.setdefault((view.base, stride), len(self._strides))}"

    # --- the text ----------------------------------------------------------------------------------------------------

    def _modules(self) -> tuple[str, str]:
        kind = self.body.dtype.name
        self._values: dict[str, Any] = {}
        self._lengths: dict[str, int] = {}
        self._strides: dict[tuple[Any, int], int] = {}
        self._moving: dict[Any, list[View]] = {}
        stores = [one for piece in self.order.pieces if isinstance(piece, Nest) for one in piece.each]
        read = [view for one in (*self.body.statements, *stores) for view in (*one.ins, one.target)]
        views = [view for view in (*read, *self.sources.values(), *self.last.values()) if isinstance(view, View)]
        for view in views:
            self._moving.setdefault((view.base, view.first, view.step), []).append(view)
        before = self._begun()
        self._ahead: list[str] = []
        turn = [row for piece in self.order.pieces for row in self._piece(piece)]
        turn += self._carried_on()
        copies = [self._copy(last, whole(("final", at), self._shape(at))) for at, last in self.last.items()]
        after = [row for copy in copies for row in copy]
        windows = self._sliced()
        named = self._lengths | {f"q{n}": stride for (_, stride), n in self._strides.items()}
        lengths = [f"{name} = moves[{len(self.numbers) + n}]" for n, name in enumerate(named)]
        self.numbers += named.values()
        body = [
            *(
                f"{name} = empty({max(1, self.ends[kind])}, {_IN_TEXT.get(kind, 'number')})"
                for kind, name in self._memories().items()
                if self.ends[kind] or kind == self.body.dtype.name
            ),
            *([f"room = empty({room}, number)"] if (room := self._room()) else []),
            "far = int32(0)",
            *lengths,
            *before,
            *self._ahead,
            "for i in range(turns):",
            *indented([*windows, *turn]),
            *after,
            "return far",
        ]
        arguments = [("where", "int64"), ("turns", "int64"), ("moves", "int64[::1]")]
        arguments += [(self._named[base], self._type(base)) for base in self.outside]
        made = [*(("stack", at) for at in self.stacks), *(("final", at) for at in self.finals)]
        arguments += [(self._name(base), self._type(base)) for base in made]
        texts = [one.text for one in self.body.statements if isinstance(one, Each)]
        imported = ["from autodiff_lab.kernels.matmul.direct import product"] if self.multiplies else []
        blocks = {piece.block[:2]: None for piece in self.order.pieces if isinstance(piece, Apply)}
        imported += [f"from {module} import {function}" for module, function in blocks]
        imported += ["from numpy import int64"] if self._needs_int64(texts) else []
        imported += ["from autodiff_lab.kernels.base.pointers import call_step"] if self._ahead else []
        head = [
            *preamble(kind, texts), "from numpy import float64", *imported,
            *constants_named(self._values),
            *USED,
        ]  # fmt: skip
        called = [
            f'@compiled("int32({", ".join(kind for _, kind in arguments)})", _nrt=True)',
            f"def loop({', '.join(name for name, _ in arguments)}):",
        ]
        kinds = [kind.removesuffix("[::1]").replace("boolean", "bool_") for _, kind in arguments]
        begun = ["end, where, turns = 1 << 60, slots[0], slots[1]"]
        begun += [f"{arguments[n][0]} = at(slots[{n}], end, numpy.{kinds[n]})" for n in range(2, len(arguments))]
        stepping = ["import numpy", "from autodiff_lab.kernels.base.pointers import STEP, at"]
        stepping += ["@addressed(STEP, _nrt=True)", "def step(slots):", *indented(begun)]
        return tuple(["\n".join([*head, *before, *indented(body), ""]) for before in (called, stepping)])  # type: ignore[return-value]

    def _needs_int64(self, texts: list[str]) -> bool:
        constants = any(value.dtype.name == "int64" for value in self._values.values())
        return bool(self.ends["int64"] or self._ahead or constants or any("int64(" in text for text in texts))

    def _type(self, base: Any) -> str:
        """Return the type of a flat array, as Numba writes it."""
        kind = self.body.kind_of(base)
        return f"{'boolean' if kind == 'bool' else kind}[::1]"

    def _begun(self) -> list[str]:
        """Write what the first turns read of those before them."""
        made: list[str] = []
        for law in self.body.carried:
            shape = self._shape(law.at)
            for ago in range(1, law.lag + 1):
                made += self._copy(given(law.first[law.lag - ago], shape, self.program), whole((law, ago), shape))
        for at, initial in self.kept.items():
            if initial is not None:
                made += self._copy(given(initial, self._shape(at), self.program), whole(("stack", at), self._shape(at)))
        return made

    def _carried_on(self) -> list[str]:
        """Write how a turn hands its values to the next one."""
        made: list[str] = []
        for law, source in self.sources.items():
            if (law, 1) in self._within:
                continue
            shape = self._shape(law.at)
            for ago in range(law.lag, 1, -1):
                made += self._copy(whole((law, ago - 1), shape), whole((law, ago), shape))
            made += self._copy(source, whole((law, 1), shape))
        return made

    def _copy(self, value: View | Literal, target: View) -> list[str]:
        self.order.stored.add(target.base)
        nest = Nest(target.shape, [Each("{0}", (value,), target, target.base)])
        return self._nest(nest)

    def _nest(self, nest: Nest) -> list[str]:
        return NestWriter(nest, self.order, self._place, self._literal, self._length, self._stride).text()

    def _length(self, count: int) -> str:
        if count < SHORT:
            return str(count)
        self._lengths.setdefault(f"n{count}", count)
        return f"n{count}"

    def _piece(self, piece: Piece) -> list[str]:
        if isinstance(piece, Apply):
            return [self._applied(piece)]
        return self._nest(piece) if isinstance(piece, Nest) else self._product(piece)

    def _room(self) -> int:
        """Return how many numbers the calls of blocks need for themselves."""
        return max((piece.block.room for piece in self.order.pieces if isinstance(piece, Apply)), default=0)

    def _applied(self, piece: Apply) -> str:
        """Write the call of a block."""
        arrays = [f"{base}[{begin}:]" for base, begin in map(self._place, (piece.target, *piece.ins))]
        strides = [self._stride(view, stride) for view, stride in piece.strides]
        arrays[1:1] = ["room"] * (piece.block.room > 0)
        given = [*arrays, *map(self._length, piece.block.sizes), *strides]
        return f"far |= int32({piece.block.function}({', '.join(given)}))"

    def _product(self, piece: Product) -> list[str]:
        """Write a product of matrices, or a loop over a stack of them."""
        (x, y), z = piece.ins, piece.target
        if (step := tiled(piece, self.body.dtype.name)) is not None:
            return self._tiled(x, y, z, step)
        lead, (m, k), n = z.shape[:-2], x.shape[-2:], y.shape[-1]
        if is_small(m, k, n):
            return self._in_loops(lead, written_out(piece, partial(self._element, lead=len(lead))), unordered=True)
        given = [self._matrix(one, len(lead)) for one in (x, y, z)]
        (along_x, flips_x), (along_y, flips_y) = along(x), along(y)
        along_x, along_y = self._stride(x, along_x), self._stride(y, along_y)
        keep = "one" if piece.onto is not None else "zero"
        call = f"product(where, {', '.join(given)}, {m}, {n}, {k}, {along_x}, {flips_x}, {along_y}, {flips_y}, {keep})"
        return self._in_loops(lead, [call], unordered=False)

    def _in_loops(self, lead: tuple[int, ...], made: list[str], *, unordered: bool) -> list[str]:
        """Write what is done for each matrix of a stack."""
        for depth in range(len(lead) - 1, -1, -1):
            turns = f"unordered({self._length(lead[depth])})" if unordered else f"range({lead[depth]})"
            made, unordered = [f"for j{depth} in {turns}:", *indented(made)], False
        return made

    def _tiled(self, x: View, y: View, z: View, step: Tiled) -> list[str]:
        """Write the call of a step that multiplies by tiles; what stays the same is put into its slots once."""
        slots, at = f"slots{len(self.numbers)}", len(self.numbers)
        self.numbers.append(step.address)
        self._ahead += [f"{slots} = empty(11, int64)"]
        self._ahead += [f"{slots}[{3 + n}] = {value}" for n, value in enumerate(step.slots)]
        places = [self._place(one) for one in (x, y, z)]
        if step.copies:
            self._ahead += copied_in_rows(f"rows{at}", *places[1], y.shape, y.strides)
            places[1] = f"rows{at}", 0
        filled = [f"{slots}[{n}] = {base}[{offset}:].ctypes.data" for n, (base, offset) in enumerate(places)]
        return [*filled, f"far |= call_step(moves[{at}], {slots}.ctypes.data)"]

    def _matrix(self, view: View, lead: int) -> str:
        return f"{self._element(view, 0, 0, lead)}:]"

    def _element(self, view: View, row: int, column: int, lead: int) -> str:
        """Return an element of a matrix, without the bracket that ends it."""
        base, offset = self._place(view)
        terms = [f"j{depth} * {self._stride(view, s)}" for depth, s in enumerate(view.strides[:lead]) if s]
        inner = zip((row, column), view.strides[-2:], strict=True)
        terms += [f"{at} * {self._stride(view, s)}" for at, s in inner if at and s]
        return f"{base}[{' + '.join([*terms, str(offset)])}"

    def _sliced(self) -> list[str]:
        """Write the windows at what moves from turn to turn."""
        made: list[str] = []
        for n, (base, first, step) in enumerate(self._windows):
            ends = [view.ends() for view in self._moving[base, first, step]]
            low, high = min(one[0] for one in ends), max(one[1] for one in ends)
            k = len(self.numbers)
            self.numbers += [first + low + self._places.get(base, 0), step]
            made.append(f"p{n} = moves[{k}] + moves[{k + 1}] * i")
            extent: Any = high - low + 1
            if isinstance(base, tuple) and base[0] == VALUE:
                self.numbers.append(extent)
                extent = f"moves[{len(self.numbers) - 1}]"
            made.append(f"w{n} = {self._name(base)}[p{n} : p{n} + {extent}]")
        return made


def _apart(statements: list[Statement]) -> tuple[list[Statement], list[Statement]]:
    """Return the statements of a body, and those that store values in stacks."""
    stores = [one for one in statements if isinstance(one.out, tuple)]
    return [one for one in statements if not isinstance(one.out, tuple)], stores
