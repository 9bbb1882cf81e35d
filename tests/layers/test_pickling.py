"""Ops, layers, models, optimizers and related objects through pickle and copy: same values, separate state."""

import copy
import importlib
import multiprocessing
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_origin

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import REGISTRY
from tests.amputation import public
from tests.layers.test_gradients import TABLE, spread
from tests.test_exports import PUBLIC, listed


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


@pytest.mark.parametrize("name", public(PUBLIC))
def test_every_public_function_and_class_is_pickled_by_its_name(name: str) -> None:
    module = importlib.import_module(name)
    for exported in listed(module):
        value = getattr(module, exported)
        if callable(value) and not isinstance(value, ModuleType):
            for other in (pickled(value), copy.deepcopy(value)):
                # A union is made again unless Python's typing still has it in its cache.
                assert other is value or (get_origin(value) is not None and other == value), exported


def test_every_op_of_the_registry_is_pickled_by_its_name() -> None:
    for name in REGISTRY:
        op = getattr(RECORDING, name)
        public = getattr(op, "public", op)
        assert pickled(public) is public, name


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("name", [name for name in TABLE if name != "lambda"])
def test_a_layer_comes_back_with_its_weights(name: str, copied: Callable[[Any], Any]) -> None:
    make, shape, _, _ = TABLE[name]
    new = copied(make())
    layer, x = make(), lab.constant(spread(shape))
    expected = layer(x)
    other = copied(layer)
    np.testing.assert_array_equal(other(x), expected)
    assert not set(other.variables) & set(layer.variables)
    assert new(x).shape == expected.shape, "one that is not built is built later"


class Model(lab.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.body = lab.Sequential([lab.layers.Dense(3, activation="relu"), lab.layers.Dense(1, activation=lab.tanh)])
        self.start = lab.layers.Dense(2, kernel_initializer=lab.initializers.glorot_uniform(3))

    def call(self, x: Any) -> Any:
        return self.body(self.start(x))


def stepped(model: Any, optimizer: Any) -> None:
    x = lab.constant(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))
    with lab.GradientTape() as tape:
        loss = lab.losses.MeanSquaredError()(lab.ones((5, 1)), model(x))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, list(variables)), variables, strict=True))


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: lab.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: lab.optimizers.Adam(lab.optimizers.schedules.CosineDecay(0.1, 10)),
    "adamw": lambda: lab.optimizers.AdamW(0.1, clipnorm=1.0),
    "rmsprop": lambda: lab.optimizers.RMSprop(0.1),
    "adagrad": lambda: lab.optimizers.Adagrad(0.1),
    "nadam": lambda: lab.optimizers.Nadam(0.1),
    "adamax": lambda: lab.optimizers.Adamax(0.1),
    "adadelta": lambda: lab.optimizers.Adadelta(0.1),
}


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_goes_on_where_it_was(name: str, copied: Callable[[Any], Any]) -> None:
    training = (Model(), OPTIMIZERS[name]())
    stepped(*training)
    other = copied(training)
    for _ in range(2):
        stepped(*training)
        stepped(*other)
    assert int(other[1].iterations) == 3
    for v, w in zip(training[0].variables, other[0].variables, strict=True):
        np.testing.assert_allclose(v, w, rtol=1e-5, atol=1e-7)  # arrays that lie elsewhere may round differently


VALUES: dict[str, Callable[[], Any]] = {
    "float32": lambda: lab.constant([[1.0, 2.0]]),
    "bfloat16": lambda: lab.constant([1.0, np.nan], lab.bfloat16),
    "complex": lambda: lab.constant([1 + 2j]),
    "strings": lambda: lab.constant(["a", "nan"]),
    "a number": lambda: lab.constant(3),
    "empty": lambda: lab.zeros((0, 3)),
    "a variable": lambda: lab.Variable([1.0], trainable=False, name="kept", shape=lab.TensorShape(None)),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_tensor_keeps_its_value_its_dtype_and_its_name(name: str) -> None:
    value = VALUES[name]()
    for copied in (pickled, copy.deepcopy):
        other = copied(value)
        assert (other.dtype, other.shape, repr(other)) == (value.dtype, value.shape, repr(value))


def test_metrics_generators_and_schedules_go_on_where_they_were() -> None:
    metric = lab.metrics.MeanSquaredError()
    metric.update_state([1.0, 2.0], [1.0, 4.0])
    generator = lab.random.Generator.from_seed(3)
    generator.normal((2,))
    for copied in (pickled, copy.deepcopy):
        other = copied(metric)
        other.update_state([0.0, 0.0], [4.0, 0.0])
        assert (float(metric.result()), float(other.result())) == (2.0, 5.0)
        one, two = copied(generator), copied(generator)
        np.testing.assert_array_equal(one.normal((3,)), two.normal((3,)))
        schedule = copied(lab.optimizers.schedules.PolynomialDecay(1.0, 10, power=2.0))
        assert schedule(5) == lab.optimizers.schedules.PolynomialDecay(1.0, 10, power=2.0)(5)
        loss = copied(lab.losses.Huber(delta=2.0, reduction="sum"))
        assert float(loss([0.0], [3.0])) == 4.0


@pytest.mark.slow
def test_a_process_that_is_started_afresh_gets_the_model_and_gives_it_back() -> None:
    model = Model()
    x = np.ones((2, 4), np.float32)
    expected = model(x).numpy()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        value, other, op = pool.apply(called, (model, x, lab.nn.relu))
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(other(x), expected)
    assert op is lab.nn.relu


def called(model: Any, x: Any, op: Any) -> tuple[Any, Any, Any]:
    """Run the model in the other process."""
    return model(x).numpy(), model, op
