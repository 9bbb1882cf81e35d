"""State behind a format field, a row of an array or a view, which no name in the code refers to."""

import types

import numpy as np

from tests.compile.scenarios import X, scenario


def _formatted(name, text, call):
    """Register a program that reads a number through the fields of a format."""

    def program(wrap):
        holder = types.SimpleNamespace(rates=[2.0], inner=types.SimpleNamespace(rate=2.0, table={"rate": 2.0}))
        f = wrap(lambda x: x * float(call(text, holder)))
        yield f(X)
        holder.rates[0] = 3.0
        yield f(X)
        holder.inner.rate = holder.inner.table["rate"] = 4.0
        yield f(X)

    program.__name__ = name
    scenario()(program)


_formatted("format of an item", "{0.rates[0]}", lambda text, holder: text.format(holder))
_formatted("format of an attribute", "{h.inner.rate:.2f}", lambda text, holder: text.format(h=holder))
_formatted("format of a key", "{h.inner.table[rate]}", lambda text, holder: text.format_map({"h": holder}))
_formatted("format called by map", "{0.inner.rate}", lambda text, holder: [*map(text.format, [holder])][0])
_formatted("format in a format", "{1:.{0.inner.rate:.0f}f}", lambda text, holder: text.format(holder, 1.23456))


@scenario(compiles=True)
def plain_format(wrap):
    f = wrap(lambda x, k: x * float("{:.2f}".format(k)))  # noqa: UP032 - the method is what is tried
    yield f(X, 1.234), f(X, 5.678), f(X, 1.234)


@scenario(compiles=True)
def row_of_a_structured_array(wrap):
    table = np.zeros(2, [("rate", "f4"), ("count", "i4")])
    row = table[0]
    f = wrap(lambda x: x * float(row["rate"]))
    yield f(X)
    row["rate"] = 7.0
    yield f(X)
    table["rate"][0] = 8.0
    yield f(X), f(X)


@scenario()
def row_written_inside(wrap):
    table = np.zeros(2, [("rate", "f4")])
    row = table[0]

    def f(x):
        row["rate"] += 1.0
        return x * 2.0

    f = wrap(f)
    yield f(X), f(X), table


@scenario()
def array_behind_a_view(wrap):
    whole = np.zeros(50)
    view = whole[:3]

    def f(x):
        view.base[10] += 1.0
        return x * 2.0

    f = wrap(f)
    yield f(X), f(X), whole


@scenario()
def large_array_behind_a_view(wrap):
    whole = np.zeros(5000)
    view = whole[:3]
    f = wrap(lambda x: x * float(view.base[4000]))
    yield f(X)
    whole[4000] = 3.0
    yield f(X)
