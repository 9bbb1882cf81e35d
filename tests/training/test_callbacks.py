"""Callbacks: the moments at which they run, and what each of them does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.training.progress import chosen
from tests.refusals import refused
from tests.training.programs import dense, keras, table

callbacks = keras.callbacks
X, Y = table()


def trained(*given: Any, epochs: int = 5, rate: float = 0.1, **options: Any) -> Any:
    """Return a model after training with callbacks."""
    model = dense()
    model.compile(lab.optimizers.SGD(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(X, Y, batch_size=24, epochs=epochs, callbacks=list(given), **{"verbose": 0, **options})
    return model


def test_moments_come_in_order() -> None:
    seen: list[str] = []

    class Listening(callbacks.Callback):
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_"):
                return lambda *given: seen.append(name.removeprefix("on_"))
            return super().__getattribute__(name)

    model = dense()
    model.compile("sgd", "sparse_categorical_crossentropy")
    # Keras takes one callback alone, and the one input in a list.
    model.fit([X], Y, batch_size=24, verbose=0, callbacks=Listening(), validation_data=(X, Y))
    step = ["train_batch_begin", "train_batch_end"]
    tests = ["test_begin", *["test_batch_begin", "test_batch_end"] * 2, "test_end"]
    assert seen == ["train_begin", "epoch_begin", *step * 2, *tests, "epoch_end", "train_end"]


def test_early_stopping_restores_the_best_weights() -> None:
    values = iter([3.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    weights: list[Any] = []

    class Scripted(callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            logs["score"] = next(values)
            weights.append(self.model.get_weights())

    stopping = callbacks.EarlyStopping("score", patience=2, restore_best_weights=True, mode="min")
    model = trained(Scripted(), stopping, epochs=20)
    assert (len(model.history.epoch), stopping.best_epoch, stopping.stopped_epoch) == (4, 1, 3)
    for mine, best in zip(model.get_weights(), weights[1], strict=True):
        np.testing.assert_array_equal(mine, best)


@pytest.mark.parametrize(("name", "values", "stops"), [
    ("accuracy", [0.1, 0.2, 0.3, 0.4], 4), ("accuracy", [0.4, 0.3, 0.2, 0.1], 2), ("loss", [4.0, 3.0, 2.0, 1.0], 4),
    ("loss", [1.0, 2.0, 3.0, 4.0], 2), ("loss", [float("nan")] * 4, 2),
])  # fmt: skip
def test_the_name_of_a_value_says_whether_more_is_better(name: str, values: list[float], stops: int) -> None:
    given = iter(values)
    script = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update({name: next(given)}))
    assert len(trained(script, callbacks.EarlyStopping(name, patience=1), epochs=4).history.epoch) == stops


def test_the_learning_rate_is_scheduled_and_reduced() -> None:
    halving = callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2 if epoch else rate)
    model = trained(halving, epochs=3, rate=0.4)
    np.testing.assert_allclose(model.history.history["learning_rate"], [0.4, 0.2, 0.1])
    slower = callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=100.0, min_lr=0.15)
    np.testing.assert_allclose(trained(slower, epochs=4, rate=0.4).optimizer.learning_rate, 0.15)


def test_a_checkpoint_keeps_the_best_epoch(tmp_path: Path) -> None:
    script = iter([2.0, 1.0, 3.0])
    score = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update({"score": next(script)}))
    keep = callbacks.ModelCheckpoint(tmp_path / "{epoch:02d}-{score:.1f}.keras", "score", save_best_only=True)
    weights = callbacks.ModelCheckpoint(tmp_path / "last.npz", save_weights_only=True)
    model = trained(score, keep, weights, epochs=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01-2.0.keras", "02-1.0.keras", "last.npz"]
    other = dense()
    other.load_weights(tmp_path / "last.npz")
    np.testing.assert_array_equal(other(X).numpy(), model(X).numpy())


def test_a_file_of_values_and_a_loss_that_is_not_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    trained(callbacks.CSVLogger(path), epochs=2)
    trained(callbacks.CSVLogger(path, append=True), epochs=1)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "epoch,loss,accuracy"
    assert [line.partition(",")[0] for line in lines[1:]] == ["0", "1", "0"]
    model = trained(callbacks.TerminateOnNaN(), rate=float("nan"), epochs=5)
    assert len(model.history.epoch) == 1
    assert "the loss is nan; training stops" in capsys.readouterr().out


def test_progress_is_lines_or_bars(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen("auto") == 2  # the output of a test is not a screen
    trained(epochs=2, verbose=2)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Epoch 1/2 - ")
    assert "loss: " in second
    assert "accuracy: " in second
    pytest.importorskip("tqdm", reason="tqdm, which draws the bars, is not installed")
    trained(epochs=1, verbose=1)
    assert "Epoch 1/1: 100%" in capsys.readouterr().out


@pytest.mark.parametrize(("run", "words"), [
    (lambda: callbacks.EarlyStopping(mode="up"), "mode must be 'auto', 'min' or 'max'"),
    (lambda: callbacks.ReduceLROnPlateau(factor=2.0), "factor must be less than 1"),
    (lambda: callbacks.LambdaCallback(on_epoch_ends=print), "unknown hook 'on_epoch_ends'"),
    (lambda: trained(callbacks.EarlyStopping()), r"'val_loss' is not among the logged values.*validation_data"),
])  # fmt: skip
def test_settings_that_make_no_sense_are_refused(run: Callable[[], Any], words: str) -> None:
    with refused(InvalidArgumentError, words):
        run()
