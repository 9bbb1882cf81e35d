"""Tiles: pieces of a convolution's result that stay in vector registers while all their products are added up.

A tile has up to twelve rows and two vectors of columns.  For each term of the sum two vectors are loaded and every row
multiplies them by one number of its own, so 24 products of vectors cost 14 loads and no store.  LLVM finds no such
loop by itself; `_Writer` writes it, instruction by instruction, for each number of rows.  Three things are tiles:

- pixels of a result, by channels: the terms are the taps of the window times the channels of x, which lie side by side;
- taps of a filter's gradient, by channels: the terms are the pixels, the rows lie side by side;
- pixels or taps of one channel in each lane, for convolutions that mix no channels: rows are multiplied by vectors.

Columns that do not fill a vector are masked, in tiles of their own, as masks cost time in the innermost loop; columns
that are packed into whole vectors are masked only when the result is stored.  Products are added without being rounded
first (fused), in the order of the terms.  `padded` is here because what loops of several modules call must be known to
the store of machine code.
"""
# ruff: noqa: ANN001

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import functools
from typing import Any

from llvmlite.binding import get_host_cpu_features

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable
from autodiff_lab.kernels.maths.bits import put

_has = get_host_cpu_features()
BYTES = 64 if _has.get("avx512f") else 32 if _has.get("avx2") else 16
"""Bytes of a vector register."""
ROWS = 12 if BYTES == 64 or not _has.get("sse2") else 6
"""Rows of a tile: with two vectors each, two of the columns and one number they fill 32 registers, or 16."""

_I1, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_ADDRESS = ir.IntType(8).as_pointer()
Width = tuple[int, str]
"""How wide a tile is: its vectors, and whether columns fill them, `whole` or `cut`, or are `packed` into whole ones."""
_FUSED = ("contract",)  # a product may be added without being rounded first; nothing else is relaxed


class _Writer:
    """Writes ``out[r, c] (+)= sum over segments s and terms t of x[offsets[s] + ...] * w[t, c]`` for one tile."""

    def __init__(self, module: Any, real: Any, rows: int, width: Width, kind: str) -> None:
        self.real, self.rows, self.kind = real, rows, kind
        self.vectors, self.fill = width
        self.masked = self.fill == "cut"
        self.size = 4 if isinstance(real, ir.FloatType) else 8
        self.lanes = BYTES // self.size
        self.vector = ir.VectorType(real, self.lanes)
        self.pointer = self.vector.as_pointer()
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)
        masks = ir.VectorType(_I1, self.lanes)
        suffix = f"v{self.lanes}f{8 * self.size}.p0"
        self.masked_load = _declared(
            module, f"llvm.masked.load.{suffix}", self.vector, [self.pointer, _I32, masks, self.vector]
        )
        self.masked_store = _declared(
            module, f"llvm.masked.store.{suffix}", ir.VoidType(), [self.vector, self.pointer, _I32, masks]
        )

    def write(self, function: Any) -> None:
        """Fill a function with blocks: over segments, over terms, then what was there before, then the stores."""
        x, offsets, segments, run, apart, stride, w, w_apart, out, out_apart, columns, more = function.args
        blocks = [function.append_basic_block(n) for n in ("entry", "segment", "open", "term", "close", "end")]
        entry, segment, opening, term, closing, end = blocks
        b = self.b = ir.IRBuilder(entry)
        self.mask: Any = self._mask(columns) if self.masked else None
        beside = self.kind == "taps"
        apart, stride, w_apart, self.out_apart = (
            b.mul(n, _I64(self.size)) for n in (apart, stride, w_apart, out_apart)
        )
        twice = b.shl(apart, _I64(1))
        # LLVM's addresses are base + apart or base + 2·apart, so every third row has a base of its own
        bases = [_I64(0)] if beside else [b.mul(apart, _I64(3 * n)) for n in range((self.rows + 2) // 3)]
        b.branch(segment)

        b.position_at_end(segment)
        s, w_here = self._phi(_I64, _I64(0), entry), self._phi(_ADDRESS, w, entry)
        sums = [self._phi(self.vector, self.zero, entry) for _ in range(self.rows * self.vectors)]
        b.cbranch(b.icmp_signed("<", s, segments), opening, end)

        b.position_at_end(opening)
        start = b.gep(x, [b.mul(b.load(b.gep(offsets, [s])), _I64(self.size))])
        starts = [b.gep(start, [n]) for n in bases]
        b.branch(term)

        b.position_at_end(term)
        t, w_now = self._phi(_I64, _I64(0), opening), self._phi(_ADDRESS, w_here, opening)
        at = [self._phi(_ADDRESS, p, opening) for p in starts]
        now = [self._phi(self.vector, v, opening) for v in sums]
        columns_now = [self._load(w_now, n) for n in range(self.vectors)]
        grown: list[Any] = []
        for row in range(self.rows):
            if beside:
                address = b.gep(at[0], [_I64(row * self.size)])
            else:
                base = at[row // 3]
                address = base if row % 3 == 0 else b.gep(base, [apart if row % 3 == 1 else twice])
            number = self._load(address, 0) if self.kind == "channels" else self._everywhere(address)
            for n, column in enumerate(columns_now):
                product = b.fmul(number, column, flags=_FUSED)
                grown.append(b.fadd(now[row * self.vectors + n], product, flags=_FUSED))
        w_next, t_next = b.gep(w_now, [w_apart]), b.add(t, _I64(1))
        self._again(term, [t, w_now], [t_next, w_next])
        self._again(term, at, [b.gep(p, [_I64(self.size) if self.kind == "pixels" else stride]) for p in at])
        self._again(term, now, grown)
        b.cbranch(b.icmp_signed("<", t_next, run), term, closing)

        b.position_at_end(closing)
        self._again(closing, [s, w_here], [b.add(s, _I64(1)), w_next])
        self._again(closing, sums, grown)
        b.branch(segment)
        if self.fill == "packed":
            plain, cut = (function.append_basic_block(n) for n in ("plain", "cut"))
            b.position_at_end(end)
            b.cbranch(b.icmp_signed("==", columns, _I64(self.vectors * self.lanes)), plain, cut)
            self._store(function, plain, sums, out, more)
            b.position_at_end(cut)
            self.masked, self.mask, end = True, self._mask(columns), cut
        self._store(function, end, sums, out, more)

    def _store(self, function: Any, begin: Any, sums: list[Any], out: Any, more: Any) -> None:
        """Add what was there before, if `more`, and store the sums."""
        b = self.b
        adding, storing = function.append_basic_block("add"), function.append_basic_block("store")
        b.position_at_end(begin)
        rows = [b.gep(out, [b.mul(self.out_apart, _I64(row))]) for row in range(self.rows)]
        b.cbranch(b.icmp_signed("!=", more, _I64(0)), adding, storing)
        b.position_at_end(adding)
        places = [(p, n) for p in rows for n in range(self.vectors)]
        added = [b.fadd(self._load(p, n), v) for (p, n), v in zip(places, sums, strict=True)]
        b.branch(storing)
        b.position_at_end(storing)
        values = [self._phi(self.vector, v, begin) for v in sums]
        self._again(adding, values, added)
        for (p, n), value in zip(places, values, strict=True):
            address = self._vector_at(p, n)
            if self._is_cut(n):
                b.call(self.masked_store, [value, address, _I32(self.size), self._lanes()])
            else:
                b.store(value, address).align = self.size  # pyright: ignore[reportAttributeAccessIssue]
        b.ret_void()

    def _is_cut(self, n: int) -> bool:
        return self.masked and n == self.vectors - 1

    def _mask(self, columns: Any) -> Any:
        """Return which lanes of the last vector are columns: negative numbers as wide as those of the vector.

        Bits would be made again in each turn of the loop, by half a dozen instructions.
        """
        b, number = self.b, ir.IntType(8 * self.size)
        numbers = ir.VectorType(number, self.lanes)
        left = b.sub(columns, _I64((self.vectors - 1) * self.lanes))
        left = b.trunc(left, number) if self.size < 8 else left
        return b.sub(ir.Constant(numbers, list(range(self.lanes))), self._spread(left, numbers))

    def _lanes(self) -> Any:
        return self.b.icmp_signed("<", self.mask, ir.Constant(self.mask.type, [0] * self.lanes))

    def _spread(self, number: Any, kind: Any) -> Any:
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.b.insert_element(nothing, number, _I32(0))
        return self.b.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_I32, self.lanes), [0] * self.lanes))

    def _everywhere(self, address: Any) -> Any:
        """Return a number of x, in all lanes."""
        number = self.b.load(self.b.bitcast(address, self.real.as_pointer()))
        number.align = self.size  # pyright: ignore[reportAttributeAccessIssue]
        return self._spread(number, self.vector)

    def _vector_at(self, address: Any, n: int) -> Any:
        return self.b.bitcast(self.b.gep(address, [_I64(n * BYTES)]), self.pointer)

    def _load(self, address: Any, n: int) -> Any:
        address = self._vector_at(address, n)
        if self._is_cut(n):
            return self.b.call(self.masked_load, [address, _I32(self.size), self._lanes(), self.zero])
        loaded = self.b.load(address)
        loaded.align = self.size  # pyright: ignore[reportAttributeAccessIssue]
        return loaded

    def _phi(self, kind: Any, value: Any, block: Any) -> Any:
        phi = self.b.phi(kind)
        phi.add_incoming(value, block)
        return phi

    @staticmethod
    def _again(block: Any, phis: list[Any], values: list[Any]) -> None:
        for phi, value in zip(phis, values, strict=True):
            phi.add_incoming(value, block)


def _declared(module: Any, name: str, result: Any, args: list[Any]) -> Any:
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, args), name)


def _written(module: Any, real: Any, rows: int, width: Width, kind: str) -> Any:
    """Return the function of one kind of tile, written once into each module."""
    name = f"tile_of_{kind}_{real}_{rows}_{width[0]}_{width[1]}"
    found = module.globals.get(name)
    if found is None:
        numbers = _I64.as_pointer()
        args = [_ADDRESS, numbers, _I64, _I64, _I64, _I64, _ADDRESS, _I64, _ADDRESS, _I64, _I64, _I64]
        found = ir.Function(module, ir.FunctionType(ir.VoidType(), args), name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        _Writer(module, real, rows, width, kind).write(found)
    return found


def width_of(columns: int, itemsize: int) -> Width:
    """Return how wide a tile of at most two vectors of columns is."""
    lanes = BYTES // itemsize
    return 1 + (columns > lanes), "cut" if columns % lanes else "whole"


@functools.cache
def tile_of(kind: str, rows_had: tuple[int, ...] = (), widths_had: tuple[Width, ...] = ()) -> Any:
    """Return what computes a tile in compiled code: of any size, or only of those sizes that its callers have.

    Each size takes some 20 ms to compile.
    """
    widths = widths_had or tuple((n, fill) for n in (1, 2) for fill in ("whole", "cut"))
    sizes = [(r, width) for r in rows_had or range(1, ROWS + 1) for width in widths]

    @intrinsic("void", "=", "int64", "=", *["int64"] * 5, "=", "int64", "int64", "=", *["int64"] * 5)
    def tile(site: Any, *args: Any) -> None:
        """Put a tile into an array, or add it.

        Arguments are x and where to begin in it; the offsets of runs, where to begin in them, how many runs and of how
        many terms; how far rows of x lie apart, and terms, in elements; w, where to begin, and how far its rows lie
        apart; the result, where, and how far; how many rows and columns; and whether the tile is added.
        """
        b, real = site.builder, site.element(0)
        size = 4 if isinstance(real, ir.FloatType) else 8

        def address(n: int, itemsize: int, kind: Any) -> Any:
            start = b.bitcast(site.data(n), _ADDRESS)
            return b.bitcast(b.gep(start, [b.mul(args[n + 1], _I64(itemsize))]), kind)

        passed = [
            address(0, size, _ADDRESS), address(2, 8, _I64.as_pointer()), *args[4:8], address(8, size, _ADDRESS),
            args[10], address(11, size, _ADDRESS), args[13], *args[15:17],
        ]  # fmt: skip
        lanes = _I64(BYTES // size)
        two = b.zext(b.icmp_signed(">", args[15], lanes), _I64)
        cut = b.zext(b.icmp_signed("!=", b.srem(args[15], lanes), _I64(0)), _I64)
        end = b.append_basic_block("tile_end")
        choice = b.switch(b.add(b.shl(b.add(b.shl(args[14], _I64(1)), two), _I64(1)), cut), end)
        for number, (vectors, fill) in sizes:
            block = b.append_basic_block(f"tile_{number}_{vectors}_{fill}")
            for n in {"whole": (0,), "cut": (1,), "packed": (0, 1)}[fill]:
                choice.add_case(_I64(2 * (2 * number + vectors - 1) + n), block)
            with b.goto_block(block):
                b.call(_written(b.module, real, number, (vectors, fill), kind), passed)
                b.branch(end)
        b.position_at_end(end)

    return tile


tile_of_channels = tile_of("channels", (), ((1, "whole"), (1, "cut")))


@register_jitable
def padded(x, i, sizes, image, to) -> int:
    """Put the i-th image between the zeros of `image` from `to` on, if it has any; gives where the image begins."""
    c, depth, height, width = sizes[0], sizes[5], sizes[6], sizes[7]
    front, top, left, all_height, all_width = sizes[8], sizes[9], sizes[10], sizes[12], sizes[13]
    line = width * c
    begin = i * depth * height * line
    if image.size == 0:
        return begin
    for d in range(depth):
        for h in range(height):
            place = to + (((d + front) * all_height + h + top) * all_width + left) * c
            put(image[place : place + line], x[begin : begin + line])
            begin += line
    return to
