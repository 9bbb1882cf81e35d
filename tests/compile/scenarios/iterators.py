"""Iterators, generators and queues: every call takes the next item, until they are exhausted."""

import collections
import contextlib
import heapq
import itertools
import queue

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


def _naturals():
    k = 0.0
    while True:
        k += 1.0
        yield k


def _taken(name, make, take=next, calls=4):
    """Register a program that takes an item in each call, and shows what is left."""

    def program(wrap):
        source = make()
        f = wrap(lambda x: x * take(source))
        for _ in range(calls):
            yield attempt(f, X)
        yield attempt(take, source)

    program.__name__ = name
    scenario()(program)


_taken("count", lambda: itertools.count(1.0))
_taken("list iterator", lambda: iter([1.0, 2.0, 3.0]))
_taken("range iterator", lambda: iter(range(3)), lambda s: float(next(s)))
_taken("dict iterator", lambda: iter({1.0: 0, 2.0: 0, 3.0: 0}))
_taken("set iterator", lambda: iter({1.0}))
_taken("string iterator", lambda: iter("123"), lambda s: float(next(s)))
_taken("generator", _naturals)
_taken("generator that ends", lambda: (float(k) for k in range(2)))
_taken("sent generator", _naturals, lambda s: s.send(None))
_taken("cycle of tensors", lambda: itertools.cycle([lab.constant(1.0), lab.constant(2.0)]))
_taken("chain", lambda: itertools.chain([1.0], [2.0, 3.0]))
_taken(
    "zip of iterators", lambda: zip(itertools.count(1.0), iter([2.0, 3.0, 4.0]), strict=False), lambda s: sum(next(s))
)
_taken("map", lambda: map(float, range(1, 4)))
_taken("filter", lambda: filter(None, [0.0, 1.0, 2.0]))
_taken("enumerate", lambda: enumerate([5.0, 6.0]), lambda s: next(s)[1])
_taken("reversed", lambda: reversed([1.0, 2.0, 3.0]))
_taken("islice of a generator", lambda: itertools.islice(_naturals(), 3))
_taken("tee", lambda: itertools.tee(_naturals())[0])
_taken("next with a default", lambda: iter([2.0]), lambda s: next(s, -1.0))
_taken("loop with a break", lambda: iter(range(10)), lambda s: next(float(k) for k in s if k % 2))
_taken("islice inside", lambda: _naturals(), lambda s: sum(itertools.islice(s, 2)))
_taken("callable with a sentinel", lambda: iter([3.0, 2.0, 1.0].pop, 3.0))
_taken("NumPy iterator", lambda: np.nditer(np.arange(3.0)), lambda s: float(next(s)))
_taken("ndenumerate", lambda: np.ndenumerate(np.arange(3.0)), lambda s: float(next(s)[1]))
_taken("queue", lambda: _filled(queue.Queue()), lambda s: s.get_nowait())
_taken("last in first out queue", lambda: _filled(queue.LifoQueue()), lambda s: s.get_nowait())
_taken("simple queue", lambda: _filled(queue.SimpleQueue()), lambda s: s.get_nowait())
_taken("deque popleft", lambda: collections.deque([1.0, 2.0, 3.0]), lambda s: s.popleft())
_taken("list pop", lambda: [1.0, 2.0, 3.0], lambda s: s.pop())
_taken("bound list pop", lambda: [1.0, 2.0, 3.0].pop, lambda s: s())
_taken("dict popitem", lambda: {"a": 1.0, "b": 2.0, "c": 3.0}, lambda s: s.popitem()[1])
_taken("set pop", lambda: {1.0}, lambda s: s.pop())
_taken("heap pop", lambda: [1.0, 2.0, 3.0], heapq.heappop)
_taken("heap push and pop", lambda: [1.0, 2.0, 3.0], lambda s: heapq.heappushpop(s, s[0] + 5.0))
_taken("bound next", lambda: itertools.count(1.0).__next__, lambda s: s())
_taken("dataset", lambda: iter(lab.data.Dataset.from_tensor_slices(np.arange(3.0, dtype="f4"))))
_taken("batches of a dataset", lambda: iter(lab.data.Dataset.from_tensor_slices(np.arange(8.0, dtype="f4")).batch(2)))
_taken("bytes read from memory", lambda: __import__("io").BytesIO(b"\1\2\3"), lambda s: float(s.read(1)[0]))
_taken("lines read from memory", lambda: __import__("io").StringIO("1\n2\n3\n"), lambda s: float(s.readline()))


def _filled(q):
    for k in range(3):
        q.put(float(k + 1))
    return q


@scenario()
def iterator_of_a_users_class(wrap):
    class Batches:
        def __init__(self):
            self.at = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.at += 1
            if self.at > 3:
                raise StopIteration
            return float(self.at)

    batches = Batches()
    f = wrap(lambda x: x * next(batches))
    for _ in range(4):
        yield attempt(f, X)
    yield batches.at


@scenario()
def iterator_behind_an_attribute(wrap):
    class Trainer:
        def __init__(self):
            self.data = iter([1.0, 2.0, 3.0])

        def step(self, x):
            return x * next(self.data)

    trainer = Trainer()
    f = wrap(trainer.step)
    for _ in range(4):
        yield attempt(f, X)


@scenario()
def iterator_as_an_argument(wrap):
    source = iter([1.0, 2.0, 3.0, 4.0])
    f = wrap(lambda x, s: x * next(s))
    for _ in range(3):
        yield f(X, source)
    yield next(source)


@scenario()
def generator_of_tensors_as_an_argument(wrap):
    f = wrap(lambda ts: sum(ts))
    yield f(X * float(k) for k in range(3))
    yield f(X * float(k) for k in range(5))


@scenario()
def iterator_in_a_dict_argument(wrap):
    given = {"s": itertools.count(1.0)}
    f = wrap(lambda x, d: x * next(d["s"]))
    for _ in range(3):
        yield f(X, given)


@scenario()
def loop_that_consumes_its_iterator(wrap):
    source = iter([1.0, 2.0, 3.0])
    f = wrap(lambda x: sum((x * k for k in source), x))
    for _ in range(3):
        yield f(X)


@scenario()
def iterator_over_a_list_that_grows(wrap):
    items = [1.0]
    source = iter(items)
    f = wrap(lambda x: x * next(source))
    for k in range(3):
        yield attempt(f, X)
        items.append(float(k))


@scenario()
def iterator_shared_with_the_caller(wrap):
    source = itertools.count(1.0)
    f = wrap(lambda x: x * next(source))
    for _ in range(3):
        yield f(X), next(source)


@scenario()
def iterator_returned(wrap):
    f = wrap(lambda x: iter([x, x * 2.0]))
    for _ in range(2):
        yield list(f(X))


@scenario()
def generator_function_that_is_called(wrap):
    log = []

    def parts(x):
        log.append("begun")
        yield x
        log.append("more")
        yield x * 2.0

    f = wrap(lambda x: sum(parts(x)))
    for _ in range(2):
        yield f(X)
    yield log


@scenario()
def generator_closed_inside(wrap):
    log = []

    def parts():
        try:
            yield 1.0
            yield 2.0
        finally:
            log.append("closed")

    @wrap
    def f(x):
        with contextlib.closing(parts()) as source:
            return x * next(source)

    for _ in range(3):
        yield f(X)
    yield log


@scenario()
def queue_put(wrap):
    q = queue.Queue()

    @wrap
    def f(x):
        q.put(float(q.qsize()))
        return x * 2.0

    for _ in range(3):
        yield f(X)
    yield list(q.queue)


@scenario()
def full_queue(wrap):
    q = queue.Queue(2)

    @wrap
    def f(x):
        q.put_nowait(1)
        return x

    for _ in range(3):
        yield attempt(f, X)


@scenario()
def queue_of_tensors(wrap):
    q = queue.Queue()

    @wrap
    def f(x):
        q.put(x * 2.0)
        return x

    for k in range(3):
        f(X * float(k))
    yield list(q.queue)


@scenario(compiles=True)
def iterator_made_inside(wrap):
    ks = [1.0, 2.0, 3.0]

    @wrap
    def f(x):
        source = iter(ks)
        return x * next(source) + next(source)

    for _ in range(3):
        yield f(X)


@scenario(compiles=True)
def enumerate_and_zip_made_inside(wrap):
    ks = [1.0, 2.0]

    @wrap
    def f(x):
        for n, (a, b) in enumerate(zip(ks, reversed(ks), strict=True)):
            x = x * a + b * float(n)
        return x

    yield f(X)
    ks.append(3.0)
    yield f(X)
