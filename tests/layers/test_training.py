"""Training: losses fall, a known run is reproduced number by number, digits are learned with a progress bar."""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.tree import ROOT


def digits() -> Any:
    spec = importlib.util.spec_from_file_location("digits_training", ROOT / "tests" / "data" / "digits_training.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_small_network_learns_handwritten_digits(
    figure: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    model, accuracies = digits().train()
    figure("digits, accuracy on unseen images", f"{accuracies[-1]:.1%} after {len(accuracies)} passes")
    assert accuracies[-1] > 0.9
    assert accuracies[-1] > accuracies[0]
    assert len(model.trainable_variables) == 6
    bars = capsys.readouterr().err
    assert "pass 1:" in bars
    assert "22/22" in bars
    assert "loss=" in bars


def test_the_same_seed_trains_the_same_network() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    first, second = (digits().train(passes=1, seed=4, progress=False)[0] for _ in range(2))
    for a, b in zip(first.variables, second.variables, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_step_along_the_gradient_makes_the_loss_smaller() -> None:
    """Convolution, pooling, flattening, dense; the convolution keeps its activations or computes them again."""
    rng = np.random.default_rng(0)
    images, labels = lab.constant(rng.normal(size=(10, 16, 16, 3)).astype(np.float32)), lab.range(0, 10, 1)
    runs = []
    for thin in (False, True):
        lab.random.set_seed(0)
        conv: Any = lab.layers.Conv2D(6, (5, 5))
        if thin:
            conv = conv.discarding_activations()
        model = lab.Sequential([conv, lab.layers.MaxPool2D(2), lab.layers.Flatten(), lab.layers.Dense(10)])
        optimizer, losses = lab.optimizers.SGD(0.01), []
        for _ in range(5):
            with lab.GradientTape() as tape:
                loss = lab.nn.softmax_cross_entropy(logits=model(images), labels=labels)
            optimizer.apply_gradients(
                zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
            )
            losses.append(float(loss))
        assert losses == sorted(losses, reverse=True)
        runs.append(losses)
    np.testing.assert_allclose(runs[0], runs[1], 1e-6)


def test_a_batch_normalised_network_trains_and_is_used_with_its_averages() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 5.0, (64, 2)).astype(np.float32)
    y = (x[:, :1] > x[:, 1:]).astype(np.float32)
    lab.random.set_seed(1)
    model = lab.Sequential([lab.layers.BatchNormalization(momentum=0.8), lab.layers.Dense(1)])
    measure, optimizer = lab.losses.BinaryCrossentropy(from_logits=True), lab.optimizers.Adam(0.05)
    for _ in range(100):
        with lab.GradientTape() as tape:
            loss = measure(y, model(x, training=True))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
    assert float(lab.metrics.BinaryAccuracy(threshold=0.0)(y, model(x))) > 0.95
