"""The guides of Keras and TensorFlow as programs from memory, with one import changed: what each promises holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as tf
from autodiff_lab import keras
from autodiff_lab.errors import InvalidArgumentError

layers: Any = keras.layers
RNG = np.random.default_rng(0)


def test_a_model_with_three_inputs_and_two_outputs() -> None:
    title, body, tags = keras.Input((None,), name="title"), keras.Input((None,), name="body"), keras.Input((12,))
    title_features = layers.LSTM(8)(layers.Embedding(50, 16)(title))
    body_features = layers.LSTM(4)(layers.Embedding(50, 16)(body))
    x = layers.concatenate([title_features, body_features, tags])
    outputs = {"priority": layers.Dense(1, name="priority")(x), "department": layers.Dense(4, name="department")(x)}
    model = keras.Model(inputs=[title, body, tags], outputs=outputs)
    model.compile(
        optimizer=keras.optimizers.RMSprop(1e-3),
        loss={"priority": keras.losses.BinaryCrossentropy(from_logits=True), "department": "mse"},
        loss_weights={"priority": 1.0, "department": 0.2},
    )
    data = [RNG.integers(50, size=(32, 5)), RNG.integers(50, size=(32, 7)), RNG.random((32, 12))]
    history = model.fit(data, {"priority": RNG.random((32, 1)), "department": RNG.random((32, 4))}, verbose=0)
    assert set(history.history) == {"loss", "priority_loss", "department_loss"}


def test_residual_blocks_an_ensemble_and_a_model_of_features() -> None:
    inputs = keras.Input(shape=(16, 16, 3), name="img")
    first = layers.MaxPooling2D(3)(layers.Conv2D(8, 3, activation="relu")(inputs))
    x = layers.Conv2D(8, 3, activation="relu", padding="same")(first)
    x = layers.GlobalAveragePooling2D()(layers.add([x, first]))
    model = keras.Model(inputs, layers.Dense(10)(x), name="toy_resnet")
    features = keras.Model(inputs=model.input, outputs=[layer.output for layer in model.layers])
    assert len(features(RNG.random((1, 16, 16, 3)))) == len(model.layers)

    def get_model() -> keras.Model:
        given = keras.Input(shape=(128,))
        return keras.Model(given, layers.Dense(1)(given))

    members = [get_model() for _ in range(3)]
    given = keras.Input(shape=(128,))
    ensemble = keras.Model(given, layers.average([member(given) for member in members]))
    row = RNG.random((2, 128))
    expected = np.mean([member.predict(row) for member in members], axis=0)
    np.testing.assert_allclose(ensemble.predict(row), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "average", "maximum", "minimum", "concatenate", "dot"])
def test_the_functions_of_merging_are_their_layers(name: str) -> None:
    pair = [tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 2.0]])]
    expected = getattr(layers, name.capitalize())()(pair)
    np.testing.assert_array_equal(getattr(layers, name)(pair).numpy(), expected.numpy())


class Linear(layers.Layer):
    """The layer of the guide on subclassing."""

    def __init__(self, units: int = 32, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape: Any) -> None:
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units}


def test_a_variational_autoencoder_adds_its_loss() -> None:
    keras.utils.set_random_seed(0)

    class Sampling(layers.Layer):
        def call(self, inputs: Any) -> tf.Tensor:
            mean, log_var = inputs
            return mean + tf.exp(0.5 * log_var) * tf.random.normal(shape=tf.shape(mean))

    class Autoencoder(keras.Model):
        def __init__(self, width: int, name: str = "autoencoder", **kwargs: Any) -> None:
            super().__init__(name=name, **kwargs)
            self.mean, self.log_var, self.sampling = Linear(2), Linear(2), Sampling()
            self.decoder = layers.Dense(width, activation="sigmoid")

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            mean, log_var = self.mean(inputs), self.log_var(inputs)
            self.add_loss(-0.5 * tf.reduce_mean(log_var - tf.square(mean) - tf.exp(log_var) + 1))
            return self.decoder(self.sampling((mean, log_var)))

    x = RNG.random((64, 16)).astype("float32")
    model = Autoencoder(16)
    model.compile(keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    losses = model.fit(x, x, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_a_loss_and_a_metric_of_ones_own() -> None:
    class Weighted(keras.losses.Loss):
        def __init__(self, weight: float = 2.0, name: str = "weighted") -> None:
            super().__init__(name=name)
            self.weight = weight

        def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
            return self.weight * tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)

    class TruePositives(keras.metrics.Metric):
        def __init__(self, name: str = "true_positives", **kwargs: Any) -> None:
            super().__init__(name=name, **kwargs)
            self.found = self.add_weight(name="found", initializer="zeros")

        def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: Any = None) -> None:
            right = tf.equal(tf.argmax(y_true, axis=1), tf.argmax(y_pred, axis=1))
            self.found.assign_add(tf.reduce_sum(tf.cast(right, "float32")))

        def result(self) -> Any:
            return self.found

    x, labels = RNG.random((40, 3)), keras.utils.to_categorical(RNG.integers(4, size=40), 4)
    model = keras.Sequential([layers.Dense(4)])
    model.compile("sgd", Weighted(), metrics=[TruePositives(), keras.losses.MeanSquaredError(name="squared")])
    logs = model.fit(x, labels, epochs=3, verbose=0).history
    assert set(logs) == {"loss", "true_positives", "squared"}
    assert all(0 <= count <= 40 for count in logs["true_positives"])
    right = np.argmax(model.predict(x), axis=1) == np.argmax(labels, axis=1)
    values = model.evaluate(x, labels, return_dict=True, verbose=0)
    assert values["true_positives"] == np.sum(right)
    assert values["loss"] == pytest.approx(2 * values["squared"], rel=1e-5)


class Stepping(keras.Model):
    """The model of the guide on a custom step of `fit`."""

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


def test_a_step_of_fit_of_ones_own_reports_the_loss_and_the_metrics(tmp_path: Path) -> None:
    inputs = keras.Input(shape=(8,))
    model = Stepping(inputs, layers.Dense(1)(inputs))
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    logs = model.fit(RNG.random((64, 8)), RNG.random((64, 1)), epochs=2, verbose=0).history
    assert set(logs) == {"loss", "mae"}
    assert all(np.sqrt(loss) >= error for loss, error in zip(logs["loss"], logs["mae"], strict=True))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras", custom_objects={"Stepping": Stepping})
    assert type(again) is Stepping
    np.testing.assert_array_equal(again.predict(np.ones((2, 8))), model.predict(np.ones((2, 8))))


def models() -> list[keras.Model]:
    inputs = keras.Input((4,))
    graph = keras.Model(inputs, Linear(3)(layers.Dense(5, activation="relu")(inputs)))
    return [keras.Sequential([keras.Input((4,)), layers.Dense(5), Linear(3)]), graph, Stepping(inputs, graph.output)]


@pytest.mark.parametrize("kind", range(3))
def test_a_configuration_makes_a_model_with_weights_of_its_own(kind: int) -> None:
    model = models()[kind]
    custom = {"Linear": Linear, "Stepping": Stepping}
    with keras.utils.custom_object_scope(custom):
        others = [
            type(model).from_config(model.get_config()),
            keras.models.clone_model(model),
            keras.models.model_from_json(model.to_json()),
        ]
    others.append(type(model).from_config(model.get_config(), custom_objects=custom))
    x = np.ones((2, 4))
    for other in others:
        assert type(other) is type(model)
        assert other.count_params() == model.count_params()
        assert not np.array_equal(other.predict(x), model.predict(x))
        other.set_weights(model.get_weights())
        np.testing.assert_array_equal(other.predict(x), model.predict(x))
    others[0].layers[-1].trainable_weights[0].assign(tf.zeros((5, 3)))
    assert np.abs(model.layers[-1].trainable_weights[0].numpy()).max() > 0
    with pytest.raises(InvalidArgumentError, match="custom_objects"):
        type(model).from_config(model.get_config())


def test_a_registered_class_is_found_by_name(tmp_path: Path) -> None:
    @keras.saving.register_keras_serializable(package="mine")
    class Halved(layers.Layer):
        def call(self, x: tf.Tensor) -> tf.Tensor:
            return x / 2

    keras.Sequential([Halved()]).save(tmp_path / "halved.keras")
    assert type(keras.models.load_model(tmp_path / "halved.keras").layers[0]) is Halved
    del keras.utils.get_custom_objects()["Halved"]
    with pytest.raises(InvalidArgumentError, match="custom_objects"):
        keras.models.load_model(tmp_path / "halved.keras")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"class_name": "Nothing", "config": {}}', '{"class_name": 1}'])
def test_a_text_that_describes_no_model_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="model_from_json"):
        keras.models.model_from_json(text)


def test_a_transformer_with_cross_attention_and_a_schedule_of_ones_own() -> None:
    class Warming(keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, width: int, warmup_steps: int = 4) -> None:
            super().__init__()
            self.width, self.warmup_steps = tf.cast(width, tf.float32), warmup_steps

        def __call__(self, step: Any) -> Any:
            step = tf.cast(step, dtype=tf.float32)
            return tf.math.rsqrt(self.width) * tf.minimum(tf.math.rsqrt(step), step * self.warmup_steps**-1.5)

    class Attending(layers.Layer):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__()
            self.mha, self.norm, self.add = (
                layers.MultiHeadAttention(**kwargs),
                layers.LayerNormalization(),
                layers.Add(),
            )

        def call(self, x: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
            out, self.scores = self.mha(query=x, key=context, value=context, return_attention_scores=True)
            return self.norm(self.add([x, out]))

    class Translator(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.cross, self.last = (
                layers.Embedding(20, 8),
                Attending(num_heads=2, key_dim=4),
                Linear(20),
            )
            self.own = layers.MultiHeadAttention(num_heads=2, key_dim=4)

        def call(self, inputs: Any) -> tf.Tensor:
            context, x = (self.embedding(numbers) for numbers in inputs)
            x = x + self.own(query=x, value=x, key=x, use_causal_mask=True)
            return self.last(self.cross(x, context=context))

    def masked_loss(label: tf.Tensor, pred: tf.Tensor) -> tf.Tensor:
        mask = tf.cast(label != 0, pred.dtype)
        each = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(label, pred)
        return tf.reduce_sum(each * mask) / tf.reduce_sum(mask)

    source, target = RNG.integers(20, size=(32, 6)), RNG.integers(20, size=(32, 5))
    model = Translator()
    model.compile(loss=masked_loss, optimizer=keras.optimizers.Adam(Warming(8), beta_2=0.98, epsilon=1e-9))
    losses = model.fit((source, target[:, :-1]), target[:, 1:], epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert model.cross.scores.shape == (32, 2, 4, 6)
    with pytest.raises(InvalidArgumentError, match="query and a value"):
        model.own()


def test_text_is_generated_from_a_state() -> None:
    class Generator(tf.keras.Model):
        def __init__(self, vocabulary: int, width: int) -> None:
            super().__init__(self)
            self.embedding = layers.Embedding(vocabulary, 8)
            self.gru = layers.GRU(width, return_sequences=True, return_state=True)
            self.dense = layers.Dense(vocabulary)

        def call(self, inputs: Any, states: Any = None, return_state: bool = False, training: bool = False) -> Any:
            x = self.embedding(inputs, training=training)
            if states is None:
                states = self.gru.get_initial_state(tf.shape(x)[0])
            x, states = self.gru(x, initial_state=states, training=training)
            x = self.dense(x, training=training)
            return (x, states) if return_state else x

    model = Generator(12, 16)
    numbers = RNG.integers(12, size=(4, 9))
    whole = model(numbers)
    first, state = model(numbers[:, :5], return_state=True)
    second = model(numbers[:, 5:], states=state)
    np.testing.assert_allclose(tf.concat([first, second], axis=1).numpy(), whole.numpy(), rtol=1e-4, atol=1e-5)
    assert tf.squeeze(tf.random.categorical(whole[0], num_samples=1), axis=-1).shape == (9,)


def test_an_encoder_gives_its_state_to_a_decoder() -> None:
    given, asked = layers.Input(shape=(None,)), layers.Input(shape=(None,))
    _, state_h, state_c = layers.LSTM(8, return_state=True, name="encoder")(layers.Embedding(10, 4)(given))
    decoded = layers.LSTM(8, name="decoder")(layers.Embedding(20, 4)(asked), initial_state=[state_h, state_c])
    model = keras.Model([given, asked], layers.Dense(3)(decoded))
    assert model([np.ones((2, 3), int), np.ones((2, 4), int)]).shape == (2, 3)


def test_a_pipeline_says_what_its_elements_are() -> None:
    pairs = tf.data.Dataset.zip(
        (tf.data.Dataset.from_tensor_slices(tf.zeros([4, 10])), tf.data.Dataset.from_tensor_slices(tf.zeros([4])))
    )
    row, number = pairs.batch(2).element_spec
    assert (tuple(row.shape), row.dtype, tuple(number.shape)) == ((2, 10), tf.float32, (2,))
    assert isinstance(tf.data.Dataset.range(3).element_spec, tf.TensorSpec)
    assert tf.data.Dataset.range(0).element_spec == ()


@pytest.mark.parametrize(
    ("wrong", "cure"),
    [
        (lambda: layers.Embedding(10, 4, mask_zero=True), "mask=lab.not_equal"),
        (lambda: layers.LSTM(4, stateful=True), "initial_state="),
        (lambda: layers.GRU(4, unroll=True), "leaving it out"),
        (lambda: layers.Masking(0.0), "mask="),
        (lambda: keras.config, "keras.backend"),
        (lambda: keras.random, "lab.random"),
        (lambda: keras.ops, "lab.math"),
    ],
)
def test_what_is_absent_says_what_to_use(wrong: Any, cure: str) -> None:
    with pytest.raises((AttributeError, TypeError)) as caught:
        wrong()
    assert cure in str(caught.value)
