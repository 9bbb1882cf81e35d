"""Losses, metrics, optimizers and schedules against Keras, with random options, shapes and weights.

FUZZ_COUNT in the environment says how many are compared; 300 without it.
"""

import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed, so there is no Keras to compare with")
keras = pytest.importorskip("keras", reason="Keras is not installed, so there is no peer to compare with")
from tests.peers.seeds import compare_all  # noqa: E402

LOSSES: dict[str, dict[str, tuple[Any, ...]]] = {
    "MeanSquaredError": {}, "MeanAbsoluteError": {}, "MeanAbsolutePercentageError": {},
    "MeanSquaredLogarithmicError": {}, "Huber": {"delta": (1.0, 0.3)}, "LogCosh": {}, "Hinge": {}, "SquaredHinge": {},
    "Poisson": {}, "KLDivergence": {}, "CosineSimilarity": {"axis": (-1, 0)},
    "BinaryCrossentropy": {"from_logits": (True, False), "label_smoothing": (0.0, 0.2)},
    "CategoricalCrossentropy": {"from_logits": (True, False), "label_smoothing": (0.0, 0.2), "axis": (-1, 1)},
    "SparseCategoricalCrossentropy": {"from_logits": (True, False), "ignore_class": (None, 1, -1)},
}  # fmt: skip
REDUCTIONS = ("sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "none", None)
METRICS = (
    "Mean", "Sum", "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
    "MeanSquaredError", "MeanAbsoluteError", "RootMeanSquaredError",
)  # fmt: skip
OPTIMIZERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "SGD": {"momentum": (0.0, 0.9), "nesterov": (True, False)},
    "Adam": {"beta_1": (0.9, 0.5), "epsilon": (1e-7, 1e-3), "amsgrad": (True, False)},
    "AdamW": {"weight_decay": (0.004, 0.1)},
    "RMSprop": {"rho": (0.9, 0.5), "momentum": (0.0, 0.5), "centered": (True, False)},
    "Adagrad": {"initial_accumulator_value": (0.1, 1.0)},
    "Nadam": {"beta_1": (0.9, 0.5), "epsilon": (1e-7, 1e-3)},
    "Adamax": {"beta_2": (0.999, 0.5), "epsilon": (1e-7, 1e-3)},
    "Adadelta": {"rho": (0.95, 0.5), "epsilon": (1e-7, 1e-3)},
}
SHARED: dict[str, tuple[Any, ...]] = {
    "learning_rate": (0.1, 0.01), "clipnorm": (0.5,), "global_clipnorm": (0.5,), "clipvalue": (0.2,),
    "weight_decay": (0.05,),
}  # fmt: skip
SCHEDULES: dict[str, dict[str, tuple[Any, ...]]] = {
    "ExponentialDecay": {"decay_rate": (0.5,), "staircase": (True, False)},
    "InverseTimeDecay": {"decay_rate": (0.5,), "staircase": (True, False)},
    "PolynomialDecay": {"end_learning_rate": (0.0, 0.1), "power": (1.0, 2.0), "cycle": (True, False)},
    "CosineDecay": {"alpha": (0.0, 0.2), "warmup_target": (None, 1.5), "warmup_steps": (0, 4)},
    "CosineDecayRestarts": {"t_mul": (2.0, 1.5), "m_mul": (1.0, 0.5), "alpha": (0.0, 0.2)},
}


def options(table: dict[str, tuple[Any, ...]], random: Random) -> dict[str, Any]:
    return {name: random.choice(values) for name, values in table.items() if random.random() < 0.6}


def of_losses(seed: int) -> str:
    random, rng = Random(seed), np.random.default_rng(seed)
    name = random.choice(sorted(LOSSES))
    how = {**options(LOSSES[name], random), "reduction": random.choice(REDUCTIONS)}
    shape = random.choice([(4,), (4, 3), (2, 3, 4), (4, 1), (0, 3), (1, 2)])
    p = rng.normal(size=shape) if how.get("from_logits") or name in ("Hinge", "Huber") else rng.random(shape)
    edge = np.where(rng.random(shape) < 0.1, np.round(rng.random(shape)), p)
    p = (edge if "Crossentropy" in name and random.random() < 0.5 else p).astype(np.float32)
    y: Any = rng.integers(0, 2, shape).astype(np.float32)
    if name.startswith("Sparse"):
        y = rng.integers(0, shape[-1], shape[:-1]).astype(np.int32)
    elif random.random() < 0.3:
        y = rng.random(shape).astype(np.float32)
        if shape[-1] == 1 and random.random() < 0.5:
            y = y[..., 0]
    w = random.choice([None, None, 2.0, rng.random(shape[:1]), rng.random((*shape[:1], 1)), rng.random(shape[:-1])])
    w = None if w is None else np.asarray(w, np.float32)

    def asked(library: Any, losses: Any) -> tuple[Any, Any]:
        given = library.constant(p)
        with library.GradientTape() as tape:
            tape.watch(given)
            value = getattr(losses, name)(**how)(y, given, sample_weight=w)
        return np.asarray(value), np.asarray(library.convert_to_tensor(tape.gradient(value, given)))

    where = f"seed {seed}: {name}({how}), y {y.shape}, p {p.shape}, w {None if w is None else w.shape}"
    try:
        expected = asked(tf, keras.losses)
    except Exception as error:  # noqa: BLE001 - what Keras refuses has no answer
        return f"refused by Keras: loss, {type(error).__name__}"
    for e, f in zip(expected, asked(lab, lab.losses), strict=True):
        np.testing.assert_allclose(f, e, 2e-4, 2e-6, err_msg=where)
    config = getattr(lab.losses, name)(**how).get_config()
    assert getattr(lab.losses, name).from_config(config).get_config() == config
    return "compared: losses"


def of_metrics(seed: int) -> str:
    random, rng = Random(seed), np.random.default_rng(seed)
    name, shape = random.choice(METRICS), random.choice([(4,), (4, 1), (4, 3), (2, 3, 4), (1,), (4, 3, 1)])
    theirs, ours = getattr(keras.metrics, name)(), getattr(lab.metrics, name)()
    weights = random.choice([None, (), shape[:1], (*shape[:1], 1), shape, shape[:2], (1,)])
    where = f"seed {seed}: {name}, {shape}, weights {weights}"
    for _ in range(2):
        y, p = rng.integers(0, 2, shape), rng.random(shape).astype(np.float32)
        p = np.round(p) if name == "Accuracy" else rng.random((*shape, 3)) if name.startswith("Sparse") else p
        w = None if weights is None else rng.integers(0, 3, weights).astype(np.float32)
        arguments = (p,) if name in ("Mean", "Sum") else (y.astype(np.float32), p.astype(np.float32))
        try:
            theirs.update_state(*arguments, sample_weight=w)
        except Exception as error:  # noqa: BLE001 - what Keras refuses has no answer
            return f"refused by Keras: metric, {type(error).__name__}"
        ours.update_state(*arguments, sample_weight=w)
    np.testing.assert_allclose(float(ours.result()), float(theirs.result()), 1e-5, 1e-6, err_msg=where)
    assert ours.name == getattr(keras.metrics, name)().name.rstrip("_0123456789")
    return "compared: metrics"


def of_optimizers(seed: int) -> str:
    random, rng = Random(seed), np.random.default_rng(seed)
    name = random.choice(sorted(OPTIMIZERS))
    how = options(OPTIMIZERS[name], random)
    for option, values in SHARED.items():
        if random.random() < 0.3 and not (option.startswith(("clip", "global")) and any("clip" in o for o in how)):
            how.setdefault(option, random.choice(values))
    start = [rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=()).astype(np.float32)]
    theirs, ours = [keras.Variable(v) for v in start], [lab.Variable(v) for v in start]
    peer, mine = getattr(keras.optimizers, name)(**how), getattr(lab.optimizers, name)(**how)
    for _ in range(random.choice((1, 5, 20))):
        gradients = [(rng.normal(size=v.shape) * 3).astype(np.float32) for v in start]
        peer.apply_gradients(list(zip([tf.constant(g) for g in gradients], theirs, strict=True)))
        mine.apply_gradients(list(zip([lab.constant(g) for g in gradients], ours, strict=True)))
    for v, w in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(w.numpy(), v.numpy(), 2e-4, 2e-5, err_msg=f"seed {seed}: {name}({how})")
    return "compared: optimizers"


def of_schedules(seed: int) -> str:
    random = Random(seed)
    name = random.choice(sorted(n for n in SCHEDULES if hasattr(lab.optimizers.schedules, n)))
    how = options(SCHEDULES[name], random)
    if name in ("ExponentialDecay", "InverseTimeDecay"):
        how["decay_rate"] = 0.5
    first = "first_decay_steps" if name == "CosineDecayRestarts" else "decay_steps"
    how |= {"initial_learning_rate": 0.7, first: random.choice((5, 10))}
    peer, mine = (getattr(s, name)(**how) for s in (keras.optimizers.schedules, lab.optimizers.schedules))
    for step in range(25):
        np.testing.assert_allclose(
            float(mine(step)), float(peer(step)), 1e-5, 1e-6, err_msg=f"seed {seed}: {name}({how})({step})"
        )
    assert type(mine).from_config(mine.get_config()).get_config() == mine.get_config()
    return "compared: schedules"


KINDS: tuple[Callable[[int], str], ...] = (of_losses, of_metrics, of_optimizers, of_losses, of_schedules)


def compared(seed: int) -> str:
    """Compare one thing; return what was compared, raise where it differs."""
    return KINDS[seed % len(KINDS)](seed)


def test_random_trainings_are_those_of_keras(figure: Callable[[str, str], None]) -> None:
    compare_all(compared, figure, "losses, metrics, optimizers and schedules")
