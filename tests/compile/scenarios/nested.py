"""Compiled functions in functions, classes and structures, and control flow by shapes, values and Python flags."""

import copy
import pickle
import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


@scenario(compiles=True)
def two_functions_over_one_variable(wrap):
    w = lab.Variable(1.0)
    up = wrap(lambda: w.assign_add(1.0))
    read = wrap(lambda x: x * w)
    for _ in range(3):
        up()
        yield read(X)


@scenario(compiles=True)
def function_in_a_function(wrap):
    state = types.SimpleNamespace(k=2.0)
    inner = wrap(lambda x: x * state.k)
    outer = wrap(lambda x: inner(x) + 1.0)
    for state.k in (2.0, 5.0):
        yield outer(X), inner(X)


@scenario()
def function_in_a_function_with_an_effect(wrap):
    log = []
    inner = wrap(lambda x: (log.append(1), x * 2.0)[1])
    outer = wrap(lambda x: inner(x) + 1.0)
    for _ in range(3):
        yield outer(X)
    yield log


@scenario(compiles=True)
def function_that_calls_itself(wrap):
    @wrap
    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)

    yield power(X, 3), power(X, 2), power(X, 3)


@scenario(compiles=True)
def method_decorated_in_its_class(wrap):
    class Model:
        def __init__(self, k):
            self.k = k

        @wrap
        def go(self, x):
            return x * self.k

    a, b = Model(2.0), Model(3.0)
    yield a.go(X), b.go(X), a.go(X)
    a.k = 7.0
    yield a.go(X), b.go(X)


@scenario(compiles=True)
def static_and_class_methods(wrap):
    class Model:
        k = 2.0

        @staticmethod
        @wrap
        def static(x):
            return x * Model.k

        @classmethod
        def of_class(cls, x):
            return x * cls.k

    g = wrap(Model.of_class)
    for Model.k in (2.0, 3.0):
        yield Model.static(X), g(X)


@scenario(compiles=True)
def property_that_is_compiled_inside(wrap):
    class Model:
        k = 2.0

        @property
        def act(self):
            return lambda x: x * self.k

    model = Model()
    f = wrap(lambda x: model.act(x))
    for model.k in (2.0, 3.0):
        yield f(X)


@scenario(compiles=True)
def named_scopes(wrap):
    @wrap
    def f(x):
        with lab.name_scope("outer"):
            y = x * 2.0
        with lab.name_scope("inner"):
            return y + 1.0

    yield f(X), f(X)


@scenario()
def name_scope_around(wrap):
    @wrap
    def f(x):
        return x * float(len(lab.Variable(1.0, name="v").name))

    yield f(X)
    with lab.name_scope("scope"):
        yield f(X)


@scenario()
def copied_and_pickled_inside(wrap):
    state = {"k": [2.0]}

    @wrap
    def f(x):
        a, b = copy.deepcopy(state), pickle.loads(pickle.dumps(state))  # noqa: S301
        a["k"][0] += 1.0
        return x * a["k"][0] + b["k"][0]

    yield f(X)
    state["k"][0] = 5.0
    yield f(X), state


@scenario()
def tensor_array_and_lists(wrap):
    @wrap
    def f(x):
        parts = []
        for k in range(3):
            parts.append(x * float(k))
        return lab.stack(parts)

    yield f(X), f(X * 2.0)


@scenario(compiles=True)
def control_flow_by_shape(wrap):
    f = wrap(lambda x: x * 2.0 if x.shape[0] > 2 else -x)
    yield f(X), f(lab.ones(3)), f(X)


@scenario()
def control_flow_by_value(wrap):
    f = wrap(lambda x: x * 2.0 if x[0] > 1.0 else -x)
    yield f(X), f(X * 3.0), f(X)


@scenario()
def while_loop_of_python(wrap):
    @wrap
    def f(x):
        n = 0
        while lab.reduce_sum(x) < 50.0:
            x, n = x * 2.0, n + 1
        return x, n

    yield f(X), f(X * 5.0), f(X * 100.0)


@scenario()
def cond_on_a_tensor(wrap):
    f = wrap(lambda x: lab.cond(x[0] > 1.0, lambda: x * 2.0, lambda: -x))
    yield f(X), f(X * 3.0), f(X)


@scenario(compiles=True)
def cond_on_a_python_bool(wrap):
    state = {"on": True}
    f = wrap(lambda x: lab.cond(state["on"], lambda: x * 2.0, lambda: -x))
    for state["on"] in (True, False):
        yield f(X)


@scenario()
def shapes_by_value(wrap):
    f = wrap(lambda x: lab.boolean_mask(x, x > 1.5))
    yield f(X), f(X * 2.0), f(X * 0.0), f(X)


@scenario()
def strings(wrap):
    f = wrap(lambda s: lab.strings.length(s))
    yield f(lab.constant("abc")), f(lab.constant("abcd"))


@scenario()
def eager_tensor_as_a_number(wrap):
    k = lab.constant(3.0)
    f = wrap(lambda x: x * float(k) + float(len(np.asarray(k).shape)))
    yield f(X)
    k = lab.constant(4.0)
    yield f(X)


@scenario(compiles=True)
def device_block(wrap):
    def f(x):
        with lab.device("/CPU:0"):
            return x * 2.0

    f = wrap(f)
    yield f(X), f(X)
