"""Tensors compared by `is`: with each other, with defaults, and with what a function keeps."""

import types

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario

ANY = lab.constant([9.0, 9.0])


@scenario()
def two_arguments_are_one(wrap):
    f = wrap(lambda a, b: a * 2.0 if a is b else a * 5.0)
    y = X * 1.0
    yield f(X, y), f(X, X), f(y, y), f(X, y)


@scenario()
def items_of_an_argument_are_one(wrap):
    f = wrap(lambda xs: xs[0] * (2.0 if xs[0] is xs[-1] else 3.0))
    many = [X * float(k) for k in range(12)]
    yield f([X, many[1]]), f([X, X]), f([*many]), f([many[0], *many[1:-1], many[0]])


@scenario(compiles=True)
def default_passed_by_hand(wrap):
    f = wrap(lambda x, mask=ANY: x * 2.0 if mask is ANY else x * mask)
    yield f(X), f(X, ANY), f(X, lab.constant([9.0, 9.0])), f(X), f(X, ANY)


@scenario(compiles=True)
def tensor_of_a_closure(wrap):
    last = X * 1.0
    f = wrap(lambda x: x * 2.0 if x is last else x * 3.0)
    for x in (last, X, last, X * 2.0, last):
        yield f(x)


@scenario(compiles=True)
def tensor_of_a_closure_passed_late(wrap):
    last = X * 1.0
    f = wrap(lambda x, y: (x * 2.0 if y is last else x * 3.0) + last)
    for y in (X, X * 2.0, last, X):
        yield f(X, y)


@scenario(compiles=True)
def tensor_of_a_closure_replaced(wrap):
    last = X * 1.0
    f = wrap(lambda x: x * 2.0 if x is last else x * 3.0)
    yield f(X), f(last)
    before, last = last, X * 4.0
    yield f(before), f(last), f(X)


@scenario(compiles=True)
def tensor_among_many(wrap):
    known = [X * float(k) for k in range(20)]
    f = wrap(lambda x: x * 2.0 if any(x is k for k in known) else x * 3.0)
    yield f(X), f(known[3]), f(known[19]), f(X * 2.0)


@scenario(compiles=True)
def tensor_of_an_object(wrap):
    holder = types.SimpleNamespace(first=X * 1.0, second=X * 2.0)
    f = wrap(lambda x: x * 2.0 if x is holder.first else x * 3.0)
    yield f(X), f(holder.first), f(holder.second), f(X)
    holder.first = X
    yield f(X), f(holder.second)


@scenario(compiles=True)
def values_that_share_memory_are_two(wrap):
    f = wrap(lambda a, b: a * 2.0 if a is b else a * 5.0 + b)
    v = lab.Variable(X)
    for _ in range(3):
        yield f(X, lab.stop_gradient(X)), f(v.read_value(), v.read_value())
    flags = wrap(lambda a, b, x: x if a is b else lab.where(lab.logical_and(a, b), x * 2.0, x))
    yield flags(lab.constant(True), lab.constant(True), X), flags(lab.constant(True), lab.constant(False), X)


@scenario(compiles=True)
def gradient_by_a_tensor_that_is_known(wrap):
    known = X * 1.0

    def f(x):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x * known
        return tape.gradient(y, x)

    f = wrap(f)
    yield f(X), f(known), f(X), f(X * 3.0)


@scenario(compiles=True)
def data_of_a_trainer_passed_to_its_step(wrap):
    class Trainer(lab.Module):
        def __init__(self):
            super().__init__()
            self.data = [X * float(k) for k in range(100)]
            self.w = lab.Variable(X)

        def step(self, x):
            self.w.assign_sub(0.1 * x)
            return self.w * x

    trainer = Trainer()
    step = wrap(trainer.step)
    for x in trainer.data:
        yield step(x)


@scenario()
def prints_and_takes_what_it_knows(wrap):
    known, log = [X * float(k) for k in range(5)], []

    def f(x):
        log.append(len(known))
        return x * 2.0

    f = wrap(f)
    for x in known:
        yield f(x)
    yield log
