"""The straight-through estimator: a function keeps its value, and its derivative is taken to be 1."""

import pytest

import autodiff_lab as lab


def test_a_gradient_passes_a_step_as_if_it_were_not_there() -> None:
    x = lab.Variable([0.4, 1.6])
    with lab.GradientTape(persistent=True) as tape:
        stopped = lab.reduce_sum(lab.round(x) * [2.0, 5.0])
        passed = lab.reduce_sum(lab.grad_pass_through(lab.round)(x) * [2.0, 5.0])
    assert float(stopped) == float(passed) == 10.0
    assert tape.gradient(stopped, x) is None
    assert tape.gradient(passed, x).numpy().tolist() == [2.0, 5.0]


def test_each_of_several_arguments_gets_the_cotangent_of_its_value() -> None:
    x, y = lab.Variable(1.5), lab.Variable(2.5)
    with lab.GradientTape() as tape:
        a, b = lab.grad_pass_through(lambda x, y: [lab.floor(x), lab.floor(y)])(x, y)
        z = 3.0 * a + 4.0 * b
    assert [float(g) for g in tape.gradient(z, [x, y])] == [3.0, 4.0]


def test_another_number_of_values_than_arguments_is_refused() -> None:
    x = lab.Variable(1.5)
    with lab.GradientTape() as tape:
        y = lab.grad_pass_through(lambda x, y: x)(x, 2.0)
    with pytest.raises(lab.errors.InvalidArgumentError, match="1 cotangent for 2 inputs"):
        tape.gradient(y, x)
