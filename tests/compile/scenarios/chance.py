"""Random numbers, clocks and addresses: values that differ from call to call."""

import datetime
import functools
import os
import random
import secrets
import time
import types
import uuid

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


def _drawn(name, draw, make=lambda: None, after=lambda source: None):
    """Register a program that draws in each call from a source made with a seed."""

    def program(wrap):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        lab.random.set_seed(1)
        source = make()
        f = wrap(lambda x: x * draw(source))
        for _ in range(4):
            yield f(X)
        yield random.random(), np.random.rand(), after(source)  # noqa: NPY002

    program.__name__ = name
    scenario()(program)


_drawn("random.random", lambda _: random.random())
_drawn("random.gauss", lambda _: random.gauss(0, 1))
_drawn("random.shuffle", lambda v: (random.shuffle(v), v[0])[1], lambda: [1.0, 2.0, 3.0], list)
_drawn("random.sample", lambda _: sum(random.sample([1.0, 2.0, 3.0, 4.0], 2)))
_drawn("random.seed inside", lambda _: (random.seed(3), random.random())[1])
_drawn("random.getstate", lambda _: float(random.getstate()[1][-1]))
_drawn("instance of Random", lambda r: r.random(), lambda: random.Random(1), lambda r: r.random())
_drawn("bound choice", lambda c: c([1.0, 2.0, 3.0, 4.0, 5.0]), lambda: random.Random(1).choice)
_drawn("partial of a draw", lambda c: c(), lambda: functools.partial(random.Random(1).uniform, 1.0, 2.0))
_drawn("subclass of Random", lambda r: r.twice(), lambda: _Twice(1))
_drawn("Random in a namespace", lambda n: n.r.random(), lambda: types.SimpleNamespace(r=random.Random(1)))
_drawn("Random in a list", lambda n: n[0].random(), lambda: [random.Random(1)])
_drawn("Random made inside", lambda _: random.Random(5).random())
_drawn("np.random", lambda _: float(np.random.rand()))  # noqa: NPY002
_drawn("np.random.permutation", lambda _: float(np.random.permutation(5)[0]))  # noqa: NPY002
_drawn("np.random.seed inside", lambda _: (np.random.seed(4), float(np.random.rand()))[1])  # noqa: NPY002
_drawn("Generator", lambda g: float(g.normal()), lambda: np.random.default_rng(1), lambda g: float(g.normal()))
_drawn("method of a Generator", lambda g: float(g()), lambda: np.random.default_rng(1).normal)
_drawn(
    "Generator in an object", lambda n: float(n.g.normal()), lambda: types.SimpleNamespace(g=np.random.default_rng(1))
)
_drawn("Generator made inside", lambda _: float(np.random.default_rng(7).normal()))
_drawn("RandomState", lambda g: float(g.normal()), lambda: np.random.RandomState(1))
_drawn("bit generator", lambda g: float(g.random_raw() % 97), lambda: np.random.PCG64(1))
_drawn("seed sequence", lambda g: float(g.spawn(1)[0].spawn_key[0]), lambda: np.random.SeedSequence(1))
_drawn("draw into an array", lambda a: float(_refilled(a)), lambda: (np.random.default_rng(1), np.zeros(2)))
_drawn("lab.random.normal", lambda _: lab.random.normal([2]))
_drawn("lab.random.uniform of ints", lambda _: lab.cast(lab.random.uniform([2], 0, 100, lab.int32), lab.float32))
_drawn("lab.random.shuffle", lambda _: lab.random.shuffle(lab.constant([1.0, 2.0])))
_drawn("Generator of lab", lambda g: g.normal([2]), lambda: lab.random.Generator.from_seed(1), lambda g: g.normal([2]))
_drawn("set_seed inside", lambda _: (lab.random.set_seed(3), lab.random.normal([2]))[1])
_drawn("stateless draw", lambda _: lab.random.stateless_normal([2], seed=[1, 2]))
_drawn("dropout", lambda _: lab.nn.dropout(X, 0.5))
_drawn("dropout layer", lambda d: d(X, training=True), lambda: lab.layers.Dropout(0.5, seed=3))


class _Twice(random.Random):
    def twice(self):
        return 2.0 * self.random()


def _refilled(pair):
    generator, a = pair
    generator.standard_normal(out=a)
    return a.sum()


@scenario()
def different_every_time(wrap):
    f = wrap(lambda x: x * float(uuid.uuid4().int % 1000003))
    yield len({f(X).numpy()[0] for _ in range(4)})
    g = wrap(lambda x: x * float(secrets.randbelow(10**6)))
    yield len({g(X).numpy()[0] for _ in range(4)}) > 1
    h = wrap(lambda x: x * float(os.urandom(3)[0] * 256 + os.urandom(3)[1]))
    yield len({h(X).numpy()[0] for _ in range(6)}) > 1


def _clock(name, read):
    def program(wrap):
        f = wrap(lambda x: x * 0.0 + float(read()))
        first = f(lab.constant(0.0, lab.float64)).numpy()
        time.sleep(0.002)
        yield f(lab.constant(0.0, lab.float64)).numpy() > first

    program.__name__ = name
    scenario()(program)


_clock("time.time", time.time)
_clock("time.perf_counter", time.perf_counter)
_clock("time.monotonic_ns", time.monotonic_ns)
_clock("datetime.now", lambda: datetime.datetime.now(datetime.UTC).timestamp())
_clock("datetime under a name", lambda now=datetime.datetime.now: now(datetime.UTC).timestamp())


@scenario()
def clock_replaced(wrap):
    times = iter([1.0, 5.0, 7.0])
    clock = types.SimpleNamespace(now=lambda: next(times))
    f = wrap(lambda x: x * clock.now())
    for _ in range(3):
        yield f(X)


@scenario()
def sleeps(wrap):
    naps = []
    nap = naps.append
    f = wrap(lambda x: (nap(0.0), time.sleep(0.0), x * 2.0)[-1])
    f(X)
    f(X)
    yield naps


@scenario()
def identity_of_a_new_object(wrap):
    kept = []

    @wrap
    def f(x):
        kept.append(object())
        return x * float(len({id(k) for k in kept}))

    for _ in range(3):
        yield f(X)


@scenario()
def identity_decides(wrap):
    class Key:
        pass

    holder, table = [Key()], {}
    table[id(holder[0])] = 2.0
    f = wrap(lambda x: x * table.get(id(holder[0]), 7.0))
    yield f(X)
    old = holder[0]
    holder[0] = Key()
    yield f(X), old is holder[0]


@scenario()
def hash_of_a_users_object(wrap):
    class Key:
        n = 1

        def __hash__(self):
            return self.n

    key = Key()
    f = wrap(lambda x: x * float(hash(key)))
    for key.n in (1, 5):
        yield f(X)


@scenario(compiles=True)
def seeded_draw_outside(wrap):
    k = random.Random(1).random()
    f = wrap(lambda x: x * k)
    yield f(X)
    k = random.Random(2).random()
    yield f(X)
