"""Programs as users of TensorFlow's eager tape write them, with one import changed; gradients against differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as tf


def differences(f: Callable[[Any], float], x: Any, h: float = 1e-6) -> Any:
    """Central differences of a NumPy function of an array."""
    x = np.array(x, np.float64)
    found = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = h
        found[i] = (f(x + step) - f(x - step)) / (2 * h)
    return found


def test_a_recurrent_loop_over_time() -> None:
    tf.random.set_seed(1)
    wx, wh = tf.Variable(tf.random.normal((3, 5), dtype=tf.float64)), tf.random.normal((5, 5), dtype=tf.float64) * 0.3
    x = tf.random.normal((2, 7, 3), dtype=tf.float64)
    with tf.GradientTape() as tape:
        h = tf.zeros((2, 5), dtype=tf.float64)
        for i in tf.range(7):
            h = tf.tanh(x[:, i, :] @ wx + tf.matmul(h, wh))
        loss = tf.reduce_sum(h)

    def numpy(w: Any) -> float:
        state = np.zeros((2, 5))
        for i in range(7):
            state = np.tanh(x.numpy()[:, i] @ w + state @ wh.numpy())
        return float(state.sum())

    np.testing.assert_allclose(tape.gradient(loss, wx), differences(numpy, wx.numpy()), rtol=1e-6, atol=1e-8)


def test_an_ordinary_differential_equation_by_midpoints() -> None:
    k = tf.Variable(1.5, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.constant([1.0, 0.0], dtype=tf.float64)
        matrix = tf.stack([[0.0, 1.0], [-k, -0.1]])
        for _ in range(50):
            y = y + 0.05 * tf.linalg.matvec(matrix, y + 0.025 * tf.linalg.matvec(matrix, y))
        loss = tf.reduce_sum(y**2)

    def numpy(value: Any) -> float:
        y, matrix = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [-value, -0.1]])
        for _ in range(50):
            y = y + 0.05 * matrix @ (y + 0.025 * matrix @ y)
        return float(y @ y)

    np.testing.assert_allclose(tape.gradient(loss, k), differences(numpy, 1.5), rtol=1e-7)


def test_a_step_through_a_step() -> None:
    w = tf.Variable(1.0, dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = (w * 2.0 - 3.0) ** 2
        moved = w - 0.1 * inner.gradient(loss, w)
        later = (moved * 2.0 - 5.0) ** 2
    expected = differences(lambda v: float(((v - 0.4 * (2 * v - 3)) * 2 - 5) ** 2), 1.0)
    np.testing.assert_allclose(outer.gradient(later, w), expected, rtol=1e-6)


def test_newtons_method_for_a_system_by_its_jacobian() -> None:
    x = tf.Variable([1.0, 1.0], dtype=tf.float64)
    for _ in range(20):
        with tf.GradientTape() as tape:
            f = tf.stack([x[0] ** 2 + x[1] ** 2 - 4, tf.exp(x[0]) + x[1] - 1])
        x.assign_sub(tf.squeeze(tf.linalg.solve(tape.jacobian(f, x), f[:, tf.newaxis]), -1))
    a, b = x.numpy()
    assert abs(a * a + b * b - 4) < 1e-12
    assert abs(np.exp(a) + b - 1) < 1e-12


def test_two_networks_against_each_other() -> None:
    layers = tf.keras.layers
    maker = tf.keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(1)])
    judge = tf.keras.Sequential([layers.Dense(4, activation=tf.nn.leaky_relu), layers.Dense(1)])
    measure = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    before: Any = None
    for turn in range(2):
        with tf.GradientTape() as one, tf.GradientTape() as two:
            false, true = judge(maker(tf.ones((8, 2)))), judge(tf.ones((8, 1)))
            maker_loss = measure(tf.ones_like(false), false)
            judge_loss = measure(tf.ones_like(true), true) + measure(tf.zeros_like(false), false)
        for tape, loss, model in [(one, maker_loss, maker), (two, judge_loss, judge)]:
            optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        if turn == 0:
            before = judge.get_weights()[0]
    assert not np.array_equal(before, judge.get_weights()[0])


@pytest.mark.parametrize("told", [{"input_shape": (3,)}, {"input_dim": 3}])
def test_a_model_that_is_told_the_shape_of_an_example_has_its_weights_at_once(told: dict[str, Any]) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, **told), tf.keras.layers.Dense(1)])
    assert [tuple(v.shape) for v in model.trainable_weights] == [(3, 4), (4,), (4, 1), (1,)]


def test_moving_averages_are_the_variables_that_are_not_trained() -> None:
    layer = tf.keras.layers.BatchNormalization()
    layer(tf.ones((2, 3)), training=True)
    assert len(layer.non_trainable_variables) == 2
    assert not {*layer.non_trainable_variables} & {*layer.trainable_variables}


def test_losses_are_functions_too_and_their_mean_is_that_of_the_class() -> None:
    labels, shares = [[0.0, 1.0], [1.0, 0.0]], [[0.2, 0.8], [0.5, 0.5]]
    for name, kind in [
        ("mean_squared_error", "MeanSquaredError"), ("MAE", "MeanAbsoluteError"), ("huber", "Huber"),
        ("binary_crossentropy", "BinaryCrossentropy"), ("categorical_crossentropy", "CategoricalCrossentropy"),
        ("cosine_similarity", "CosineSimilarity"), ("kl_divergence", "KLDivergence"),
    ]:  # fmt: skip
        each = getattr(tf.keras.losses, name)(labels, shares)
        assert each.shape == (2,)
        np.testing.assert_allclose(each.numpy().mean(), getattr(tf.keras.losses, kind)()(labels, shares), rtol=1e-6)
    logits = tf.constant([[2.0, -1.0]])
    expected = np.log(np.exp(2.0) + np.exp(-1.0)) + 1.0
    found = tf.keras.losses.sparse_categorical_crossentropy([1], logits, from_logits=True)
    np.testing.assert_allclose(found, [expected], rtol=1e-6)


@pytest.mark.extras
def test_parts_of_a_variable_are_assigned_by_position() -> None:
    v = tf.Variable(tf.zeros((3, 2)))
    v.scatter_nd_update([[0, 0]], [7.0])
    v.scatter_nd_add([[0, 0], [1, 1]], [1.0, 2.0])
    v.scatter_update(tf.IndexedSlices(tf.ones((1, 2)), [2]))
    v.scatter_sub(tf.IndexedSlices(tf.ones((1, 2)), [1]))
    assert v.numpy().tolist() == [[8.0, 0.0], [-1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"scatter_add.*IndexedSlices.*Try scatter_nd_add"):
        v.scatter_add([1.0])


def test_shapes_are_added_to_lists_and_tuples() -> None:
    x = tf.ones((2, 3, 4))
    units, batch = [7], (1,)
    assert x.shape[:-1] + units == (2, 3, 7)
    assert batch + x.shape == (1, 2, 3, 4)
    assert units + x.shape[:1] == (7, 2)
