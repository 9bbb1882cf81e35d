"""Training loops: optimizers, schedules, metrics, early stopping, accumulated and clipped gradients."""

import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


def _stepped(loss, variables, optimizer):
    def step(x):
        with lab.GradientTape() as tape:
            value = loss(x)
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        return value

    return step


def _trained(name, optimizer, building=1):
    def program(wrap):
        w = lab.Variable([2.0, 3.0])
        step = wrap(_stepped(lambda x: lab.reduce_sum((w * x - 1.0) ** 2), [w], optimizer()))
        for n in range(6):
            yield step(X * float(n % 3))
        yield w

    program.__name__ = name
    scenario(compiles=True, building=building)(program)


_trained("SGD", lambda: lab.optimizers.SGD(0.1))
_trained("SGD with momentum", lambda: lab.optimizers.SGD(0.1, momentum=0.9))
_trained("Adam", lambda: lab.optimizers.Adam(0.1))
_trained("RMSprop", lambda: lab.optimizers.RMSprop(0.1))
_trained("Adagrad", lambda: lab.optimizers.Adagrad(0.1))
_trained("Nadam", lambda: lab.optimizers.Nadam(0.1))
_trained("Adamax", lambda: lab.optimizers.Adamax(0.1))
_trained("Adadelta", lambda: lab.optimizers.Adadelta(0.1))
_trained("exponential decay", lambda: lab.optimizers.SGD(lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)))
_trained(
    "staircase decay",
    lambda: lab.optimizers.SGD(lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True)),
)
_trained("cosine decay", lambda: lab.optimizers.Adam(lab.optimizers.schedules.CosineDecay(0.1, 4)))
_trained(
    "piecewise constant rate",
    lambda: lab.optimizers.SGD(lab.optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.3, 0.2, 0.1])),
)
_trained("gradients clipped by norm", lambda: lab.optimizers.SGD(0.1, clipnorm=0.5))
_trained("gradients clipped by value", lambda: lab.optimizers.SGD(0.1, clipvalue=0.5))
_trained("gradients clipped by global norm", lambda: lab.optimizers.SGD(0.1, global_clipnorm=0.5))


@scenario(compiles=True, building=1)
def rate_set_between_steps(wrap):
    w = lab.Variable(2.0)
    optimizer = lab.optimizers.SGD(0.1)
    step = wrap(_stepped(lambda x: w * w, [w], optimizer))
    for rate in (0.1, 0.1, 0.5, 0.25):
        optimizer.learning_rate = rate
        yield step(X)
    yield w


@scenario(compiles=True, building=1)
def rate_in_a_variable(wrap):
    w, rate = lab.Variable(2.0), lab.Variable(0.1, trainable=False)
    step = wrap(_stepped(lambda x: w * w, [w], lab.optimizers.SGD(rate)))
    for k in (0.1, 0.1, 0.5):
        rate.assign(k)
        yield step(X)


@scenario()
def rate_halved_inside_by_a_counter(wrap):
    w = lab.Variable(2.0)
    optimizer = lab.optimizers.SGD(0.1)
    count = [0]
    plain = _stepped(lambda x: w * w, [w], optimizer)

    @wrap
    def step(x):
        count[0] += 1
        if count[0] % 2 == 0:
            optimizer.learning_rate = float(optimizer.learning_rate) / 2.0
        return plain(x)

    for _ in range(5):
        yield step(X)
    yield float(optimizer.learning_rate)


@scenario(compiles=True, building=1)
def iterations_of_the_optimizer(wrap):
    w = lab.Variable(2.0)
    optimizer = lab.optimizers.SGD(0.1)
    step = wrap(_stepped(lambda x: w * w, [w], optimizer))
    for _ in range(4):
        step(X)
    yield int(optimizer.iterations)


@scenario(compiles=True)
def hand_written_descent(wrap):
    w, b = lab.Variable([0.5, -0.5]), lab.Variable(0.0)

    @wrap
    def step(x, y):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean((w * x + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    for n in range(4):
        yield step(X, X * float(n))
    yield w, b


@scenario(compiles=True)
def steps_in_an_inner_loop(wrap):
    w = lab.Variable([0.5, -0.5])

    @wrap
    def steps(x):
        for _ in range(3):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum((w * x - 1.0) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for n in range(3):
        yield steps(X * float(n))
    yield w


@scenario()
def history_of_losses(wrap):
    w, history = lab.Variable([0.5, -0.5]), []

    @wrap
    def step(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum((w * x - 1.0) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        history.append(loss)
        return loss

    for n in range(4):
        yield step(X * float(n))
    yield history


@scenario()
def trainer_that_counts(wrap):
    class Trainer:
        def __init__(self):
            self.w, self.step, self.best = lab.Variable([0.5, -0.5]), 0, None

        def train(self, x):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum((self.w * x - 1.0) ** 2)
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            self.step += 1
            return loss

    trainer = Trainer()
    step = wrap(trainer.train)
    for n in range(4):
        yield step(X * float(n))
    yield trainer.step, trainer.w


@scenario()
def step_that_decides_by_a_counter(wrap):
    box = types.SimpleNamespace(step=0)
    w = lab.Variable([1.0, 1.0])

    @wrap
    def step(x):
        box.step += 1
        if box.step % 2:
            w.assign_add(x)
        else:
            w.assign_sub(x * 3.0)
        return w.read_value()

    for _ in range(4):
        yield step(X)


@scenario(compiles=True)
def counter_in_a_variable(wrap):
    steps, w = lab.Variable(0, dtype=lab.int32), lab.Variable([1.0, 1.0])

    @wrap
    def step(x):
        steps.assign_add(1)
        w.assign_add(x * lab.cast(steps, lab.float32))
        return w.read_value()

    for _ in range(4):
        yield step(X)
    yield steps


@scenario(compiles=True)
def exponential_moving_average_of_weights(wrap):
    w, shadow = lab.Variable([1.0, 1.0]), lab.Variable([1.0, 1.0], trainable=False)

    @wrap
    def step(x):
        w.assign_add(x)
        shadow.assign(0.9 * shadow + 0.1 * w)
        return shadow.read_value()

    for _ in range(4):
        yield step(X)


@scenario()
def data_shuffled_inside(wrap):
    order = np.arange(4)
    generator = np.random.default_rng(1)

    @wrap
    def epoch(x):
        generator.shuffle(order)
        return lab.gather(x, lab.constant(order))

    for _ in range(3):
        yield epoch(lab.constant([1.0, 2.0, 3.0, 4.0]))
    yield order


@scenario()
def loss_scale_that_adapts(wrap):
    scale = lab.Variable(4.0)
    state = {"good": 0}

    @wrap
    def step(x):
        state["good"] += 1
        if state["good"] >= 2:
            scale.assign(scale * 2.0)
            state["good"] = 0
        return x * scale

    for _ in range(5):
        yield step(X)


@scenario(compiles=True)
def schedule_called_by_a_variable(wrap):
    decay = lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    step = lab.Variable(0.0)

    @wrap
    def f(x):
        step.assign_add(1.0)
        return x * decay(step)

    for _ in range(4):
        yield f(X)


@scenario()
def mean_metric(wrap):
    metric = lab.metrics.Mean() if hasattr(lab, "metrics") else None

    @wrap
    def f(x):
        metric.update_state(x)
        return metric.result()

    for n in range(4):
        yield f(X * float(n))
    yield metric.result()
    metric.reset_state()
    yield f(X)


@scenario()
def metric_read_outside(wrap):
    metric = lab.metrics.Mean()
    f = wrap(lambda x: (metric.update_state(x), x * 2.0)[1])
    for n in range(4):
        f(X * float(n))
        yield float(metric.result())


@scenario()
def optimizer_replaced(wrap):
    w = lab.Variable([1.0, 1.0])
    box = types.SimpleNamespace(optimizer=lab.optimizers.SGD(0.1))

    @wrap
    def step(x):
        box.optimizer.apply_gradients([(x, w)])
        return w.read_value()

    for _ in range(3):
        yield step(X)
    box.optimizer = lab.optimizers.SGD(1.0)
    for _ in range(3):
        yield step(X)
    yield attempt(step, lab.ones(5)).__class__.__name__
