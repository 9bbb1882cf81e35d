"""What a compiled function reads through other objects is guarded too, and hidden effects are detected."""

import collections
import contextvars
import dataclasses
import functools
import gc
import random
import sys
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from time import perf_counter as clock
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

x1 = lab.constant(1.0)
rate = 2.0
NAMES = types.SimpleNamespace(rate=2.0)
QUEUE = collections.deque([2.0])
TABLE = np.array([2.0])
WIDE = np.ones((300, 1000), order="F")


class Config:
    """A class that holds a value."""

    rate = 2.0


class Slotted:
    """An object without a dict."""

    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = 2.0


class Tools:
    """Every way to put a function into a class."""

    @property
    def own(self) -> float:
        return rate

    @staticmethod
    def static(x: Any) -> Any:
        return x * rate

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * rate

    def __call__(self, x: Any) -> Any:
        return x * rate


def scaled(x: Any, by: float) -> Any:
    return x * rate * by


slotted, tools, partial = Slotted(), Tools(), functools.partial(scaled, by=1.0)
inner = lab.function(lambda x: x * rate)


def set_rate(value: float) -> None:
    global rate  # noqa: PLW0603
    rate = value


@dataclasses.dataclass(frozen=True)
class Fields:
    """State that is replaced; the metadata of a field is a read-only view of a dict."""

    h: Any
    scale: Any = dataclasses.field(default=1.0, metadata={"unit": "m"})


OWNED = {"rate": 2.0}
VIEWED = types.MappingProxyType(OWNED)


SEEN: dict[str, tuple[Callable[[Any], Any], Callable[[float], None]]] = {
    "a class": (lambda x: x * Config.rate, lambda v: setattr(Config, "rate", v)),
    "an instance's class": (lambda x: x * Config().rate, lambda v: setattr(Config, "rate", v)),
    "a namespace": (lambda x: x * NAMES.rate, lambda v: setattr(NAMES, "rate", v)),
    "slots": (lambda x: x * slotted.rate, lambda v: setattr(slotted, "rate", v)),
    "a view of a dict": (lambda x: x * VIEWED["rate"], lambda v: OWNED.__setitem__("rate", v)),
    "a field replaced": (lambda x: dataclasses.replace(Fields(x), h=x * rate).h, set_rate),
    "a deque": (lambda x: x * QUEUE[0], lambda v: QUEUE.__setitem__(0, v)),
    "an array": (lambda x: x * float(TABLE[0]), lambda v: TABLE.__setitem__(0, v)),
    "one element of many": (lambda x: x * float(WIDE[299, 999]), lambda v: WIDE.__setitem__((299, 999), v)),
    "a property": (lambda x: x * tools.own, set_rate),
    "a static method": (lambda x: Tools.static(x), set_rate),  # noqa: PLW0108
    "a class method": (lambda x: Tools.of_class(x), set_rate),  # noqa: PLW0108
    "an instance made inside": (lambda x: Tools()(x), set_rate),  # noqa: PLW0108
    "a partial function": (lambda x: partial(x), set_rate),  # noqa: PLW0108
    "a compiled function": (lambda x: inner(x) + 0.0, set_rate),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_value_that_changes_is_seen_through(name: str) -> None:
    """The function is traced again when what it reads, however far away, has changed."""
    function, change = SEEN[name]
    compiled = lab.function(function)
    try:
        for value in (2.0, 3.0, 3.0, 5.0):
            change(value)
            assert compiled(x1).numpy() == value == function(x1).numpy()
    finally:
        change(2.0)
    assert compiled.fallbacks == 0, compiled.why()


def loud(x: Any) -> Any:
    print("loud")
    return x


class Loud:
    """An object whose code prints."""

    def __call__(self, x: Any) -> Any:
        return loud(x)

    @property
    def value(self) -> float:
        print("loud")
        return 1.0


say, now, draw = print, clock, random.random
shouts = {"say": print}
louder = functools.partial(loud)
twice = lab.function(loud)
generated = (loud(x1) for _ in range(100))
drawer = random.Random(0)


def imports(x: Any) -> Any:
    from time import monotonic as told

    return x * told()


def by_name(x: Any) -> Any:
    vars(time)["perf_counter"]()
    return x


def inside(x: Any) -> Any:
    def helper(y: Any) -> Any:
        print("loud")
        return y

    return helper(x)


EFFECTS: dict[str, Callable[[Any], Any]] = {
    "print under another name": lambda x: (say("x"), x)[1],
    "a clock under another name": lambda x: x * now(),
    "a draw under another name": lambda x: x * draw(),
    "a draw of a generator": lambda x: x * drawer.random(),
    "print in a dict": lambda x: (shouts["say"]("x"), x)[1],
    "a helper": lambda x: loud(x),  # noqa: PLW0108
    "an object that is called": lambda x: Loud()(x),  # noqa: PLW0108
    "a property": lambda x: x * Loud().value,
    "a partial function": lambda x: louder(x),  # noqa: PLW0108
    "a compiled function": lambda x: twice(x),  # noqa: PLW0108
    "a generator that runs": lambda x: next(generated) * x,
    "the date": lambda x: x * datetime.now().microsecond,  # noqa: DTZ005
    "an import inside": imports,
    "a look-up by name": by_name,
    "an inner function": inside,
    "a function that is given": functools.partial(lambda give, x: (give("x"), x)[1], print),
    "NumPy's draws": lambda x: x * float(np.random.default_rng().random()),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_heard_wherever_they_hide(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A function that does more than compute is refused, under whatever name it does it."""
    compiled = lab.function(EFFECTS[name])
    for _ in range(2):
        compiled(x1)
    assert compiled.fallbacks == 2
    assert "compiled" not in compiled.why().split("eagerly")[0]
    capsys.readouterr()


def test_a_module_may_be_imported_by_the_first_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing takes a lock, which a program would not repeat; the next call finds the module there."""
    (tmp_path / "halving_of_a_test.py").write_text("by = 0.5\n")
    monkeypatch.syspath_prepend(tmp_path)

    def halved(x: Any) -> Any:
        import halving_of_a_test  # pyright: ignore[reportMissingImports]

        return x * halving_of_a_test.by

    compiled = lab.function(halved)
    found = [float(compiled(lab.constant(3.0))) for _ in range(3)]
    assert found == [1.5, 1.5, 1.5]
    assert compiled.compiled, compiled.why()
    assert compiled.fallbacks == 0
    sys.modules.pop("halving_of_a_test")


def test_collections_of_garbage_do_not_make_a_trace_deaf(capsys: pytest.CaptureFixture[str]) -> None:
    """The collector may run at any allocation, so it is made to run at each of the first few hundred."""
    before = gc.get_threshold()
    try:
        for allocations in range(5, 400):
            compiled = lab.function(loud)
            gc.collect(0)
            gc.set_threshold(allocations, 1000, 1000)
            compiled(x1)
            gc.set_threshold(0)  # none at all
            assert compiled.fallbacks == 1
    finally:
        gc.set_threshold(*before)
    capsys.readouterr()


def test_a_function_that_could_not_be_observed_runs_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [2.0]
    read = lab.function(lambda x: x * numbers[0])
    monkeypatch.setattr(sys, "setprofile", lambda _: None)
    read(lab.constant(1.0))
    numbers[0] = 3.0
    assert float(read(lab.constant(1.0))) == 3.0
    assert "could not be observed" in read.why()


def test_attributes_of_a_function_that_is_not_called_are_part_of_the_surroundings() -> None:
    def stand_in() -> None: ...

    helper: Any = stand_in
    helper.k = 0.0

    def counted(x: Any) -> Any:
        helper.k += 0.5
        return x * 2.0

    def read(x: Any) -> Any:
        return x * helper.k

    compiled = lab.function(counted)
    for _ in range(4):
        compiled(lab.constant(1.0))
    assert helper.k == 2.0
    reading = lab.function(read)
    assert [float(reading(lab.constant(1.0)))] == [2.0]
    helper.k = 5.0
    assert float(reading(lab.constant(1.0))) == 5.0
    assert reading.fallbacks == 0


def _after_a_sweep(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.sin(x) * x
    return tape.gradient(y, x) + clock()


def _after_an_op_that_raised(x: Any) -> Any:
    try:
        x = x @ x
    except ValueError:
        x = lab.cos(x)
    return x + clock()


def _in_a_rule(x: Any) -> Any:
    @lab.custom_gradient
    def doubled(x: Any) -> Any:
        return x * 2.0, lambda g: g * clock()

    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.sin(doubled(lab.cos(x)))
    return tape.gradient(y, x)


@pytest.mark.parametrize("function", [_after_a_sweep, _after_an_op_that_raised, _in_a_rule])
def test_calls_are_observed_again_after_ops_and_sweeps_and_in_rules_of_users(function: Any) -> None:
    compiled = lab.function(function)
    compiled(lab.constant(2.0))
    assert not compiled.compiled
    assert "perf_counter" in compiled.why()


def test_no_thread_is_observed_once_a_trace_has_ended() -> None:
    with ThreadPoolExecutor(1) as pool:

        def elsewhere(x: Any) -> Any:
            return lab.sin(x) + pool.submit(contextvars.copy_context().run, lab.cos, x).result()

        lab.function(elsewhere)(lab.constant(1.0))
        assert pool.submit(sys.getprofile).result() is None
    assert sys.getprofile() is None
