"""The first chapters of a TensorFlow tutorial, as a stranger would write them, with one import changed."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as tf


def test_tensors() -> None:
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.shape == (2, 3)
    assert x.dtype == tf.float32
    assert (x.shape[1], len(x.shape), tf.rank(x).numpy(), tf.size(x).numpy()) == (3, 2, 2, 6)
    np.testing.assert_array_equal(x + x, 2 * x)
    np.testing.assert_array_equal(x @ tf.transpose(x), [[14.0, 32.0], [32.0, 77.0]])
    np.testing.assert_array_equal(tf.concat([x, x, x], axis=0).shape, (6, 3))
    np.testing.assert_allclose(tf.reduce_sum(tf.nn.softmax(x, axis=-1), axis=-1), [1.0, 1.0], rtol=1e-6)
    assert tf.reduce_sum(x).numpy() == 21
    assert tf.convert_to_tensor([1, 2, 3]).dtype == tf.int32
    np.testing.assert_array_equal(tf.cast(tf.constant([2.2, 3.3]), dtype=tf.uint8), [2, 3])
    np.testing.assert_array_equal(tf.constant([1, 2, 3]) * tf.reshape(tf.range(1, 5), [4, 1]), [
        [1, 2, 3], [2, 4, 6], [3, 6, 9], [4, 8, 12],
    ])  # fmt: skip
    squares = tf.range(10) ** 2
    np.testing.assert_array_equal(squares[::-3], [81, 36, 9, 0])
    np.testing.assert_array_equal(x[:, tf.newaxis, -1], [[3.0], [6.0]])
    np.testing.assert_array_equal(tf.broadcast_to(tf.constant([1, 2]), [2, 2]), [[1, 2], [1, 2]])
    ragged = tf.ragged.constant([[0, 1, 2], [3], [4, 5]])
    assert ragged.shape.as_list() == [3, None]
    words = tf.strings.split(tf.constant("one two"))
    assert words.numpy().tolist() == [b"one", b"two"]
    sparse = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    assert tf.sparse.to_dense(sparse).numpy().sum() == 3
    with pytest.raises(TypeError, match="assign"):
        x[0] = 1.0  # type: ignore[index]


def test_variables() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="matrix")
    copied = tf.Variable(v)
    v.assign([[0.0, 0.0], [1.0, 1.0]])
    v.assign_add([[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(v, [[1.0, 1.0], [2.0, 2.0]])
    np.testing.assert_array_equal(copied, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tf.reshape(v, [1, 4]).numpy(), [[1.0, 1.0, 2.0, 2.0]])
    assert tf.argmax(copied, axis=1).numpy().tolist() == [1, 1]
    assert v.name.startswith("matrix")
    assert not tf.Variable(1, trainable=False).trainable
    with pytest.raises(ValueError, match="shape"):
        v.assign([1.0, 2.0, 3.0])


def test_gradients() -> None:
    w = tf.Variable(tf.random.normal((3, 2)), name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dl_dw, dl_db = tape.gradient(loss, [w, b])
    np.testing.assert_allclose(dl_dw, np.transpose(x) @ y.numpy(), rtol=1e-5)
    named = tape.gradient(loss, {"w": w, "b": b})
    np.testing.assert_array_equal(named["b"], dl_db)

    x0 = tf.Variable(3.0, trainable=False)
    x1 = tf.Variable(2.0) + 1.0  # a tensor
    x2 = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x2)
        y = x0**2 + x1**2 + x2**2
    first, second, third = tape.gradient(y, [x0, x1, x2])
    assert (first, second, third.numpy()) == (None, None, 8.0)

    x = tf.Variable(1.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        slope = inner.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (3.0, 6.0)

    delta = tf.Variable(tf.linspace(-2, 2, 5))
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(delta)
    assert tape.jacobian(y, delta).shape == (5, 5)
    with tf.GradientTape() as tape:
        y = x if x > 5 else x**2
    assert tape.gradient(y, x).numpy() == 2.0
    unrelated = tf.Variable([2.0, 2.0])
    with tf.GradientTape() as tape:
        y = 3 * x
    zeros = tape.gradient(y, unrelated, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(zeros, [0.0, 0.0])


def test_functions() -> None:
    @tf.function
    def total(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x**2)

    assert [total(tf.constant([1.0, 2.0])).numpy(), total(tf.constant([3.0, 4.0])).numpy()] == [5.0, 25.0]
    assert total(tf.constant([1, 2, 3])).dtype == tf.int32

    @tf.function
    def steps(n: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, _: i < n, lambda i, t: (i + 1, t + i), [tf.constant(0), tf.constant(0)])[1]

    assert steps(tf.constant(5)).numpy() == 10


def test_modules(tmp_path: Path) -> None:
    class Dense(tf.Module):
        def __init__(self, in_features: int, out_features: int, name: str | None = None) -> None:
            super().__init__(name=name)
            self.w = tf.Variable(tf.random.normal([in_features, out_features]), name="w")
            self.b = tf.Variable(tf.zeros([out_features]), name="b")

        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return tf.nn.relu(tf.matmul(x, self.w) + self.b)

    class Stack(tf.Module):
        def __init__(self, name: str | None = None) -> None:
            super().__init__(name=name)
            self.hidden = Dense(3, 3)
            self.last = Dense(3, 2)

        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return self.last(self.hidden(x))

    model = Stack(name="the_model")
    x = tf.constant([[2.0, 2.0, 2.0]])
    assert model.name == "the_model"
    assert len(model.submodules) == 2
    assert sorted(v.shape.as_list() for v in model.trainable_variables) == [[2], [3], [3, 2], [3, 3]]
    path = tf.train.Checkpoint(model=model).write(tmp_path / "weights")
    other = Stack()
    tf.train.Checkpoint(model=other).restore(path)
    np.testing.assert_array_equal(model(x), other(x))


def test_a_training_loop() -> None:
    tf.random.set_seed(1)
    x = tf.linspace(-2, 2, 201)
    x = tf.cast(x, tf.float32)
    y = x**2 + 2 * x - 5 + tf.random.normal(x.shape, stddev=0.1)

    class Curve(tf.Module):
        def __init__(self) -> None:
            self.terms = [tf.Variable(value) for value in tf.unstack(tf.random.normal([3], seed=2))]

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            a, b, c = self.terms
            return a * x**2 + b * x + c

    model = Curve()
    variables = model.variables
    optimizer = tf.optimizers.SGD(learning_rate=0.1)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(buffer_size=201).batch(32)
    for _ in range(30):
        for x_batch, y_batch in dataset:
            with tf.GradientTape() as tape:
                batch_loss = tf.reduce_mean(tf.square(model(x_batch) - y_batch))
            gradients = tape.gradient(batch_loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
    np.testing.assert_allclose([float(v) for v in model.terms], [1.0, 2.0, -5.0], atol=0.1)

    for v, start in zip(variables, [0.0, 0.0, 0.0], strict=True):
        v.assign(start)
    for _ in range(200):  # by hand, without an optimizer
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
    np.testing.assert_allclose([float(v) for v in model.terms], [1.0, 2.0, -5.0], atol=0.1)


def test_the_same_by_fit() -> None:
    tf.random.set_seed(3)
    x = tf.linspace(-2.0, 2.0, 200)[:, tf.newaxis]
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation=tf.nn.relu), tf.keras.layers.Dense(1)])
    model.compile(loss=tf.keras.losses.mse, optimizer=tf.optimizers.SGD(learning_rate=0.05))
    history = model.fit(x, x**2 + 1, epochs=60, batch_size=32, verbose=0)
    losses = history.history["loss"]
    assert losses[-1] < losses[0] / 20
    assert model.predict(x, verbose=0).shape == (200, 1)
