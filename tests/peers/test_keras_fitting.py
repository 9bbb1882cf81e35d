"""`fit`, functional models, new metrics and attention against Keras: the same weights, data and settings."""

import os
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
pytest.importorskip("tensorflow", reason="TensorFlow is not installed, so there is no Keras to compare with")
keras = pytest.importorskip("keras", reason="Keras is not installed, so there is no peer to compare with")
BOTH = (lab.keras, keras)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def branched(k: Any) -> Any:
    """Return a model with two outputs, penalties and constraints."""
    x = k.Input((6,))
    a = k.layers.Dense(5, "tanh", kernel_regularizer="l2", bias_regularizer=k.regularizers.L1(0.02))(x)
    b = k.layers.Dense(5, "relu", kernel_constraint=k.constraints.MaxNorm(1.0), activity_regularizer="l2")(a)
    kind = k.layers.Dense(3, name="kind")(k.layers.Concatenate()([a, b]))
    return k.Model(x, [kind, k.layers.Dense(1, name="size")(b)])


def plain(k: Any) -> Any:
    return k.Sequential([
        k.Input((6,)), k.layers.Normalization(mean=0.5, variance=0.1), k.layers.Dense(4, "gelu"),
        k.layers.Dense(3, "softmax"),
    ])  # fmt: skip


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_several_outputs_penalties_and_weights(optimizer: str) -> None:
    x, kind = rng().random((70, 6), np.float32), rng().integers(0, 3, 70)
    size, weight = rng().random((70, 1), np.float32), rng().random(70, np.float32)
    models, histories = [branched(k) for k in BOTH], []
    models[0].set_weights(models[1].get_weights())
    for model, k in zip(models, BOTH, strict=True):
        model.compile(
            getattr(k.optimizers, optimizer)(0.01), [k.losses.SparseCategoricalCrossentropy(from_logits=True), "mse"],
            loss_weights=[1.0, 0.3], metrics=[["accuracy"], ["mae"]], weighted_metrics=[[], ["mse"]],
        )  # fmt: skip
        told = model.fit(
            x, [kind, size], sample_weight=[weight, weight], epochs=4, shuffle=False, batch_size=14,
            validation_split=0.2, verbose=0,
        )  # fmt: skip
        histories.append(told.history)
    ours, theirs = histories
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-4, atol=1e-5, err_msg=name)
    for mine, yours in zip(*(model.get_weights() for model in models), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-4, atol=1e-5)


def test_class_weights_and_metrics_by_name() -> None:
    x, y = rng().random((70, 6), np.float32), rng().integers(0, 3, 70)
    models, told = [plain(k) for k in BOTH], []
    models[0].set_weights(models[1].get_weights())
    for model in models:
        model.compile("adam", "sparse_categorical_crossentropy",
                      metrics=["acc", "sparse_top_k_categorical_accuracy"])  # fmt: skip
        told.append(model.fit(x, y, class_weight={0: 2.0, 1: 0.5}, epochs=2, shuffle=False, verbose=0).history)
        told[-1] |= model.evaluate(x, y, verbose=0, return_dict=True)
    assert set(told[0]) == set(told[1])
    for name, values in told[1].items():
        np.testing.assert_allclose(told[0][name], values, rtol=1e-4, atol=1e-5, err_msg=name)


METRICS: list[tuple[str, dict[str, Any]]] = [
    ("AUC", {}), ("AUC", {"curve": "PR"}), ("AUC", {"num_thresholds": 5}),
    ("AUC", {"num_thresholds": 5, "curve": "PR"}), ("Precision", {}), ("Recall", {"thresholds": [0.2, 0.7]}),
    ("Precision", {"thresholds": 0.3}), ("Precision", {"top_k": 2}), ("Recall", {"class_id": 1}),
    ("Precision", {"top_k": 1, "class_id": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_decisions(name: str, options: dict[str, Any], weighted: bool) -> None:
    true = (rng().random((30, 4)) > 0.5).astype(np.float32)
    found = []
    for k in BOTH:
        metric = getattr(k.metrics, name)(**options)
        for seed in range(2):
            random = np.random.default_rng(seed)
            guessed = random.random((30, 4), np.float32)
            weight = random.random(30 if "class_id" in options else (30, 4), np.float32)
            metric.update_state(true, guessed, sample_weight=weight if weighted else None)
        found.append(np.asarray(metric.result()))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)


def test_attention_and_its_weights() -> None:
    query, value = rng().random((3, 5, 8), np.float32), rng().random((3, 6, 7), np.float32)
    mask = rng().random((3, 5, 6)) > 0.3
    ours, theirs = (k.layers.MultiHeadAttention(2, 4, value_dim=3) for k in BOTH)
    for layer in (ours, theirs):
        layer(query, value)
    ours.set_weights(theirs.get_weights())
    for options in ({"attention_mask": mask}, {"use_causal_mask": True}, {}):
        mine, yours = (layer(query, value, **options).numpy() for layer in (ours, theirs))
        np.testing.assert_allclose(mine, yours, rtol=1e-5, atol=1e-6)
    scores = [layer(query, value, return_attention_scores=True)[1].numpy() for layer in (ours, theirs)]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-6)


def test_normalization_adapts_to_the_same_numbers() -> None:
    x = rng().random((20, 3, 4), np.float32)
    for axis in (-1, 1, (1, 2), None):
        ours, theirs = (k.layers.Normalization(axis=axis) for k in BOTH)
        for layer in (ours, theirs):
            layer.adapt(x)
        np.testing.assert_allclose(ours(x).numpy(), np.asarray(theirs(x)), rtol=1e-4, atol=1e-5)
