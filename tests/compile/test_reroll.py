"""Loops that a trace unrolled are recovered, and compute the same as the eager function."""

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program.repeats import loops_of

ROUNDS = 40
TOLERANCE = {"float32": 3e-5, "float64": 1e-12}


def chain(x: Any, w: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        state = x
        for _ in range(ROUNDS):
            state = lab.sin(state) * w + state
        value = state * state
    return value, tape.gradient(value, [x, w])


def newton(x: Any, w: Any) -> Any:
    """Each round has a tape of its own."""
    for _ in range(ROUNDS):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.exp(x * 0.1) + x * x * x - w
        x = x - y / tape.gradient(y, x)
    return x


def runge_kutta(x: Any, w: Any) -> Any:
    """A pendulum: two numbers are carried, and differentiated by the start."""
    step = 0.05

    def slope(angle: Any, speed: Any) -> tuple[Any, Any]:
        return speed, -w * lab.sin(angle)

    with lab.GradientTape() as tape:
        tape.watch([x, w])
        angle, speed = x, w * 0.1
        for _ in range(ROUNDS):
            a1, s1 = slope(angle, speed)
            a2, s2 = slope(angle + a1 * (step / 2), speed + s1 * (step / 2))
            a3, s3 = slope(angle + a2 * (step / 2), speed + s2 * (step / 2))
            a4, s4 = slope(angle + a3 * step, speed + s3 * step)
            angle = angle + (a1 + a2 * 2.0 + a3 * 2.0 + a4) * (step / 6)
            speed = speed + (s1 + s2 * 2.0 + s3 * 2.0 + s4) * (step / 6)
        loss = angle * angle + speed
    return loss, tape.gradient(loss, [x, w])


def fibonacci(x: Any, w: Any) -> Any:
    """Each round reads the two before it."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        before, now = x, w
        for _ in range(ROUNDS):
            before, now = now, lab.tanh(before * 0.5) - now * 0.25
    return now, tape.gradient(now, [x, w])


def swapped(x: Any, w: Any) -> Any:
    """Two numbers change places: the period is twice that of the ops."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        a, b = x, w
        for _ in range(ROUNDS):
            a, b = b * 0.5, a + b
    return a, b, tape.gradient(b, [x, w])


def recurrent(x: Any, w: Any) -> Any:
    """A recurrent net of one neuron on a series: another constant in each round."""
    series = [0.1 * k for k in range(ROUNDS)]
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        hidden = x
        loss = x * 0.0
        for number in series:
            hidden = lab.tanh(hidden * w + number)
            loss = loss + lab.square(hidden - number * 2.0)
    return loss, tape.gradient(loss, [x, w])


def in_sequence(x: Any, w: Any) -> Any:
    """Two loops, a number between them that both read, and results out of the middle."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        first, middle = x, []
        for _ in range(ROUNDS):
            first = lab.sqrt(first * first + w)
            middle.append(first)
        between = first * w
        second = between
        for k in range(ROUNDS):
            second = lab.sin(second) + between * middle[k] / 7.0
        value = second + middle[3]
    return value, middle[5], middle[-1], tape.gradient(value, [x, w])


def trajectory(x: Any, w: Any) -> Any:
    """All that a loop passes through comes out, forwards and backwards."""
    states = []
    for _ in range(ROUNDS):
        x = x + lab.sin(x * w) * 0.1
        states.append(x)
    return states, states[::-1]


def compared(x: Any, w: Any) -> Any:
    """Comparisons and choices inside the loop, whose outcome the backward pass reads."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        for _ in range(ROUNDS):
            x = lab.where(x > w, x * 0.9, x + w * 0.3) + lab.nn.relu(x - 0.2) * 0.1
    return x, tape.gradient(x, w)


def nested(x: Any, w: Any) -> Any:
    """Loops in loops."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        total = w
        for _ in range(ROUNDS):
            inner = total
            for _ in range(6):
                inner = lab.tanh(inner * x)
            total = total + inner * 0.1
    return total, tape.gradient(total, [x, w])


def momentum(x: Any, w: Any) -> Any:
    """Gradient descent with momentum, differentiated by its rate."""
    with lab.GradientTape() as outer:
        outer.watch(w)
        velocity = x * 0.0
        for _ in range(ROUNDS):
            with lab.GradientTape() as inner:
                inner.watch(x)
                loss = lab.square(x - 1.5) + lab.cos(x)
            velocity = velocity * 0.5 + inner.gradient(loss, x)
            x = x - velocity * w * 0.1
        value = lab.square(x)
    return value, outer.gradient(value, w)


def powers(x: Any, w: Any) -> Any:
    """Newton's method with powers, as a learner writes it."""
    for _ in range(ROUNDS):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x**3 - 2.0 * x**2 + lab.nn.elu(x) * w - 1.0
        x = x - y / (tape.gradient(y, x) + 1.5)
    return x


def series(x: Any, w: Any) -> Any:
    """Another exponent in each round: the text of the op is not that of the first."""
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        total = x
        for k in range(ROUNDS):
            total = total + lab.abs(w) ** (k * 0.25) / (k + 1.0)
            total = lab.nn.silu(total) * 0.5
    return total, tape.gradient(total, [x, w])


PROGRAMS = [
    chain, newton, runge_kutta, fibonacci, swapped, recurrent, in_sequence, trajectory, compared, nested, momentum,
    powers,
]  # fmt: skip


def flat(result: Any) -> list[np.ndarray]:
    if isinstance(result, (list, tuple)):
        return [array for item in result for array in flat(item)]
    return [result.numpy()]


def agree(function: Callable[..., Any], dtype: str, pairs: list[tuple[float, float]]) -> Any:
    """Compile, call with several numbers, and compare with the eager function."""
    pytest.importorskip("numba", reason="loops of scalars need Numba")
    compiled = lab.function(function)
    for pair in [pairs[0], *pairs]:
        given = [lab.constant(number, dtype) for number in pair]
        expected, found = flat(function(*given)), flat(compiled(*given))
        for a, b in zip(expected, found, strict=True):
            assert a.dtype == b.dtype
            assert np.allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], equal_nan=True), compiled.source
    assert compiled.fallbacks == 0
    assert not compiled.skipped, compiled.skipped
    return compiled


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_programs_that_repeat_become_loops(function: Callable[..., Any], dtype: str) -> None:
    """Integrators, Newton's method, recurrences: loops are found, and results are those of the eager function."""
    compiled = agree(function, dtype, [(0.7, 0.3), (-0.4, 0.9), (0.0, 0.0), (float("nan"), 1.0), (3.0, float("inf"))])
    shown = compiled.source.split("def program")[0]
    assert "for i in range(" in shown
    assert len(shown.splitlines()) < len(compiled.program.lines) / 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_exponent_that_changes_is_no_loop(dtype: str) -> None:
    """Ops whose text depends on a constant repeat only where the constant does."""
    agree(series, dtype, [(0.7, 0.3), (-0.4, 0.9), (0.0, 0.0), (0.5, 1.0)])


def test_long_programs_with_powers_are_interpreted() -> None:
    """Ops in no order: nothing repeats, and powers, slopes and activations are among the opcodes."""
    choice = random.Random(3)
    plan = bytes(choice.randrange(7) for _ in range(400))

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            for k in plan:
                x = [
                    lambda x: x**2 * w, lab.tanh, lambda x: lab.nn.elu(x) - w, lab.nn.silu,
                    lambda x: lab.abs(x) ** 1.5, lambda x: x * w + 1.0, lambda x: lab.math.divide_no_nan(x, w),
                ][k](x)  # fmt: skip
                x = lab.tanh(x)
        return x, tape.gradient(x, [w])

    compiled = agree(run, "float64", [(0.7, 0.3), (-0.4, 0.9), (0.0, 0.0)])
    assert "interpreter" in compiled.source


def test_arithmetic_in_loops_keeps_every_bit() -> None:
    """Without elementary functions the bits are those of the eager ops."""

    def logistic(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            for _ in range(200):
                x = w * x * (1.0 - x) + x / (w + 3.0)
        return x, tape.gradient(x, w)

    compiled = agree(logistic, "float32", [(0.3, 3.1), (0.9, 2.7)])
    for pair in [(0.31, 3.3), (0.77, 2.9), (0.5, 3.57)]:
        given = [lab.constant(number) for number in pair]
        assert flat(compiled(*given)) == flat(logistic(*given))


def test_many_arguments_are_read_from_a_table() -> None:
    """A sum over 100 scalar arguments, and the gradients by all of them."""
    pytest.importorskip("numba", reason="loops of scalars need Numba")

    def run(xs: list[Any], w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([*xs, w])
            total = w
            for x in xs:
                total = total + lab.square(lab.tanh(x * w) - 0.5)
        return total, tape.gradient(total, [*xs, w])

    compiled = lab.function(run)
    for start in (0.0, 0.5):
        xs = [lab.constant(start + 0.01 * k) for k in range(100)]
        expected, found = flat(run(xs, lab.constant(0.3))), flat(compiled(xs, lab.constant(0.3)))
        assert np.allclose(expected, found, rtol=1e-5)
    assert compiled.fallbacks == 0
    assert "each_1" in compiled.source


@pytest.mark.parametrize("broken", range(0, 120, 17))
def test_one_line_that_breaks_the_law_is_not_taken_into_the_loop(broken: int) -> None:
    """Another operand in one round, at any place: the loop ends there, and the result is right."""

    def run(x: Any, w: Any) -> Any:
        state, other = x, w * 2.0
        for k in range(40):
            state = lab.sin(state if broken // 3 != k or broken % 3 != 0 else other)
            state = state * (w if broken // 3 != k or broken % 3 != 1 else x)
            state = state + (other if broken // 3 != k or broken % 3 != 2 else state)
        return state

    agree(run, "float64", [(0.7, 0.3), (-2.0, 1.5)])


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(16))
def test_random_recurrences_agree_with_the_eager_function(seed: int) -> None:
    """Random bodies that read random numbers of this round, of rounds before, or of outside, forward and backward."""
    choice = random.Random(seed)
    length, memory, rounds = choice.randrange(2, 9), choice.randrange(1, 4), choice.randrange(12, 40)
    unary = [lab.sin, lab.tanh, lambda v: -v, lambda v: v * 0.5, lab.nn.sigmoid]
    binary = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: lab.sin(a) * b, lab.maximum, lab.minimum]
    plan = [
        (choice.random() < 0.4, choice.choice(unary), choice.choice(binary), choice.random(), choice.random())
        for _ in range(length)
    ]
    broken = choice.choice([None, choice.randrange(rounds)])

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            past = [x * (0.3 + 0.1 * k) for k in range(memory)]
            kept = []
            for k in range(rounds):
                values = [*past, w]
                for one, f, g, first, second in plan:
                    a, b = values[int(first * len(values))], values[int(second * len(values))]
                    values.append(lab.tanh(f(a) if one else g(a, b)))
                if k == broken:
                    values.append(values[-1] * 1.5)
                past = [*past[1:], values[-1]]
                kept.append(values[-1])
            total = past[-1] + kept[rounds // 2] * w
        return total, kept[2], tape.gradient(total, [x, w], unconnected_gradients="zero")

    agree(run, "float64", [(0.7, 0.3), (-1.1, 2.0)])


def test_lines_that_do_not_repeat_have_no_loops() -> None:
    """A program of many different ops stays a straight line."""
    choice = random.Random(0)
    names = [choice.choice(["sin", "cos", "tanh", "square", "exp"]) for _ in range(60)]

    def run(x: Any) -> Any:
        for name in names:
            x = getattr(lab, name)(x) * 0.5
        return x

    compiled = lab.function(run, backend="numpy")
    compiled(lab.constant(0.5))
    loops = loops_of(compiled.program)
    assert sum(loop.rounds * loop.period for loop in loops) < len(compiled.program.lines) / 2


def test_a_program_that_repeats_is_printed_as_loops() -> None:
    """A thousand lines are a page, every value that is read is made before, and short programs stay flat."""
    compiled = lab.function(chain)
    given = [lab.constant(0.3), lab.constant(0.1)]
    compiled(*given)
    text = str(compiled.program)
    assert text.count("for i in range(") == 2
    assert len(text.splitlines()) < 35 < len(compiled.program.lines)
    made: set[str] = set()
    for row in text.splitlines():
        left, _, right = row.partition(" = ")
        read = re.findall(r"%\d+", right or left)
        assert made.issuperset(read), row
        made.update(re.findall(r"^\s*(%\d+)", left))
    short = lab.function(lambda x, w: x * w + x)
    short(*given)
    assert "for" not in str(short.program)
