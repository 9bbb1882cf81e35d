"""Computed attributes: properties, descriptors, objects with `__getattr__`, dunder methods."""

import functools

import numpy as np

from tests.compile.scenarios import X, scenario
from tests.compile.scenarios.attributes import Box


@scenario(compiles=True)
def property_over_state(wrap):
    class Own:
        hidden = 2.0

        @property
        def rate(self):
            return self.hidden * 2

    own = Own()
    f = wrap(lambda x: x * own.rate)
    for own.hidden in (2.0, 7.0):
        yield f(X)


@scenario()
def property_that_counts(wrap):
    class Own:
        reads = 0

        @property
        def rate(self):
            self.reads += 1
            return float(self.reads)

    own = Own()
    f = wrap(lambda x: x * own.rate)
    for _ in range(3):
        yield f(X)
    yield own.reads


@scenario()
def property_setter_inside(wrap):
    class Own:
        log: list = []

        @property
        def rate(self):
            return self.log[-1]

        @rate.setter
        def rate(self, value):
            self.log.append(value)

    Own.log = [1.0]
    own = Own()

    @wrap
    def f(x):
        own.rate = own.rate + 1.0
        return x * own.rate

    for _ in range(3):
        yield f(X)
    yield Own.log


@scenario()
def descriptor(wrap):
    class Field:
        value = 2.0

        def __get__(self, holder, kind=None):
            return self.value

    class Own:
        rate = Field()

    own = Own()
    f = wrap(lambda x: x * own.rate)
    yield f(X)
    vars(Own)["rate"].value = 5.0
    yield f(X)


@scenario()
def descriptor_with_a_store_of_its_own(wrap):
    class Field:
        def __init__(self):
            self.values = {}

        def __get__(self, holder, kind=None):
            return self.values[id(holder)]

        def __set__(self, holder, value):
            self.values[id(holder)] = value

    class Own:
        rate = Field()

    own = Own()
    own.rate = 2.0
    f = wrap(lambda x: x * own.rate)
    for own.rate in (2.0, 5.0):
        yield f(X)


@scenario()
def getattr_over_a_store(wrap):
    store = {"rate": 2.0}

    class Own:
        def __getattr__(self, name):
            return store[name]

    own = Own()
    f = wrap(lambda x: x * own.rate)
    for store["rate"] in (2.0, 5.0):
        yield f(X)


@scenario()
def getattribute_that_counts(wrap):
    reads = []

    class Own:
        rate = 2.0

        def __getattribute__(self, name):
            reads.append(name)
            return object.__getattribute__(self, name)

    own = Own()

    @wrap
    def f(x):
        del reads[:-1]
        value = own.rate
        return x * value * float(len(reads))

    yield f(X)
    own.rate = 3.0
    yield f(X)


@scenario()
def setattr_that_logs(wrap):
    log = []

    class Own:
        def __setattr__(self, name, value):
            log.append((name, value))
            object.__setattr__(self, name, value)

    own = Own()

    @wrap
    def f(x):
        own.last = 3.0
        return x

    f(X)
    f(X)
    yield log, own.last


@scenario()
def getattr_by_a_name_that_changes(wrap):
    box, which = Box(), ["rate"]
    box.other = 9.0
    f = wrap(lambda x: x * getattr(box, which[0]))
    for which[0] in ("rate", "other"):
        yield f(X)


@scenario()
def getattr_with_a_default(wrap):
    box = Box()
    f = wrap(lambda x: x * getattr(box, "gain", 1.0))
    yield f(X)
    box.gain = 4.0
    yield f(X)


@scenario()
def hasattr_decides(wrap):
    box = Box()
    f = wrap(lambda x: x * 2.0 if hasattr(box, "flag") else x)
    yield f(X)
    box.flag = None
    yield f(X)
    del box.flag
    yield f(X)


@scenario()
def attribute_of_a_metaclass(wrap):
    class Meta(type):
        rate = 2.0

    class Own(metaclass=Meta):
        pass

    f = wrap(lambda x: x * Own.rate)
    for Meta.rate in (2.0, 5.0):
        yield f(X)


@scenario(compiles=True)
def callable_object(wrap):
    class Scale:
        k = 2.0

        def __call__(self, x):
            return x * self.k

    scale = Scale()
    f = wrap(scale)
    for scale.k in (2.0, 5.0):
        yield f(X)


@scenario(compiles=True)
def operators_of_an_object(wrap):
    class Gain:
        k = 2.0

        def __rmul__(self, x):
            return x * self.k

        def __getitem__(self, n):
            return self.k * n

    gain = Gain()
    f = wrap(lambda x: x + gain[3])
    for gain.k in (2.0, 5.0):
        yield f(X)


@scenario()
def truth_and_length_of_an_object(wrap):
    class Flag:
        on = True

        def __bool__(self):
            return self.on

        def __len__(self):
            return 3 if self.on else 5

    flag = Flag()
    f = wrap(lambda x: x * float(len(flag)) if flag else -x)
    for flag.on in (True, False):
        yield f(X)


def _subclass(base, *args):
    def program(wrap):
        value = type("Own", (base,), {})(*args)
        f = wrap(lambda x: x * value.rate)
        for value.rate in (2.0, 3.0):
            yield f(X)

    program.__name__ = f"attribute_of_a_subclass_of_{base.__name__}"
    scenario()(program)


for _base, _args in ((list, ()), (dict, ()), (tuple, ()), (set, ()), (float, (1.0,)), (int, (1,)), (str, ("a",)),
                     (ValueError, ()), (np.ndarray, (2,)), (bytes, ()), (functools.partial, (abs,))):  # fmt: skip
    _subclass(_base, *_args)
