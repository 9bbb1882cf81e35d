"""Placeholders have a shape and a dtype, pass through conversion, and are refused where a value is needed."""

import pytest

import autodiff_lab as lab
from tests.refusals import refused


def test_a_placeholder_says_what_it_stands_for() -> None:
    with lab.Graph().as_default() as graph:
        x = lab.placeholder(lab.int32, shape=[None, 2])
        again = lab.placeholder(lab.float32, shape=[])
        named = lab.placeholder(lab.float32, name="x")
    assert str(x) == repr(x) == 'Tensor("Placeholder:0", shape=(None, 2), dtype=int32)'
    assert str(again) == 'Tensor("Placeholder_1:0", shape=(), dtype=float32)'
    assert str(named) == 'Tensor("x:0", shape=<unknown>, dtype=float32)'
    assert (x.dtype, x.shape.rank, x.get_shape(), x.name, x.graph) == (lab.int32, 2, (None, 2), "Placeholder:0", graph)
    assert graph.placeholders == (x, again, named)


def test_it_passes_through_conversion_and_no_further() -> None:
    with lab.Graph().as_default():
        x = lab.placeholder(lab.float32, shape=[2])
    assert lab.convert_to_tensor(x) is x
    for call in (lab.constant, lab.sin, lab.reduce_sum, lambda value: lab.constant(1.0) * value):
        with pytest.raises(TypeError, match="symbolic"):
            call(x)
    with pytest.raises(TypeError, match="symbolic"):
        lab.constant(x, shape=(2,))


def test_it_has_no_value() -> None:
    with lab.Graph().as_default():
        x = lab.placeholder(lab.float32)
    with refused(AttributeError, "numpy"):
        x.numpy()
    with pytest.raises(TypeError, match="no value"):
        bool(x)


def test_outside_a_graph_there_are_none() -> None:
    with pytest.raises(RuntimeError, match=r"lab\.Graph"):
        lab.placeholder(lab.float32)
    with lab.Graph().as_default():
        pass
    with pytest.raises(lab.errors.NoGraph):
        lab.placeholder(lab.float32)
