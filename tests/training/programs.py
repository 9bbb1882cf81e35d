"""Models and data for the tests of training."""

from typing import Any

import numpy as np

import autodiff_lab as lab

keras = lab.keras


def table(rows: int = 48, width: int = 4, classes: int = 3) -> tuple[Any, Any]:
    """Return inputs, and class numbers that depend on them."""
    x = np.random.default_rng(0).normal(size=(rows, width)).astype(np.float32)
    return x, (np.abs(x.sum(1)) % classes).astype(np.int64)


def dense(**more: Any) -> Any:
    """Return a small classifier, with weights from a fixed seed."""
    lab.random.set_seed(3)
    return lab.Sequential([
        keras.Input((4,)), lab.layers.Dense(6, "tanh", **more), lab.layers.Dense(3, "softmax"),
    ])  # fmt: skip


def branched() -> Any:
    """Return a functional model with two inputs and two outputs."""
    lab.random.set_seed(4)
    left, right = keras.Input((4,), name="left"), keras.Input((2,), name="right")
    both = lab.layers.Concatenate()([lab.layers.Dense(5, "relu")(left), right * 2.0])
    return keras.Model([left, right], [lab.layers.Dense(3, "softmax", name="kind")(both),
                                       lab.layers.Dense(1, name="size")(both)])  # fmt: skip
