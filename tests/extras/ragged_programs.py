"""Random programs over ragged tensors: an op with its arguments, and the expected result from plain lists."""

from __future__ import annotations

import random
from typing import Any

from tests.extras.ragged_draws import FINISH, UNKNOWN, Draw, Program, drawn, each, leaves_to, make, number, reduced

UNARY = ("square", "negative", "abs", "exp", "sin", "sign", "tanh")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


def one(lib: Any, name: str) -> Any:
    """A public function, in the first of the usual namespaces that has it."""
    for home in (lib, lib.math, lib.nn, lib.ragged, lib.strings):
        found = getattr(home, name, None)
        if found is not None:
            return found
    raise AttributeError(name)


def unary(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    name = rng.choice(UNARY)
    return d.program(name, lambda lib, x: one(lib, name)(x))


def binary(rng: random.Random) -> Program:
    """Equal rows, a number, a column or a value for each place of an inner axis."""
    d, name = drawn(rng), rng.choice(BINARY)
    kind = rng.choice(["equal", "number", "column", "inner", "outer"])
    exact = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
             "maximum": max, "minimum": min}[name]  # fmt: skip
    if kind == "equal":
        other = d.again()
        return d.program(name, lambda lib, x: one(lib, name)(
            x, d.tensor(lib, other)),
            each(exact, d.ndim, d.rows, other))  # fmt: skip
    if kind == "inner" and d.shape[-1] == 2:
        other = [number(rng, d.dtype) for _ in range(2)]
        want = each(lambda pair: [exact(a, b) for a, b in zip(pair, other, strict=True)], d.ndim - 1, d.rows)
        return d.program(name, lambda lib, x: one(lib, name)(x, lib.constant(other, getattr(lib, d.dtype))), want)
    if kind == "column":
        other = [number(rng, d.dtype) for _ in d.rows]
        want = [each(lambda a, b=b: exact(a, b), d.ndim - 1, row) for row, b in zip(d.rows, other, strict=True)]
        shape = [len(other)] + [1] * (d.ndim - 1)
        return d.program(name, lambda lib, x: one(lib, name)(
            x, lib.reshape(lib.constant(other, getattr(lib, d.dtype)), shape)), want)  # fmt: skip
    if kind == "outer":
        other = number(rng, d.dtype)
        want = each(lambda a: exact(other, a), d.ndim, d.rows)
        return d.program(name, lambda lib, x: one(lib, name)(lib.constant([other], getattr(lib, d.dtype)), x), want)
    other = number(rng, d.dtype)
    return d.program(name, lambda lib, x: one(lib, name)(x, other), each(lambda a: exact(a, other), d.ndim, d.rows))


def reduction(rng: random.Random) -> Program:
    name = rng.choice(list(FINISH))
    logical = name in ("reduce_any", "reduce_all")
    floats = ("float32", "float64") if name == "reduce_variance" else ("float32", "float64", "int32", "int64")
    d = drawn(rng, ("bool",) if logical else floats)
    keep = rng.random() < 0.4
    if keep and d.shape[-1] is not None:  # TensorFlow puts in too many axes
        keep = False
    how = rng.choice(["none", "one", "one", "list"])
    if how == "list":
        axes: Any = rng.sample(range(d.ndim), rng.randint(1, d.ndim))
    else:
        axes = None if how == "none" else d.axis()
    named = set(range(d.ndim)) if axes is None else {a % d.ndim for a in (axes if how == "list" else [axes])}
    known = not d.inner or all(leaves_to(d.rows, k) and all(leaves_to(d.rows, k)) for k in range(d.ragged_rank + 1))
    return d.program(
        f"{name} axis={axes} keepdims={keep}",
        lambda lib, x: one(lib, name)(x, axis=axes, keepdims=keep),
        reduced(d.rows, d.ndim, named, FINISH[name], keep) if known else UNKNOWN,
    )


def indexing(rng: random.Random) -> Program:
    d = drawn(rng)
    keys: list[Any] = []

    def part() -> slice:
        return slice(rng.choice([None, -2, 0, 1]), rng.choice([None, -1, 1, 2, 5]), rng.choice([None, None, 1, 2, -1]))

    keys.append(rng.choice([rng.randrange(len(d.rows)), -1, slice(None), part(), part()]))
    if isinstance(keys[0], slice) and rng.random() < 0.7:
        keys.append(part())
        if d.ndim > 2 and rng.random() < 0.5:
            keys.append(part())
    dots = rng.random() < 0.2 and len(keys) < d.ndim
    new = rng.random() < 0.15

    def cut(rows: Any, left: list[Any]) -> Any:
        if not left:
            return rows
        first, *rest = left
        if isinstance(first, slice):
            return [cut(row, rest) for row in rows[first]]
        return cut(rows[first], rest)

    want = cut(d.rows, keys)
    whole: list[Any] = [*([None] if new else []), *keys, *([Ellipsis] if dots else [])]
    as_tensor = rng.random() < 0.2 and isinstance(keys[0], int)

    def run(lib: Any, x: Any) -> Any:
        return x[tuple(lib.constant(k) if as_tensor and k == keys[0] and isinstance(k, int) else k for k in whole)]

    return d.program(f"brackets {whole}", run, [want] if new else want)


def gathering(rng: random.Random) -> Program:
    d = drawn(rng)
    kind = rng.choice(["rows", "matrix", "ragged", "of dense", "nd", "batch", "mask", "mask rows", "inner"])
    n = len(d.rows)
    if kind in ("rows", "matrix", "ragged"):
        shape: list[Any] = {"rows": [3], "matrix": [2, 2], "ragged": [2, None]}[kind]
        numbers = each(lambda _: rng.randrange(n), len(shape), make(rng, shape, "int32"))
        want = each(lambda i: d.rows[i], len(shape), numbers)
        made = (lambda lib: lib.ragged.constant(numbers, lib.int32, ragged_rank=1)) if kind == "ragged" else (
            lambda lib: lib.constant(numbers))  # fmt: skip
        return d.program(f"gather {kind}", lambda lib, x: lib.gather(x, made(lib)), want)
    if kind == "of dense":
        table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        d = drawn(rng, ("int32",))
        d.rows = each(lambda _: rng.randrange(3), d.ndim, d.rows)
        return d.program("gather of dense", lambda lib, x: lib.gather(lib.constant(table), x),
                         each(lambda i: table[i], d.ndim, d.rows))  # fmt: skip
    if kind == "nd":
        rows = [i for i in range(n) if d.rows[i]]
        if rows:
            places = [[i, rng.randrange(len(d.rows[i]))] for i in (rng.choice(rows) for _ in range(3))]
            return d.program("gather_nd", lambda lib, x: lib.gather_nd(x, lib.constant(places)),
                             [d.rows[i][j] for i, j in places])  # fmt: skip
    if kind == "batch":
        d.rows = make(rng, d.shape, d.dtype, low=1)
        places = [[rng.randrange(len(row)) for _ in range(2)] for row in d.rows]
        return d.program("gather batch_dims=1", lambda lib, x: lib.gather(x, lib.constant(places), batch_dims=1),
                         [[row[i] for i in at] for row, at in zip(d.rows, places, strict=True)])  # fmt: skip
    if kind == "mask":
        mask = each(lambda _: rng.random() < 0.5, d.ndim, d.rows)
        if d.ragged_rank == d.ndim - 1:
            want = each(lambda r, m: [a for a, b in zip(r, m, strict=True) if b], d.ndim - 1, d.rows, mask)
            return d.program("boolean_mask", lambda lib, x: lib.ragged.boolean_mask(
                x, d.tensor(lib, mask, "bool")), want)  # fmt: skip
    if kind == "inner" and d.shape[-1] == 2:
        return d.program("gather inner", lambda lib, x: lib.gather(x, lib.constant([1, 0, 1]), axis=d.ndim - 1),
                         each(lambda r: [r[1], r[0], r[1]], d.ndim - 1, d.rows))  # fmt: skip
    keep = [rng.random() < 0.5 for _ in d.rows]
    return d.program("boolean_mask rows", lambda lib, x: lib.ragged.boolean_mask(x, lib.constant(keep)),
                     [row for row, k in zip(d.rows, keep, strict=True) if k])  # fmt: skip


def joining(rng: random.Random) -> Program:
    d, stacked = drawn(rng), rng.random() < 0.5
    at = rng.randint(0, 1)
    rows = make(rng, d.shape, d.dtype) if at == 0 or rng.random() < 0.5 else d.again()

    def run(lib: Any, x: Any) -> Any:
        other = d.tensor(lib, rows)
        return (lib.stack if stacked else lib.concat)([x, other, x], axis=at)

    if at == 0:
        want: Any = [d.rows, rows, d.rows] if stacked else [*d.rows, *rows, *d.rows]
    else:
        pairs = zip(d.rows, rows, d.rows, strict=True)
        want = [list(p) if stacked else [*p[0], *p[1], *p[2]] for p in pairs]
    return d.program(f"{'stack' if stacked else 'concat'} axis={at}", run, want)


def expanded(rng: random.Random) -> Program:
    d = drawn(rng)
    at = rng.randint(0, d.ndim)
    axis = at if rng.random() < 0.7 else at - d.ndim - 1
    if rng.random() < 0.4:
        return d.program(f"squeeze {at}", lambda lib, x: lib.squeeze(lib.expand_dims(x, at), axis=at), d.rows)
    return d.program(f"expand_dims {axis}", lambda lib, x: lib.expand_dims(x, axis), each(lambda v: [v], at, d.rows))


def tiled(rng: random.Random) -> Program:
    d = drawn(rng)
    times = [rng.choice([1, 1, 2, 3]) for _ in range(d.ndim)]

    def repeated(rows: Any, left: list[int]) -> Any:
        return [repeated(row, left[1:]) for row in rows] * left[0] if left else rows

    return d.program(f"tile {times}", lambda lib, x: lib.tile(x, times), repeated(d.rows, times))


def turned(rng: random.Random) -> Program:
    d = drawn(rng)
    axes = rng.sample(range(d.ndim), rng.randint(1, d.ndim))

    def back(rows: Any, axis: int) -> Any:
        if axis == d.ndim:
            return rows
        inner = [back(row, axis + 1) for row in rows]
        return inner[::-1] if axis in axes else inner

    return d.program(f"reverse {axes}", lambda lib, x: lib.reverse(x, axes), back(d.rows, 0))


def parted(rng: random.Random) -> Program:
    d = drawn(rng)
    sizes = [1, len(d.rows) - 1]
    return d.program(f"split {sizes}", lambda lib, x: lib.split(x, sizes), [d.rows[:1], d.rows[1:]])


def merged(rng: random.Random) -> Program:
    d = drawn(rng)
    outer = rng.randint(0, d.ndim - 2)
    inner = rng.randint(outer, min(d.ragged_rank, d.ndim - 1) if outer else d.ndim - 1)
    want = each(lambda rows: leaves_to(rows, inner - outer), outer, d.rows)
    return d.program(f"merge_dims {outer} {inner}", lambda lib, x: x.merge_dims(outer, inner), want)


def filled(rng: random.Random) -> Program:
    d = drawn(rng)
    fill = number(rng, d.dtype)
    return d.program("to_tensor", lambda lib, x: x.to_tensor(default_value=fill))


def measured(rng: random.Random) -> Program:
    d = drawn(rng)
    return d.program("size", lambda lib, x: [lib.size(x), lib.rank(x), x.row_lengths(), x.nrows(), x.bounding_shape()])


def ids(rng: random.Random) -> Draw:
    """Rows of whole numbers below 3."""
    d = drawn(rng, ("int32", "int64"))
    d.rows = each(lambda _: rng.randrange(3), d.ndim, d.rows)
    return d


def counted(rng: random.Random) -> Program:
    d = ids(rng)
    if d.inner:  # TensorFlow counts each inner row for itself
        return d.program("one_hot", lambda lib, x: lib.one_hot(x, 3),
                         each(lambda v: [float(i == v) for i in range(3)], d.ndim, d.rows))  # fmt: skip
    axis = -1 if d.ndim == 2 and rng.random() < 0.7 else rng.choice([None, 0])
    more = {"minlength": 5} if rng.random() < 0.4 else {"maxlength": 2} if rng.random() < 0.4 else {}
    return d.program("bincount", lambda lib, x: lib.math.bincount(x, axis=axis, **more))


TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def embedded(rng: random.Random) -> Program:
    d = ids(rng)
    if d.ndim > 2:
        return d.program("embedding_lookup", lambda lib, x: lib.nn.embedding_lookup(lib.constant(TABLE), x))
    how = rng.choice(["sum", "mean", "sqrtn"])
    d.rows = [row or [0] for row in d.rows]
    return d.program(f"embedding_lookup_sparse {how}", lambda lib, x: lib.nn.embedding_lookup_sparse(
        lib.constant(TABLE), x, None, combiner=how))  # fmt: skip


def running(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    axis, exclusive, back = d.axis(), rng.random() < 0.4, rng.random() < 0.4
    return d.program(f"cumsum {axis} {exclusive} {back}", lambda lib, x: lib.cumsum(x, axis, exclusive, back))


def segmented(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    name = f"unsorted_segment_{rng.choice(['sum', 'mean', 'max', 'min', 'prod', 'sqrt_n'])}"
    numbers = [rng.randrange(3) for _ in d.rows]
    return d.program(name, lambda lib, x: getattr(lib.math, name)(x, lib.constant(numbers), 3))


def shares(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    axis = d.axis(1)
    return d.program(f"softmax {axis}", lambda lib, x: lib.nn.softmax(x, axis))


def chosen(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    kind = rng.choice(["where", "where of", "map_fn", "cast", "clip", "equal"])
    run, want = {
        "where": (lambda lib, x: lib.where(x > 0), None),
        "where of": (lambda lib, x: lib.where(x > 0, x * x, -x), lambda v: v * v if v > 0 else -v),
        "map_fn": (lambda lib, x: lib.map_fn(lambda row: row * row, x), lambda v: v * v),
        "cast": (lambda lib, x: lib.cast(x, lib.int32), int),
        "clip": (lambda lib, x: lib.clip_by_value(x, -1.0, 1.0), lambda v: max(-1.0, min(1.0, v))),
        "equal": (lambda lib, x: x == x * x, lambda v: v == v * v),
    }[kind]
    return d.program(kind, run, *([] if want is None else [each(want, d.ndim, d.rows)]))


def multiplied(rng: random.Random) -> Program:
    d = drawn(rng, ("float32", "float64"))
    d.shape, d.ragged_rank = rng.choice([([3, None, 2], 1), ([2, None, None], 2)])
    d.rows = [make(rng, [rng.randint(1, 2), 2], d.dtype) for _ in range(d.shape[0] or 0)]
    other = make(rng, [len(d.rows), 2, 3], d.dtype)
    want = [[[sum(a * b[k] for a, b in zip(row, m, strict=True)) for k in range(3)] for row in rows]
            for rows, m in zip(d.rows, other, strict=True)]  # fmt: skip
    return d.program("matmul", lambda lib, x: lib.matmul(x, lib.constant(other, getattr(lib, d.dtype))), want)


FAMILIES = (unary, binary, binary, binary, reduction, reduction, reduction, indexing, indexing, gathering, gathering,
            joining, expanded, tiled, turned, parted, merged, filled, measured, counted, embedded, running, segmented,
            shares, chosen, multiplied)  # fmt: skip


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    return rng.choice(FAMILIES)(rng)
