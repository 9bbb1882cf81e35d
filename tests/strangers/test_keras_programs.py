"""Programs in the style of Keras tutorials, as their authors would write them, with one import changed."""

import numpy as np
import pytest

import autodiff_lab as tf

pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")


def test_a_beginner_trains_a_classifier() -> None:
    tf.keras.utils.set_random_seed(0)
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.digits.load_data()
    x_train, x_test = x_train / 16.0, x_test / 16.0
    model = tf.keras.models.Sequential([
        tf.keras.layers.Flatten(input_shape=(8, 8)), tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(10),
    ])  # fmt: skip
    assert model(x_train[:1]).numpy().shape == (1, 10)
    assert tf.nn.softmax(model(x_train[:1])).numpy().sum() == pytest.approx(1.0, rel=1e-5)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert 1.0 < loss_fn(y_train[:1], model(x_train[:1])).numpy() < 5.0
    model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])
    model.fit(x_train, y_train, epochs=8, verbose=0)
    assert model.evaluate(x_test, y_test, verbose=2)[1] > 0.9
    probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
    np.testing.assert_allclose(probability_model(x_test[:5]).numpy().sum(1), 1.0, rtol=1e-5)


def test_an_expert_writes_the_loop() -> None:
    from autodiff_lab.keras.layers import Conv2D, Dense, Flatten  # type: ignore[import-not-found]

    from autodiff_lab.keras import Model

    tf.random.set_seed(0)
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.digits.load_data()
    x_train, x_test = x_train[..., np.newaxis].astype("float32") / 16, x_test[..., np.newaxis].astype("float32") / 16
    train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1000).batch(32)
    test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)

    class MyModel(Model):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = Conv2D(16, 3, activation="relu")
            self.flatten = Flatten()
            self.d1 = Dense(32, activation="relu")
            self.d2 = Dense(10)

        def call(self, x: tf.Tensor) -> tf.Tensor:
            x = self.conv1(x)
            x = self.flatten(x)
            x = self.d1(x)
            return self.d2(x)

    model = MyModel()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam()
    train_loss = tf.keras.metrics.Mean(name="train_loss")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")

    @tf.function
    def train_step(images: tf.Tensor, labels: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        train_loss(loss)

    @tf.function
    def test_step(images: tf.Tensor, labels: tf.Tensor) -> None:
        test_accuracy(labels, model(images, training=False))

    for _ in range(4):
        train_loss.reset_state()
        test_accuracy.reset_state()
        for images, labels in train_ds:
            train_step(images, labels)
        for test_images, test_labels in test_ds:
            test_step(test_images, test_labels)
    assert test_accuracy.result().numpy() > 0.9


def test_transfer_learning_freezes_then_fine_tunes() -> None:
    keras, layers = tf.keras, tf.keras.layers
    keras.utils.set_random_seed(0)
    (x, y), _ = keras.datasets.digits.load_data()
    low, high = y < 5, y >= 5
    inputs = keras.Input(shape=(8, 8))
    body = layers.Reshape((8, 8, 1))(layers.Rescaling(1 / 16)(inputs))
    body = layers.Conv2D(8, 3, activation="relu")(body)
    body = layers.BatchNormalization()(body)
    base = keras.Model(inputs, layers.Flatten()(body), name="base")
    first = keras.Sequential([base, layers.Dense(5)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    first.compile("adam", loss, metrics=["accuracy"])
    first.fit(x[low], y[low], epochs=3, verbose=0)

    base.trainable = False
    inputs = keras.Input(shape=(8, 8))
    outputs = layers.Dense(5)(layers.Dropout(0.2)(base(inputs, training=False)))
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=[keras.metrics.SparseCategoricalAccuracy()])
    weights = [w.copy() for w in base.get_weights()]
    stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
    model.fit(x[high], y[high] - 5, epochs=10, validation_split=0.2, callbacks=[stop], verbose=0)
    assert all(np.array_equal(a, b) for a, b in zip(weights, base.get_weights(), strict=True))

    base.trainable = True
    model.compile(optimizer=keras.optimizers.Adam(1e-4), loss=loss, metrics=["accuracy"])
    model.fit(x[high], y[high] - 5, epochs=2, verbose=0)
    assert not all(np.array_equal(a, b) for a, b in zip(weights, base.get_weights(), strict=True))
    assert model.evaluate(x[high], y[high] - 5, verbose=0)[1] > 0.9


def test_a_regression_with_normalization_and_a_custom_metric() -> None:
    keras = tf.keras
    keras.utils.set_random_seed(1)
    (x_train, y_train), (x_test, y_test) = keras.datasets.diabetes.load_data()
    normalizer = keras.layers.Normalization(axis=-1)
    normalizer.adapt(x_train)

    def within_a_fifth(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.abs(y_true - y_pred[:, 0]) < 0.2 * y_true, "float32")

    model = keras.Sequential([
        normalizer, keras.layers.Dense(16, "relu", kernel_regularizer=keras.regularizers.l2(0.01)),
        keras.layers.Dense(1),
    ])  # fmt: skip
    model.compile(loss="mean_absolute_error", optimizer=keras.optimizers.Adam(0.05), metrics=[within_a_fifth])
    history = model.fit(x_train, y_train, validation_split=0.2, verbose=0, epochs=30)
    assert set(history.history) == {"loss", "within_a_fifth", "val_loss", "val_within_a_fifth"}
    assert model.evaluate(x_test, y_test, verbose=0)[0] < 60
    assert model.predict(x_test).flatten().shape == y_test.shape
