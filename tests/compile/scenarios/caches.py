"""Caches and statistics that a program keeps between calls, and effects of creating and deleting objects."""

import functools
import types
import weakref

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


@scenario()
def memoized_by_a_dict(wrap):
    known = {}

    def slow(n):
        if n not in known:
            known[n] = len(known) + 1.0
        return known[n]

    f = wrap(lambda x, n: x * slow(n))
    for n in (1, 2, 1, 3, 2):
        yield f(X, n)
    known[1] = 50.0
    yield f(X, 1)
    yield known


@scenario()
def memoized_tensors(wrap):
    known = {}

    @wrap
    def f(x, n):
        if n not in known:
            known[n] = x * float(n)
        return known[n] + x

    for n in (1, 2, 1, 2):
        yield f(X * float(n + 1), n)
        yield f(X * float(n + 5), n)


@scenario()
def lru_cache(wrap):
    state = {"k": 2.0}

    @functools.lru_cache
    def rate(n):
        return state["k"] * n

    f = wrap(lambda x: x * rate(1))
    yield f(X)
    state["k"] = 3.0
    yield f(X)
    rate.cache_clear()
    yield f(X)
    yield rate.cache_info().misses


@scenario()
def lru_cache_that_counts_its_hits(wrap):
    @functools.lru_cache
    def rate(n):
        return n * 2.0

    f = wrap(lambda x: x * rate(1))
    for _ in range(3):
        yield f(X)
    yield tuple(rate.cache_info())


@scenario()
def cached_property(wrap):
    class Own:
        base = 2.0

        @functools.cached_property
        def rate(self):
            return self.base * 2

    own = Own()
    f = wrap(lambda x: x * own.rate)
    yield f(X), vars(own)
    own.base = 5.0
    yield f(X)
    del own.rate
    yield f(X)
    vars(own)["rate"] = 7.0
    yield f(X)


@scenario()
def early_stopping(wrap):
    state = {"best": float("inf"), "wait": 0, "stop": False}

    @wrap
    def f(loss):
        value = float(loss)
        if value < state["best"]:
            state.update(best=value, wait=0)
        else:
            state["wait"] += 1
            state["stop"] = state["wait"] >= 2
        return loss * 2.0

    for value in (3.0, 2.0, 2.5, 2.6, 1.0):
        yield f(lab.constant(value))
        yield dict(state)


@scenario()
def early_stopping_by_a_counter_alone(wrap):
    state = types.SimpleNamespace(left=2, stop=False)

    @wrap
    def f(x):
        state.left -= 1
        if state.left <= 0:
            state.stop = True
        return x * 2.0

    for _ in range(3):
        yield f(X), state.stop, state.left


@scenario()
def undo_in_a_finally(wrap):
    depth, most = [0], [0]

    @wrap
    def f(x):
        depth[0] += 1
        try:
            most[0] = max(most[0], depth[0])
            return x * float(depth[0])
        finally:
            depth[0] -= 1

    for _ in range(3):
        yield f(X)
    yield depth, most


@scenario()
def state_set_to_the_value_it_had(wrap):
    box = types.SimpleNamespace(mode="train")

    @wrap
    def f(x):
        before = box.mode
        box.mode = "eval"
        y = x * (2.0 if box.mode == "eval" else 3.0)
        box.mode = before
        return y

    yield f(X)
    box.mode = "other"
    yield f(X)
    yield box.mode


@scenario()
def change_in_a_thread_of_its_own(wrap):
    import threading

    log = []

    @wrap
    def f(x):
        thread = threading.Thread(target=log.append, args=(1,))
        thread.start()
        thread.join()
        return x

    for _ in range(3):
        f(X)
    yield log


@scenario()
def weak_reference_callback(wrap):
    gone = []

    class Own:
        pass

    @wrap
    def f(x):
        own = Own()
        ref = weakref.ref(own, lambda _: gone.append(1))
        del own
        return x * (2.0 if ref() is None else 3.0)

    for _ in range(3):
        yield f(X)
    yield gone


@scenario()
def finalizer(wrap):
    gone = []

    class Own:
        def __del__(self):
            gone.append("gone")

    @wrap
    def f(x):
        Own()
        return x * 2.0

    for _ in range(3):
        f(X)
    yield gone


@scenario()
def constructor_that_registers(wrap):
    registry = []

    class Own:
        def __init__(self):
            registry.append(self)

    @wrap
    def f(x):
        Own()
        return x * float(len(registry))

    for _ in range(3):
        yield f(X)


@scenario()
def numpy_statistics(wrap):
    class Welford:
        def __init__(self):
            self.n, self.mean = 0, np.zeros(2)

        def see(self, v):
            self.n += 1
            self.mean += (v - self.mean) / self.n

    stats = Welford()

    @wrap
    def f(x):
        stats.see(x.numpy())
        return x - stats.mean.astype("f4")

    for n in range(4):
        yield f(X * float(n))
    yield stats.n, stats.mean


@scenario()
def effect_before_an_exception(wrap):
    log = []

    @wrap
    def f(x):
        log.append("begun")
        if len(log) == 2:
            raise ValueError("second")
        return x

    for _ in range(3):
        yield attempt(f, X)
    yield log
