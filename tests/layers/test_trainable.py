"""`trainable` set at any time, on anything that holds variables, affects what is listed, watched and trained."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

layers = lab.layers


class Branched(lab.keras.Model):
    """Layers in attributes, lists and dicts, variables beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(3, activation="relu")
        self.many = [layers.BatchNormalization(), layers.Dense(2)]
        self.named = {"last": layers.Dense(1)}
        self.scale = lab.Variable(2.0)
        self.count = lab.Variable(0.0, trainable=False)

    def call(self, x: Any) -> Any:
        for layer in (self.first, *self.many, self.named["last"]):
            x = layer(x)
        return x * self.scale + self.count


class Plain(lab.Module):
    def __init__(self) -> None:
        self.inner = layers.Dense(2)
        self.offset = lab.Variable([1.0, 2.0])

    def __call__(self, x: Any) -> Any:
        return self.inner(x) + self.offset


HOLDERS: dict[str, Callable[[], Any]] = {
    "dense": lambda: layers.Dense(2),
    "batch normalization": layers.BatchNormalization,
    "lstm": lambda: layers.LSTM(2, return_sequences=True),
    "bidirectional": lambda: layers.Bidirectional(layers.GRU(2)),
    "sequential": lambda: lab.Sequential([layers.Dense(3), layers.BatchNormalization(), layers.Dense(1)]),
    "nested": lambda: lab.Sequential([lab.Sequential([layers.Dense(3)]), layers.Dense(1)]),
    "model": Branched,
    "module": Plain,
    "discarding": lambda: layers.Dense(2).discarding_activations(),
}


def fed(holder: Any) -> Any:
    return holder(lab.constant(np.random.default_rng(1).normal(size=(4, 3, 2)).astype(np.float32)))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", HOLDERS)
def test_what_is_frozen_is_neither_listed_nor_watched_nor_changed(name: str, when: str) -> None:
    free, holder = HOLDERS[name](), HOLDERS[name]()
    fed(free)
    if when == "after":
        fed(holder)
    holder.trainable = False
    fed(holder)
    count, total = len(free.trainable_variables), len(free.variables)
    assert count
    assert not holder.trainable_variables
    assert len(holder.non_trainable_variables) == len(holder.variables) == total
    assert not any(v.trainable for v in holder.variables)
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(fed(holder))
    assert not tape.watched_variables()
    assert all(g is None for g in tape.gradient(y, list(holder.variables)))
    holder.trainable = True
    assert len(holder.trainable_variables) == count
    assert len(holder.non_trainable_variables) == total - count, "what was never trained stays so"
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(fed(holder))
    assert all(g is not None for g in tape.gradient(y, list(holder.trainable_variables)))


@pytest.mark.parametrize("name", ["sequential", "nested", "model", "module"])
def test_a_part_is_frozen_by_itself(name: str) -> None:
    holder = HOLDERS[name]()
    fed(holder)
    part = next(m for m in holder.submodules if isinstance(m, layers.Dense))
    count = len(holder.trainable_variables)
    part.trainable = False
    assert len(holder.trainable_variables) == count - 2
    assert not set(part.variables) & set(holder.trainable_variables)
    before = [v.numpy() for v in part.variables]
    others = [v.numpy() for v in holder.trainable_variables]
    optimizer = lab.optimizers.SGD(0.5)
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(fed(holder) ** 2)
    gradients = tape.gradient(loss, list(holder.trainable_variables))
    optimizer.apply_gradients(zip(gradients, holder.trainable_variables, strict=True))
    for v, value in zip(part.variables, before, strict=True):
        np.testing.assert_array_equal(v.numpy(), value)
    assert any(np.any(v.numpy() != value) for v, value in zip(holder.trainable_variables, others, strict=True))


def test_a_part_can_be_trained_inside_a_frozen_whole_once_the_whole_is_trained_again() -> None:
    """As in Keras: the whole that is not trained lists nothing, its part lists its own."""
    model = HOLDERS["nested"]()
    fed(model)
    model.trainable = False
    model.layers[0].trainable = True
    assert not model.trainable_variables
    assert len(model.layers[0].trainable_variables) == 2
    assert [part.trainable for part in model.layers] == [True, False]
    model.trainable = True
    assert len(model.trainable_variables) == 4


def test_a_variable_switched_off_by_hand_stays_off() -> None:
    layer = layers.Dense(2)
    fed(layer)
    layer.kernel.trainable = False
    assert [v.name for v in layer.trainable_variables] == [layer.bias.name]
    layer.trainable = False
    layer.trainable = True
    assert [v.name for v in layer.trainable_variables] == [layer.bias.name]


def test_a_layer_made_frozen_can_be_trained_later() -> None:
    layer = layers.Dense(2, trainable=False)
    fed(layer)
    assert not layer.trainable_weights
    assert len(layer.non_trainable_weights) == 2
    layer.trainable = True
    assert len(layer.trainable_weights) == 2


def test_frozen_batch_normalization_is_in_inference_mode() -> None:
    x = np.random.default_rng(2).normal(3, 2, (8, 4)).astype(np.float32)
    layer = layers.BatchNormalization()
    layer(x, training=True)
    used, averages = layer(x).numpy(), layer.moving_mean.numpy()
    layer.trainable = False
    np.testing.assert_array_equal(layer(x, training=True), used)
    np.testing.assert_array_equal(layer.moving_mean, averages)
    layer.trainable = True
    assert np.abs(layer(x, training=True).numpy().mean(0)).max() < 1e-5


def test_functional_gradients_leave_out_what_is_frozen() -> None:
    model = HOLDERS["nested"]()
    fed(model)
    model.layers[0].trainable = False
    gradient = lab.gradient(lambda m: lab.reduce_sum(fed(m)))(model)
    assert len(gradient.gradients) == 2
    lab.optimizers.SGD(0.1).update(model, along=gradient)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301 - our own
def test_copies_are_frozen_and_freed_by_themselves(copied: Callable[[Any], Any]) -> None:
    model = HOLDERS["sequential"]()
    fed(model)
    model.trainable = False
    other = copied(model)
    assert not other.trainable_variables
    other.trainable = True
    assert len(other.trainable_variables) == 6
    assert not model.trainable_variables


def test_a_compiled_step_hears_of_it() -> None:
    model = HOLDERS["nested"]()
    fed(model)
    optimizer = lab.optimizers.SGD(0.1)
    x = lab.ones((2, 3, 2))

    @lab.function
    def step() -> None:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(model(x) ** 2)
        variables = list(model.trainable_variables)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    step()
    step()
    before = [v.numpy() for v in model.layers[0].variables]
    model.layers[0].trainable = False
    step()
    for v, value in zip(model.layers[0].variables, before, strict=True):
        np.testing.assert_array_equal(v.numpy(), value)
