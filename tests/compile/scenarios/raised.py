"""Exceptions: raised because of state, values or ops; caught inside or outside; effects before them."""

import contextlib
import types

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


@scenario()
def raised_by_state(wrap):
    state = {"bad": False}

    @wrap
    def f(x):
        if state["bad"]:
            raise ValueError("bad")
        return x * 2.0

    for state["bad"] in (False, True, False):
        yield attempt(f, X)


@scenario()
def raised_in_the_first_call(wrap):
    state = {"bad": True}

    @wrap
    def f(x):
        if state["bad"]:
            raise KeyError("bad")
        return x * 2.0

    for state["bad"] in (True, False, True):
        yield attempt(f, X)


@scenario()
def assertion_on_python(wrap):
    state = types.SimpleNamespace(n=1)

    @wrap
    def f(x):
        assert state.n < 3, f"n is {state.n}"
        return x * 2.0

    for state.n in range(1, 5):
        yield attempt(f, X)


@scenario()
def assertion_on_a_shape(wrap):
    @wrap
    def f(x):
        assert x.shape == (2,), x.shape
        return x * 2.0

    for n in (2, 3, 2):
        yield attempt(f, lab.ones(n))


@scenario()
def assertion_on_a_value(wrap):
    @wrap
    def f(x):
        assert lab.reduce_all(x > 0.0)
        return lab.sqrt(x)

    for k in (1.0, -1.0, 2.0):
        yield attempt(f, X * k)


@scenario()
def assertion_of_lab(wrap):
    @wrap
    def f(x):
        lab.debugging.assert_positive(x)
        return lab.sqrt(x)

    for k in (1.0, -1.0, 2.0):
        yield attempt(f, X * k)


@scenario()
def assertions_of_lab(wrap):
    @wrap
    def f(x, y):
        lab.debugging.assert_equal(x, y)
        lab.debugging.assert_less(x, y + 1.0)
        lab.debugging.assert_rank(x, 1)
        return x + y

    yield attempt(f, X, X)
    yield attempt(f, X, X * 2.0)
    yield attempt(f, X, X)


@scenario()
def check_numerics(wrap):
    f = wrap(lambda x: lab.debugging.check_numerics(lab.math.log(x), "m"))
    for k in (1.0, -1.0, 2.0):
        yield attempt(f, X * k)


@scenario()
def op_that_fails_is_caught(wrap):
    @wrap
    def f(x, i):
        try:
            return lab.gather(x, i)
        except lab.errors.InvalidArgumentError:
            return x * 0.0 - 1.0

    for i in ([0, 1], [0, 7], [1, 0]):
        yield f(X, lab.constant(i))


@scenario()
def op_that_fails_is_caught_first(wrap):
    @wrap
    def f(x, i):
        try:
            return lab.gather(x, i)
        except Exception as error:
            return x * float(len(type(error).__name__))

    for i in ([0, 7], [0, 1], [0, 7]):
        yield f(X, lab.constant(i))


@scenario()
def assigned_before_an_op_fails(wrap):
    v = lab.Variable([1.0, 1.0])

    @wrap
    def f(x, i):
        v.assign_add(x)
        return lab.gather(x, i)

    for i in ([0], [9], [1], [9]):
        yield attempt(f, X, lab.constant(i))
        yield v.numpy()


@scenario()
def assigned_before_a_caught_failure(wrap):
    v = lab.Variable([1.0, 1.0])

    @wrap
    def f(x, i):
        try:
            v.assign_add(x)
            y = lab.gather(x, i)
            v.assign(v * 2.0)
        except lab.errors.InvalidArgumentError:
            v.assign_sub(x * 10.0)
            y = x[:1]
        return y

    for i in ([0], [9], [1]):
        yield f(X, lab.constant(i))
        yield v.numpy()


@scenario()
def shapes_that_do_not_fit(wrap):
    @wrap
    def f(x, y):
        try:
            return x + y
        except lab.errors.AutodiffLabError if hasattr(lab.errors, "AutodiffLabError") else Exception:
            return x * 0.0

    yield f(X, X)
    yield f(X, lab.ones(3))
    yield f(X, X)


@scenario(compiles=True)
def caught_key_error(wrap):
    table = {"a": 2.0}

    @wrap
    def f(x):
        try:
            return x * table["b"]
        except KeyError:
            return x * table["a"]

    yield f(X)
    table["b"] = 5.0
    yield f(X)


@scenario(compiles=True)
def caught_attribute_error(wrap):
    class Own:
        a = 2.0

    own = Own()

    @wrap
    def f(x):
        try:
            return x * own.b
        except AttributeError:
            return x * own.a

    yield f(X)
    own.b = 5.0
    yield f(X)


@scenario(compiles=True)
def suppressed(wrap):
    table = [1.0]

    @wrap
    def f(x):
        with contextlib.suppress(IndexError):
            x = x * table[1]
        return x + 1.0

    yield f(X)
    table.append(3.0)
    yield f(X)


@scenario()
def exception_kept(wrap):
    kept = []

    @wrap
    def f(x):
        try:
            raise ValueError("inside")
        except ValueError as error:
            kept.append(error)
        return x

    for _ in range(2):
        f(X)
    yield kept


@scenario()
def exception_with_a_tensor(wrap):
    class Found(Exception):
        pass

    @wrap
    def f(x):
        raise Found(x * 2.0)

    for k in (1.0, 2.0):
        error = attempt(f, X * k)
        yield type(error).__name__, error.args[0]


@scenario()
def stop_iteration_out_of_the_function(wrap):
    source = iter([1.0])
    f = wrap(lambda x: x * next(source))
    yield f(X)
    yield attempt(f, X)
    yield attempt(f, X)


@scenario()
def retry(wrap):
    tries = []

    def fragile():
        tries.append(1)
        if len(tries) % 3:
            raise OSError("not yet")
        return float(len(tries))

    @wrap
    def f(x):
        while True:
            try:
                return x * fragile()
            except OSError:
                pass

    for _ in range(2):
        yield f(X)
    yield len(tries)


@scenario()
def wrong_number_of_arguments(wrap):
    f = wrap(lambda x: x * 2.0)
    yield f(X)
    yield type(attempt(f)).__name__, type(attempt(f, X, X)).__name__, type(attempt(f, y=X)).__name__
    yield f(X)


@scenario()
def raised_after_an_effect_on_an_argument(wrap):
    def f(xs, fail):
        xs.append(len(xs))
        if fail:
            raise RuntimeError("late")
        return X * float(len(xs))

    f = wrap(f)
    xs = []
    for fail in (False, True, False):
        yield attempt(f, xs, fail)
    yield xs


@scenario()
def keyboard_interrupt(wrap):
    state = {"stop": False}

    @wrap
    def f(x):
        if state["stop"]:
            raise KeyboardInterrupt
        return x

    yield f(X)
    state["stop"] = True
    try:
        f(X)
    except KeyboardInterrupt:
        yield "stopped"
    state["stop"] = False
    yield f(X)


@scenario()
def exception_inside_a_tape(wrap):
    state = {"bad": True}
    w = lab.Variable(2.0)

    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(w * x)
            if state["bad"]:
                raise ValueError("inside the tape")
        return tape.gradient(y, w)

    for state["bad"] in (True, False, True, False):
        yield attempt(f, X)
