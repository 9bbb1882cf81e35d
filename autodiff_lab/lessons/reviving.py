"""Dead networks of lesson 12: one hidden layer on the digits of scikit-learn, trained by a recipe of three lines.

A unit is dead if no example of the test set gets a gradient through it: its slope is 0 for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import a_kind, checked, finite, is_blank, protect, stop
from autodiff_lab.lessons.result import CheckResult, passed

UNITS, BATCH, BATCHES = 32, 64, 150
ALIVE, ACCURATE = 0.8, 0.85
_KEYS = ("step", "bias", "activation")
Recipe = Mapping[str, Any]

BURNT: Recipe = {"step": 5.0, "bias": 0.0, "activation": lab.nn.relu}
FROZEN: Recipe = {"step": 0.5, "bias": -2.0, "activation": lab.nn.relu}
"""The two patients: one is killed by its first steps, the other never lived."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training ended."""

    loss: float
    accuracy: float
    alive: int

    def __str__(self) -> str:
        loss = f"{self.loss:.1f}" if np.isfinite(self.loss) else f"{self.loss}"
        return f"loss {loss}, {self.accuracy:.0%} right, {self.alive} of {UNITS} units alive"


@cache
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the digits of scikit-learn, pixels from 0 to 1 in rows of 64: training images and labels, then the tests.

    Raises
    ------
    MissingPackage
        Where scikit-learn is not installed.

    Examples
    --------
    >>> images, labels, test_images, test_labels = digits()
    >>> images.shape, test_images.shape
    ((1438, 64), (359, 64))
    """
    (images, labels), (tests, truth) = lab.keras.datasets.digits.load_data()
    flat = [(each.reshape(len(each), -1) / 16).astype(np.float32) for each in (images, tests)]
    return flat[0], labels, flat[1], truth


def train_digits(step: float | Callable[[int], float] = 0.5, bias: float = 0.0, activation: Any = None) -> Trained:
    """Train one hidden layer of 32 units on the digits, 150 batches of 64, by gradient descent.

    Parameters
    ----------
    step : float or callable
        The length of each step; a function gets the number of the batch.
    bias : float
        Where all biases of the hidden layer begin.
    activation : callable, optional
        Of the hidden layer; by default relu.

    Returns
    -------
    Trained
        The last loss, the part of the test images that is right, and how many units are alive.

    Raises
    ------
    MissingPackage
        Where scikit-learn is not installed.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.train_digits(step=5.0).alive < 4
    True
    """
    act = lab.nn.relu if activation is None else activation
    images, labels, tests, truth = digits()
    rng = np.random.default_rng(0)
    drawn = [rng.normal(size=shape) * np.sqrt(2 / shape[0]) for shape in ((64, UNITS), (UNITS, 10))]
    weights = [lab.Variable(each.astype(np.float32)) for each in drawn]
    biases = [lab.Variable(np.full(UNITS, bias, np.float32)), lab.Variable(np.zeros(10, np.float32))]
    loss = lab.constant(np.nan)
    with np.errstate(all="ignore"):
        for batch in range(BATCHES):
            chosen = rng.choice(len(images), BATCH)
            with lab.GradientTape() as tape:
                logits = act(lab.constant(images[chosen]) @ weights[0] + biases[0]) @ weights[1] + biases[1]
                loss = lab.reduce_mean(
                    lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels[chosen], logits=logits)
                )
            h = float(step(batch) if callable(step) else step)
            for variable, gradient in zip([*weights, *biases], tape.gradient(loss, [*weights, *biases]), strict=True):
                if gradient is not None:
                    variable.assign_sub(h * gradient)
        before = lab.constant(tests) @ weights[0] + biases[0]
        with lab.GradientTape() as tape:
            tape.watch(before)
            hidden = act(before)
        slopes = tape.gradient(hidden, before)
        logits = hidden @ weights[1] + biases[1]
        right = float(np.mean(logits.numpy().argmax(axis=1) == truth))
    alive = 0 if slopes is None else int(np.any(np.nan_to_num(slopes.numpy()) != 0, axis=0).sum())
    return Trained(float(loss), right, alive)


@checked
def check_revive(burnt: Any, frozen: Any = ...) -> CheckResult:
    """Check two recipes: each differs in one line from a recipe whose units die, and must keep them alive.

    At least 80 % of the units must live, and more than 85 % of the test images must be right.

    Parameters
    ----------
    burnt, frozen : mapping
        Recipes with ``"step"``, ``"bias"`` and ``"activation"``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> burnt = {"step": 0.5, "bias": 0.0, "activation": lab.nn.relu}
    >>> frozen = {"step": 0.5, "bias": -2.0, "activation": lab.nn.leaky_relu}
    >>> lessons.check_revive(burnt, frozen)
    Passed. Burnt is revived by a shorter step; frozen by an activation that is never flat.
    >>> lessons.check_revive(burnt, {**frozen, "step": 0.01, "activation": lab.nn.relu}).code
    'DEAD_CAN_LEARN'
    """
    cures = [_cure(name, given, patient) for name, given, patient in (
        ("burnt", burnt, BURNT), ("frozen", frozen, FROZEN))]  # fmt: skip
    return passed(f"Burnt is revived by {cures[0]}; frozen by {cures[1]}.")


def _cure(name: str, given: Any, patient: Recipe) -> str:
    """Return the cure in words, or stop with what is wrong with it."""
    if is_blank(given):
        raise stop("BLANK", f"{name.capitalize()} is still blank.")
    if not isinstance(given, Mapping) or any(key not in given for key in _KEYS):
        keys = ", ".join(map(repr, _KEYS))
        raise stop("RAISES", f"{name.capitalize()} should be a dict with {keys}, but is {a_kind(given)}.")
    if any(is_blank(given[key]) for key in _KEYS):
        raise stop("BLANK", f"{name.capitalize()} still has a blank (...).")
    step, act = given["step"], given["activation"]
    bias = finite(given["bias"], f"the bias of {name}")
    if not callable(step):
        step = finite(step, f"the step of {name}")
    if not callable(act):
        raise stop("RAISES", f"The activation of {name} should be a function, but is {a_kind(act)}.")
    changed = [key for key, value in (("step", step), ("bias", bias), ("activation", act)) if value is not patient[key]
               and (callable(value) or callable(patient[key]) or value != patient[key])]  # fmt: skip
    if not changed:
        raise stop("BLANK", f"{name.capitalize()} is as it was.", "Change one of its three lines.")
    if len(changed) > 1:
        hint = "Take one of them back: which one revives it alone?"
        raise stop("OTHER", f"{name.capitalize()} has {len(changed)} changed lines; one is enough.", hint)
    found = protect(lambda: _trained(step, bias, act), f"the recipe of {name}")
    if found.alive >= ALIVE * UNITS and found.accuracy > ACCURATE:
        smaller = "a shorter step" if not callable(step) else "shorter steps at the beginning"
        return {"step": smaller, "bias": "another bias", "activation": "an activation that is never flat"}[changed[0]]
    raise stop(*_diagnosed(name, changed[0], step, found))


def _trained(step: Any, bias: float, act: Any) -> Trained:
    try:
        return train_digits(step, bias, act)
    except InvalidArgumentError as error:
        raise stop("RAISES", f"The recipe could not be trained: {str(error).splitlines()[0]}") from None


def _diagnosed(name: str, changed: str, step: Any, found: Trained) -> tuple[str, str, str]:
    """Return the code of what is wrong with a change, and what is said."""
    told = f"{name.capitalize()}: {found}."
    late = callable(step) and protect(lambda: _at(step, 0) > _at(step, BATCHES - 1), f"the step of {name}")
    if changed == "step" and found.alive < ALIVE * UNITS and (name == "frozen" or late):
        return "DEAD_CAN_LEARN", f"{told} A gradient of exactly 0 times any step is 0.", ""
    if changed == "step" and isinstance(step, float) and step <= 0:
        return "UPHILL", told, ""
    if found.alive >= ALIVE * UNITS and changed == "step":
        return "SMALLER_IS_SAFER", f"{told} They live, but hardly move in {BATCHES} batches.", ""
    hint = "What makes the sum in front of relu negative for every image, and what could pass a gradient all the same?"
    return "OTHER", f"{told} At least {ALIVE:.0%} must live, and more than {ACCURATE:.0%} must be right.", hint


def _at(step: Callable[[int], Any], batch: int) -> float:
    return float(step(batch))
