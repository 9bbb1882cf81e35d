"""State and effects that Python does not report: built-in functions called from C, replaced dicts and classes."""

import functools
import io
import itertools
import random
import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


class Box:
    """An object to hang attributes on."""


@scenario(compiles=True)
def dict_of_an_object_replaced(wrap):
    box = Box()
    box.rate = 2.0
    f = wrap(lambda x: x * box.rate)
    yield f(X)
    box.__dict__ = {"rate": 5.0}
    yield f(X)


@scenario()
def dict_of_a_function_replaced(wrap):
    def h(x):
        return x * getattr(h, "rate", 2.0)

    f = wrap(lambda x: h(x))
    yield f(X)
    h.__dict__ = {"rate": 5.0}
    yield f(X)


@scenario(compiles=True)
def class_of_a_class_changed(wrap):
    class Meta(type):
        rate = 2.0

    class Other(type):
        rate = 5.0

    class Rated(metaclass=Meta):
        pass

    f = wrap(lambda x: x * Rated.rate)
    yield f(X)
    Rated.__class__ = Other
    yield f(X)


def _given(name, run):
    """A scenario whose function hands a bound `append` to something that calls it."""

    def program(wrap):
        seen = []
        keep = seen.append

        def f(x):
            run(keep)
            return x * 2.0

        compiled = wrap(f)
        for _ in range(3):
            yield attempt(compiled, X)
        yield seen

    program.__name__, program.__module__ = name, __name__
    scenario()(program)


_given("append_given_to_a_map", lambda keep: list(map(keep, [1, 2])))
_given("append_given_to_a_filter", lambda keep: list(filter(keep, [1, 2])))
_given("append_given_as_a_key", lambda keep: [1].sort(key=keep))
_given("append_given_to_sorted", lambda keep: sorted([1], key=keep))
_given("append_given_to_a_function_of_ours", lambda keep: lab.nest.map_structure(keep, [1, 2]))
_given("append_given_to_a_ufunc", lambda keep: np.frompyfunc(keep, 1, 1)(1.0))
_given("append_given_to_vectorize", lambda keep: np.vectorize(keep)(1.0))
_given("append_given_to_starmap", lambda keep: list(itertools.starmap(keep, [(1,)])))
_given("append_given_to_takewhile", lambda keep: list(itertools.takewhile(keep, [1])))
_given("append_given_to_apply_along_axis", lambda keep: np.apply_along_axis(lambda v: keep(1) or 0.0, 0, np.ones(2)))


@scenario()
def ufunc_of_a_bound_method(wrap):
    numbers = [1.0, 2.0, 3.0]
    take = np.frompyfunc(numbers.pop, 0, 1)
    f = wrap(lambda x: x * float(take()))
    for _ in range(3):
        yield f(X)


@scenario()
def attribute_by_a_path(wrap):
    box = Box()
    box.inner = types.SimpleNamespace(rate=2.0)
    path = ["inner", "rate"]
    f = wrap(lambda x: x * functools.reduce(getattr, path, box))
    yield f(X)
    box.inner.rate = 5.0
    yield f(X)


@scenario()
def attribute_by_a_partial(wrap):
    box, name = Box(), "rate"
    box.rate = 2.0
    read = functools.partial(getattr, box)
    f = wrap(lambda x: x * read(name))
    yield f(X)
    box.rate = 5.0
    yield f(X)


@scenario()
def iterator_behind_a_zip(wrap):
    numbers = iter([1.0, 2.0, 3.0])
    f = wrap(lambda x: x * next(iter(zip([1], numbers, strict=False)))[1])
    for _ in range(2):
        yield f(X)


@scenario()
def draw_behind_an_operator(wrap):
    class Noisy:
        def __init__(self):
            self.random = random.Random(1)

        def __rmul__(self, x):
            return x * self.random.random()

    noisy = Noisy()
    f = wrap(lambda x: 2.0 * noisy * x)
    for _ in range(3):
        yield f(X)


@scenario()
def layer_of_a_user_that_counts(wrap):
    class Counting(lab.layers.Layer):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def call(self, x):
            self.calls += 1
            return x * float(self.calls)

    model = lab.Sequential([Counting()])
    f = wrap(lambda x: model(x))
    for _ in range(3):
        yield f(X)


@scenario()
def layer_of_a_user_that_logs(wrap):
    log = []

    class Logging(lab.layers.Layer):
        def call(self, x):
            log.append(x.shape)
            return x * 2.0

    model = lab.Sequential([Logging()])
    f = wrap(lambda x: model(x))
    for _ in range(3):
        yield f(X)
    yield log


@scenario()
def list_of_functions_in_a_custom_gradient(wrap):
    rate = [2.0]
    rules = [lambda g: g * rate[0]]

    @lab.custom_gradient
    def scaled(x):
        return x * 1.0, lambda g: rules[0](g)

    def f(x):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        return tape.gradient(y, x)

    compiled = wrap(f)
    yield compiled(X)
    rate[0] = 5.0
    yield compiled(X)


@scenario()
def data_behind_a_dataset(wrap):
    rate = [2.0]
    data = lab.data.Dataset.from_tensor_slices(np.arange(3.0, dtype="f4")).map(lambda v: v * rate[0])

    def f(x):
        for value in data:
            x = x + value
        return x

    compiled = wrap(f)
    yield compiled(X)
    rate[0] = 5.0
    yield compiled(X)


@scenario()
def view_of_a_large_array(wrap):
    whole = np.ones(5000)
    part = whole[:3]
    f = wrap(lambda x: x * float(part[0]))
    yield f(X)
    whole[0] = 4.0
    yield f(X)


@scenario()
def name_that_is_missing_at_first(wrap):
    def f(x):
        try:
            return x * MADE_LATER
        except NameError:
            return x

    compiled = wrap(f)
    yield compiled(X)
    globals()["MADE_LATER"] = 5.0
    yield compiled(X)
    del globals()["MADE_LATER"]


@scenario(compiles=True)
def loud_branch_that_is_not_taken(wrap):
    settings = {"verbose": False}

    def f(x):
        if settings["verbose"]:
            print("step")
        return x * 2.0

    compiled = wrap(f)
    for _ in range(3):
        yield compiled(X)


@scenario(compiles=True)
def methods_that_are_not_called(wrap):
    class Model(lab.Module):
        def __init__(self):
            super().__init__()
            self.rate, self.log, self.lock = lab.Variable(2.0), io.StringIO(), random.Random(1)

        def __call__(self, x):
            return x * self.rate

        def save(self):
            self.log.write(str(self.lock.random()))

    model = Model()
    f = wrap(lambda x: model(x))
    for _ in range(3):
        yield f(X)
