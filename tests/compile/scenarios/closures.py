"""Names: closures, globals, defaults, and replaced functions."""

import functools

from tests.compile.scenarios import X, attempt, scenario

RATE = 2.0
COUNT = 0
LATE = "not used"


@scenario(compiles=True)
def closure_rebound(wrap):
    k = 2.0
    f = wrap(lambda x: x * k)
    for k in (2.0, 3.0, 3.0, 4.0):
        yield f(X)


@scenario(compiles=True)
def closure_rebound_by_nonlocal(wrap):
    k = 2.0

    def louder():
        nonlocal k
        k *= 2.0

    f = wrap(lambda x: x * k)
    for _ in range(3):
        yield f(X)
        louder()


@scenario()
def closure_counter_by_nonlocal(wrap):
    calls = 0

    @wrap
    def f(x):
        nonlocal calls
        calls += 1
        return x * 2.0

    for _ in range(3):
        yield f(X)
    yield calls


@scenario()
def closure_counter_that_is_used(wrap):
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return x * float(calls)

    f = wrap(f)
    for _ in range(4):
        yield f(X)


@scenario(compiles=True)
def closure_tensor_replaced(wrap):
    w = X * 3.0
    f = wrap(lambda x: x * w)
    yield f(X)
    w = X * 5.0
    yield f(X)


@scenario(compiles=True)
def closure_type_changes(wrap):
    k = 2
    f = wrap(lambda x: x * (10.0 if k is True else float(k)))
    for k in (1, True, 1, 2.5):
        yield f(X)


@scenario(compiles=True)
def global_rebound(wrap):
    global RATE
    f = wrap(lambda x: x * RATE)
    for RATE in (2.0, 3.0, 4.0):
        yield f(X)
    RATE = 2.0


@scenario()
def global_counter(wrap):
    global COUNT
    COUNT = 0

    @wrap
    def f(x):
        global COUNT
        COUNT += 1
        return x * 2.0

    for _ in range(3):
        yield f(X)
    yield COUNT


@scenario()
def global_made_inside(wrap):
    globals().pop("MADE_INSIDE", None)

    @wrap
    def f(x):
        global MADE_INSIDE
        MADE_INSIDE = x.shape
        return x * 2.0

    yield f(X)
    yield globals().pop("MADE_INSIDE", "nothing")
    yield f(X)
    yield globals().pop("MADE_INSIDE", "nothing")


@scenario()
def global_deleted_between_calls(wrap):
    globals()["TO_DELETE"] = 2.0
    f = wrap(lambda x: x * TO_DELETE)  # noqa: F821
    yield f(X)
    del globals()["TO_DELETE"]
    yield attempt(f, X)


@scenario()
def global_begins_to_shadow_a_builtin(wrap):
    f = wrap(lambda x: abs(x * -1.0))
    try:
        yield f(X)
        globals()["abs"] = lambda x: x * 100.0
        yield f(X)
    finally:
        globals().pop("abs", None)
    yield f(X)


@scenario(compiles=True)
def helper_replaced(wrap):
    def helper(x):
        return x * 2.0

    f = wrap(lambda x: helper(x) + 1.0)
    yield f(X)

    def helper(x):
        return x * 5.0

    yield f(X)


@scenario()
def helper_attribute(wrap):
    def helper(x):
        return x * helper.k

    helper.k = 2.0
    f = wrap(lambda x: helper(x))
    for helper.k in (2.0, 3.0, 4.0):
        yield f(X)


@scenario()
def own_attribute(wrap):
    @wrap
    def f(x):
        return x * f.k

    for f.k in (2.0, 3.0, 4.0):
        yield f(X)


@scenario()
def own_attribute_as_counter(wrap):
    def g(x):
        g.calls += 1
        return x * 2.0

    g.calls = 0
    f = wrap(g)
    for _ in range(4):
        yield f(X)
    yield g.calls


@scenario()
def own_attribute_made_in_the_first_call(wrap):
    def g(x):
        g.scale = getattr(g, "scale", 1.0) * 2.0
        return x * g.scale

    f = wrap(g)
    for _ in range(3):
        yield f(X)


@scenario()
def defaults_replaced(wrap):
    def h(x, k=2.0):
        return x * k

    f = wrap(lambda x: h(x))
    yield f(X)
    h.__defaults__ = (3.0,)
    yield f(X)


@scenario()
def keyword_defaults_changed(wrap):
    def h(x, *, k=2.0):
        return x * k

    f = wrap(lambda x: h(x))
    yield f(X)
    h.__kwdefaults__["k"] = 3.0
    yield f(X)


@scenario()
def code_replaced(wrap):
    def h(x):
        return x * 2.0

    f = wrap(lambda x: h(x))
    yield f(X)
    h.__code__ = (lambda x: x * 3.0).__code__
    yield f(X)


@scenario()
def mutable_default_grows(wrap):
    def h(x, seen=[]):
        seen.append(1.0)
        return x * sum(seen)

    f = wrap(h)
    for _ in range(3):
        yield f(X)
    yield h.__defaults__


@scenario()
def mutable_default_as_cache(wrap):
    def power(n, known={}):
        if n not in known:
            known[n] = 2.0**n
        return known[n]

    f = wrap(lambda x: x * power(3))
    for _ in range(3):
        yield f(X)
    yield power.__defaults__


@scenario(compiles=True)
def default_list_changed_from_outside(wrap):
    def h(x, ks=[2.0]):
        return x * ks[0]

    f = wrap(lambda x: h(x))
    yield f(X)
    h.__defaults__[0][0] = 7.0
    yield f(X)


@scenario(compiles=True)
def decorated_helper(wrap):
    state = {"k": 2.0}

    def scaled(g):
        @functools.wraps(g)
        def inner(x):
            return g(x) * state["k"]

        return inner

    @scaled
    def h(x):
        return x + 1.0

    f = wrap(h)
    yield f(X)
    state["k"] = 5.0
    yield f(X)


@scenario()
def decorator_that_counts(wrap):
    calls = []

    def counted(g):
        def inner(x):
            calls.append(g.__name__)
            return g(x)

        return inner

    @counted
    def h(x):
        return x + 1.0

    f = wrap(h)
    for _ in range(3):
        yield f(X)
    yield calls


@scenario()
def free_name_assigned_late(wrap):
    f = wrap(lambda x: x * late)
    try:
        yield f(X)
    except NameError:
        yield "not yet"
    late = 3.0
    yield f(X)
    late = 4.0
    yield f(X)


@scenario(compiles=True)
def function_that_makes_functions(wrap):
    ks = [2.0, 3.0]
    f = wrap(lambda x: [(lambda y, k=k: y * k)(x) for k in ks])
    yield f(X)
    ks.append(4.0)
    yield f(X)


@scenario(compiles=True)
def walrus(wrap):
    table = {"a": 2.0}
    f = wrap(lambda x: x * k if (k := table.get("a")) is not None else x)
    yield f(X)
    table["a"] = 4.0
    yield f(X)
    del table["a"]
    yield f(X)


@scenario()
def walrus_into_a_global(wrap):
    globals().pop("LATE", None)

    @wrap
    def f(x):
        global LATE
        if (n := globals().get("LATE", 0)) < 2:
            LATE = n + 1
        return x * float(n)

    for _ in range(4):
        yield f(X)
    yield globals().pop("LATE", None)
