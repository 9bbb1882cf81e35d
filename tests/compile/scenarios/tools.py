"""The standard library between ops: functools, contextlib, itertools, and threads around a compiled function."""

import concurrent.futures
import contextlib
import copy
import functools
import gc
import itertools
import math
import statistics
import string
import textwrap
import threading
import types
import typing

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


@scenario(compiles=True)
def partial(wrap):
    state = {"k": 2.0}

    def h(x, k, more):
        return x * k * state["k"] + more

    f = wrap(functools.partial(h, k=3.0, more=1.0))
    yield f(X)
    state["k"] = 4.0
    yield f(X)


@scenario()
def partial_method(wrap):
    class Model:
        k = 2.0

        def scale(self, x, by):
            return x * self.k * by

        triple = functools.partialmethod(scale, by=3.0)

    model = Model()
    f = wrap(lambda x: model.triple(x))
    for model.k in (2.0, 4.0):
        yield f(X)


@scenario()
def single_dispatch(wrap):
    @functools.singledispatch
    def act(how, x):
        return x

    act.register(int)(lambda how, x: x * 2.0)
    holder = [1]
    f = wrap(lambda x: act(holder[0], x))
    yield f(X)
    holder[0] = "text"
    yield f(X)
    act.register(str)(lambda how, x: x * 5.0)
    yield f(X)


@scenario(compiles=True)
def reduce_over_tensors(wrap):
    ks = [1.0, 2.0, 3.0]
    f = wrap(lambda x: functools.reduce(lambda a, k: a * k + x, ks, x))
    yield f(X)
    ks.append(0.5)
    yield f(X)


@scenario()
def context_manager_with_state(wrap):
    depth = []

    @contextlib.contextmanager
    def deeper():
        depth.append(1)
        yield len(depth)
        depth.pop()

    @wrap
    def f(x):
        with deeper() as a, deeper() as b:
            return x * float(a + 10 * b)

    for _ in range(2):
        yield f(X)
    depth.append(1)
    yield f(X)


@scenario()
def context_manager_of_the_user(wrap):
    log = []

    class Timed:
        def __enter__(self):
            log.append("in")
            return self

        def __exit__(self, *error):
            log.append("out")
            return False

    @wrap
    def f(x):
        with Timed():
            return x * 2.0

    for _ in range(2):
        yield f(X)
    yield log


@scenario()
def exit_stack(wrap):
    log = []

    @wrap
    def f(x):
        with contextlib.ExitStack() as stack:
            stack.callback(log.append, "closed")
            return x * 2.0

    for _ in range(3):
        yield f(X)
    yield log


@scenario(compiles=True)
def products_and_combinations(wrap):
    ks = [1.0, 2.0]
    f = wrap(lambda x: sum(x * a * b for a, b in itertools.product(ks, repeat=2)))
    yield f(X)
    ks.append(3.0)
    yield f(X)


@scenario()
def grouping(wrap):
    ks = [1.0, 1.0, 2.0]
    f = wrap(lambda x: sum(x * k * float(len(list(g))) for k, g in itertools.groupby(ks)))
    yield f(X)
    ks.append(2.0)
    yield f(X)


@scenario(compiles=True)
def math_functions(wrap):
    box = types.SimpleNamespace(k=2.0)
    f = wrap(lambda x: x * math.sqrt(box.k) + math.pi)
    for box.k in (2.0, 9.0):
        yield f(X)


@scenario()
def statistics_of_a_list(wrap):
    ks = [1.0, 2.0]
    f = wrap(lambda x: x * statistics.fmean(ks))
    yield f(X)
    ks.append(6.0)
    yield f(X)


@scenario(compiles=True)
def text_of_numbers(wrap):
    box = types.SimpleNamespace(k=2.0)
    f = wrap(lambda x: x * float("{:.2f}".format(box.k)) * float("%.1f" % box.k))  # noqa: UP031, UP032
    for box.k in (2.0, 3.14):
        yield f(X)


@scenario()
def formatter_with_state(wrap):
    class Own(string.Formatter):
        n = 0

        def format_field(self, value, spec):
            self.n += 1
            return str(value + self.n)

    own = Own()
    f = wrap(lambda x: x * float(own.format("{}", 1)))
    for _ in range(3):
        yield f(X)


@scenario()
def eight_threads(wrap):
    log, w = [], lab.Variable([1.0, 1.0])
    f = wrap(lambda x: x * w)

    def run():
        log.append(seen_by(f))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    yield log


def seen_by(f):
    return [f(X * float(k)).numpy().tolist() for k in range(5)]


@scenario()
def pool_of_threads_with_a_counter(wrap):
    done, lock = [0], threading.Lock()

    @wrap
    def f(x):
        with lock:
            done[0] += 1
        return x * 2.0

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(f, [X * float(k) for k in range(8)]))
    yield results, done


@scenario()
def event_and_condition(wrap):
    event = threading.Event()
    f = wrap(lambda x: x * 2.0 if event.is_set() else x)
    yield f(X)
    event.set()
    yield f(X)


@scenario()
def lock_that_is_held(wrap):
    lock = threading.Lock()
    f = wrap(lambda x: x * 2.0 if lock.acquire(blocking=False) else x)
    yield f(X), f(X), lock.locked()


@scenario()
def semaphore(wrap):
    slots = threading.Semaphore(2)
    f = wrap(lambda x: x * float(slots.acquire(blocking=False)))
    yield f(X), f(X), f(X)


@scenario()
def deep_copy_of_a_generator_is_refused(wrap):
    f = wrap(lambda x: x * float(isinstance(attempt(copy.deepcopy, (k for k in [])), TypeError)))
    yield f(X), f(X)


@scenario(compiles=True)
def type_decides(wrap):
    holder = [1]

    @wrap
    def f(x):
        value = holder[0]
        if isinstance(value, typing.Sequence):
            return x * float(len(value))
        return x * float(value)

    for value in (1, [1, 2, 3], 2.5):
        holder[0] = value
        yield f(X)


@scenario(compiles=True)
def starred_calls(wrap):
    args, kwargs = [2.0], {"k": 3.0}

    def h(x, a, k):
        return x * a + k

    f = wrap(lambda x: h(x, *args, **kwargs))
    yield f(X)
    kwargs["k"] = 5.0
    yield f(X)
    args[0] = 7.0
    yield f(X)


@scenario(compiles=True)
def chained_comparison_of_python(wrap):
    box = types.SimpleNamespace(low=0, n=1, high=5)
    f = wrap(lambda x: x * 2.0 if box.low < box.n <= box.high else x)
    for box.n in (1, 9):
        yield f(X)


@scenario()
def collected_garbage(wrap):
    log = []

    class Own:
        def __del__(self):
            log.append(1)

    def f(x):
        a = Own()
        a.me = a
        del a
        gc.collect()
        return x * 2.0

    f = wrap(f)
    for _ in range(2):
        yield f(X)
    yield log


@scenario(compiles=True)
def wrapped_text(wrap):
    box = types.SimpleNamespace(text="a bb ccc")
    f = wrap(lambda x: x * float(len(box.text.split())))
    for box.text in ("a bb ccc", "a"):
        yield f(X), len(textwrap.wrap(box.text, 4))


@scenario(compiles=True)
def registry_of_functions(wrap):
    table = {"double": lambda x: x * 2.0, "triple": lambda x: x * 3.0}
    box = types.SimpleNamespace(how="double")
    f = wrap(lambda x: table[box.how](x))
    for box.how in ("double", "triple"):
        yield f(X)
    table["triple"] = lambda x: x * 30.0
    yield f(X)


@scenario(compiles=True)
def recursive_structure_of_layers(wrap):
    tree = {"op": lab.tanh, "then": {"op": lab.square, "then": None}}

    @wrap
    def f(x):
        node = tree
        while node is not None:
            x, node = node["op"](x), node["then"]
        return x

    yield f(X)
    tree["then"]["then"] = {"op": lab.exp, "then": None}
    yield f(X)


@scenario(compiles=True)
def polynomial_by_a_list(wrap):
    coefficients = [1.0, 2.0, 3.0]

    @wrap
    def f(x):
        y = lab.zeros_like(x)
        for c in reversed(coefficients):
            y = y * x + c
        return y

    yield f(X)
    coefficients[0] = 10.0
    yield f(X)
    coefficients.append(0.5)
    yield f(X)
