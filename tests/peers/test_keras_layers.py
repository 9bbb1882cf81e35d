"""Layers against Keras: values, dtypes, shapes of weights, gradients, in training and inference.

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
from tests.mutations import COUNT  # noqa: E402
from tests.peers.keras_layers import FLOATS_ONLY, NAMES, RESIZING, drawn  # noqa: E402
from tests.peers.seeds import compare_all  # noqa: E402

TOLERANCE = {"float32": (2e-4, 2e-5), "float64": (1e-6, 1e-8)}
INPUTS = ("float32", "float64", "array", "int32")


def flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def weighted(module: Any, outputs: list[Any]) -> Any:
    """Return one number that depends on every element of every output."""
    parts = []
    for y in outputs:
        count = int(np.prod(y.shape))
        weights = np.cos(0.7 * np.arange(count)).reshape(tuple(y.shape))
        parts.append(module.reduce_sum(y * module.constant(weights, y.dtype)))
    return sum(parts[1:], parts[0])


def asked(library: Any, layer: Any, x: Any, form: str, how: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the outputs, the gradients by input and trainable weights, and the weights afterwards."""
    given = x if form == "array" else library.constant(x)
    with library.GradientTape() as tape:
        if form != "array" and x.dtype.kind == "f":
            tape.watch(given)
        outputs = flat(layer(given, **how))
        total = weighted(library, outputs) if outputs[0].dtype not in (library.int32, library.int64) else None
    weights = [v.value if library is tf else v for v in layer.trainable_weights]
    sources = ([given] if form != "array" and x.dtype.kind == "f" else []) + weights
    found = tape.gradient(total, sources) if total is not None and sources else []
    gradients = [None if g is None else np.asarray(library.convert_to_tensor(g)) for g in found]
    return [np.asarray(y) for y in outputs], gradients, [np.asarray(w) for w in layer.get_weights()]


def compared(seed: int) -> str:
    """Compare one layer; return what was compared, raise where it differs."""
    random, rng = Random(seed), np.random.default_rng(seed)
    name = sorted(NAMES)[seed % len(NAMES)]
    options, dtype, form = drawn(name, random), random.choice(("float32", "float64")), random.choice(INPUTS)
    form = "float32" if form == "int32" and name in FLOATS_ONLY else form
    dtype = "float32" if name in RESIZING else dtype
    shape = (random.choice((1, 2, 5)), *NAMES[name][0])
    how = {"training": random.choice((True, False))} if random.random() < 0.6 else {}
    where = f"seed {seed}: {name}({options}, dtype={dtype!r}) of {form} {shape}, {how}"
    theirs = getattr(keras.layers, name)(**options, dtype=dtype)
    x = rng.normal(size=shape)
    x = rng.integers(0, 6, shape) if name == "Embedding" or form == "int32" else x
    x = x.astype({"array": "float64", "int32": "int32"}.get(form, form)) if x.dtype.kind == "f" else x.astype("int32")
    try:
        asked(tf, theirs, x, form, {})
    except Exception as error:  # noqa: BLE001 - whatever Keras refuses has no answer to compare with
        return f"refused by Keras ({name}: {type(error).__name__}, {form})"
    if theirs.weights:
        theirs.set_weights([rng.normal(size=w.shape) ** (2 if "variance" in w.path else 1) for w in theirs.weights])
    mine = getattr(lab.layers, name)(**options, dtype=dtype)
    mine(x)
    assert [tuple(w.shape) for w in mine.weights] == [tuple(w.shape) for w in theirs.weights], where
    start = theirs.get_weights()
    mine.set_weights(start)
    expected, found = asked(tf, theirs, x, form, how), asked(lab, mine, x, form, how)
    rtol, atol = TOLERANCE["float32" if form == "float32" else dtype]
    for what, one, other in zip(("value", "gradient", "weight"), expected, found, strict=True):
        assert len(one) == len(other), f"{where}: {what}"
        for e, f in zip(one, other, strict=True):
            assert (e is None) == (f is None), f"{where}: {what}: {e} or {f}"
            if e is not None:
                assert e.dtype == f.dtype, f"{where}: {what}: {e.dtype} there, {f.dtype} here"
                np.testing.assert_allclose(f, e, rtol, atol, err_msg=f"{where}: {what}")
    return "compared"


def test_random_layers_are_those_of_keras(figure: Callable[[str, str], None]) -> None:
    outcomes = compare_all(compared, figure, "layers")
    assert outcomes["compared"] > COUNT * 0.7
