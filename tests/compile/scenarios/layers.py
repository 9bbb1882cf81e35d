"""Layers and models that change: flags, activations, added layers, loaded weights, hooks."""

import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario

R = lab.constant([[1.0, -2.0], [0.5, 3.0]])


def _dense(units=1, **more):
    layer = lab.layers.Dense(units, kernel_initializer="ones", **more)
    layer(R)
    return layer


@scenario()
def trainable_of_a_layer(wrap):
    dense = _dense()
    f = wrap(lambda x: x * float(len(dense.trainable_variables)))
    for dense.trainable in (True, False, True):
        yield f(X)


@scenario()
def gradients_of_a_frozen_layer(wrap):
    dense = _dense()

    def f(x):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(dense(x) ** 2)
        return tape.gradient(y, dense.trainable_variables)

    f = wrap(f)
    for dense.trainable in (True, False, True):
        yield f(R)


@scenario()
def frozen_inside_a_model(wrap):
    model = lab.Sequential([_dense(2), _dense(1)])
    optimizer = lab.optimizers.SGD(0.1)

    def step(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean(model(x) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    step = wrap(step)
    for _ in range(3):
        yield step(R)
    model.layers[0].trainable = False
    for _ in range(3):
        yield step(R)
    yield [w.numpy() for w in model.weights]


@scenario(compiles=True)
def call_of_a_layer(wrap):
    dense = _dense(3, activation="tanh")
    f = wrap(lambda x: dense(x))
    for k in (1.0, 2.0):
        yield f(R * k)
    dense.kernel.assign(dense.kernel * 2.0)
    yield f(R)


@scenario(compiles=True)
def model_as_the_function(wrap):
    model = lab.Sequential([_dense(2, activation="relu"), _dense(1)])
    f = wrap(model)
    for k in (1.0, 2.0):
        yield f(R * k)


@scenario()
def layer_built_in_the_first_call(wrap):
    dense = lab.layers.Dense(2, kernel_initializer="ones")
    f = wrap(lambda x: dense(x))
    for k in (1.0, 2.0, 3.0):
        yield f(R * k)


@scenario()
def layer_added(wrap):
    model = lab.Sequential([_dense(1)])
    f = wrap(lambda x: model(x))
    yield f(R)
    model.add(lab.layers.Dense(1, kernel_initializer=lab.initializers.Constant(3.0)))
    for _ in range(3):
        yield f(R)


@scenario()
def layer_removed(wrap):
    model = lab.Sequential([_dense(2), _dense(2)])
    f = wrap(lambda x: model(x))
    yield f(R)
    if hasattr(model, "pop"):
        model.pop()
    yield f(R)


@scenario()
def activation_replaced(wrap):
    dense = _dense(1, activation="relu")
    f = wrap(lambda x: dense(x))
    yield f(R)
    dense.activation = lab.tanh
    yield f(R)


@scenario()
def layer_of_a_model_replaced(wrap):
    class Model(lab.Module):
        def __init__(self):
            super().__init__()
            self.inner = _dense(2)

        def __call__(self, x):
            return self.inner(x)

    model = Model()
    f = wrap(lambda x: model(x))
    yield f(R)
    model.inner = _dense(2, activation="tanh")
    yield f(R)


@scenario()
def users_layer_with_a_flag(wrap):
    class Scaled(lab.layers.Layer):
        def __init__(self):
            super().__init__()
            self.gain = 2.0

        def call(self, x):
            return x * self.gain

    layer = Scaled()
    f = wrap(lambda x: layer(x))
    for layer.gain in (2.0, 3.0):
        yield f(X)


@scenario()
def users_layer_that_counts(wrap):
    class Counted(lab.layers.Layer):
        calls = 0

        def call(self, x):
            self.calls += 1
            return x * float(self.calls)

    layer = Counted()
    f = wrap(lambda x: layer(x))
    for _ in range(3):
        yield f(X)
    yield layer.calls


@scenario()
def call_replaced_on_the_class(wrap):
    class Own(lab.layers.Layer):
        def call(self, x):
            return x * 2.0

    layer = Own()
    f = wrap(lambda x: layer(x))
    yield f(X)
    Own.call = lambda self, x: x * 5.0
    yield f(X)


@scenario(compiles=True, building=1)
def training_flag(wrap):
    drop = lab.layers.Dropout(0.5)
    f = wrap(lambda x, training: drop(x, training=training) * 2.0)
    yield f(X, False), f(X * 2.0, False)


@scenario(compiles=True)
def batch_normalization(wrap):
    norm = lab.layers.BatchNormalization()
    norm(R)
    f = wrap(lambda x, training: norm(x, training=training))
    for k in (1.0, 2.0):
        yield f(R * k, True), f(R * k, False)
    yield norm.moving_mean, norm.moving_variance


@scenario()
def dropout_in_training(wrap):
    lab.random.set_seed(5)
    drop = lab.layers.Dropout(0.5)
    f = wrap(lambda x: drop(x, training=True))
    for _ in range(4):
        yield f(lab.ones((2, 5)))
    yield lab.random.uniform([2])


@scenario()
def rate_of_a_dropout_changed(wrap):
    lab.random.set_seed(5)
    drop = lab.layers.Dropout(0.5)
    f = wrap(lambda x: drop(x, training=True))
    yield f(lab.ones(5))
    drop.rate = 0.0
    yield f(lab.ones(5))


@scenario(compiles=True)
def weights_set(wrap):
    dense = _dense(1)
    f = wrap(lambda x: dense(x))
    yield f(R)
    dense.kernel.assign([[3.0], [4.0]])
    yield f(R)


@scenario(compiles=True)
def recurrent_layer(wrap):
    layer = lab.layers.LSTM(2)
    x = lab.reshape(lab.range(12.0), (2, 3, 2)) * 0.1
    layer(x)
    for k, w in enumerate(layer.weights):
        w.assign(lab.ones_like(w) * 0.1 * float(k + 1))
    f = wrap(lambda x: layer(x))
    yield f(x), f(x * 2.0)


@scenario(compiles=True)
def attention_of_one_head(wrap):
    layer = lab.layers.AdditiveAttention()
    x = lab.reshape(lab.range(12.0), (2, 3, 2)) * 0.1
    layer([x, x])
    layer.scale.assign([0.5, 2.0])
    f = wrap(lambda x: layer([x, x * 0.5], use_causal_mask=True))
    yield f(x), f(x * 2.0)


@scenario(compiles=True)
def losses(wrap):
    bce = lab.losses.BinaryCrossentropy(from_logits=True)
    cce = lab.losses.SparseCategoricalCrossentropy(from_logits=True)
    f = wrap(lambda x: (bce(lab.constant([[1.0, 0.0], [0.0, 1.0]]), x), cce(lab.constant([0, 1]), x)))
    yield f(R), f(R * 2.0)


@scenario(compiles=True)
def regularizer_by_hand(wrap):
    dense, box = _dense(1), types.SimpleNamespace(strength=0.1)

    def f(x):
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(dense(x) ** 2) + box.strength * lab.nn.l2_loss(dense.kernel)
        return tape.gradient(loss, dense.kernel)

    f = wrap(f)
    for box.strength in (0.1, 1.0):
        yield f(R)


@scenario()
def losses_collected_by_a_layer(wrap):
    kept = []

    class Own(lab.layers.Layer):
        def call(self, x):
            kept.append(lab.reduce_sum(x))
            return x * 2.0

    layer = Own()
    f = wrap(lambda x: layer(x))
    for k in (1.0, 2.0):
        yield f(X * k)
    yield kept


@scenario()
def statistics_in_numpy(wrap):
    class Own(lab.layers.Layer):
        def __init__(self):
            super().__init__()
            self.mean = np.zeros(2, "f4")

        def call(self, x):
            self.mean *= 0.5
            self.mean += 0.5 * x.numpy()
            return x - self.mean

    layer = Own()
    f = wrap(lambda x: layer(x))
    for k in (1.0, 2.0, 3.0):
        yield f(X * k)
    yield layer.mean
