"""Python state that a program changes: counters, histories, caches, running averages."""

import array
import collections
import copy
import heapq
import types
import weakref

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


class _Key:
    """An object that supports weak references."""


def _done(name, make, do):
    """Register a program that changes `make()` in each call, and shows it at the end."""

    def program(wrap):
        held = make()

        @wrap
        def f(x):
            do(held, x)
            return x * 2.0

        for n in range(3):
            yield f(X * float(n))
        yield held

    program.__name__ = name
    scenario()(program)


_done("append a number", list, lambda h, x: h.append(1))
_done("append a shape", list, lambda h, x: h.append(x.shape))
_done("append a tensor", list, lambda h, x: h.append(x * 3.0))
_done("append the argument", list, lambda h, x: h.append(x))
_done("append a float of a tensor", list, lambda h, x: h.append(float(lab.reduce_sum(x))))
_done("extend", list, lambda h, x: h.extend([1, 2]))
_done("insert", list, lambda h, x: h.insert(0, len(h)))
_done("add in place to a list", lambda: [[0]], lambda h, x: h.__setitem__(0, h[0] + [1]))
_done("delete an item", lambda: [1, 2, 3, 4], lambda h, x: h.__delitem__(0))
_done("reverse", lambda: [1, 2], lambda h, x: h.reverse())
_done("clear and fill", list, lambda h, x: (h.clear(), h.append(float(x[0]))))
_done("item of a list", lambda: [0], lambda h, x: h.__setitem__(0, h[0] + 1))
_done("same value again", lambda: [7], lambda h, x: h.__setitem__(0, 7))
_done("item of a dict", dict, lambda h, x: h.__setitem__(len(h), x.dtype.name))
_done("update of a dict", dict, lambda h, x: h.update({f"k{len(h)}": 1}))
_done("setdefault", dict, lambda h, x: h.setdefault("k", []).append(1))
_done("pop of a dict", lambda: {"a": 1, "b": 2, "c": 3}, lambda h, x: h.pop(min(h)))
_done("union in place", lambda: [{}], lambda h, x: h[0].__ior__({len(h[0]): 1}))
_done("add to a set", set, lambda h, x: h.add(len(h)))
_done("discard from a set", lambda: {1, 2, 3}, lambda h, x: h.discard(max(h)))
_done("Counter", collections.Counter, lambda h, x: h.update("ab"))
_done("defaultdict", lambda: collections.defaultdict(int), lambda h, x: h.__setitem__("k", h["k"] + 1))
_done("move to end", lambda: collections.OrderedDict(a=1, b=2), lambda h, x: h.move_to_end(next(iter(h))))
_done("deque with a length", lambda: collections.deque(maxlen=2), lambda h, x: h.append(len(h)))
_done("heap push", list, lambda h, x: heapq.heappush(h, -len(h)))
_done("array.array", lambda: array.array("d"), lambda h, x: h.append(1.0))
_done("bytearray", bytearray, lambda h, x: h.append(65))
_done("list in a list", lambda: [[], []], lambda h, x: h[1].append(1))
_done("list in a dict in a tuple", lambda: ({"a": []},), lambda h, x: h[0]["a"].append(1))
_done("swap", lambda: [1, 2], lambda h, x: h.__setitem__(slice(None), h[::-1]))
_done("copy that is changed", lambda: [1], lambda h, x: copy.copy(h).append(1))
_done("undone at the end", lambda: [1], lambda h, x: (h.append(2), h.pop()))


def _recorded(name, make, do, show):
    def program(wrap):
        held = make()

        @wrap
        def f(x):
            do(held)
            return x * 2.0

        for _ in range(3):
            yield f(X)
        yield show(held)

    program.__name__ = name
    scenario()(program)


_recorded(
    "attribute of a namespace", lambda: types.SimpleNamespace(n=0), lambda h: setattr(h, "n", h.n + 1), lambda h: h.n
)
_recorded("attribute that is new", types.SimpleNamespace, lambda h: setattr(h, f"k{len(vars(h))}", 1), vars)
_recorded("attribute deleted", lambda: types.SimpleNamespace(a=1, b=2, c=3), lambda h: delattr(h, min(vars(h))), vars)
_recorded("dict of an object", types.SimpleNamespace, lambda h: vars(h).update(n=len(vars(h))), vars)
_recorded("UserList", collections.UserList, lambda h: h.append(1), list)
_recorded("UserDict", collections.UserDict, lambda h: h.update(n=len(h)), dict)
_recorded("ChainMap", lambda: collections.ChainMap({}, {"n": 1}), lambda h: h.update(n=h["n"] + 1), dict)
_recorded("weak set", lambda: (weakref.WeakSet(), [_Key() for _ in range(3)]),
          lambda h: h[0].add(h[1][len(h[0])]), lambda h: len(h[0]))  # fmt: skip
_recorded("bound append", lambda: (v := [], v.append), lambda h: h[1](1), lambda h: h[0])
_recorded("bound setitem", lambda: (v := {}, v.__setitem__), lambda h: h[1](len(h[0]), 1), lambda h: h[0])
_recorded("attribute of a tensor", lambda: [X * 1.0], lambda h: h.append(len(h)), len)
_recorded("attribute of a class", lambda: type("Own", (), {"n": 0}), lambda h: setattr(h, "n", h.n + 1), lambda h: h.n)


@scenario()
def object_with_a_counter_and_a_history(wrap):
    class Model:
        def __init__(self):
            self.step, self.history = 0, []

        def go(self, x):
            self.step += 1
            self.history.append(self.step)
            return x * float(self.step)

    model = Model()
    f = wrap(model.go)
    for _ in range(3):
        yield f(X)
    yield model.step, model.history


@scenario()
def counter_on_a_method(wrap):
    class Model:
        steps = 0

        @wrap
        def go(self, x):
            self.steps += 1
            return x * 2.0

    a, b = Model(), Model()
    for model in (a, b, a, a):
        yield model.go(X)
    yield a.steps, b.steps, Model.steps


@scenario()
def running_average(wrap):
    box = types.SimpleNamespace(average=0.0)

    @wrap
    def f(x):
        box.average = 0.9 * box.average + 0.1 * float(x[0])
        return x * box.average

    for n in range(4):
        yield f(X * float(n))
    yield box.average


@scenario()
def running_average_of_tensors(wrap):
    box = types.SimpleNamespace(average=X * 0.0)

    @wrap
    def f(x):
        box.average = 0.9 * box.average + 0.1 * x
        return box.average

    for n in range(4):
        yield f(X * float(n))
    yield box.average


@scenario()
def last_result_kept(wrap):
    box = types.SimpleNamespace(last=None)

    @wrap
    def f(x):
        y = x * 2.0 if box.last is None else x + box.last
        box.last = y
        return y

    for n in range(4):
        yield f(X * float(n))
    yield box.last
