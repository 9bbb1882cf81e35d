"""Activations at their kinks, far from zero, and outside the range of the op tests."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

FAR = np.array([-50.0, -7.0, -3.5, -0.5, 0.5, 2.5, 3.5, 7.0, 50.0])

SIMPLE = ["relu", "relu6", "elu", "selu", "gelu", "silu", "mish", "hard_sigmoid", "hard_swish", "log_sigmoid",
          "softsign", "softplus", "sigmoid", "tanh", "leaky_relu", "crelu"]  # fmt: skip


@pytest.mark.parametrize("name", SIMPLE)
def test_slopes_agree_with_differences_on_both_sides_of_every_kink(name: str) -> None:
    check = lab.testing.check_gradient(getattr(lab.nn, name), FAR)
    assert check, str(check)
    assert lab.testing.check_gradient(getattr(lab.nn, name), FAR, order=2)


@pytest.mark.parametrize(
    ("name", "at", "slope"),
    [
        ("relu", 0.0, 0.0), ("relu6", 0.0, 0.0), ("relu6", 6.0, 0.0), ("elu", 0.0, 1.0), ("leaky_relu", 0.0, 0.2),
        ("selu", 0.0, 1.0507009873554805), ("hard_sigmoid", -3.0, 0.0), ("hard_sigmoid", 3.0, 0.0), ("crelu", 0.0, 0.0),
    ],
)  # fmt: skip
def test_the_slope_at_a_kink_is_the_one_that_is_documented(name: str, at: float, slope: float) -> None:
    x = lab.Variable([at], dtype="float64")
    with lab.GradientTape() as tape:
        y = getattr(lab.nn, name)(x)
    np.testing.assert_allclose(tape.gradient(y, x), [slope], 1e-12)


@pytest.mark.parametrize("name", SIMPLE)
def test_numbers_far_out_give_no_nan_in_value_or_slope(name: str) -> None:
    x = lab.Variable([-1e4, -100.0, 100.0, 1e4])
    with lab.GradientTape() as tape:
        y = getattr(lab.nn, name)(x)
    assert np.all(np.isfinite(y))
    assert np.all(np.isfinite(tape.gradient(y, x)))


@pytest.mark.parametrize("name", ["relu", "elu", "selu", "gelu", "silu", "mish", "softsign", "leaky_relu"])
def test_nan_stays_nan(name: str) -> None:
    assert np.isnan(getattr(lab.nn, name)([np.nan, 1.0]).numpy()[0])


def test_approximate_gelu_is_near_the_exact_one_and_not_the_same() -> None:
    x = np.linspace(-4, 4, 101)
    exact, rough = lab.nn.gelu(x).numpy(), lab.nn.gelu(x, approximate=True).numpy()
    assert 1e-5 < np.max(np.abs(exact - rough)) < 2e-3
    check = lab.testing.check_gradient(lambda t: lab.nn.gelu(t, approximate=True), x)
    assert check, str(check)


def test_swish_takes_a_factor_which_has_a_gradient() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(lab.nn.swish(x, beta=2.0), x / (1 + np.exp(-2 * x)), 1e-12)
    check = lab.testing.check_gradient(lab.nn.swish, x, 1.5)
    assert check, str(check)


def test_crelu_joins_along_the_axis_it_is_told() -> None:
    x = np.array([[1.0, -2.0], [-3.0, 4.0]])
    np.testing.assert_array_equal(lab.nn.crelu(x, axis=0), np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], 0))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lab.nn.leaky_relu([1, 2]), lab.errors.DtypeMismatch, r"leaky_relu\(i32\[2\]\)"),
        (lambda: lab.nn.leaky_relu([1.0], alpha=-1.0), lab.errors.InvalidArgumentError, "alpha"),
        (lambda: lab.nn.crelu(1.0), lab.errors.InvalidArgumentError, "crelu"),
        (lambda: lab.nn.crelu([1.0], axis=1), lab.errors.InvalidArgumentError, "axis 1"),
        (lambda: lab.nn.gelu([1, 2]), lab.errors.DtypeMismatch, r"gelu\(i32\[2\]\)"),
        (lambda: lab.nn.softmax([1.0], axis=3), lab.errors.InvalidArgumentError, "softmax: axis 3"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()
