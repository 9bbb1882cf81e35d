"""Arguments: their types, changes to them inside and outside the function, and aliasing between them."""

import dataclasses
import enum
import types
from typing import NamedTuple

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


@scenario(compiles=True)
def any_number_of_tensors(wrap):
    f = wrap(lambda *xs, **kw: sum(xs) * kw.get("k", 1.0))
    yield f(X), f(X, X), f(X, k=2.0), f(X, k=3.0), f(X, k=1), f(X, X, X)


@scenario(compiles=True)
def bool_int_and_float(wrap):
    f = wrap(lambda x, k: x * (10.0 if k is True else 20.0 if isinstance(k, int) else 30.0))
    yield f(X, 1), f(X, True), f(X, 1.0), f(X, 1), f(X, False), f(X, 0)


@scenario(compiles=True)
def zeros_of_either_sign(wrap):
    f = wrap(lambda x, k: x * float(np.copysign(1.0, k)))
    yield f(X, 0.0), f(X, -0.0), f(X, 0.0)


@scenario(compiles=True)
def nan_as_an_argument(wrap):
    f = wrap(lambda x, k: x * k)
    yield f(X, float("nan")), f(X, float("nan")), f(X, float("inf")), f(X, -float("inf"))


@scenario(compiles=True)
def strings_and_none(wrap):
    f = wrap(lambda x, how=None: x if how is None else x * 2.0 if how == "double" else x * 3.0)
    yield f(X), f(X, "double"), f(X, "triple"), f(X, None), f(X, how="double")


@scenario(compiles=True)
def keywords_only(wrap):
    def f(*, x, k=2.0):
        return x * k

    f = wrap(f)
    yield f(x=X), f(k=3.0, x=X), f(x=X, k=3.0), f(x=X)


@scenario(compiles=True)
def nested_structures(wrap):
    f = wrap(lambda d: {"sum": d["a"][0] + d["b"]["c"], "rest": [d["a"][1:], None]})
    yield f({"a": (X, X * 2.0), "b": {"c": X}})
    yield f({"a": (X, 3), "b": {"c": X}})
    yield f({"b": {"c": X}, "a": [X]})


class Pair(NamedTuple):
    a: object
    b: object


@scenario(compiles=True)
def named_tuple(wrap):
    f = wrap(lambda p: Pair(p.b, p.a * 2.0))
    yield f(Pair(X, X * 3.0))
    yield f(Pair(X, 1.0))


@scenario(compiles=True)
def tensor_twice(wrap):
    f = wrap(lambda a, b: (a is b, a * 2.0 + b))
    yield f(X, X)[1], f(X, X * 1.0)[1]


@scenario()
def list_twice(wrap):
    def f(a, b):
        a.append(1)
        return X * float(len(b))

    f = wrap(f)
    xs, ys = [], []
    yield f(xs, xs), f(xs, ys), f(xs, xs)
    yield xs, ys


@scenario()
def list_shared_between_structures(wrap):
    def f(d, t):
        d["v"].append(2)
        return X * float(len(t[0]))

    f = wrap(f)
    shared = []
    for _ in range(3):
        yield f({"v": shared}, (shared,))
    yield shared


@scenario()
def list_grown_inside(wrap):
    def f(x, c):
        c.append(1.0)
        return x * float(len(c))

    f = wrap(f)
    c = [2.0]
    for _ in range(3):
        yield f(X, c)
    yield c


@scenario()
def list_of_tensors_grown_inside(wrap):
    def f(ts):
        ts.append(ts[-1] * 2.0)
        return ts[-1]

    f = wrap(f)
    ts = [X]
    for _ in range(3):
        yield f(ts)
    yield ts


@scenario()
def list_item_replaced_inside(wrap):
    def f(ts):
        ts[0] = ts[0] * 2.0
        return ts[0]

    f = wrap(f)
    ts = [X]
    for _ in range(3):
        yield f(ts)
    yield ts


@scenario()
def list_sorted_and_cleared_inside(wrap):
    def f(x, c):
        c.sort()
        k = c[0]
        c.clear()
        return x * k

    f = wrap(f)
    for c in ([3.0, 1.0], [5.0, 4.0], [3.0, 1.0]):
        yield f(X, c), c


@scenario()
def dict_filled_inside(wrap):
    def f(d):
        d["b"] = d["a"] * 2.0
        return d["b"]

    f = wrap(f)
    d = {"a": X}
    for _ in range(2):
        yield f(d)
    yield d


@scenario()
def dict_popped_inside(wrap):
    f = wrap(lambda x, d: x * d.pop("k", 7.0))
    d = {"k": 2.0}
    yield f(X, d), f(X, d), d
    d["k"] = 2.0
    yield f(X, d), d


@scenario()
def nested_list_grown_inside(wrap):
    def f(d):
        d["log"][0].append(d["x"].shape)
        return d["x"] * 2.0

    f = wrap(f)
    d = {"x": X, "log": [[]]}
    for _ in range(3):
        yield f(d)
    yield d


@scenario()
def keyword_dict_changed_inside(wrap):
    def f(x, **options):
        options["k"] = options.get("k", 1.0) + 1.0
        return x * options["k"]

    f = wrap(f)
    options = {"k": 3.0}
    for _ in range(2):
        yield f(X, **options)
    yield options


@scenario(compiles=True)
def list_changed_outside(wrap):
    f = wrap(lambda x, c: x * c[0])
    c = [2.0]
    for c[0] in (2.0, 3.0, 2.0):
        yield f(X, c)


@scenario()
def list_of_lists_changed_outside(wrap):
    f = wrap(lambda x, c: x * float(sum(map(len, c))))
    c = [[1], [2]]
    yield f(X, c)
    c[0].append(1)
    yield f(X, c)


@scenario()
def set_argument(wrap):
    f = wrap(lambda x, s: x * float(sum(s)))
    s = {1, 2}
    yield f(X, s)
    s.add(5)
    yield f(X, s)
    yield f(X, {1, 2})


@scenario()
def set_grown_inside(wrap):
    f = wrap(lambda x, s: (s.add(len(s)), x * float(len(s)))[1])
    s = set()
    for _ in range(3):
        yield f(X, s)
    yield s


@scenario()
def object_argument(wrap):
    box = types.SimpleNamespace(k=2.0)
    f = wrap(lambda x, b: x * b.k)
    for box.k in (2.0, 3.0):
        yield f(X, box)
    yield f(X, types.SimpleNamespace(k=9.0))


@scenario()
def object_changed_inside(wrap):
    def f(x, b):
        b.k += 1.0
        return x * b.k

    f = wrap(f)
    box = types.SimpleNamespace(k=2.0)
    for _ in range(3):
        yield f(X, box)
    yield box.k


@dataclasses.dataclass
class State:
    step: int
    value: object


@scenario()
def dataclass_argument(wrap):
    f = wrap(lambda s: s.value * float(s.step))
    state = State(1, X)
    yield f(state)
    state.step = 2
    yield f(state)
    state.value = X * 10.0
    yield f(state)
    yield f(dataclasses.replace(state, step=7))


@scenario()
def dataclass_changed_inside(wrap):
    def f(s):
        s.step += 1
        s.value = s.value * 2.0
        return s.value * float(s.step)

    f = wrap(f)
    state = State(1, X)
    for _ in range(3):
        yield f(state)
    yield state.step, state.value


@scenario(compiles=True)
def enum_argument(wrap):
    class Mode(enum.Enum):
        A = 2.0
        B = 3.0

    f = wrap(lambda x, m: x * m.value)
    yield f(X, Mode.A), f(X, Mode.B), f(X, Mode.A)


@scenario(compiles=True)
def function_argument(wrap):
    f = wrap(lambda x, g: g(x))
    yield f(X, lab.tanh), f(X, lab.square), f(X, lab.tanh)


@scenario()
def lambda_argument_with_state(wrap):
    k = 2.0
    g = lambda x: x * k  # noqa: E731
    f = wrap(lambda x, g: g(x))
    for k in (2.0, 3.0):
        yield f(X, g)


@scenario(compiles=True)
def scalars_of_numpy(wrap):
    f = wrap(lambda x, k: x * lab.cast(k, lab.float32))
    yield f(X, np.float32(2.0)), f(X, np.float64(3.0)), f(X, np.int64(4))


@scenario(compiles=True)
def variable_argument(wrap):
    v, w = lab.Variable([1.0, 2.0]), lab.Variable([5.0, 5.0])

    def f(x, u):
        u.assign_add(x)
        return u * 2.0

    f = wrap(f)
    yield f(X, v), f(X, v), f(X, w), f(X, v)
    yield v, w


@scenario()
def variable_twice(wrap):
    v, w = lab.Variable([1.0, 2.0]), lab.Variable([5.0, 5.0])

    def f(a, b):
        a.assign_add(X)
        return a + b

    f = wrap(f)
    yield f(v, w), f(v, v), f(w, v)
    yield v, w


@scenario(compiles=True)
def dtypes_and_shapes(wrap):
    f = wrap(lambda x: x * x + x)
    for dtype in ("float32", "float64", "int32", "float32"):
        yield f(lab.cast(X, dtype)), f(lab.cast(lab.ones((2, 2)), dtype))


@scenario()
def python_lists_of_numbers(wrap):
    f = wrap(lambda x, ks: x * lab.constant(ks))
    for ks in ([1.0, 2.0], [3.0, 4.0], (1.0, 2.0)):
        yield f(X, ks)


@scenario()
def shape_as_an_argument(wrap):
    f = wrap(lambda x, s: lab.reshape(x, s))
    yield f(X, (2, 1)), f(X, [1, 2]), f(X, lab.TensorShape([2])), attempt(f, X, (3,))


@scenario()
def bytearray_argument(wrap):
    f = wrap(lambda x, b: x * float(b[0]))
    b = bytearray([2])
    for b[0] in (2, 3):
        yield f(X, b)


@scenario()
def mutable_key_with_equality(wrap):
    class Key:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return True

        __hash__ = None

    f = wrap(lambda x, key: x * key.k)
    yield f(X, Key(2.0)), f(X, Key(3.0))
