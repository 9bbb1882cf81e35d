"""NumPy arrays that Python reads numbers from, or writes them into; views, memory maps and foreign memory."""

import ctypes

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


def _read(name, make, read, change, compiles=False):
    def program(wrap):
        a = make()
        f = wrap(lambda x: x * float(read(a)))
        yield f(X)
        change(a)
        yield f(X)

    program.__name__ = name
    scenario(compiles=compiles)(program)


def _set(key, value):
    return lambda a: a.__setitem__(key, value)


_read("number of a small array", lambda: np.full(5, 2.0), lambda a: a[0], _set(0, 3.0), compiles=True)
_read("number of a large array", lambda: np.full(5000, 2.0), lambda a: a[4999], _set(4999, 3.0))
_read("sum of a large array", lambda: np.ones(100_000), lambda a: a.sum(), _set(77_777, 3.0))
_read("number of an object array", lambda: np.array([2.0, "a"], object), lambda a: a[0], _set(0, 3.0))
_read(
    "list in an object array", lambda: np.array([None, [2.0]], object), lambda a: a[1][0], lambda a: _set(0, 3.0)(a[1])
)
_read("field of a structured array", lambda: np.zeros(2, [("k", "f8")]), lambda a: a[0]["k"], _set("k", 3.0))
_read("array of strings", lambda: np.array(["2", "4"]), lambda a: a[0], _set(0, "3"))
_read(
    "array of dates",
    lambda: np.array(["2020-01-01"], "M8[D]"),
    lambda a: a[0].astype(int),
    _set(0, np.datetime64("2021-01-01")),
)
_read("boolean array", lambda: np.array([True, False]), lambda a: a.sum(), _set(1, True), compiles=True)
_read("strided view", lambda: np.arange(10.0)[::2], lambda a: a[1], _set(1, 9.0))
_read("view of another array", lambda: (b := np.zeros(4), b[1:3]), lambda a: a[1][0], lambda a: _set(1, 9.0)(a[0]))
_read("array of no dimension", lambda: np.array(2.0), float, _set((), 3.0), compiles=True)
_read("masked array", lambda: np.ma.array([1.0, 2.0], mask=[0, 0]), lambda a: a.sum(), _set(0, np.ma.masked))
_read("shape of an array", lambda: [np.zeros(3)], lambda a: a[0].shape[0], _set(0, np.zeros(4)))
_read(
    "shape changed in place", lambda: np.zeros((2, 3)), lambda a: a.shape[0], lambda a: a.resize((3, 2), refcheck=False)
)
_read("dtype of an array replaced", lambda: [np.zeros(3)], lambda a: a[0].itemsize, _set(0, np.zeros(3, "f4")))
_read("flags of an array", lambda: np.zeros(3), lambda a: a.flags.writeable, lambda a: a.setflags(write=False))
_read("sign of zero", lambda: np.zeros(1), lambda a: np.copysign(1.0, a[0]), _set(0, -0.0))
_read("nan", lambda: np.full(1, np.nan), lambda a: np.nan_to_num(a[0]), _set(0, 1.0))
_read("float subclass of NumPy", lambda: [np.float64(2.0)], lambda a: a[0], _set(0, np.float64(3.0)))
_read("flat iterator", lambda: (b := np.full(2, 2.0), b.flat), lambda a: a[1][0], lambda a: _set(0, 3.0)(a[0]))
_read("memory of ctypes", lambda: (ctypes.c_double * 2)(2.0, 1.0), lambda a: a[0], _set(0, 3.0))
_read("value of ctypes", lambda: ctypes.c_double(2.0), lambda a: a.value, lambda a: setattr(a, "value", 3.0))
_read("array over ctypes", lambda: (b := (ctypes.c_double * 1)(2.0), np.frombuffer(b)), lambda a: a[1][0],
      lambda a: _set(0, 3.0)(a[0]))  # fmt: skip
_read(
    "memoryview of an array",
    lambda: (b := np.full(2, 2.0), memoryview(b)),
    lambda a: a[1][0],
    lambda a: _set(0, 3.0)(a[0]),
)
_read(
    "broadcast view",
    lambda: (b := np.full(1, 2.0), np.broadcast_to(b, (3,))),
    lambda a: a[1][2],
    lambda a: _set(0, 3.0)(a[0]),
)


def _write(name, make, write):
    def program(wrap):
        a = make()

        @wrap
        def f(x):
            write(a)
            return x * 2.0

        for _ in range(3):
            yield f(X)
        yield a

    program.__name__ = name
    scenario()(program)


_write("write into a small array", lambda: np.zeros(5), lambda a: a.__setitem__(0, a[0] + 1))
_write("write into a large array", lambda: np.zeros(5000), lambda a: a.__setitem__(0, a[0] + 1))
_write("add in place", lambda: np.zeros(3), lambda a: a.__iadd__(1.0))
_write("ufunc with out", lambda: np.ones(3), lambda a: np.multiply(a, 2.0, out=a))
_write("fill", lambda: np.arange(3.0), lambda a: a.fill(a.max() + 1))
_write("sort in place", lambda: np.array([3.0, 1.0, 2.0]), lambda a: a.sort())
_write("write through a view", lambda: np.zeros((3, 3)), lambda a: a[1:].T[0].__iadd__(1.0))
_write("write into an object array", lambda: np.array([0, 0], object), lambda a: a.__setitem__(1, a[1] + 1))
_write("write into a structured array", lambda: np.zeros(2, [("k", "f8")]), lambda a: a["k"].__iadd__(1.0))
_write("np.add.at", lambda: np.zeros(3), lambda a: np.add.at(a, [0, 0], 1.0))
_write("np.put", lambda: np.zeros(3), lambda a: np.put(a, 1, a[1] + 2.0))
_write("np.copyto", lambda: np.arange(3.0), lambda a: np.copyto(a, a[::-1].copy()))
_write("in-place shuffle with a seed", lambda: np.arange(5), lambda a: np.random.default_rng(int(a[0])).shuffle(a))


@scenario()
def result_written_into_an_array(wrap):
    history = np.zeros(4)
    step = [0]

    @wrap
    def f(x):
        y = lab.reduce_sum(x * x)
        history[step[0]] = y.numpy()
        return y

    for step[0] in range(4):
        yield f(X * float(step[0]))
    yield history


@scenario()
def array_enters_as_a_tensor(wrap):
    a = np.array([1.0, 2.0], np.float32)
    f = wrap(lambda x: x * lab.constant(a))
    yield f(X)
    a[:] = 5.0
    yield f(X)


@scenario(compiles=True)
def tensor_made_of_an_array_outside(wrap):
    a = np.array([2.0, 2.0], np.float32)
    t = lab.constant(a)
    f = wrap(lambda x: x * t)
    yield f(X)
    a[:] = 3.0
    yield f(X)


@scenario()
def array_operand(wrap):
    a = np.array([2.0, 2.0], np.float32)
    f = wrap(lambda x: x * a)
    yield f(X)
    a[:] = 3.0
    yield f(X)


@scenario()
def array_argument_written_by_the_caller(wrap):
    a = np.array([2.0, 2.0], np.float32)
    f = wrap(lambda x, b: x * b)
    yield f(X, a)
    a[:] = 3.0
    yield f(X, a)


@scenario(compiles=True)
def result_outlives_a_write_to_the_argument(wrap):
    a = np.array([2.0, 2.0], np.float32)
    f = wrap(lambda x: lab.convert_to_tensor(x) + 1.0)
    first = f(lab.constant(a))
    second = f(lab.constant(a))
    a[:] = 3.0
    yield first, second


@scenario()
def array_made_inside_and_kept(wrap):
    kept = []

    @wrap
    def f(x):
        kept.append(np.full(2, float(len(kept))))
        return x + 1.0

    for _ in range(3):
        yield f(X)
    yield kept
