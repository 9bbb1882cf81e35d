"""Activations take their input by TensorFlow's name, `silu` its beta, `atan2` its coordinates in TensorFlow's order."""

import math

import pytest

import autodiff_lab as lab


@pytest.mark.parametrize("name", ["elu", "relu", "relu6", "selu", "silu", "softplus", "softsign", "swish", "crelu",
                                  "gelu", "leaky_relu"])  # fmt: skip
def test_the_input_goes_by_the_name_features(name: str) -> None:
    activation = getattr(lab.nn, name)
    named, placed = activation(features=[-1.0, 0.5, 7.0]), activation([-1.0, 0.5, 7.0])
    assert named.numpy().tolist() == placed.numpy().tolist()
    with pytest.raises(TypeError):
        activation(inputs=[-1.0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_silu_weighs_by_the_sigmoid_of_beta_times_x(dtype: str) -> None:
    x, beta = lab.constant(1.5, dtype), lab.Variable(2.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.nn.silu(x, beta)
    share = 1 / (1 + math.exp(-3.0))
    assert y.dtype == x.dtype
    assert float(y) == pytest.approx(1.5 * share, rel=5e-3)
    dx, dbeta = tape.gradient(y, [x, beta])
    assert float(dx) == pytest.approx(share * (1 + 3.0 * (1 - share)), rel=5e-3)
    assert float(dbeta) == pytest.approx(2.25 * share * (1 - share), rel=5e-3)
    with pytest.raises(lab.errors.DtypeMismatch):
        lab.nn.silu(1, 2.0)


def test_atan2_names_its_coordinates() -> None:
    assert float(lab.atan2(y=1.0, x=2.0)) == pytest.approx(math.atan2(1.0, 2.0))
    assert float(lab.math.atan2(1.0, 2.0)) == pytest.approx(math.atan2(1.0, 2.0))
