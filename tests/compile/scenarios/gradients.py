"""Tapes inside and around compiled functions, custom gradients, and training state in Python objects."""

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario


@scenario(compiles=True)
def gradients_accumulated_in_a_variable(wrap):
    w, total = lab.Variable([0.5, -0.5]), lab.Variable([0.0, 0.0], trainable=False)

    @wrap
    def gather(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(w * x)
        total.assign_add(tape.gradient(loss, w))

    @wrap
    def apply():
        w.assign_sub(0.1 * total)
        total.assign(lab.zeros(2))

    for _ in range(2):
        gather(X)
        gather(X * 2.0)
        apply()
        yield w, total


@scenario()
def gradients_accumulated_in_a_list(wrap):
    w, kept = lab.Variable([0.5, -0.5]), []

    @wrap
    def gather(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(w * w * x)
        kept.append(tape.gradient(loss, w))

    for n in range(3):
        gather(X * float(n))
    yield kept


@scenario(compiles=True)
def tape_that_watches(wrap):
    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(lab.sin(x) * x)
        return tape.gradient(y, x)

    for n in range(3):
        yield f(X * float(n))


@scenario(compiles=True)
def persistent_tape_and_second_order(wrap):
    @wrap
    def f(x):
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y, z = lab.reduce_sum(x**3.0), lab.reduce_sum(x**2.0)
            g, h = tape.gradient(y, x), tape.gradient(z, x)
        return g, h, outer.gradient(g, x)

    yield f(X), f(X * 2.0)


@scenario(compiles=True)
def gradient_that_does_not_exist(wrap):
    v, w = lab.Variable(1.0), lab.Variable(2.0)

    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(w * x)
        return tape.gradient(y, [v, w])

    yield f(X), f(X * 2.0)


@scenario(compiles=True)
def unconnected_gradients_as_zeros(wrap):
    v, w = lab.Variable([1.0, 1.0]), lab.Variable(2.0)

    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(w * x)
        return tape.gradient(y, [v, w], unconnected_gradients="zero")

    yield f(X), f(X * 2.0)


@scenario()
def tape_outside(wrap):
    w = lab.Variable([2.0, 3.0])
    f = wrap(lambda x: lab.reduce_sum(w * w * x))
    for k in (1.0, 2.0):
        with lab.GradientTape() as tape:
            y = f(X * k)
        yield y, tape.gradient(y, w)
    yield f(X)


@scenario()
def tape_of_a_closure_stopped(wrap):
    w = lab.Variable(2.0)

    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            y = w * x
            with tape.stop_recording():
                z = w * 100.0
        return tape.gradient(y, w), z

    yield f(X), f(X * 2.0)


@scenario(compiles=True)
def stopped_gradient(wrap):
    w = lab.Variable(2.0)

    @wrap
    def f(x):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(w * x * lab.stop_gradient(w))
        return tape.gradient(y, w)

    yield f(X), f(X)


@scenario()
def skips_a_step_that_is_not_finite(wrap):
    w = lab.Variable([1.0, 1.0])

    @wrap
    def step(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.math.log(x) * w)
        gradient = tape.gradient(loss, w)
        if bool(lab.reduce_all(lab.math.is_finite(gradient))):
            w.assign_sub(gradient)
        return loss

    for k in (1.0, 0.0, 2.0):
        yield step(X * k)
        yield w.numpy()


@scenario()
def gradient_hook_by_custom_gradient(wrap):
    seen = []

    @lab.custom_gradient
    def hooked(x):
        def rule(g):
            seen.append(1)
            return g * 2.0

        return x * 1.0, rule

    def f(x):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(hooked(x) * x)
        return tape.gradient(y, x)

    f = wrap(f)
    for _ in range(3):
        yield f(X)
    yield seen


@scenario(compiles=True)
def custom_gradient_over_state(wrap):
    state = {"k": 2.0}

    @lab.custom_gradient
    def scaled(x):
        return x * 1.0, lambda g: g * state["k"]

    def f(x):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        return tape.gradient(y, x)

    f = wrap(f)
    for state["k"] in (2.0, 5.0):
        yield f(X)
