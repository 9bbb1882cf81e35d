"""A copy, by `copy` or through a file, is a different tensor or variable: no tape confuses it with the original."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


def test_a_tensor_that_comes_out_of_a_file_is_not_watched() -> None:
    x = lab.constant(2.0, name="x")
    again = pickled(x)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = again * 3.0
    assert (float(again), again.name) == (2.0, "x")
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
def test_a_copied_variable_has_its_value_and_a_life_of_its_own(duplicate: Callable[[Any], Any]) -> None:
    v = lab.Variable([2.0], name="v", trainable=False, shape=lab.TensorShape([None]))
    w = duplicate(v)
    w.assign([3.0, 4.0])
    assert (w.name, w.trainable, v.numpy().tolist()) == ("v:0", False, [2.0])
    assert w.id != v.id


def test_a_recording_tells_a_copied_variable_from_the_first() -> None:
    v = lab.Variable(2.0, name="v")
    w = copy.deepcopy(v)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = v * v * w
        gradients = tape.gradient(y, [v, w])
    assert [float(g) for g in gradients] == [8.0, 4.0]
    assert len({record.variable for record in recording.tensors.values() if record.kind == "variable"}) == 2


def test_a_copied_model_is_trained_apart() -> None:
    model = lab.Sequential([lab.layers.Dense(1)])
    model(lab.ones((1, 2)))
    other = pickled(model)
    before = model.get_weights()[0]
    other.weights[0].assign_add(lab.ones((2, 1)))
    assert np.array_equal(model.get_weights()[0], before)


def test_arrays_are_never_shared_with_the_user() -> None:
    array = np.ones(3, np.float32)
    x, v = lab.constant(array), lab.Variable(array)
    array[:] = 5
    x.numpy()[:] = 7
    v.numpy()[:] = 7
    assert x.numpy().tolist() == v.numpy().tolist() == [1.0, 1.0, 1.0]


def test_a_format_for_one_number_says_what_to_do_with_many() -> None:
    assert f"{lab.constant(3.14159):.2f}" == f"{lab.Variable(3.14159):.2f}" == "3.14"
    with pytest.raises(lab.errors.ConversionError, match=r"'.2f' needs a tensor of rank 0.*\(2,\).*Try"):
        format(lab.ones(2), ".2f")
