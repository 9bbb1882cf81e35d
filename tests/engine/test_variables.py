"""Variables: state that changes only by assignment, with a fixed shape and dtype."""

import gc
import weakref

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused


def test_a_variable_prints_name_shape_dtype_and_value() -> None:
    assert repr(lab.Variable(2)) == "<Variable 'Variable:0' shape=() dtype=int32, numpy=2>"
    v = lab.Variable([[2, 3]], dtype=lab.int32, name="v")
    assert str(v) == f"{v}" == "<Variable 'v:0' shape=(1, 2) dtype=int32, numpy=array([[2, 3]], dtype=int32)>"
    assert lab.Variable((2, 3)).shape == (2,)


def test_it_is_made_from_values_tensors_and_functions_of_no_argument() -> None:
    t = lab.constant([1, 2])
    assert lab.Variable(t).numpy().tolist() == [1, 2]
    assert lab.Variable(lambda: lab.ones(2)).shape == (2,)
    assert lab.Variable(4, dtype="float64").dtype == lab.float64
    with pytest.raises(ValueError, match="initial_value is required"):
        lab.Variable()
    with pytest.raises(ValueError, match="non-rectangular"):
        lab.Variable([[1, 2], [3]])
    with pytest.raises(TypeError, match="of dtype float64, got float32"):
        lab.Variable(lab.constant(1.0), dtype="float64")


def test_every_operator_gives_a_tensor() -> None:
    z = lab.Variable([1, 2])
    for result in (z + 5, 5 - z, z * z, -z, z**2, z // 2, z % 2, abs(z), z[0], z @ z, z < 2):
        assert type(result) is lab.Tensor or isinstance(result, lab.Tensor)
        assert not isinstance(result, lab.Variable)
    assert (z + 5).numpy().tolist() == [6, 7]
    assert lab.gather(z, [1]).numpy().tolist() == [2]
    assert (z.ndim, z.shape, len(z), [int(item) for item in z]) == (1, (2,), 2, [1, 2])


def test_assignments_chain_and_take_python_numbers() -> None:
    v = lab.Variable([1.0, 2.0])
    assert v.assign([3, 4]).assign_add([1, 1]).assign_sub([2.0, 2.0]) is v
    assert v.numpy().tolist() == [2.0, 3.0]


def test_tensors_read_earlier_keep_their_values() -> None:
    v = lab.Variable([1.0, 2.0])
    before, copied = v.read(), lab.convert_to_tensor(v)
    v.assign([5.0, 6.0])
    assert before.numpy().tolist() == copied.numpy().tolist() == [1.0, 2.0]
    assert type(copied) is lab.Tensor


def test_parts_are_assigned_and_the_source_tensor_is_not_touched() -> None:
    t = lab.constant([1.0, 2.0, 3.0])
    v = lab.Variable(t)
    v[0].assign(5.0)
    v[1:].assign([7.0, 8.0])
    assert v.numpy().tolist() == [5, 7, 8]
    assert t.numpy().tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match=r"does not support item assignment.*assign"):
        v[0] = 1.0
    with pytest.raises(
        lab.errors.ShapeMismatch, match=r"shape \(3,\) to a slice of shape \(2,\) of variable Variable:0"
    ):
        v[1:].assign([1.0, 2.0, 3.0])


def test_a_part_of_a_variable_is_a_source_like_any_tensor() -> None:
    v = lab.Variable([2.0, 3.0])
    with lab.GradientTape() as tape:
        part = v[1]
        y = part * part
    by_part, by_variable = tape.gradient(y, [part, v])
    assert float(by_part) == 6.0
    assert by_variable.numpy().tolist() == [0.0, 6.0]


def test_dtype_and_shape_stay() -> None:
    z = lab.Variable([1, 2], name="z")
    with pytest.raises(TypeError, match=r"Cannot convert \[1.0, 2.0\] to Tensor of dtype int32"):
        z.assign([1.0, 2.0])
    with pytest.raises(TypeError, match=r"Cannot convert.*int32"):
        z.assign(lab.constant([1.0, 2.0]))
    wording = r"Cannot assign to variable z:0: variable shape \(2,\) and value shape \(3,\) are incompatible"
    for assign in (z.assign, z.assign_add, z.assign_sub):
        with refused(ValueError, wording):
            assign([1, 2, 3])
    assert z.numpy().tolist() == [1, 2]


def test_an_open_shape_takes_values_of_any_shape() -> None:
    x = lab.Variable(5, shape=lab.TensorShape(None), name="x")
    assert repr(x) == "<Variable 'x:0' shape=<unknown> dtype=int32, numpy=5>"
    x.assign([[1, 2, 3], [4, 5, 6]])
    assert f"{lab.shape(x)} {x.shape}" == "[2 3] <unknown>"
    half = lab.Variable([1.0], shape=[None])
    half.assign([1.0, 2.0])
    with pytest.raises(ValueError, match="incompatible"):
        half.assign([[1.0]])


def test_names_need_not_differ() -> None:
    assert [lab.Variable(1, name=n).name for n in ("a", "a", None)] == ["a:0", "a:0", "Variable:0"]


def test_a_variable_dies_with_its_last_reference() -> None:
    gc.disable()
    try:
        v = lab.Variable([1.0])
        with lab.GradientTape() as tape:
            y = v * v
        tape.gradient(y, v)
        ref = weakref.ref(v)
        del v
        assert ref() is None
        assert tape.watched_variables() == ()
    finally:
        gc.enable()


def test_numpy_reads_a_copy() -> None:
    v = lab.Variable([1.0, 2.0])
    v.numpy()[0] = 9
    np.asarray(v)[0] = 9
    assert v.numpy().tolist() == [1.0, 2.0]
    assert float(lab.Variable(2.5)) == 2.5
    assert bool(lab.Variable(0.0)) is False
