"""Calls with plain structures have a quick key, which distinguishes everything that `take_apart` distinguishes."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.front.signature import quick_key, take_apart

ONE, OTHER = lab.constant(1.0), lab.constant(1.0)
CALLS = [
    ((ONE,), {}), ((lab.constant(1.0, "float64"),), {}), ((lab.constant([1.0]),), {}), (([ONE],), {}), (((ONE,),), {}),
    ((ONE, OTHER), {}), (([ONE, OTHER],), {}), (([ONE], OTHER), {}), (([ONE], [OTHER]), {}),
    (([ONE, []],), {}), (([[ONE]],), {}),
    (({"a": ONE},), {}), (({"b": ONE},), {}), ((), {"a": ONE}), ((), {"b": ONE}), (({"a": ONE, "b": OTHER},), {}),
    (({"b": ONE, "a": OTHER},), {}), ((ONE, 1), {}), ((ONE, 1.0), {}), ((ONE, True), {}), ((ONE, 0.0), {}),
    ((ONE, -0.0), {}), ((ONE, float("nan")), {}), ((ONE, "f"), {}), ((ONE, None), {}), ((ONE, 1j), {}),
    ((ONE, b"f"), {}),
    ((ONE, lab.Variable(1.0)), {}), ((ONE, lab.Variable(1.0)), {}),
]  # fmt: skip


def test_quick_keys_tell_apart_what_signatures_tell_apart() -> None:
    """Two calls have one quick key if, and only if, they have one signature."""
    keys, signatures = [], []
    for args, kwargs in CALLS:
        arrays, key = [], []
        assert quick_key(args, arrays, key)
        if kwargs:
            key.append("keywords")
            assert quick_key((kwargs,), arrays, key)
        call = take_apart(lambda *args, **kwargs: None, args, kwargs)
        assert [t._array for t in call.tensors] == arrays
        keys.append(tuple(key))
        signatures.append(call.key)
    for i, first in enumerate(CALLS):
        for j, second in enumerate(CALLS):
            assert (keys[i] == keys[j]) == (signatures[i] == signatures[j]), (first, second)


@pytest.mark.parametrize("value", [np.float32(1.0), np.ones(2), object(), {1: ONE}, {1, 2}])
def test_other_structures_are_looked_at_closely(value: object) -> None:
    """Only plain structures of tensors, variables and Python values have a quick key."""
    assert not quick_key((ONE, value), [], [])


def test_nested_arguments_give_the_results_of_the_eager_function() -> None:
    """Lists, dicts and keywords of tensors, called again and again with other values."""

    @lab.function
    def mixed(pair: Any, scale: Any, *, table: Any, power: int = 2) -> Any:
        x, y = pair
        return {"sum": x * scale + y, "rest": (table["low"] - x, x**power)}

    for number in (1.0, 2.0, 3.0):
        x, y = lab.constant(number), lab.constant(number + 0.5)
        given = ([x, y], 3.0), {"table": {"low": lab.constant(-number)}, "power": 3}
        found = mixed(*given[0], **given[1])
        expected = mixed.python_function(*given[0], **given[1])
        assert found["sum"].numpy() == expected["sum"].numpy()
        assert [t.numpy() for t in found["rest"]] == [t.numpy() for t in expected["rest"]]
    assert mixed.fallbacks == 0


def test_a_variable_among_the_arguments_is_read_anew() -> None:
    """The quick key holds a variable by identity; its value is read in each call."""
    double = lab.function(lambda v: v * 2.0)
    first, second = lab.Variable(1.0), lab.Variable(5.0)
    assert [double(v).numpy() for v in (first, second, first)] == [2.0, 10.0, 2.0]
    first.assign(7.0)
    assert double(first).numpy() == 14.0
    assert double.fallbacks == 0
