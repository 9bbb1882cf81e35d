"""Values that enter with every call without being arguments: random numbers, the rate of a schedule."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import autodiff_lab as lab

X = lab.constant([1.0, 2.0])
DRAWS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda x: x * lab.random.normal([2]),
    "normal of a list": lambda x: x * lab.random.normal([2], 1.0, 3.0),
    "uniform": lambda x: x + lab.random.uniform(x.shape, -1.0, 1.0),
    "whole numbers": lambda x: x * lab.cast(lab.random.uniform([2], 0, 100, lab.int32), lab.float32),
    "truncated": lambda x: x * lab.random.truncated_normal([2]),
    "gamma": lambda x: x * lab.random.gamma([2], 2.0),
    "poisson": lambda x: x * lab.random.poisson([2], 3.0),
    "shuffle": lambda x: lab.random.shuffle(x) - x,
    "with seeds": lambda x: x * lab.random.normal([2], seed=3) + lab.random.normal([2], seed=4),
    "three of them": lambda x: x * lab.random.normal([2]) + lab.random.uniform([2]) - lab.random.normal([2]),
    "not used": lambda x: (lab.random.normal([7]), x * lab.random.normal([2]))[1],
    "dropout": lambda x: lab.nn.dropout(x, 0.5) * x,
    "dropout in rows": lambda x: lab.nn.dropout(lab.stack([x, x]), 0.5, noise_shape=[2, 1]),
    "stateless": lambda x: x * lab.random.stateless_normal([2], seed=[1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_program_draws_what_the_eager_function_draws(name: str, backend: str) -> None:
    """The same numbers in every call, and the generator stands where it would."""
    if backend == "auto" and name != "three of them":
        backend = "numpy"  # one of them is enough to see that fused loops take noise as they take arguments
    program = DRAWS[name]
    outcomes: list[Any] = []
    compiled = lab.function(program, backend=backend)
    for f in (program, compiled):
        lab.random.set_seed(5)
        found = [f(X * k).numpy().tolist() for k in (1.0, 2.0, 3.0)]
        lab.random.set_seed(6)  # other sources from here on
        outcomes.append([found, f(X).numpy().tolist(), lab.random.normal([2], seed=3).numpy().tolist(),
                         lab.random.uniform([2]).numpy().tolist()])  # fmt: skip
    if backend == "numpy":
        assert outcomes[0] == outcomes[1]
    else:
        assert [pytest.approx(row) for row in outcomes[0][0]] == outcomes[1][0]
        assert outcomes[0][-1] == outcomes[1][-1]
    assert compiled.fallbacks == 0, compiled.why()


def test_a_call_that_a_program_declines_draws_no_more_than_once() -> None:
    """The eager run that follows finds the generators where they were."""

    def program(x: Any, i: Any) -> Any:
        noise = lab.random.normal([2]) + lab.random.normal([2], seed=9)
        return lab.gather(x * noise, i)

    outcomes: list[Any] = []
    compiled = lab.function(program, backend="numpy")
    for f in (program, compiled):
        lab.random.set_seed(5)
        found: list[Any] = []
        for i in (0, 7, 1, 9, 0):
            try:
                found.append(f(X, lab.constant([i])).numpy().tolist())
            except lab.errors.InvalidArgumentError:
                found.append("out of range")
        outcomes.append([*found, lab.random.normal([1]).numpy().tolist()])
    assert outcomes[0] == outcomes[1]
    assert compiled.fallbacks == 2


def test_draws_appear_in_the_program() -> None:
    f = lab.function(lambda x: x * lab.random.normal([2]))
    f(X)
    assert "argument noise" in str(f.program)
    assert "def program(x, noise)" in f.source


def test_a_trained_model_with_dropout_is_the_same() -> None:
    def train(wrap: Callable[..., Any]) -> list[Any]:
        lab.random.set_seed(1)
        dense, drop = lab.layers.Dense(3), lab.layers.Dropout(0.3)
        dense(lab.ones((4, 2)))
        optimizer = lab.optimizers.Adam(0.1)

        def step(x: Any) -> Any:
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean(drop(dense(x), training=True) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, dense.weights), dense.weights, strict=True))
            return loss

        step = wrap(step)
        return [step(lab.ones((4, 2)) * float(n)).numpy().tolist() for n in range(6)] + [
            w.numpy().tolist() for w in dense.weights
        ]

    assert train(lambda f: f) == train(lambda f: lab.function(f, backend="numpy"))


class WarmUp(lab.optimizers.schedules.LearningRateSchedule):
    """A schedule of a user's, made of ops."""

    def __call__(self, step: Any) -> Any:
        step = lab.cast(step, lab.float32) + 1.0
        return 0.1 * lab.minimum(lab.math.rsqrt(step), lab.where(step < 2.0, step, step * 3.0**-1.5))


SCHEDULES: dict[str, Any] = {
    "exponential": lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5),
    "staircase": lab.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True),
    "cosine": lab.optimizers.schedules.CosineDecay(0.1, 4),
    "piecewise": lab.optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.3, 0.2, 0.1]),
    "inverse": lab.optimizers.schedules.InverseTimeDecay(0.1, 2, 1.0),
    "warm-up": WarmUp(),
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lab.optimizers.SGD,
    "momentum": lambda rate: lab.optimizers.SGD(rate, momentum=0.9, nesterov=True),
    "Adam": lab.optimizers.Adam,
    "AdamW": lab.optimizers.AdamW,
    "RMSprop": lambda rate: lab.optimizers.RMSprop(rate, momentum=0.5),
    "Adagrad": lab.optimizers.Adagrad,
    "Nadam": lab.optimizers.Nadam,
    "Adamax": lab.optimizers.Adamax,
    "Adadelta": lab.optimizers.Adadelta,
    "clipped": lambda rate: lab.optimizers.SGD(rate, clipnorm=0.5),
    "clipped together": lambda rate: lab.optimizers.Adam(rate, global_clipnorm=0.5),
}


def trained(make: Callable[[], Any], wrap: Callable[..., Any], steps: int = 1) -> tuple[list[Any], Any]:
    """Variables after each of six calls, and the function that was called."""
    w, optimizer = lab.Variable([2.0, 3.0]), make()

    def step(x: Any) -> None:
        for _ in range(steps):
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum((w * x - 1.0) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    f = wrap(step)
    found: list[Any] = []
    for n in range(6):
        f(X * float(n))
        found.append((w.numpy().tolist(), int(optimizer.iterations)))
    return found, f


def compile_plainly(f: Any) -> Any:
    return lab.function(f, backend="numpy")


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_rate_that_follows_a_schedule_does_so_in_a_program(schedule: str, optimizer: str) -> None:
    for steps in (1, 3):
        make = partial(OPTIMIZERS[optimizer], SCHEDULES[schedule])
        eager, _ = trained(make, lambda f: f, steps)
        found, compiled = trained(make, compile_plainly, steps)
        assert found == eager
        assert not compiled.fallbacks, compiled.why()  # the first call, which builds the optimizer's state, is none


def test_a_schedule_is_asked_once_for_all_variables_of_a_step() -> None:
    asked: list[int] = []

    class Counted(lab.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return 0.1 / (1.0 + step)

    schedule, weights = Counted(), [lab.Variable([1.0, float(k)]) for k in range(5)]
    optimizer = lab.optimizers.AdamW(schedule, weight_decay=0.1)

    @lab.function(backend="numpy")
    def step(x: Any) -> None:
        for _ in range(2):
            optimizer.apply_gradients([(x * w, w) for w in weights])

    step(X[0])
    step(X[0])
    call = Counted.__call__
    Counted.__call__ = lambda self, n: (asked.append(int(n)), call(self, n))[1]  # type: ignore[method-assign]
    step(X[0])
    assert asked == [4, 5]


def test_a_rate_in_a_variable_is_read_by_the_program() -> None:
    outcomes: list[Any] = []
    for wrap in (lambda f: f, compile_plainly):
        rate, w = lab.Variable(0.1), lab.Variable([1.0, 2.0])
        optimizer = lab.optimizers.Adam(rate)

        def step(x: Any, w: Any = w, optimizer: Any = optimizer) -> None:
            optimizer.apply_gradients([(x, w)])

        f = wrap(step)
        found: list[Any] = []
        for k in (0.1, 0.1, 0.5, 0.01):
            rate.assign(k)
            f(X)
            found.append(w.numpy().tolist())
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert not f.fallbacks, f.why()


def test_a_step_count_that_the_function_sets_keeps_it_eager() -> None:
    w, optimizer = lab.Variable([1.0, 2.0]), lab.optimizers.SGD(SCHEDULES["staircase"])

    @lab.function
    def step(x: Any) -> None:
        optimizer.iterations.assign(7)
        optimizer.apply_gradients([(x, w)])

    for _ in range(3):
        step(X)
    assert step.fallbacks == 3
    assert "step count" in step.why()
    assert w.numpy().tolist() == pytest.approx([1.0 - 3 * 0.0125, 2.0 - 3 * 0.025])


def trained_by_hand(make: Callable[[Any], Any], wrap: Callable[..., Any]) -> tuple[list[Any], Any]:
    """Variables after each of eight calls, before each of which a rate is set."""
    w, optimizer = lab.Variable([2.0, 3.0]), make(0.1)

    def step(x: Any) -> None:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum((w * x - 1.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    f = wrap(step)
    found: list[Any] = []
    for n in range(8):
        if n % 2:
            optimizer.learning_rate = 0.1 / (n + 1)
        else:
            optimizer.learning_rate.assign(0.2 / (n + 1))
        f(X)
        found.append((w.numpy().tolist(), float(optimizer.learning_rate), optimizer.get_config()["learning_rate"]))
    return found, f


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_rate_that_is_set_before_each_call_needs_two_programs(name: str) -> None:
    eager, _ = trained_by_hand(OPTIMIZERS[name], lambda f: f)
    found, compiled = trained_by_hand(OPTIMIZERS[name], compile_plainly)
    assert found == eager
    assert not compiled.fallbacks, compiled.why()
    assert list(compiled._attempts.values()) == [2]


def test_a_rate_that_was_set_may_follow_a_schedule_or_be_read_again() -> None:
    w, optimizer = lab.Variable(1.0), lab.optimizers.SGD(0.5)
    step = lab.function(lambda x: optimizer.apply_gradients([(x, w)]), backend="numpy")
    for rate, left in ((0.5, 0.5), (0.25, 0.25), (0.125, 0.125), (lab.optimizers.schedules.CosineDecay(0.0, 4), 0.125),
                       (0.0625, 0.0625)):  # fmt: skip
        optimizer.learning_rate = rate
        step(lab.constant(1.0))
        assert w.numpy() == left
    assert optimizer.learning_rate == 0.0625
    assert len(optimizer.variables) == 1  # the count of steps, as before


def test_a_rule_of_the_users_reads_a_rate_that_is_set_as_a_number() -> None:
    class Signs(lab.optimizers.Optimizer):
        def change(self, gradient: Any, value: Any, state: Any, step: Any) -> Any:
            return -self.learning_rate * (gradient / abs(gradient))

    w, optimizer = lab.Variable([1.0, 2.0]), Signs(0.5)
    step = lab.function(lambda x: optimizer.apply_gradients([(x, w)]), backend="numpy")
    for rate in (0.5, 0.25):
        optimizer.learning_rate = rate
        step(X)
    assert w.numpy().tolist() == [0.25, 1.25]
    assert not step.fallbacks, step.why()


FROM_GENERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda g, x: x + g.normal([2]),
    "several": lambda g, x: x * g.uniform(x.shape, 1.0, 3.0) + g.normal([2], 2.0, 3.0) * g.normal(()),
    "truncated": lambda g, x: x + g.truncated_normal((2,)),
    "integers": lambda g, x: x + lab.cast(g.uniform([2], 0, 9, "int32"), "float32"),
    "any integers": lambda g, x: x + lab.cast(g.uniform_full_int([2]) % 7, "float32"),
    "computed again": lambda g, x: lab.recompute_grad(lambda z: z * g.normal([2]))(x),
    "eager: successes": lambda g, x: x + lab.cast(g.binomial([2], 5, 0.5), "float32"),
    "eager: made": lambda g, x: x + lab.random.Generator.from_seed(3).normal([2]),
    "eager: split": lambda g, x: x + g.split(1)[0].normal([2]),
    "eager: tensors": lambda g, x: x + g.normal([2], x),
    "eager: state": lambda g, x: x + lab.cast(g.state[0] % 5, "float32"),
    "eager: skips": lambda g, x: (g.skip(3), x + g.normal([2]))[1],
}


@pytest.mark.parametrize("name", FROM_GENERATORS)
def test_a_generator_of_the_users_goes_on_in_a_program(name: str) -> None:
    """The same numbers as in the eager function, before and after it is reset and used elsewhere."""
    outcomes: list[Any] = []
    for wrap in (lambda f: f, compile_plainly):
        generator = lab.random.Generator.from_seed(1)
        f = wrap(partial(FROM_GENERATORS[name], generator))
        found: list[Any] = []
        for n in range(6):
            found.append(f(X * float(n)).numpy().tolist())
            if n == 2:
                generator.reset_from_seed(7)
            if n == 3:
                found.append(float(generator.normal(())))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert bool(f.fallbacks) == name.startswith("eager"), f.why()
    assert not f.fallbacks or "generator" in f.why()


def test_a_shared_generator_that_is_replaced_is_seen() -> None:
    f = lab.function(lambda x: x + lab.random.get_global_generator().normal([2]), backend="numpy")
    for seed in (1, 2, 3):
        lab.random.set_global_generator(lab.random.Generator.from_seed(seed))
        assert f(X).numpy().tolist() == (X + lab.random.Generator.from_seed(seed).normal([2])).numpy().tolist()
    assert "lab.random.normal" in f.why()


def test_what_is_computed_again_draws_the_same_from_a_generator() -> None:
    generator, v, drawn = lab.random.Generator.from_seed(5), lab.Variable(2.0), list[float]()

    @lab.recompute_grad
    def product(z: Any) -> Any:
        noise = generator.normal(())
        drawn.append(float(noise))
        return z * noise

    with lab.GradientTape() as tape:
        y = product(v)
    assert float(tape.gradient(y, v)) == drawn[0]
    assert drawn[0] == drawn[-1]
    assert len(drawn) == 2
