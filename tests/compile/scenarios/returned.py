"""Returned objects: their identity, whether they are created again, and their contents."""

import collections
import dataclasses
import io
import types
from typing import NamedTuple

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


@scenario(compiles=True)
def fresh_list(wrap):
    f = wrap(lambda x: [x, 1])
    a, b = f(X), f(X)
    a.append(3)
    c = f(X)
    yield len(a), len(b), len(c), a is b


@scenario(compiles=True)
def fresh_nested_structure(wrap):
    f = wrap(lambda x: {"a": [x, {"b": x}]})
    first = f(X)
    first["a"][1]["c"] = 1
    first["a"].append(2)
    yield f(X)
    yield f(X)


@scenario()
def list_of_the_callers(wrap):
    held = [1, 2]
    f = wrap(lambda x: (x, held))
    yield [f(X)[1] is held for _ in range(3)]


@scenario()
def list_argument_given_back(wrap):
    f = wrap(lambda ts: ts)
    ts = [X]
    yield [f(ts) is ts for _ in range(3)]


@scenario()
def list_argument_in_the_result(wrap):
    f = wrap(lambda x, ts: {"x": x * 2.0, "ts": ts})
    ts = [X, 1]
    yield [f(X, ts)["ts"] is ts for _ in range(3)]


@scenario()
def dict_changed_and_given_back(wrap):
    def f(d):
        d["y"] = d["x"] * 2.0
        return d

    f = wrap(f)
    d = {"x": X}
    yield [f(d) is d for _ in range(3)]
    yield d


@scenario()
def object_given_back(wrap):
    box = types.SimpleNamespace(k=1)
    f = wrap(lambda x, b: (x * 2.0, b))
    yield [f(X, box)[1] is box for _ in range(3)]


@scenario()
def new_object_each_time(wrap):
    f = wrap(lambda x: types.SimpleNamespace(y=x * 2.0))
    a, b = f(X), f(X * 2.0)
    yield a is b, a.y, b.y


@dataclasses.dataclass
class Out:
    y: object
    n: int = 0


@scenario()
def dataclass_each_time(wrap):
    f = wrap(lambda x: Out(x * 2.0))
    a = f(X)
    a.n = 5
    b = f(X * 2.0)
    yield a is b, a.n, b.n, a.y, b.y


class Pair(NamedTuple):
    a: object
    b: object


@scenario(compiles=True)
def named_tuple(wrap):
    f = wrap(lambda x: Pair(x * 2.0, None))
    yield f(X), f(X), isinstance(f(X), Pair)


@scenario(compiles=True)
def plain_values(wrap):
    f = wrap(lambda x: (1, 2.5, "a", None, True, b"b", 2j, x.shape, x.dtype))
    for _ in range(2):
        *rest, shape, dtype = f(X)
        yield rest, tuple(shape), dtype.name


@scenario(compiles=True)
def nothing(wrap):
    v = lab.Variable(0.0)
    f = wrap(lambda: v.assign_add(1.0) and None)
    g = wrap(lambda x: None)
    yield g(X), g(X)
    yield v.numpy()


@scenario(compiles=True)
def nothing_but_an_assignment(wrap):
    v = lab.Variable([0.0, 0.0])

    @wrap
    def f(x):
        v.assign_add(x)

    for _ in range(3):
        yield f(X)
    yield v


@scenario(compiles=True)
def argument_itself(wrap):
    f = wrap(lambda x: x)
    yield f(X), f(X * 2.0), f(X)


@scenario(compiles=True)
def same_tensor_twice(wrap):
    def f(x):
        y = x * 2.0
        return y, y

    f = wrap(f)
    yield f(X), f(X)


@scenario(compiles=True)
def constant_tensor(wrap):
    k = X * 7.0
    f = wrap(lambda x: (k, lab.constant([3.0]), lab.zeros(2)))
    yield f(X), f(X)


@scenario()
def variable(wrap):
    v = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        v.assign_add(x)
        return v

    yield [f(X) is v for _ in range(3)]
    yield v


@scenario(compiles=True)
def value_of_an_assignment(wrap):
    v = lab.Variable([1.0, 1.0])
    f = wrap(lambda x: v.assign_add(x) * 2.0)
    yield f(X), f(X), v


@scenario(compiles=True)
def value_before_an_assignment(wrap):
    v = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        before = v.read_value()
        v.assign_add(x)
        return before, v.read_value()

    yield f(X), f(X)


@scenario()
def stream(wrap):
    f = wrap(lambda x: io.StringIO(str(x.shape)))
    yield [f(X).read() for _ in range(2)]


@scenario()
def numpy_array(wrap):
    f = wrap(lambda x: np.zeros(2))
    a = f(X)
    a += 1
    yield a, f(X)


@scenario()
def numpy_of_a_tensor(wrap):
    f = wrap(lambda x: (x * 2.0).numpy())
    yield f(X), f(X * 2.0), f(X)


@scenario()
def set_and_counter(wrap):
    f = wrap(lambda x: ({1, 2}, collections.Counter("aab")))
    a, c = f(X)
    a.add(5)
    c["a"] += 10
    yield f(X)


@scenario(compiles=True)
def ordered_and_default_dicts(wrap):
    f = wrap(lambda x: collections.OrderedDict(b=x, a=x * 2.0))
    yield f(X), f(X), list(f(X))


@scenario()
def default_dict(wrap):
    f = wrap(lambda x: collections.defaultdict(list, a=[x]))
    d = f(X)
    d["new"].append(1)
    yield d, f(X)


@scenario()
def deque(wrap):
    f = wrap(lambda x: collections.deque([x], maxlen=2))
    d = f(X)
    d.append(1)
    d.append(2)
    yield len(d), len(f(X)), f(X).maxlen


@scenario()
def function(wrap):
    f = wrap(lambda x: lambda y: x * y)
    yield f(X)(X), f(X * 2.0)(X)


@scenario()
def closure_with_a_counter(wrap):
    def f(x):
        n = 0

        def count():
            nonlocal n
            n += 1
            return n

        return count

    f = wrap(f)
    a = f(X)
    a()
    yield a(), f(X)()


@scenario()
def tape(wrap):
    w = lab.Variable([1.0, 3.0])

    def f(x):
        with lab.GradientTape() as t:
            y = w * x
        return t, y

    f = wrap(f)
    for k in (1.0, 2.0):
        t, y = f(X * k)
        yield t.gradient(y, w)


@scenario()
def empty_structures(wrap):
    f = wrap(lambda x: ([], {}, (), [[]]))
    a = f(X)
    a[0].append(1)
    a[3][0].append(2)
    yield f(X)


@scenario()
def subclass_of_a_list(wrap):
    class Batch(list):
        pass

    f = wrap(lambda x: Batch([x, x * 2.0]))
    a, b = f(X), f(X)
    yield type(a).__name__, type(b).__name__, list(a), list(b), a is b


@scenario(compiles=True)
def one_tensor_twice(wrap):
    def f(x):
        y = x * 2.0
        return {"a": y, "b": [y, x + 1.0], "c": (y, 3)}

    f = wrap(f)
    for _ in range(3):
        found = f(X)
        yield found["a"] is found["b"][0], found["a"] is found["c"][0], found["a"] is found["b"][1]
        with lab.GradientTape() as tape:
            tape.watch(found["a"])
            z = lab.reduce_sum(found["a"] * found["b"][0] + found["b"][1])
        yield tape.gradient(z, found["a"])
