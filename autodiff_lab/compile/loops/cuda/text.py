"""The text of a CUDA kernel: a `Region` as one kernel, in one of three grids.

``elements``: threads loop over all elements.  ``columns``: a thread stays in a column and goes down the rows, so that
values of a column are read once and sums over rows stay in a register.  ``rows``: neighbouring threads share a row and
reduce it together.  In each a thread reads four elements before it computes the first, because a GPU hides memory
latency by having many reads in flight.

What is computed for one element is a separate function.  Indices are unsigned integers of 32 bits: one register
each, and Numba does not look for negative ones.  Two of them may not be multiplied or added without `uint32` around
them before a Python number comes in, which would make floats of them.

A row whose sum is needed is visited again once the sum is known.  What the second visit needs of the first it computes
again, from memory that the caches still hold, unless it was stored: threads have no room to keep a row in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autodiff_lab.compile.loops.parts import Parts
from autodiff_lab.compile.loops.text import START, constant_rows, element_type, indented, number_names
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region, reduced


@dataclass
class Visit:
    """One visit of all elements of a row, or of all elements.

    Attributes
    ----------
    row_lines : list of Line
        Numbers of the row that are computed first.
    lines : list of Line
        What is computed for each element.
    loads, stored : list of int
        Values of elements that are read and written.
    given : list of int
        Other inputs of the lines: numbers of the column, of the row, and common to all.
    reductions : list of Line
        What is reduced over the elements.
    """

    row_lines: list[Line]
    lines: list[Line] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    reductions: list[Line] = field(default_factory=list)

    @property
    def made(self) -> list[int]:
        """Results of the function of an element: what is stored, and what is reduced."""
        return list(dict.fromkeys([*self.stored, *(line.ins[0] for line in self.reductions)]))


def visits_of(region: Region, parts: Parts) -> list[Visit]:
    """Return the visit at each level of a region."""
    home = {line.outs[0]: n for n, level in enumerate(parts.levels) for lines in level.passes for line in lines}
    full = {line.outs[0]: line for line in region.lines}
    made: list[Visit] = []
    for n, level in enumerate(parts.levels):
        visit = Visit(level.row_lines, reductions=level.reductions)
        visit.stored = [i for i in parts.stored if home[i] == n]
        known = {i for i in parts.stored if home[i] < n}
        _close(visit, full, known, parts)
        made.append(visit)
    return made


def _close(visit: Visit, full: dict[int, Line], known: set[int], parts: Parts) -> None:
    """Find the lines on which the results of a visit depend, and what they read."""
    needed, read, open_ = set[int](), dict[int, None](), list(visit.made)
    while open_:
        i = open_.pop()
        if i in needed:
            continue
        if i not in full or i in known:
            read[i] = None
            continue
        needed.add(i)
        text = parts.texts[i]
        open_ += [one for n, one in enumerate(full[i].ins) if f"{{{n}}}" in text]
    visit.lines = [line for i, line in full.items() if i in needed]
    elements = known.union(parts.whole)
    order = {i: n for n, i in enumerate([*parts.whole, *parts.row, *parts.column, *parts.single])}
    found = sorted(read, key=lambda i: order.get(i, len(order)))
    visit.loads = [i for i in found if i in elements]
    visit.given = [i for i in found if i not in elements and i not in parts.constants]


LONGEST = 100
"""Characters of a line."""
MOST_LOADS = 32
"""Most registers of a thread for what it reads before it computes the first element."""
_STEP = {"sum": "{} + {}", "mean": "{} + {}", "prod": "{} * {}", "max": "larger({}, {})", "min": "smaller({}, {})"}
_WORD = {"sum": "add", "mean": "add", "prod": "multiply", "max": "largest", "min": "smallest"}
_COUNTED = {2: "two", 4: "four"}
_SIZES = {"elements": ["n"], "columns": ["rows", "columns", "per"], "rows": ["rows", "columns"]}


class _Index(NamedTuple):
    """How a thread loops over elements: its loop variable, by how much it grows, and where an element lies.

    `apart` is the distance from one of several elements to the next and `jump` the step after several; `found` is the
    expression of the index i of the first, if that is not the loop variable.  Of the inputs `beside`, which have a
    number for each row or for each column, the loop variable is the index.
    """

    cursor: str
    stride: str
    apart: str
    jump: str
    found: str = ""
    beside: Sequence[int] = ()


def grid_of(region: Region, program: Program) -> str:
    """Return which of the three grids a region runs in."""
    if region.split is None:
        return "elements"
    within = region.rows > 1 and any(reduced(line, program)[0] == "column" for line in region.sums)
    return "rows" if region.row_values or region.row_lines or within else "columns"


class Writer:
    """Writes the text of one kernel; `numbers` are inputs that come as plain numbers.

    Attributes
    ----------
    totals, folded : list of Line
        Reductions of which each block leaves one number, and all of which it leaves partial results.
    slots : int
        How many elements a thread reads before it computes the first.
    """

    def __init__(self, region: Region, program: Program, parts: Parts, numbers: set[int]) -> None:
        self.region, self.program, self.parts, self.numbers = region, program, parts, numbers
        self.names = number_names(region)
        self.grid = grid_of(region, program)
        self.visits = visits_of(region, parts)
        self.row_stored = parts.row_stored if self.grid == "rows" else []  # sums of the only row are sums of everything
        self.totals = [*parts.all_totals, *([] if self.grid == "rows" else parts.over_columns)]
        self.folded = [*parts.over_rows, *self.totals]
        # with angles the results of an element wait for the check of its neighbours
        each = max(len(v.loads) + (len(v.made) if self._far(v) else 0) for v in self.visits)
        each = each * region.dtype.itemsize // 4
        self.slots = 4 if 4 * each <= MOST_LOADS else 2 if 2 * each <= MOST_LOADS else 1

    def arguments(self) -> list[tuple[str, str]]:
        """Return the names and Numba types of the arguments, in their order."""
        parts, names = self.parts, self.names
        types = {i: element_type(self.region, self.program, i) for i in names}
        made = [(names[i], f"{types[i]}[::1]") for i in parts.arrays]
        made += [(names[i], types[i] if i in self.numbers else f"{types[i]}[::1]") for i in parts.single]
        made += [(f"out_{names[i]}", f"{types[i]}[::1]") for i in [*parts.stored, *self.row_stored]]
        made += [(f"parts_{self._name(line)}", f"{self.region.dtype.name}[::1]") for line in self.folded]
        return [*made, *((size, "uint32") for size in _SIZES[self.grid])]

    def module(self) -> str:
        """Return the text that is compiled; as names depend on the structure alone, other programs have it too."""
        rows = [row for row in self.text() if row != "@cuda.jit"]  # `launching` compiles it
        return "\n".join([*constant_rows(self.parts.constants, self.names), *rows]) + "\n"

    def text(self) -> list[str]:
        """Return the functions of an element, and the function ``kernel``."""
        made: list[str] = []
        for n, visit in enumerate(self.visits):
            if visit.made:
                made += ["@cuda.jit(device=True)", *self._element(visit, self._called(n)), ""]
        body = ["held = cuda.shared.array(THREADS, number)"] if self.region.sums else []
        body += [f"{self._i(i)} = {self.names[i]}[0]" for i in self.parts.single if i not in self.numbers]
        body += {"elements": self._elements, "columns": self._columns, "rows": self._rows}[self.grid]()
        names = ", ".join(name for name, _ in self.arguments())
        return [*made, "@cuda.jit", f"def kernel({names}):", *indented(body)]

    def _called(self, n: int) -> str:
        """Return the name of the function of an element."""
        return "kernel_element" if sum(bool(visit.made) for visit in self.visits) == 1 else f"kernel_visit_{n + 1}"

    def _element(self, visit: Visit, called: str) -> list[str]:
        given = [*(self._i(i) for i in [*visit.loads, *visit.given]), *(["far"] if self._far(visit) else [])]
        return [
            f"def {called}({', '.join(given)}):",
            *(f"    {self._i(line.outs[0])} = {self._expression(line)}" for line in visit.lines),
            f"    return {', '.join([*(self._i(i) for i in visit.made), *self._far(visit)])}",
        ]

    # --- the three grids -------------------------------------------------------------------------------------------

    def _elements(self) -> list[str]:
        """Write the grid in which a block takes about a thousand elements, then those after the last block."""
        tile = "THREADS" if self.slots == 1 else f"{self.slots} * THREADS"
        index = _Index("i", "THREADS", "THREADS", f"{tile} * cuda.gridDim.x")
        body = [f"# block b begins with element {tile} * b; threads side by side take elements side by side"]
        body += [*self._starts(self.totals), f"i = uint32({tile} * cuda.blockIdx.x + cuda.threadIdx.x)"]
        return [*body, *self._rounds(self.visits[0], self._called(0), index, "n"), *self._left("cuda.blockIdx.x")]

    def _columns(self) -> list[str]:
        """Write the grid in which a thread takes a column, and every `height`-th row of its block."""
        found, beside = "uint32(r * columns + c)", self.parts.column
        index = _Index("r", "height", "step", f"{self.slots} * height", found, beside)
        inner = [f"{self._i(i)} = {self.names[i]}[c]" for i in self.parts.row]
        inner.append("r = uint32(cuda.blockIdx.y * per + cuda.threadIdx.y)  # its first row")
        inner.append("last = min(rows, uint32((cuda.blockIdx.y + 1) * per))")
        inner.append("step = uint32(height * columns)  # from a row of it to the next")
        inner += self._rounds(self.visits[0], self._called(0), index, "last")
        body = ["# a thread keeps to column c; threads side by side take columns side by side, blocks `per` rows each"]
        body += [*self._starts(self.folded), "c = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)"]
        body += ["height = uint32(cuda.blockDim.y)", "if c < columns:", *indented(inner)]
        first, place = "c < columns and cuda.threadIdx.y == 0", "uint32(cuda.blockIdx.y * columns + c)"
        body += self._together(self.parts.over_rows, "column", first, place)
        return [*body, *self._left("cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x")]

    def _rows(self) -> list[str]:
        """Write the grid in which neighbouring threads share a row, and a block takes several rows."""
        inner = ["here = first + cuda.threadIdx.y < rows", "r = uint32(first + cuda.threadIdx.y) if here else first"]
        inner += ["end = columns if here else uint32(0)  # below the last row there are no elements"]
        inner += ["low = uint32(r * columns)", *(f"{self._i(i)} = {self.names[i]}[r]" for i in self.parts.column)]
        for n, visit in enumerate(self.visits):
            inner += self._visit(visit, self._called(n))
        stored = [f"out_{self.names[i]}[r] = {self._i(i)}" for i in self.row_stored]
        stored += [self._step(line, self._i(line.ins[0])) for line in self.parts.row_totals]
        if stored:
            inner += ["if here and lane == 0:", *indented(stored)]
        inner.append("first = uint32(first + cuda.gridDim.x * cuda.blockDim.y)")
        body = ["# `width` threads side by side share row r; the block takes as many rows at once as it has room for"]
        body += [*self._starts(self.totals), "lane, width = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x)"]
        body.append("first = uint32(cuda.blockIdx.x * cuda.blockDim.y)")
        body += ["while first < rows:  # all threads of a block go on together", *indented(inner)]
        return [*body, *self._left("cuda.blockIdx.x")]

    def _visit(self, visit: Visit, called: str) -> list[str]:
        """Write numbers of the row, then the loop over its elements, then the results of its reductions."""
        body = [f"{self._i(line.outs[0])} = {self._expression(line, self._known)}" for line in visit.row_lines]
        body = [row.replace(", far)", ", True)") for row in body]
        if not visit.made:
            return body
        index = _Index("c", "width", "width", f"{self.slots} * width", "uint32(low + c)", self.parts.row)
        within = [line for line in visit.reductions if line in self.parts.over_columns]
        body += [*self._starts(within), "c = lane", *self._rounds(visit, called, index, "end")]
        for line in within:
            mean = " / number(columns)" if line.op.name == "mean" else ""
            name = self._name(line)
            body.append(f"{self._i(line.outs[0])} = {_WORD[line.op.name]}_in_row(sum_{name}, held){mean}")
        return body

    # --- going over elements ---------------------------------------------------------------------------------------

    def _rounds(self, visit: Visit, called: str, index: _Index, end: str) -> list[str]:
        """Write a loop over `slots` elements at a time, then one over the remaining elements."""
        words = f"  # {_COUNTED[self.slots]} elements: their reads are under way together" if self.slots > 1 else ""
        body = [f"while {_plus(index.cursor, self.slots - 1, index.stride)} < {end}:{words}"]
        body += indented(self._round(visit, called, index, self.slots))
        body.append(f"    {index.cursor} = uint32({index.cursor} + {index.jump})")
        if self.slots > 1:
            body += [f"while {index.cursor} < {end}:  # what is left", *indented(self._round(visit, called, index, 1))]
            body.append(f"    {index.cursor} = uint32({index.cursor} + {index.stride})")
        return body

    def _round(self, visit: Visit, called: str, index: _Index, slots: int) -> list[str]:
        """Write the reads of some elements, then compute and store each."""
        mark = ["" if slots == 1 else str(k) for k in range(slots)]
        here = [_plus("i", k, index.apart) for k in range(slots)]
        body = [f"i = {index.found}"] if index.found else []
        places = dict.fromkeys(visit.loads, here)
        places |= {i: [_plus(index.cursor, k, index.stride) for k in range(slots)] for i in index.beside}
        read = [i for i in [*visit.loads, *visit.given] if i in places]
        for i in read:
            names, array = [f"{self._i(i)}{m}" for m in mark], self._array(i)
            read_here = [f"{array}[{place}]" for place in places[i]]
            whole = f"{', '.join(names)} = {', '.join(read_here)}"
            short = len(whole) <= LONGEST
            body += [whole] if short else [f"{n} = {r}" for n, r in zip(names, read_here, strict=True)]

        def call(m: str, place: str, *far: str, direct: bool = False) -> str:
            given = [self._i(i) + m if i in places else self._known(i) for i in [*visit.loads, *visit.given]]
            made = [f"out_{self.names[i]}[{place}]" if direct else f"{self._i(i)}{m}" for i in visit.made]
            made += [f"far{m}"] if far else []
            return f"{', '.join(made)} = {called}({', '.join([*given, *far])})"

        each = list(zip(mark, here, strict=True))
        far = self._far(visit)
        if far:
            body += [call(m, place, "False") for m, place in each]
            body.append(f"if {' | '.join(f'far{m}' for m in mark)}:  # an angle out of reach: once more")
            body += [f"    {call(m, place, 'True')}" for m, place in each]
        elif not visit.reductions and all(len(call(m, place, direct=True)) <= LONGEST for m, place in each):
            return body + [call(m, place, direct=True) for m, place in each]
        for m, place in each:
            body += [] if far else [call(m, place)]
            body += [f"out_{self.names[i]}[{place}] = {self._i(i)}{m}" for i in visit.stored]
            body += [self._step(line, f"{self._i(line.ins[0])}{m}") for line in visit.reductions]
        return body

    def _far(self, visit: Visit) -> list[str]:
        """Return an expression for whether an angle is too large for the fast functions, if there are angles."""
        lines = [line for line in visit.lines if self.parts.texts[line.outs[0]].endswith(", far)")]
        angles = dict.fromkeys(self._i(line.ins[0]) for line in lines)
        return [" | ".join(f"is_far({angle})" for angle in angles)] if angles else []

    def _array(self, value: int) -> str:
        """Return the array that holds a value of elements; outputs are read back from where they are stored."""
        return f"out_{self.names[value]}" if value in self.parts.stored else self.names[value]

    # --- folding ---------------------------------------------------------------------------------------------------

    def _starts(self, lines: list[Line]) -> list[str]:
        return [f"sum_{self._name(line)} = {START[line.op.name]}" for line in lines]

    def _step(self, line: Line, value: str) -> str:
        name = f"sum_{self._name(line)}"
        return f"{name} = {_STEP[line.op.name].format(name, value)}"

    def _left(self, place: str) -> list[str]:
        """Write the partial results that the block leaves for the second stage."""
        return self._together(self.totals, "block", "cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0", place)

    def _together(self, lines: list[Line], whole: str, first: str, place: str) -> list[str]:
        """Write how the threads of a column or a block fold what they have, which the first of them leaves."""
        words = {self._name(line): f"{_WORD[line.op.name]}_in_{whole}" for line in lines}
        body = [f"sum_{name} = {word}(sum_{name}, held)" for name, word in words.items()]
        left = [f"    parts_{name}[{place}] = sum_{name}" for name in words]
        return [*body, f"if {first}:", *left] if lines else []

    # --- names -----------------------------------------------------------------------------------------------------

    def _name(self, line: Line) -> str:
        return self.names[line.outs[0]]

    def _i(self, value: int) -> str:
        return f"{self.names[value]}_i"

    def _known(self, value: int) -> str:
        """Return the name of a value outside of the functions of an element."""
        return self.names[value] if value in self.numbers else self._i(value)

    def _expression(self, line: Line, called: Callable[[int], str] | None = None) -> str:
        called = called or self._i
        given = [self.names[i] if i in self.parts.constants else called(i) for i in line.ins]
        return self.parts.texts[line.outs[0]].format(*given)


def _plus(start: str, times: int, stride: str) -> str:
    """Return an index advanced by some strides."""
    return start if times == 0 else f"{start} + {stride}" if times == 1 else f"{start} + {times} * {stride}"
