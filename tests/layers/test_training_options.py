"""Options of losses, optimizers and schedules against formulas in NumPy, and their settings as dicts."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

losses, optimizers, schedules = lab.losses, lab.optimizers, lab.optimizers.schedules
EPSILON = 1e-7


def slope(loss: Any, y: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
    given = lab.Variable(np.asarray(p, np.float32))
    with lab.GradientTape() as tape:
        value = loss(y, given)
    return value.numpy(), tape.gradient(value, given).numpy()


def test_probabilities_are_brought_to_the_sum_one_and_held_inside_without_a_gradient_at_the_ends() -> None:
    p = np.array([[0.2, 0.2, 0.4], [1.0, 0.0, 0.0]], np.float32)
    y = np.array([[0, 1, 0], [0, 0, 1]], np.float32)
    value, gradient = slope(losses.CategoricalCrossentropy(reduction=None), y, p)
    np.testing.assert_allclose(value, [-np.log(0.25), -np.log(EPSILON)], 1e-5)
    np.testing.assert_allclose(gradient, [[1.25, -3.75, 1.25], [0, 0, 0]], 1e-5, 1e-5)
    value, gradient = slope(losses.SparseCategoricalCrossentropy(reduction=None), [1, 2], p)
    np.testing.assert_allclose(value[0], -np.log(0.25), 1e-5)
    value, gradient = slope(losses.BinaryCrossentropy(reduction=None), [[0.0, 1.0]], [[0.0, 1.0]])
    np.testing.assert_allclose(value, [0], atol=1e-6)
    np.testing.assert_array_equal(gradient, [[0, 0]])


@pytest.mark.parametrize("logits", [True, False])
def test_a_class_that_is_ignored_has_no_loss_and_no_gradient_and_does_not_count(logits: bool) -> None:
    y, p = np.array([0, -1, 2, 2]), np.random.default_rng(1).random((4, 3)).astype(np.float32)
    kept = y != -1
    some = losses.SparseCategoricalCrossentropy(from_logits=logits, ignore_class=-1)
    every = losses.SparseCategoricalCrossentropy(from_logits=logits)
    value, gradient = slope(some, y, p)
    expected, rest = slope(every, y[kept], p[kept])
    np.testing.assert_allclose(value, expected, 1e-6)
    np.testing.assert_allclose(gradient[kept], rest, 1e-5)
    np.testing.assert_array_equal(gradient[~kept], 0)
    assert float(some([-1, -1], p[:2])) == 0.0


def test_a_column_of_predictions_has_one_loss_and_one_weight_for_each_row() -> None:
    p, y, w = np.array([[0.0], [2.0], [4.0]]), np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.5])
    assert losses.MeanSquaredError(reduction="none")(y, p).shape == (3,)
    assert float(losses.MeanSquaredError()(y, p, sample_weight=w)) == pytest.approx(8 / 3)
    by_weight = losses.MeanSquaredError(reduction="mean_with_sample_weight")
    assert float(by_weight(y, p, sample_weight=w)) == pytest.approx(8 / 1.5)


def test_a_loss_of_ones_own_defines_call() -> None:
    class Largest(losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return lab.reduce_max(lab.abs(y_true - y_pred), axis=-1)

    assert float(Largest()([[1.0, 2.0]], [[1.5, 4.0]])) == 2.0
    assert losses.MeanSquaredError(dtype="float64")([1.0], [2.0]).dtype == lab.float64
    assert losses.MeanAbsoluteError()([1, 2], [2, 2]).dtype == lab.float32


MADE: dict[str, Any] = {
    "huber": losses.Huber(2.0, name="mine"), "cosine": losses.CosineSimilarity(axis=0, reduction="sum"),
    "sparse": losses.SparseCategoricalCrossentropy(True, ignore_class=3, dtype="float64"),
    "binary": losses.BinaryCrossentropy(label_smoothing=0.1), "squares": losses.MeanSquaredError("sum"),
    "exponential": schedules.ExponentialDecay(1.0, 10, 0.5, staircase=True),
    "cosine decay": schedules.CosineDecay(1.0, 10, 0.1, warmup_target=2.0, warmup_steps=3, name="warm"),
    "steps": schedules.PiecewiseConstantDecay([1, 2], [1.0, 0.5, 0.1]),
    "inverse": schedules.InverseTimeDecay(1.0, 10, 0.5), "polynomial": schedules.PolynomialDecay(1.0, 10, cycle=True),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_settings_make_another_of_the_same(name: str) -> None:
    made = MADE[name]
    other = type(made).from_config(made.get_config())
    assert other.get_config() == made.get_config()
    assert "more" not in made.get_config()
    assert vars(other) == vars(made)


def test_a_cosine_begins_where_its_warm_up_ends() -> None:
    rate = schedules.CosineDecay(0.0, 10, warmup_target=1.0, warmup_steps=5)
    np.testing.assert_allclose([rate(s) for s in (0, 1, 5, 10, 15, 99)], [0, 0.2, 1, 0.5, 0, 0], atol=1e-12)


def stepped(optimizer: Any, gradients: list[float], start: float = 1.0) -> float:
    v = lab.Variable(start, dtype=lab.float64)
    for g in gradients:
        optimizer.apply_gradients([(lab.constant(g, lab.float64), v)], name="step")
    return float(v)


def test_weight_decay_shrinks_a_variable_apart_from_its_gradient() -> None:
    for make in (
        optimizers.SGD,
        optimizers.Adam,
        optimizers.RMSprop,
        optimizers.Adagrad,
        optimizers.Nadam,
        optimizers.Adamax,
        optimizers.Adadelta,
    ):
        plain, decaying = make(0.1), make(0.1, weight_decay=0.5)
        assert stepped(decaying, [1.0]) == pytest.approx(stepped(plain, [1.0]) - 0.1 * 0.5 * 1.0)
    adam = optimizers.Adam(0.1, weight_decay=0.2)
    assert stepped(adam, [1.0, -2.0]) == stepped(optimizers.AdamW(0.1, 0.2), [1.0, -2.0])


def test_amsgrad_keeps_the_largest_moment_and_centered_rmsprop_takes_off_the_mean() -> None:
    gradients, m, v, largest, x = [3.0, 0.1, -0.2], 0.0, 0.0, 0.0, 1.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.5 * v + 0.5 * g * g
        largest = max(largest, v)
        x -= 0.1 * (1 - 0.5**t) ** 0.5 / (1 - 0.9**t) * m / (largest**0.5 + 1e-7)
    assert stepped(optimizers.Adam(0.1, beta_2=0.5, amsgrad=True), gradients) == pytest.approx(x)
    size, mean, x = 0.0, 0.0, 1.0
    for g in gradients:
        size, mean = 0.9 * size + 0.1 * g * g, 0.9 * mean + 0.1 * g
        x -= 0.1 * g / (size - mean * mean + 1e-7) ** 0.5
    assert stepped(optimizers.RMSprop(0.1, centered=True), gradients) == pytest.approx(x)


@pytest.mark.parametrize("make", [
    lambda: optimizers.Adam(0.1, weight_decay=0.1, amsgrad=True), lambda: optimizers.RMSprop(0.1, centered=True),
    lambda: optimizers.AdamW(0.1, 0.3), lambda: optimizers.SGD(0.1, 0.9, nesterov=True, weight_decay=0.1),
    lambda: optimizers.SGD(schedules.CosineDecay(0.1, 5, warmup_target=0.2, warmup_steps=2), weight_decay=0.1),
])  # fmt: skip
def test_compiled_steps_are_those_that_are_not(make: Any) -> None:
    found = []
    for wrap in (lab.function, lambda f: f):
        v, optimizer = lab.Variable([1.0, -2.0]), make()

        @wrap
        def step(x: Any, v: Any = v, optimizer: Any = optimizer) -> None:
            with lab.GradientTape() as tape:
                loss = lab.reduce_sum(x * v * v)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])

        for x in (1.0, 2.0, 0.5, 1.5):
            step(lab.constant(x))
        found.append(v.numpy())
    np.testing.assert_allclose(*found, 1e-6)


def test_what_is_not_supported_is_refused_in_words() -> None:
    with refused(lab.errors.UnimplementedError, "use_ema"):
        optimizers.Adam(use_ema=True)
    with pytest.raises(lab.errors.InvalidArgumentError, match="one of clipnorm"):
        optimizers.SGD(clipnorm=1.0, clipvalue=1.0)
    optimizer = optimizers.SGD()
    optimizer.build(var_list=[lab.Variable(1.0)])
