"""What optimizers do not take in silence: whole numbers, and gradients that are missing."""

import logging

import pytest

import autodiff_lab as lab


def test_a_variable_of_whole_numbers_is_refused_and_stays() -> None:
    v = lab.Variable([1, 2], name="count")
    with pytest.raises(TypeError, match=r"count:0 is int32, and a step along a gradient would be cut off"):
        lab.optimizers.SGD(0.5).apply_gradients([(lab.constant([1.0, 1.0]), v)])
    assert v.numpy().tolist() == [1, 2]


def test_a_missing_gradient_among_others_is_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    used, unused = lab.Variable(1.0, name="used"), lab.Variable(2.0, name="unused")
    with caplog.at_level(logging.WARNING, logger="autodiff_lab"):
        lab.optimizers.SGD(0.5).apply_gradients([(lab.constant(1.0), used), (None, unused)])
    assert [record.getMessage() for record in caplog.records] == [
        "apply_gradients: the gradient of unused:0 is None, so it stays as it is. Try tape.explain(loss, variable)."
    ]
    assert (float(used), float(unused)) == (0.5, 2.0)
