"""Programs that lose a gradient inside a function of `lab`: it reads a value as a setting, or draws with it."""

from collections.abc import Callable

import autodiff_lab as lab
from tests.amputation import EXTRAS
from tests.explain.lost_gradients import Asked, variable


def setting() -> Asked:
    x, w = variable(0.25), lab.Variable([-1.0, 2.0], name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = w * w
            y = lab.nn.leaky_relu(h - 2.0, alpha=x)  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def setting_that_was_computed() -> Asked:
    x, w = variable(0.25), lab.Variable([-1.0, 2.0], name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            rate = lab.sigmoid(x)
            h = lab.nn.dropout(w, rate, seed=1)  # CUT
            y = h * 3.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def setting_of_a_constant() -> Asked:
    """The tensor that the function makes is met two lines below."""
    x, w = variable(0.25), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            steps = lab.range(x, 3.0, 0.5)  # CUT
            h = w * w
            y = lab.reduce_sum(h * steps)
        assert tape.gradient(y, x) is None
    return recording, y, x


def random_draw() -> Asked:
    x, w = variable(2.5), variable(2.0, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            counts = lab.random.poisson([3], x)  # CUT
            h = counts * w
            y = lab.reduce_mean(h)
        assert tape.gradient(y, x) is None
    return recording, y, x


def random_draw_in_a_function() -> Asked:
    x, w = lab.Variable([0.5, 0.1], name="x"), lab.Variable([1.0, 2.0], name="w")

    def chosen(logits: lab.Tensor) -> lab.Tensor:
        return lab.random.categorical([logits], 4)[0]  # CUT

    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(lab.gather(w, chosen(x * 2.0)))
        assert tape.gradient(y, x) is None
    return recording, y, x


def random_draw_of_a_generator() -> Asked:
    x, w = variable(0.5), variable(2.0, "w")
    source = lab.random.Generator.from_seed(1)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.cast(source.binomial([3], 5, x), lab.float32) * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def condition_of_cond() -> Asked:
    """The branch that ran stands elsewhere."""
    x, w = lab.Variable(True, name="x"), variable(2.0, "w")

    def squared() -> lab.Tensor:
        return w * w

    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(x)
            h = lab.cond(x, squared, lambda: w)  # CUT
            y = h + 1.0
        assert tape.gradient(y, x) is None
    return recording, y, x


def input_without_a_derivative() -> Asked:
    x, w = variable(0.5), variable(0.25, "w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.math.betainc(x, 2.0, w)  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


def a_setting_beside_the_path() -> Asked:
    """The line reads the value as a setting; the target comes from another line."""
    x, w = variable(0.25), lab.Variable([-1.0, 2.0], name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            _ = lab.nn.leaky_relu(w, alpha=x)
            y = w * w  # CUT
        assert tape.gradient(y, x) is None
    return recording, y, x


CASES: list[tuple[Callable[[], Asked], str, str | None]] = [
    (setting, "only_read", None),
    (setting_that_was_computed, "only_read", None),
    (setting_of_a_constant, "only_read", None),
    (random_draw, "random_draw", None),
    (random_draw_in_a_function, "random_draw", None),
    (random_draw_of_a_generator, "random_draw", None),
    (input_without_a_derivative, "not_differentiable", "betainc"),
    (a_setting_beside_the_path, "no_path", "multiply"),
]
if EXTRAS:
    CASES.append((condition_of_cond, "control_flow", None))
