"""Containers that the program reads; each is changed between calls."""

import array
import bisect
import collections
import functools
import heapq
import itertools
import string
import types
import weakref

from tests.compile.scenarios import X, scenario


def _changed(name, make, read, change, compiles=False):
    """Register a program that reads a container, which `change` changes before the second call."""

    def program(wrap):
        held = make()
        f = wrap(lambda x: x * float(read(held)))
        yield f(X)
        change(held)
        yield f(X)
        yield f(X)

    program.__name__ = name
    scenario(compiles=compiles)(program)


class _Key:
    """An object that supports weak references."""


def _set(key, value):
    return lambda held: held.__setitem__(key, value)


_changed("item of a list", lambda: [2.0], lambda c: c[0], _set(0, 3.0), compiles=True)
_changed("item of a dict", lambda: {"k": 2.0}, lambda c: c["k"], _set("k", 3.0), compiles=True)
_changed("length of a list", lambda: [0.0], len, lambda c: c.append(0.0), compiles=True)
_changed("keys of a dict", lambda: {2: 0}, lambda c: max(c), _set(5, 0), compiles=True)
_changed("last item of a list", lambda: [1.0, 2.0], lambda c: c[-1], lambda c: c.append(3.0), compiles=True)
_changed("list replaced by a slice", lambda: [1.0, 2.0], sum, _set(slice(None), [5.0]), compiles=True)
_changed("list sorted", lambda: [3.0, 1.0], lambda c: c[0], lambda c: c.sort(), compiles=True)
_changed("list cleared", lambda: [3.0, 1.0], sum, lambda c: c.clear(), compiles=True)
_changed("nested list", lambda: [[[2.0]]], lambda c: c[0][0][0], lambda c: _set(0, 3.0)(c[0][0]), compiles=True)
_changed("list in a tuple", lambda: ([2.0],), lambda c: c[0][0], lambda c: _set(0, 3.0)(c[0]), compiles=True)
_changed("dict in a list in a dict", lambda: {"a": [{"k": 2.0}]}, lambda c: c["a"][0]["k"],
         lambda c: _set("k", 3.0)(c["a"][0]), compiles=True)  # fmt: skip
_changed("set", lambda: {1.0}, sum, lambda c: c.add(2.0))
_changed("deque", lambda: collections.deque([2.0, 1.0]), lambda c: c[0], lambda c: c.rotate(), compiles=True)
_changed("Counter", lambda: collections.Counter("aab"), lambda c: c["a"], lambda c: c.update("a"))
_changed("OrderedDict", lambda: collections.OrderedDict(a=1.0, b=2.0), lambda c: next(iter(c.values())),
         lambda c: c.move_to_end("a"))  # fmt: skip
_changed("order of a dict", lambda: {"a": 1.0, "b": 2.0}, lambda c: next(iter(c.values())),
         lambda c: c.__setitem__("a", c.pop("a")))  # fmt: skip
_changed("order of a dict as a list", lambda: {"a": 1.0, "b": 2.0}, lambda c: list(c.values())[0],
         lambda c: c.__setitem__("a", c.pop("a")), compiles=True)  # fmt: skip
_changed("defaultdict", lambda: collections.defaultdict(lambda: 2.0, k=1.0), lambda c: c["k"], _set("k", 3.0))
_changed("UserDict", lambda: collections.UserDict(k=2.0), lambda c: c["k"], _set("k", 3.0))
_changed("UserList", lambda: collections.UserList([2.0]), lambda c: c[0], _set(0, 3.0))
_changed(
    "ChainMap", lambda: collections.ChainMap({}, {"k": 2.0}), lambda c: c["k"], lambda c: _set("k", 3.0)(c.maps[1])
)
_changed("mapping proxy", lambda: (d := {"k": 2.0}, types.MappingProxyType(d)), lambda c: c[1]["k"],
         lambda c: _set("k", 3.0)(c[0]))  # fmt: skip
_changed("values of a dict", lambda: (d := {"k": 2.0}, d.values()), lambda c: sum(c[1]), lambda c: _set("k", 3.0)(c[0]))
_changed("items of a dict", lambda: (d := {"k": 2.0}, d.items()), lambda c: len(c[1]), lambda c: _set("m", 3.0)(c[0]))
_changed(
    "bound method of a dict", lambda: (d := {"k": 2.0}, d.get), lambda c: c[1]("k"), lambda c: _set("k", 3.0)(c[0])
)
_changed("bound index of a list", lambda: (v := [1, 2], v.index), lambda c: c[1](2), lambda c: c[0].insert(0, 0))
_changed("array.array", lambda: array.array("d", [2.0]), lambda c: c[0], _set(0, 3.0))
_changed("bytearray", lambda: bytearray([2]), lambda c: c[0], _set(0, 3))
_changed("memoryview", lambda: memoryview(bytearray([2])), lambda c: c[0], _set(0, 3))
_changed("bytes behind a memoryview", lambda: (b := bytearray([2]), memoryview(b)), lambda c: c[1][0],
         lambda c: _set(0, 3)(c[0]))  # fmt: skip
_changed("reversed copy", lambda: [1.0, 2.0], lambda c: list(reversed(c))[0], lambda c: c.append(9.0))
_changed(
    "sum of a generator", lambda: [1.0, 2.0], lambda c: sum(v * v for v in c), lambda c: c.append(3.0), compiles=True
)
_changed(
    "comprehension", lambda: [1.0, 2.0], lambda c: sum([v for v in c if v > 1]), lambda c: c.append(3.0), compiles=True
)
_changed("dict comprehension", lambda: {"a": 1.0}, lambda c: sum({k: v for k, v in c.items()}.values()), _set("b", 3.0))
_changed("zip of lists", lambda: ([1.0, 2.0], [3.0, 4.0]), lambda c: sum(a * b for a, b in zip(*c)),  # noqa: B905
         lambda c: _set(0, 9.0)(c[1]), compiles=True)  # fmt: skip
_changed("reduce", lambda: [1.0, 2.0], lambda c: functools.reduce(lambda a, b: a * b, c), lambda c: c.append(3.0))
_changed("accumulate", lambda: [1.0, 2.0], lambda c: list(itertools.accumulate(c))[-1], lambda c: c.append(3.0))
_changed("islice", lambda: [1.0, 2.0, 3.0], lambda c: sum(itertools.islice(c, 2)), _set(0, 9.0))
_changed("heap", lambda: [1.0, 2.0], lambda c: c[0], lambda c: heapq.heappush(c, 0.5), compiles=True)
_changed("bisect", lambda: [1.0, 3.0], lambda c: bisect.bisect(c, 2.5), lambda c: bisect.insort(c, 2.0))
_changed("str format", lambda: {"k": 2.0}, lambda c: f"{c['k']:.1f}", _set("k", 3.0), compiles=True)
_changed("template", lambda: {"k": "2"}, lambda c: string.Template("$k.5").substitute(c), _set("k", "3"))
_changed("weak dict", lambda: (k := _Key(), weakref.WeakKeyDictionary({k: 2.0})), lambda c: c[1][c[0]],
         lambda c: _set(c[0], 3.0)(c[1]))  # fmt: skip
_changed(
    "partial keywords",
    lambda: functools.partial(lambda k: k, k=2.0),
    lambda c: c(),
    lambda c: _set("k", 3.0)(c.keywords),
)
_changed("sorted by a key", lambda: (t := {"k": 1}, lambda v: v * t["k"]), lambda c: sorted([1, 2], key=c[1])[0],
         lambda c: _set("k", -1)(c[0]))  # fmt: skip
_changed("a set in a dict", lambda: {"on": {"a"}}, lambda c: "b" in c["on"], lambda c: c["on"].add("b"))
_changed("complex number", lambda: [2j], lambda c: abs(c[0]), _set(0, 3j))
_changed("long integer", lambda: [10**20], lambda c: c[0] / 10**20, _set(0, 3 * 10**20), compiles=True)
_changed(
    "equal numbers of other types", lambda: [1], lambda c: 5.0 if c[0] is True else 7.0, _set(0, True), compiles=True
)
_changed(
    "zero of either sign", lambda: [0.0], lambda c: 1.0 if str(c[0]) == "0.0" else -1.0, _set(0, -0.0), compiles=True
)
_changed("range replaced", lambda: [range(3)], lambda c: len(c[0]), _set(0, range(5)))
_changed("slice replaced", lambda: [slice(0, 1)], lambda c: len([1, 2, 3][c[0]]), _set(0, slice(0, 2)))


@scenario()
def weak_reference(wrap):
    class Own:
        k = 2.0

    own = Own()
    ref = weakref.ref(own)
    f = wrap(lambda x: x * (ref().k if ref() is not None else 0.0))
    yield f(X)
    own.k = 3.0
    yield f(X)
    del own
    yield f(X)


@scenario()
def weak_proxy(wrap):
    class Own:
        k = 2.0

    own = Own()
    proxy = weakref.proxy(own)
    f = wrap(lambda x: x * proxy.k)
    for own.k in (2.0, 3.0):
        yield f(X)


@scenario()
def missing_key_is_inserted(wrap):
    table = collections.defaultdict(list)

    @wrap
    def f(x):
        return x * float(len(table["new"]) + len(table))

    yield f(X)
    yield dict(table)
    yield f(X)
    table["more"].append(1)
    yield f(X)


@scenario()
def list_that_holds_itself(wrap):
    ring = [2.0]
    ring.append(ring)
    f = wrap(lambda x: x * ring[1][1][0])
    yield f(X)
    ring[0] = 3.0
    yield f(X)


@scenario()
def large_list(wrap):
    many = [1.0] * 5000
    f = wrap(lambda x: x * many[4321])
    yield f(X)
    many[4321] = 3.0
    yield f(X)


@scenario()
def large_dict_of_objects(wrap):
    many = {n: types.SimpleNamespace(k=float(n)) for n in range(4000)}
    f = wrap(lambda x: x * many[3999].k)
    yield f(X)
    many[3999].k = 3.0
    yield f(X)
