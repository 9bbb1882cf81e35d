"""Attributes: of objects, classes, slots, properties and descriptors, dataclasses and enums."""

import dataclasses
import enum
import types
from typing import NamedTuple

from tests.compile.scenarios import X, scenario


class Box:
    """An object with a rate."""

    rate = 2.0

    def scaled(self, x):
        return x * self.rate


@scenario(compiles=True)
def object_attribute(wrap):
    box = Box()
    f = wrap(lambda x: x * box.rate)
    for box.rate in (2.0, 3.0, 4.0):
        yield f(X)


@scenario(compiles=True)
def method_of_an_object(wrap):
    box = Box()
    box.rate = 5.0
    f = wrap(box.scaled)
    yield f(X)
    box.rate = 3.0
    yield f(X)


@scenario(compiles=True)
def object_behind_objects(wrap):
    outer = types.SimpleNamespace(a=types.SimpleNamespace(b=[Box()]))
    f = wrap(lambda x: outer.a.b[0].scaled(x))
    yield f(X)
    outer.a.b[0].rate = 3.0
    yield f(X)
    outer.a.b = [Box()]
    yield f(X)


@scenario()
def class_attribute_begins_to_shadow(wrap):
    class Child(Box):
        pass

    child = Child()
    f = wrap(lambda x: x * child.rate)
    yield f(X)
    Child.rate = 3.0
    yield f(X)


@scenario()
def instance_begins_to_shadow_its_class(wrap):
    class Own:
        rate = 2.0

    own = Own()
    f = wrap(lambda x: x * own.rate)
    yield f(X)
    own.rate = 3.0
    yield f(X)
    del own.rate
    yield f(X)


@scenario(compiles=True)
def class_attribute(wrap):
    class Own:
        rate = 2.0

    f = wrap(lambda x: x * Own.rate)
    for Own.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def class_counter(wrap):
    class Own:
        calls = 0

    @wrap
    def f(x):
        Own.calls += 1
        return x * 2.0

    for _ in range(3):
        yield f(X)
    yield Own.calls


@scenario()
def class_attribute_that_is_a_class(wrap):
    class Double:
        @staticmethod
        def of(x):
            return x * 2.0

    class Triple:
        @staticmethod
        def of(x):
            return x * 3.0

    class Own:
        act = Double

    own = Own()
    f = wrap(lambda x: own.act.of(x))
    yield f(X)
    Own.act = Triple
    yield f(X)


@scenario()
def class_of_an_object_changed(wrap):
    class Other(Box):
        rate = 7.0

    box = Box()
    f = wrap(lambda x: x * box.rate)
    yield f(X)
    box.__class__ = Other
    yield f(X)


@scenario()
def bases_changed(wrap):
    class A:
        rate = 2.0

    class B:
        rate = 3.0

    class Own(A):
        pass

    own = Own()
    f = wrap(lambda x: x * own.rate)
    yield f(X)
    Own.__bases__ = (B,)
    yield f(X)


@scenario(compiles=True)
def slots(wrap):
    class Own:
        __slots__ = ("rate",)

    own = Own()
    own.rate = 2.0
    f = wrap(lambda x: x * own.rate)
    for own.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def slot_as_counter(wrap):
    class Own:
        __slots__ = ("calls",)

    own = Own()
    own.calls = 0

    @wrap
    def f(x):
        own.calls += 1
        return x

    for _ in range(3):
        f(X)
    yield own.calls


@scenario(compiles=True)
def dataclass(wrap):
    @dataclasses.dataclass
    class Config:
        rate: float = 2.0
        steps: int = 3

    config = Config()
    f = wrap(lambda x: x * config.rate**config.steps)
    yield f(X)
    config.rate = 3.0
    yield f(X)


@scenario(compiles=True)
def frozen_dataclass_replaced(wrap):
    @dataclasses.dataclass(frozen=True)
    class Config:
        rate: float = 2.0

    holder = {"config": Config()}
    f = wrap(lambda x: x * holder["config"].rate)
    yield f(X)
    holder["config"] = dataclasses.replace(holder["config"], rate=5.0)
    yield f(X)


@scenario()
def dataclass_replaced_inside(wrap):
    @dataclasses.dataclass
    class State:
        step: int = 0

    box = types.SimpleNamespace(state=State())

    @wrap
    def f(x):
        box.state = dataclasses.replace(box.state, step=box.state.step + 1)
        return x * float(box.state.step)

    for _ in range(3):
        yield f(X)


@scenario(compiles=True)
def enum_value(wrap):
    class Mode(enum.Enum):
        FAST = 2.0
        SLOW = 3.0

    mode = [Mode.FAST]
    f = wrap(lambda x: x * mode[0].value if mode[0] is Mode.FAST else x - mode[0].value)
    for mode[0] in (Mode.FAST, Mode.SLOW):
        yield f(X)


@scenario(compiles=True)
def named_tuple_of_lists(wrap):
    class Pair(NamedTuple):
        a: list

    pair = Pair([2.0])
    f = wrap(lambda x: x * pair.a[0])
    for pair.a[0] in (2.0, 5.0):
        yield f(X)


@scenario(compiles=True)
def match_statement(wrap):
    box = types.SimpleNamespace(how=("scale", 2.0))

    @wrap
    def f(x):
        match box.how:
            case ("scale", k):
                return x * k
            case ("shift", k):
                return x + k
            case _:
                return x

    for box.how in (("scale", 2.0), ("shift", 3.0), None):
        yield f(X)
