"""The table of statements, continued: shapes, slices, gathering, scattering, segments, creation, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peers.programs.draw import Pool, Unfit
from tests.peers.programs.statements import add
from tests.peers.programs.values import KINDS, Call, Dtype, kind_of

ANY = "fcib"


def reshaped(pool: Pool, name: str) -> Call:
    """Another shape of the same size, -1 in it at times."""
    x = pool.take(ANY)
    size = pool[x].size
    divisors = [d for d in range(1, size + 1) if size % d == 0] or [1]
    first = pool.choice.choice(divisors)
    shapes = [[-1], [size], [first, -1], [-1, first, 1], [first, size // first]]
    if not size:
        shapes = [[0], [-1, 3], [0, 2], [3, 0], [0, -1, 3] if pool[x].ndim and pool[x].shape[0] == 0 else [0]]
    return Call(name, (x, pool.choice.choice(shapes)), {})


def transposed(pool: Pool, name: str) -> Call:
    """Axes in another order."""
    x = pool.take(ANY)
    kwargs: dict[str, Any] = {}
    if pool.chance(0.6):
        kwargs["perm"] = pool.choice.sample(range(pool[x].ndim), pool[x].ndim)
    if pool.chance(0.3):
        kwargs["conjugate"] = True
    return Call(name, (x,), kwargs)


def with_axis(pool: Pool, name: str) -> Call:
    """A call with one axis: expand_dims, squeeze, reverse, roll, flip."""
    x = pool.take(ANY)
    rank = pool[x].ndim
    if name == "expand_dims":
        return Call(name, (x, pool.choice.randrange(-rank - 1, rank + 1)), {})
    if name == "squeeze":
        ones = [a for a, length in enumerate(pool[x].shape) if length == 1]
        return Call(name, (x,), {"axis": ones[:1]} if ones and pool.chance(0.5) else {})
    if name == "reverse":
        return Call(name, (x, sorted({pool.axis(x) % rank for _ in range(2)})), {})
    return Call(name, (x,), {"shift": pool.choice.randrange(-4, 5), "axis": pool.axis(x)})


def tiled(pool: Pool, name: str) -> Call:
    """A value repeated, broadcast or padded."""
    x = pool.take(ANY, 0 if name == "broadcast_to" else 1, 3)
    shape = pool[x].shape
    if name == "tile":
        return Call(name, (x, [pool.choice.choice([0, 1, 1, 2]) for _ in shape]), {})
    if name == "broadcast_to":
        grown = [pool.choice.choice([0, 2, 3]) if length == 1 else length for length in shape]
        return Call(name, (x, [2, *grown] if pool.chance(0.3) else grown), {})
    if name == "repeat":
        axis = pool.axis(x)
        count = shape[axis]
        times = pool.choice.choice([0, 1, 2, [pool.choice.randrange(3) for _ in range(count)]])
        return Call(name, (x, times), {"axis": axis})
    mode = pool.choice.choice(["CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"])
    most = [2 if mode == "CONSTANT" else max(min(length - (mode == "REFLECT"), 2), 0) for length in shape]
    widths = [[pool.choice.randrange(m + 1), pool.choice.randrange(m + 1)] for m in most]
    kwargs: dict[str, Any] = (
        {"constant_values": 2} if mode == "CONSTANT" and kind_of(pool[x].dtype) in "fi" and pool.chance(0.4) else {}
    )
    return Call(name, (x, widths, mode), kwargs)


def joined(pool: Pool, name: str) -> Call:
    """Several values of one dtype, joined."""
    x = pool.take(ANY, name == "concat", 3)
    array = pool[x]
    if name == "stack":
        others = [pool.new(array.dtype.name, array.shape) for _ in range(pool.choice.randrange(3))]
        return Call(name, ([x, *others],), {"axis": pool.choice.randrange(-array.ndim - 1, array.ndim + 1)})
    axis = pool.axis(x)
    shape = list(array.shape)
    parts = [x]
    for _ in range(pool.choice.randrange(3)):
        shape[axis] = pool.choice.randrange(3)
        parts.append(pool.new(array.dtype.name, tuple(shape)))
    return Call(name, (parts, axis), {})


def parted(pool: Pool, name: str) -> Call:
    """A value taken apart."""
    x = pool.take(ANY, 1)
    axis = pool.axis(x)
    length = pool[x].shape[axis]
    if name == "unstack":
        if not length:
            raise Unfit
        return Call(name, (x,), {"axis": axis})
    sizes = [d for d in range(1, length + 1) if length % d == 0]
    if not sizes:
        raise Unfit
    cut = pool.choice.randrange(length + 1)
    return Call(name, (x, pool.choice.choice([pool.choice.choice(sizes), [cut, length - cut]])), {"axis": axis})


def sliced(pool: Pool, _: str) -> Call:
    """Python's square brackets."""
    x = pool.take(ANY, 1)
    shape = pool[x].shape
    keys: list[Any] = []
    for length in shape[: pool.choice.randrange(1, len(shape) + 1)]:
        way = pool.choice.random()
        if way < 0.3 and length:
            keys.append(pool.choice.randrange(-length, length))
        elif way < 0.9:
            ends = [pool.choice.choice([None, *range(-length - 1, length + 2)]) for _ in range(2)]
            keys.append(slice(*ends, pool.choice.choice([None, None, 1, 2, -1, -2])))
        else:
            keys.append(slice(None))
    if pool.chance(0.25):
        keys.insert(pool.choice.randrange(len(keys) + 1), None)
    if pool.chance(0.3):
        keys.insert(0 if len(keys) < len(shape) else len(keys), Ellipsis)
        if len([key for key in keys if key is not None and key is not Ellipsis]) > len(shape):
            raise Unfit
    return Call("op:[]", (x, tuple(keys)), {})


def cut(pool: Pool, name: str) -> Call:
    """A block of a value."""
    x = pool.take(ANY, 1)
    begin = [pool.choice.randrange(length + 1) for length in pool[x].shape]
    size = [
        pool.choice.choice([-1, pool.choice.randrange(n - b + 1)]) for n, b in zip(pool[x].shape, begin, strict=True)
    ]
    return Call(name, (x, begin, size), {})


def indices(pool: Pool, shape: tuple[int, ...], most: int) -> np.ndarray:
    """Return whole numbers below `most`."""
    if not most:
        shape = (0, *shape[1:])
    draw = np.random.default_rng(pool.choice.randrange(2**32))
    return draw.integers(0, max(most, 1), shape, np.int32)


def gathered(pool: Pool, name: str) -> Call:
    """Rows or elements by index."""
    x = pool.take(ANY, 1)
    shape = pool[x].shape
    if name == "gather_nd":
        depth = pool.choice.randrange(len(shape) + 1)
        rows = (pool.choice.randrange(4),) if pool.chance(0.7) else (2, 2)
        if 0 in shape[:depth]:
            rows = (0,)
        parts = [indices(pool, rows, length or 1) for length in shape[:depth]]
        return Call(name, (x, np.stack(parts, -1) if parts else np.zeros((*rows, 0), np.int32)), {})
    if len(shape) > 1 and pool.chance(0.25) and shape[0]:
        return (
            Call(name, (x, indices(pool, (shape[0], 2), shape[1] or 1)), {"batch_dims": 1, "axis": 1})
            if shape[1]
            else cut(pool, "slice")
        )
    axis = pool.axis(x)
    wanted = pool.choice.choice([(), (3,), (2, 2), (0,)]) if shape[axis] else (0,)
    return Call(name, (x, indices(pool, wanted, shape[axis])), {"axis": axis})


def segmented(pool: Pool, name: str) -> Call:
    """Sums and the like over segments."""
    x = pool.take("f" if "mean" in name or "sqrt" in name else "fi", 1, 3)
    length = pool[x].shape[0]
    ids = indices(pool, (length,), 4)
    if "unsorted" in name:
        return Call(name, (x, ids if pool.chance(0.8) else ids - 1, pool.choice.randrange(4, 6)), {})
    return Call(name, (x, np.sort(ids)), {})


def scattered(pool: Pool, name: str) -> Call:
    """Updates at places."""
    x = pool.take("fi", 1, 3)
    shape = pool[x].shape
    depth = pool.choice.randrange(1, len(shape) + 1)
    rows = pool.choice.randrange(4)
    if 0 in shape[:depth]:
        rows = 0
    where = np.stack([indices(pool, (rows,), length or 1) for length in shape[:depth]], -1)
    if name == "tensor_scatter_nd_update":
        where = np.unique(where, axis=0)
    updates = pool.new(pool[x].dtype.name, (len(where), *shape[depth:]))
    if name == "scatter_nd":
        return Call(name, (where, updates, list(shape)), {})
    return Call(name, (x, where, updates), {})


def chosen(pool: Pool, name: str) -> Call:
    """Selections by a condition."""
    x = pool.take(ANY, 1 if name == "boolean_mask" else 0)
    shape = pool[x].shape
    if name == "where1":
        return Call("where", (pool.new("bool", shape),), {})
    if name == "boolean_mask":
        return Call(name, (x, pool.new("bool", shape[: pool.choice.randrange(1, len(shape) + 1)])), {})
    return Call(name, (pool.new("bool", pool.related(shape)), x, pool.beside(x)), {})


def cast(pool: Pool, name: str) -> Call:
    """Another dtype."""
    x = pool.take(ANY, manner="any" if pool.chance(0.5) else "tame")
    kinds = {"f": "fcb", "c": "c", "i": "fcib", "b": "fib"}[kind_of(pool[x].dtype)]
    return Call(name, (x, Dtype(pool.choice.choice(KINDS[pool.choice.choice(kinds)]))), {})


def created(pool: Pool, name: str) -> Call:
    """New values from Python numbers."""
    dtype = Dtype(pool.dtype("fci"))
    if name == "range":
        bounds = pool.choice.choice([(5,), (1, 6), (0, 7, 2), (5, 0, -2), (0.0, 1.0, 0.25), (3, 3), (2, -1)])
        return Call(name, bounds, {})
    if name == "linspace":
        ends = pool.choice.choice([(0, 10), (0.0, 1.0), (1.0, -1.0), (-2, 2)])
        return Call(name, (*ends, pool.choice.randrange(1, 6)), {})
    if name == "eye":
        return Call(
            name,
            (pool.choice.randrange(4),),
            {"num_columns": 3, "dtype": dtype} if pool.chance(0.5) else {"batch_shape": [2]},
        )
    if name == "one_hot":
        return Call(
            name,
            (np.array([0, 2, -1, 1], np.int32), 3),
            pool.choice.choice([{}, {"axis": 0}, {"dtype": dtype}, {"on_value": 5, "off_value": -1}]),
        )
    if name == "fill":
        return Call(name, ([2, pool.choice.randrange(3)], pool.choice.choice([1, 2.5, True])), {})
    return Call(name, ([2, pool.choice.randrange(3)],), {"dtype": dtype})


def best(pool: Pool, name: str) -> Call:
    """The largest elements of each row, or distinct ones."""
    x = pool.take("fi", 1, 2)
    if name == "unique":
        x = pool.take("fi", 1, 1)
        return Call(name, (x,), {})
    if name == "searchsorted":
        rows = pool.new("float32", (4,), "tame")
        pool.inputs[rows.at] = pool.arrays[rows.at] = np.sort(pool[rows])
        return Call(name, (rows, pool.new("float32", (3,))), {"side": pool.choice.choice(["left", "right"])})
    if not pool[x].shape[-1]:
        raise Unfit
    return Call(name, (x,), {"k": pool.choice.randrange(1, pool[x].shape[-1] + 1)})


def summed(pool: Pool, name: str) -> Call:
    """Several values of one shape added, or bins counted."""
    if name == "math.bincount":
        return Call(name, (pool.new("int32", (5,), "positive"),), {"minlength": 3} if pool.chance(0.5) else {})
    x = pool.take("fci")
    return Call(
        name, ([x, *(pool.new(pool[x].dtype.name, pool[x].shape) for _ in range(pool.choice.randrange(3)))],), {}
    )


def complexes(pool: Pool, name: str) -> Call:
    """Complex numbers from real ones, and transforms."""
    if name == "complex":
        x = pool.take("F")
        return Call(name, (x, pool.new(pool[x].dtype.name, pool[x].shape)), {})
    x = pool.take("F" if "rfft" in name else "c", 2 if "2d" in name else 1, manner="tame")
    if not pool[x].size:
        raise Unfit
    return Call(name, (x,), {})


add(reshaped, "reshape", times=3)
add(transposed, "transpose", times=3)
add(with_axis, "expand_dims", "squeeze", "reverse", "roll", times=2)
add(tiled, "tile", "broadcast_to", "repeat", "pad", times=2)
add(joined, "stack", "concat", times=2)
add(parted, "split", "unstack")
add(sliced, "", times=8)
add(cut, "slice", times=2)
add(gathered, "gather", "gather_nd", times=3)
add(segmented, *(f"math.segment_{kind}" for kind in ("sum", "mean", "max", "min", "prod")),
    *(f"math.unsorted_segment_{kind}" for kind in ("sum", "mean", "max", "min", "prod", "sqrt_n")))  # fmt: skip
add(scattered, "scatter_nd", "tensor_scatter_nd_update", "tensor_scatter_nd_add", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min")  # fmt: skip
add(chosen, "where", "where", "where1", "boolean_mask")
add(cast, "cast", times=4)
add(created, "range", "linspace", "eye", "one_hot", "fill", "zeros", "ones")
add(best, "math.top_k", "unique", "searchsorted")
add(summed, "add_n", "math.bincount")
add(complexes, "complex", "signal.fft", "signal.ifft", "signal.rfft", "signal.fft2d")
