"""`compile`, `fit`, `evaluate` and `predict`: the numbers of a loop by hand, and every form of data."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.training import fitting
from tests.refusals import refused
from tests.training.programs import branched, dense, keras, table

X, Y = table()
LOSS = "sparse_categorical_crossentropy"


def by_hand(model: Any, epochs: int, size: int) -> list[float]:
    """Train as `fit` should, without shuffling, and return the loss of each epoch."""
    optimizer, loss_of, means = lab.optimizers.Adam(0.01), lab.losses.SparseCategoricalCrossentropy(), []
    for _ in range(epochs):
        mean = lab.metrics.Mean()
        for start in range(0, len(X), size):
            x, y = X[start : start + size], Y[start : start + size]
            with lab.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            mean.update_state(loss, sample_weight=float(len(x)))
        means.append(float(mean.result()))
    return means


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": True}, {}])
def test_fit_takes_the_steps_of_a_loop_by_hand(options: dict[str, Any]) -> None:
    ours, other = dense(), dense()
    ours.compile(lab.optimizers.Adam(0.01), LOSS, **options)
    history = ours.fit(X, Y, batch_size=20, epochs=3, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], by_hand(other, 3, 20), rtol=1e-6)
    for mine, yours in zip(ours.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-5, atol=1e-6)


def test_many_steps_are_compiled_and_the_batch_that_is_shorter_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def noted(step: Any) -> Any:
        made.append(lab.function(step))
        return made[-1]

    monkeypatch.setattr(fitting, "function", noted)
    model = dense()
    model.compile("sgd", LOSS)
    model.fit(X, Y, batch_size=20, epochs=2, verbose=0)
    assert not made
    monkeypatch.setattr(fitting, "WORTH_COMPILING", 6)
    model.fit(X, Y, batch_size=20, epochs=2, verbose=0)
    (step,) = made
    assert (step.compiled, step.fallbacks) == (True, 0)
    assert "1 signatures" in repr(step)


def test_arrays_datasets_generators_and_sequences_of_batches_are_the_same_data() -> None:
    class Batches(keras.utils.PyDataset):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            return X[16 * index : 16 * index + 16], Y[16 * index : 16 * index + 16]

    class Old:
        """As Keras's Sequence, without iteration."""

        __len__, __getitem__ = Batches.__len__, Batches.__getitem__

    def endless() -> Any:
        while True:
            for i in range(3):
                yield Batches()[i]

    dataset = lab.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    rows = {"y": Y, "batch_size": 16, "shuffle": False}
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (X, rows), (lab.constant(X), rows), (dataset, {}), (Batches(), {}), (Old(), {}),
        (endless(), {"steps_per_epoch": 3}), (dataset.repeat(), {"steps_per_epoch": 3}),
    ]  # fmt: skip
    found = []
    for x, options in kinds:
        model = dense()
        model.compile("sgd", LOSS, metrics=["accuracy"])
        found.append(model.fit(x, epochs=2, verbose=0, **options).history)
    assert all(history == found[0] for history in found)
    assert found[0]["loss"][1] < found[0]["loss"][0]


def test_data_that_ends_early_is_told(caplog: pytest.LogCaptureFixture) -> None:
    model = dense()
    model.compile("sgd", LOSS)
    with caplog.at_level(logging.WARNING, logger="autodiff_lab"):
        model.fit(iter([(X, Y)]), steps_per_epoch=3, verbose=0)
    assert "the data ended before steps_per_epoch batches" in caplog.text


def test_validation_uses_the_last_examples_or_other_data() -> None:
    model = dense()
    model.compile("sgd", LOSS, metrics=["accuracy"])
    history = model.fit(X, Y, epochs=4, validation_split=0.25, validation_freq=2, verbose=0).history
    assert (len(history["loss"]), len(history["val_loss"]), len(history["val_accuracy"])) == (4, 2, 2)
    assert history["val_loss"][-1] == pytest.approx(model.evaluate(X[36:], Y[36:], verbose=0)[0], rel=1e-6)
    other = model.fit(X, Y, validation_data=(X[:8], Y[:8]), verbose=0).history
    assert other["val_loss"] == [pytest.approx(model.evaluate(X[:8], Y[:8], verbose=0)[0], rel=1e-6)]


def test_weights_of_examples_and_classes_multiply() -> None:
    losses = []
    weights = np.array([2.0, 1.0, 0.5], np.float32)[Y]
    for options in ({"sample_weight": weights}, {"class_weight": {0: 2.0, 2: 0.5}}, {}):
        model = dense()
        model.compile("sgd", LOSS)
        losses.append(model.fit(X, Y, batch_size=48, verbose=0, **options).history["loss"][0])
    assert losses[0] == losses[1] != losses[2]
    each = lab.losses.SparseCategoricalCrossentropy(reduction=None)(Y, dense()(X)).numpy()
    assert losses[0] == pytest.approx(float(np.mean(each * weights)), rel=1e-6)


def test_several_inputs_and_outputs_by_list_and_by_name() -> None:
    rng = np.random.default_rng(1)
    right, size = rng.normal(size=(48, 2)), rng.normal(size=(48, 1))
    histories = []
    for x, y, losses, metrics in (
        ([X, right], [Y, size], [LOSS, "mse"], [["accuracy"], ["mae"]]),
        ({"left": X, "right": right}, {"kind": Y, "size": size}, {"kind": LOSS, "size": "mse"},
         {"kind": ["accuracy"], "size": ["mae"]}),
    ):  # fmt: skip
        model = branched()
        model.compile("sgd", losses, loss_weights=[1.0, 0.5], metrics=metrics)
        histories.append(model.fit(x, y, epochs=2, shuffle=False, verbose=0).history)
    assert histories[0] == histories[1]
    assert list(histories[0]) == ["loss", "kind_loss", "size_loss", "kind_accuracy", "size_mae"]
    total = histories[0]
    np.testing.assert_allclose(
        total["loss"], np.add(total["kind_loss"], np.multiply(0.5, total["size_loss"])), rtol=1e-6
    )
    kind, number = branched().predict([X, right], batch_size=7)
    assert (kind.shape, number.shape) == ((48, 3), (48, 1))


def test_penalties_and_added_losses_are_part_of_the_loss() -> None:
    class Small(lab.layers.Layer):
        def call(self, x: Any) -> Any:
            self.add_loss(lab.reduce_mean(abs(x)))
            return x

    plain, model = dense(), dense(kernel_regularizer=keras.regularizers.L1L2(0.1, 0.2), activity_regularizer="l2")
    model.add(Small())
    model(X)
    model(X)  # the losses of the last call alone count
    kernel, hidden = model.layers[0].kernel.numpy(), model.layers[0](X).numpy()
    model(X)
    wanted = [0.1 * np.abs(kernel).sum() + 0.2 * (kernel**2).sum(), 0.01 * (hidden**2).sum() / 48,
              np.abs(model(X).numpy()).mean()]  # fmt: skip
    np.testing.assert_allclose([float(loss) for loss in model.losses], wanted, rtol=1e-5)
    for each in (plain, model):
        each.compile("sgd", LOSS)
    apart = model.evaluate(X, Y, verbose=0, batch_size=48) - plain.evaluate(X, Y, verbose=0, batch_size=48)
    assert apart == pytest.approx(sum(wanted), rel=1e-5)


def test_a_constraint_holds_after_each_step() -> None:
    model = dense(kernel_constraint=keras.constraints.MaxNorm(0.5), bias_constraint="non_neg")
    model.compile(lab.optimizers.SGD(1.0), LOSS)
    model.fit(X, Y, verbose=0)
    assert np.linalg.norm(model.layers[0].kernel.numpy(), axis=0).max() <= 0.5 + 1e-6
    assert model.layers[0].bias.numpy().min() >= 0


def test_a_train_step_of_ones_own_is_used() -> None:
    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.seen = dense(), lab.metrics.Mean(name="seen")

        def call(self, x: Any) -> Any:
            return self.inner(x)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y, *_ = data
            with lab.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables),
                                               self.trainable_variables, strict=True))  # fmt: skip
            self.seen.update_state(float(x.shape[0]))
            return {"seen": self.seen.result()}

    model = Own()
    model.compile("sgd", LOSS)
    assert model.fit(X, Y, batch_size=16, verbose=0).history == {"seen": [16.0]}


def test_single_batches() -> None:
    model = dense()
    model.compile("sgd", LOSS, metrics=["accuracy"])
    before = model.test_on_batch(X, Y)
    trained = model.train_on_batch(X, Y, return_dict=True)
    assert [trained["loss"], trained["accuracy"]] == before
    assert model.train_on_batch(X, Y)[0] < before[0]
    np.testing.assert_array_equal(model.predict_on_batch(X), model(X).numpy())
    np.testing.assert_allclose(model.predict(X, batch_size=7), model(X).numpy(), rtol=1e-6)


@pytest.mark.parametrize(("loss", "y", "kind"), [
    (LOSS, Y, "SparseCategoricalAccuracy"),
    ("categorical_crossentropy", keras.utils.to_categorical(Y, 3), "CategoricalAccuracy"),
])  # fmt: skip
def test_accuracy_is_the_one_that_fits_the_labels(loss: str, y: Any, kind: str) -> None:
    model = dense()
    model.compile("sgd", loss, metrics=["acc"])
    model.evaluate(X, y, verbose=0)
    assert [(type(metric).__name__, metric.name) for metric in model.metrics[1:]] == [(kind, "acc")]


def unready(**options: Any) -> Callable[[], Any]:
    def run() -> Any:
        model = dense()
        model.compile("sgd", LOSS)
        return model.fit(**{"x": X, "y": Y, "verbose": 0, **options})

    return run


def compiling(*args: Any, **options: Any) -> Callable[[], Any]:
    return lambda: dense().compile(*args, **options)


@pytest.mark.parametrize(("run", "error", "words"), [
    (lambda: dense().fit(X, Y), InvalidArgumentError, r"no optimizer and no loss yet. Try model.compile"),
    (unready(y=Y[:5]), ShapeMismatch, r"the same number of examples, got \[5, 48\]"),
    (unready(x=None), InvalidArgumentError, "x is None"),
    (unready(x=7), InvalidArgumentError, "x must be arrays or an iterable of batches, got int"),
    (unready(batch_size=0), InvalidArgumentError, "batch_size must be at least 1"),
    (unready(validation_split=1.0), InvalidArgumentError, "leaves one part empty"),
    (unready(x=iter([(X, Y)])), InvalidArgumentError, "y cannot be given with a list_iterator"),
    (unready(x=iter([(X, Y)]), y=None, validation_split=0.5), InvalidArgumentError, "validation_split needs arrays"),
    (unready(x=iter([]), y=None), InvalidArgumentError, "the data has no batches"),
    (unready(x=iter([(X, Y, Y, Y)]), y=None), InvalidArgumentError, "got a tuple of 4 items"),
    (unready(callbacks=[print]), InvalidArgumentError, "must be instances of lab.callbacks.Callback"),
    (unready(y=None), InvalidArgumentError, "there is no loss to train with"),
    (compiling("adamm"), InvalidArgumentError, "unknown optimizer 'adamm'. Try one of: Adadelta, Adagrad, Adam"),
    (compiling("adam", "msee"), InvalidArgumentError, "unknown loss 'msee'"),
    (compiling("adam", LOSS, ["acc"]), InvalidArgumentError, r"loss_weights must be numbers, got 'acc'. Try metrics="),
    (compiling("adam", LOSS, los="mse"), TypeError, "unexpected keyword argument 'los'"),
])  # fmt: skip
def test_what_cannot_be_trained_is_refused(run: Callable[[], Any], error: type[Exception], words: str) -> None:
    with refused(error, words):
        run()


def absolute(y_true: Any, y_pred: Any) -> Any:
    return lab.reduce_mean(lab.abs(y_true - y_pred), axis=-1)


@pytest.mark.parametrize("own", [absolute, lab.losses.MAE, lab.losses.mean_absolute_error])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_function_is_a_loss(own: Any, weighted: bool) -> None:
    """Labels have the dtype of the predictions, and the mean over examples is weighted, as with a loss object."""
    x, y = X[:40], np.arange(80.0).reshape(40, 2) / 100
    weights = np.linspace(0, 1, 40) if weighted else None
    histories = []
    for loss in (own, lab.losses.MeanAbsoluteError()):
        lab.random.set_seed(4)
        model = lab.Sequential([lab.layers.Dense(2)])
        model.compile("sgd", loss)
        histories.append(model.fit(x, y, sample_weight=weights, epochs=3, verbose=0).history["loss"])
    np.testing.assert_allclose(histories[0], histories[1], 1e-6)
