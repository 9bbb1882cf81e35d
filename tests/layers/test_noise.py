"""Layers that add noise in training, against their formulas."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from tests.refusals import refused

layers = lab.layers
MANY = lab.random.stateless_normal([300, 200], seed=[1, 2])
SHAPES = {"SpatialDropout1D": (2, 5, 8), "SpatialDropout2D": (2, 3, 4, 8), "SpatialDropout3D": (2, 3, 2, 2, 8)}
EVERY: dict[str, Callable[[], Any]] = {
    "GaussianNoise": lambda: layers.GaussianNoise(0.5, seed=3),
    "AlphaDropout": lambda: layers.AlphaDropout(0.3, seed=3),
    "GaussianDropout": lambda: layers.GaussianDropout(0.3, seed=3),
    "SpatialDropout1D": lambda: layers.SpatialDropout1D(0.5, seed=3),
    "SpatialDropout2D": lambda: layers.SpatialDropout2D(0.5, seed=3),
    "SpatialDropout3D": lambda: layers.SpatialDropout3D(0.5, seed=3),
}  # fmt: skip


def fresh(name: str) -> tuple[Any, Any]:
    lab.random.set_seed(5)
    return EVERY[name](), lab.ones(SHAPES.get(name, (50, 20)))


@pytest.mark.parametrize("name", EVERY)
def test_it_is_idle_outside_training_and_repeatable_with_a_seed(name: str) -> None:
    layer, x = fresh(name)
    assert layer(x) is x
    first, second = layer(x, training=True).numpy(), layer(x, training=True).numpy()
    assert np.any(first != second)
    layer, x = fresh(name)
    layer(x)
    np.testing.assert_array_equal(layer(x, training=True), first)


@pytest.mark.parametrize("name", EVERY)
def test_a_compiled_step_draws_what_an_eager_one_draws(name: str) -> None:
    layer, x = fresh(name)
    eager = [layer(x, training=True).numpy() for _ in range(2)]
    layer, x = fresh(name)
    compiled = lab.function(lambda x: layer(x, training=True))
    for expected in eager:
        np.testing.assert_allclose(compiled(x), expected, 1e-6, 1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_it_can_be_saved_in_a_model(name: str, tmp_path: Any) -> None:
    layer, x = fresh(name)
    model = lab.Sequential([lab.keras.Input(x.shape[1:]), layer])
    model.save(tmp_path / "m.keras")
    again = lab.keras.models.load_model(tmp_path / "m.keras").layers[0]
    assert again.get_config() == layer.get_config()


def test_gaussian_noise_has_its_mean_and_deviation() -> None:
    lab.random.set_seed(1)
    noise = (layers.GaussianNoise(0.5)(MANY, training=True) - MANY).numpy()
    assert abs(noise.mean()) < 0.01
    assert noise.std() == pytest.approx(0.5, rel=0.02)
    assert layers.GaussianNoise(0.5)(np.ones((2, 2)), training=True).dtype == lab.float32


def test_gaussian_dropout_multiplies_by_noise_of_mean_one() -> None:
    lab.random.set_seed(1)
    layer, x = layers.GaussianDropout(0.2), lab.Variable(2 * np.ones((300, 200), np.float32))
    with lab.GradientTape() as tape:
        y = layer(x, training=True)
    factor = y.numpy() / 2
    assert factor.mean() == pytest.approx(1.0, abs=0.01)
    assert factor.std() == pytest.approx(np.sqrt(0.2 / 0.8), rel=0.02)
    np.testing.assert_allclose(tape.gradient(y, x), factor, 1e-6)


def test_alpha_dropout_keeps_mean_and_variance_and_has_one_value_for_what_it_drops() -> None:
    lab.random.set_seed(1)
    rate, lowest = 0.25, -1.0507009873554805 * 1.6732632423543772
    y = layers.AlphaDropout(rate)(MANY, training=True).numpy()
    assert abs(y.mean()) < 0.02
    assert y.std() == pytest.approx(1.0, rel=0.02)
    a = ((1 - rate) * (1 + rate * lowest**2)) ** -0.5
    b = -a * lowest * rate
    dropped = np.isclose(y, a * lowest + b, atol=1e-5)
    assert dropped.mean() == pytest.approx(rate, abs=0.01)
    np.testing.assert_allclose(y[~dropped], (a * MANY.numpy() + b)[~dropped], 1e-4, 1e-5)
    rows = layers.AlphaDropout(rate, noise_shape=(300, 1))(lab.ones((300, 20)), training=True).numpy()
    assert all(len(np.unique(row)) == 1 for row in rows)


@pytest.mark.parametrize(("name", "shape"), SHAPES.items())
def test_spatial_dropout_drops_whole_channels(name: str, shape: tuple[int, ...]) -> None:
    layer, _ = fresh(name)
    y = layer(lab.ones((40, *shape[1:])), training=True).numpy()
    flat = y.reshape(40, -1, 8)
    assert np.all(flat == flat[:, :1])
    assert set(np.unique(flat)) == {np.float32(0), np.float32(2)}
    assert np.mean(flat == 0) == pytest.approx(0.5, abs=0.1)
    with refused(ShapeMismatch, r"expected an input \(b"):
        layer(lab.ones((2, 3)))


def test_rates_outside_their_range_are_refused() -> None:
    for kind in (layers.GaussianDropout, layers.AlphaDropout, layers.SpatialDropout2D):
        with refused(InvalidArgumentError, r"the rate must be in \[0, 1\)"):
            kind(1.0)
    with refused(InvalidArgumentError, "stddev"):
        layers.GaussianNoise(-1.0)
