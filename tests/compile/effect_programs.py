"""Random programs that read and change Python state beside their ops: made from a seed, so that they can be repeated.

A program is the source of a function of a tensor and a list, with its own state: lists, dicts, objects, an array, an
iterator, variables, globals.  Between its calls, statements outside the function change that state too.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, seen

WORLD = """
import collections, contextlib, copy, functools, io, itertools, math, random, types
import numpy as np
import autodiff_lab as lab

NUMBERS, TABLE, SETS = [1.0, 2.0, 0.5], {"a": 2.0, "b": 3.0}, {1, 2}
BOX = types.SimpleNamespace(rate=0.5, on=True, calls=0, last=None, inner=types.SimpleNamespace(k=2.0), items=[1.0])
ARRAY, STREAM, LOG, QUEUE = np.array([1.0, 2.0, 3.0]), io.StringIO(), [], collections.deque([1.0, 2.0, 3.0, 4.0, 5.0])
SOURCE, RNG, COUNT = itertools.count(1), random.Random(3), 1.5
W, T = lab.Variable([1.0, -1.0]), lab.constant([0.5, 0.25])


class Model:
    k = 1.5
    calls = 0

    def scaled(self, y):
        return y * self.k

    def step(self, y):
        self.calls += 1
        return y + float(self.calls)

    @property
    def half(self):
        return self.k / 2.0


def helper(y):
    return y * helper.k + COUNT


helper.k, M = 2.0, Model()


@functools.lru_cache
def cached(n):
    return n * TABLE.get("a", 1.0)


@contextlib.contextmanager
def deeper(k):
    yield k + BOX.rate
"""

READS = """
y = y * NUMBERS[0]
y = y + float(len(NUMBERS))
y = y + sum(NUMBERS)
y = y * NUMBERS[-1] + sum(NUMBERS[1:])
y = y + TABLE["a"]
y = y * TABLE.get("b", 1.0)
y = y + max(TABLE.values())
y = y + float(len(sorted(TABLE)))
y = y * BOX.rate
y = -y if BOX.on else y + 1.0
y = y + BOX.inner.k
y = y + float(BOX.calls)
y = y * float(ARRAY[1])
y = y * COUNT
y = y * M.k + M.half
y = M.scaled(y)
y = helper(y)
y = y * T
y = y + W
for k in NUMBERS: y = y * 0.5 + k
for k, v in TABLE.items(): y = y + v if k < "b" else y - v
y = y + sum([v * v for v in NUMBERS if v > 0.75])
y = functools.reduce(lambda a, b: a * 0.5 + b, NUMBERS, y)
first, *rest = NUMBERS; y = y * first + float(len(rest))
y = y + (k if (k := TABLE.get("c")) is not None else 0.5)
y = y * float(f"{BOX.rate:.2f}")
y = y * math.sqrt(abs(NUMBERS[0]))
y = (lambda z: z * BOX.rate)(y)
n = list(NUMBERS); n.append(7.0); y = y + sum(n)
d = dict(TABLE); d["z"] = 1.0; y = y + float(len(d))
y = y + sum(a * b for a, b in zip(NUMBERS, reversed(NUMBERS), strict=True))
y = y * float(isinstance(BOX.rate, float) + 1)
y = y + (xs[0] if xs else 0.0)
y = y + float(len(xs))
""".strip().splitlines()
OPS = """
y = lab.sin(y)
y = lab.nn.relu(y) + 0.1
y = y * y - 1.0
y = lab.where(y > 0.0, y, y * 0.5)
y = y - lab.reduce_mean(y)
y = lab.gather(y, [1, 0])
y = lab.reshape(lab.stack([y, y * 2.0]), [-1])[:2]
y = lab.cumsum(y) * 0.5
y = lab.clip_by_norm(y, 2.0)
y = y + lab.ones_like(y)
y = y * lab.random.uniform([2])
y = lab.nn.dropout(y, 0.5)
W.assign(lab.tanh(y))
W.assign_sub(y * 0.1)
T2 = y * 0.5; y = y + T2 * T2
""".strip().splitlines()
BLOCKS = [
    "with lab.GradientTape() as tape:\n    tape.watch(y)\n    z = lab.reduce_sum(y * y * W)\ny = tape.gradient(z, y)",
    "with lab.GradientTape() as tape:\n    z = lab.reduce_sum(lab.tanh(W) * y)\nW.assign_sub(tape.gradient(z, W))",
    'try:\n    y = y * TABLE["c"]\nexcept KeyError:\n    y = y + 0.25',
    "try:\n    y = y * NUMBERS[9]\nexcept IndexError as error:\n    y = y + float(len(str(error)) > 3)",
    "with deeper(1.0) as k:\n    y = y * k",
    "match BOX.rate:\n    case 0.5:\n        y = y * 2.0\n    case _:\n        y = y + 2.0",
    "if len(NUMBERS) > 3:\n    y = y * 2.0\nelif BOX.on:\n    y = y + NUMBERS[0]",
    "def inner(z):\n    return z * BOX.rate + len(TABLE)\ny = inner(inner(y))",
]
EFFECTS = """
NUMBERS.append(0.5)
NUMBERS[0] = NUMBERS[0] + 0.5
NUMBERS.sort()
TABLE["n"] = float(len(TABLE))
TABLE["a"] += 1.0
TABLE.setdefault("s", 4.0)
TABLE.pop("b", None)
SETS.add(len(SETS))
BOX.calls += 1
BOX.last = y
BOX.on = not BOX.on
BOX.items.append(BOX.calls)
BOX.inner.k *= 1.5
ARRAY[0] += 1.0
ARRAY += ARRAY.sum()
STREAM.write("s")
print("x", y.shape, file=STREAM)
COUNT += 1.0
LOG.append(y.shape)
LOG.append(float(y[0]) > 0.5)
LOG.append(y)
y = y * float(next(SOURCE))
y = y + QUEUE.popleft()
QUEUE.rotate()
y = y * RNG.random()
y = y * random.random()
y = M.step(y)
Model.calls += 1
helper.k += 0.5
y = y + cached(2)
xs.append(float(len(xs)))
xs[:] = [0.5]
n = NUMBERS; n.append(1.0)
y = y * 2.0 if y[0] > 0.25 else y
if BOX.calls > 1: raise ValueError(f"calls {BOX.calls}")
if float(y[1]) > 4.0: raise RuntimeError("large")
y = y + float(lab.reduce_sum(y).numpy() > 0.0)
y = lab.gather(y, [lab.cast(y[0], lab.int32) * 0, 1])
setattr(BOX, "new", len(NUMBERS))
vars(BOX)["calls"] = 5
globals()["COUNT"] = 0.5
exec("NUMBERS.append(2.0)")
del NUMBERS[-1]
y = y + float(id(BOX) > 0) * len(LOG)
STREAM.truncate(0)
NUMBERS.extend(k for k in [1.0, 2.0])
""".strip().splitlines()
OUTSIDE = """
NUMBERS[0] = 3.0
NUMBERS.append(4.0)
NUMBERS.reverse()
TABLE["a"] = 5.0
TABLE["c"] = 0.5
TABLE.pop("b", None)
BOX.rate = 0.75
BOX.on = not BOX.on
BOX.inner = types.SimpleNamespace(k=3.0)
BOX.inner.k = 4.0
BOX.calls += 1
ARRAY[1] = 5.0
COUNT = 2.5
M.k = 2.5
Model.k = 3.5
M = Model()
helper.k = 1.0
T = lab.constant([2.0, 3.0])
W.assign([0.5, 0.5])
xs.append(1.0)
Model.scaled = lambda self, y: y - self.k
helper.__defaults__ = None
def helper(y): return y + 1.0
pass
pass
pass
pass
""".strip().splitlines()


class Made(NamedTuple):
    """A program: its text, what happens before each call, and whether it only reads and computes."""

    text: str
    outside: list[str]
    plain: bool


def program(seed: int) -> Made:
    """3 to 12 statements; half of the programs have effects."""
    draw = random.Random(seed)
    plain = draw.random() < 0.5
    pool = [READS, OPS, BLOCKS] if plain else [READS, OPS, BLOCKS, EFFECTS, EFFECTS]
    lines = ["global COUNT", "y = x * 1.0"]
    for _ in range(draw.randint(3, 12)):
        lines += draw.choice(draw.choice(pool)).splitlines()
    ends = ["return y", "return y, [y * 2.0, None]", 'return {"y": y, "n": 1}']
    ends += [] if plain else ["return NUMBERS, y", "return y, xs", "return LOG"]
    lines.append(draw.choice(ends))
    text = "\n".join(["def f(x, xs):", *(f"    {line}" for line in lines)])
    return Made(text, [draw.choice(OUTSIDE) for _ in range(4)], plain)


def watched(made: Made, wrap: Any) -> tuple[list[Any], Any]:
    """What five calls in a fresh world give, raise and leave behind; and the function that was called."""
    world: dict[str, Any] = {"__name__": "a_program"}
    random.seed(1)
    lab.random.set_seed(1)
    exec(WORLD, world)
    exec(made.text, world)
    f, world["xs"], shown = wrap(world["f"]), [], []
    for k, change in enumerate(["pass", *made.outside]):
        attempt(exec, change, world)
        shown.append(seen(attempt(f, X * float(k + 1), world["xs"])))
        names = ("NUMBERS", "TABLE", "SETS", "ARRAY", "LOG", "COUNT", "W", "xs")
        state = {name: world[name] for name in names} | vars(world["BOX"]) | {"inner": vars(world["BOX"].inner)}
        calls = [world["M"].calls, world["Model"].calls, vars(world["helper"]).get("k"), list(world["QUEUE"])]
        shown.append((seen(state), seen(calls), world["STREAM"].getvalue()))
    ends = [random.random(), world["RNG"].random(), next(world["SOURCE"]), lab.random.uniform([1])]
    return [*shown, seen(ends), seen(tuple(world["cached"].cache_info())) if "cached(" in made.text else None], f
