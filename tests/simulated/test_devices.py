"""Devices: ops follow their data, new tensors follow the block, and no tensor is copied unless requested."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.heard import copies

MADE: dict[str, Callable[[], Any]] = {
    "constant": lambda: lab.constant([1.0, 2.0]),
    "constant of a shape": lambda: lab.constant(3.0, shape=(2, 2)),
    "convert_to_tensor": lambda: lab.convert_to_tensor(np.ones(3)),
    "zeros": lambda: lab.zeros((2, 3)),
    "ones": lambda: lab.ones(4, dtype="float64"),
    "fill": lambda: lab.fill([2], 7),
    "eye": lambda: lab.eye(3),
    "range": lambda: lab.range(5),
    "linspace": lambda: lab.linspace(0.0, 1.0, 5),
    "normal": lambda: lab.random.normal((3,)),
    "uniform": lambda: lab.random.uniform((3,), 0, 10, "int32"),
    "uniform of floats": lambda: lab.random.uniform((3,)),
    "stateless": lambda: lab.random.stateless_normal((3,), seed=[1, 2]),
    "gamma": lambda: lab.random.gamma((3,), 2.0),
    "poisson": lambda: lab.random.poisson((3,), 2.0),
    "generator": lambda: lab.random.Generator.from_seed(1).uniform((3,)),
    "initializer": lambda: lab.initializers.VarianceScaling(seed=1)((2, 2)),
    "variable": lambda: lab.Variable([1.0, 2.0]).read(),
    "variable of a tensor of the CPU": lambda: lab.Variable(lab.constant([1.0]).cpu()).read(),
    "list in an op": lambda: lab.sin([1.0, 2.0]),
    "two lists in an op": lambda: lab.add([1.0, 2.0], [1.0, 2.0]),
    "lists in an op with parameters": lambda: lab.concat([[1.0], [2.0]], 0),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_follows_the_block(name: str) -> None:
    """The values are those of the CPU, and there is nothing to be told of."""
    lab.random.set_seed(1)
    expected = MADE[name]()
    lab.random.set_seed(1)
    with copies() as told, lab.device("/GPU:0"):
        made = MADE[name]()
    assert (made.device, expected.device) == ("/GPU:0", "/CPU:0")
    assert not told
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(made.numpy(), expected.numpy())


def test_ops_follow_their_data_and_not_the_block() -> None:
    """What a block says does not matter where there is data."""
    on_cpu, on_gpu = lab.constant([1.0, 2.0]), lab.constant([1.0, 2.0]).gpu()
    with lab.device("/GPU:0"):
        assert lab.exp(on_cpu).device == (on_cpu * [1.0, 2.0]).device == lab.gather(on_cpu, [0]).device == "/CPU:0"
    assert lab.exp(on_gpu).device == (on_gpu * 2.0).device == lab.gather(on_gpu, [0]).device == "/GPU:0"
    assert lab.zeros_like(on_gpu).device == lab.ones_like(on_gpu).device == lab.reduce_sum(on_gpu).device == "/GPU:0"


def test_blocks_nest_and_are_left_when_something_is_raised() -> None:
    """None undoes the blocks around it."""
    with lab.device("/GPU:0"):
        with lab.device("/CPU:0"):
            assert lab.zeros(1).device == "/CPU:0"
        with lab.device(None):
            assert lab.zeros(1).device == "/CPU:0"
        assert lab.zeros(1).device == "/GPU:0"
        with pytest.raises(KeyError), lab.device("/CPU:0"):
            raise KeyError
        assert lab.zeros(1).device == "/GPU:0"
    assert lab.zeros(1).device == "/CPU:0"


@pytest.mark.parametrize("name", ["/GPU:0", "GPU:0", "gpu", "/device:GPU:0", "/gpu:0", "/job:localhost/device:GPU:0"])
def test_a_gpu_has_many_names(name: str) -> None:
    """Those of TensorFlow's programs."""
    with lab.device(name) as canonical:
        assert canonical == lab.zeros(1).device == "/GPU:0"


def test_a_thread_has_its_own_blocks() -> None:
    """A block of one thread says nothing to another."""
    found = []
    with lab.device("/GPU:0"):
        thread = threading.Thread(target=lambda: found.append(lab.zeros(1).device))
        thread.start()
        thread.join()
    assert found == ["/CPU:0"]


def test_numbers_of_the_cpu_go_along_with_tensors_of_a_gpu() -> None:
    """Python's, NumPy's and tensors of rank 0 are passed by value: no copy is told."""
    x = lab.constant([1.0, 2.0]).gpu()
    with copies() as told:
        y = lab.constant(2.0) * x + 1 - np.float32(3.0) * x + lab.Variable(1.0)
        z = lab.where(x > 1.0, x, 0.0) + lab.clip_by_value(x, 0.0, lab.constant(1.5))
    assert not told
    assert y.device == z.device == "/GPU:0"
    np.testing.assert_array_equal(y.numpy(), [1.0, 0.0])
    np.testing.assert_array_equal(z.numpy(), [1.0, 3.5])


@pytest.mark.parametrize("value", [[1.0, 2.0], np.array([1.0, 2.0], np.float32)], ids=["list", "array"])
def test_lists_and_arrays_that_meet_a_tensor_of_a_gpu_are_copied_and_told(value: Any) -> None:
    """In operators, in ops of two inputs and in those with parameters."""
    x = lab.constant([3.0, 4.0]).gpu()
    for run in (lambda: x * value, lambda: value * x, lambda: lab.maximum(x, value), lambda: lab.stack([x, value])):
        with copies() as told:
            assert run().device == "/GPU:0"
        assert [(event.direction, event.bytes) for event in told] == [("to device", 8)]
        assert "Python or NumPy value" in told[0].why
        assert (told[0].place or ("",))[0] == __file__


def test_what_leaves_a_gpu_by_name_is_not_told_and_all_else_is() -> None:
    """`numpy` and `cpu` are names; a condition is none."""
    x = lab.constant([3.0]).gpu()
    with copies() as told:
        assert [x.numpy(), x.cpu().numpy(), repr(x)]
    assert not told
    for leave in (np.asarray, lambda t: float(t[0]), bool, lambda t: int(t[0])):
        with copies() as told:
            leave(x)
        assert {event.direction for event in told} == {"to host"}


def test_texts_say_the_device() -> None:
    """A tensor of the CPU reads as ever."""
    x = lab.constant([1.0, 2.0])
    assert repr(x) == "<Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert str(x) == "Tensor([1. 2.], shape=(2,), dtype=float32)"
    y = x.gpu()
    assert repr(y) == "<Tensor: shape=(2,), dtype=float32, device=/GPU:0, numpy=array([1., 2.], dtype=float32)>"
    assert str(y) == "Tensor([1. 2.], shape=(2,), dtype=float32, device=/GPU:0)"
    assert f"{y}" == "[1. 2.]"
    assert f"{lab.reduce_sum(y):.2f}" == "3.00"
    v = lab.Variable(y, name="v")
    assert repr(v) == "<Variable 'v:0' shape=(2,) dtype=float32, device=/GPU:0, numpy=array([1., 2.], dtype=float32)>"


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - these bytes are ours


def test_copies_and_pickles() -> None:
    """Another process may have no GPU, so that a pickle comes back on the CPU; a rank of 0 stays one."""
    x = lab.constant([1.0, 2.0]).gpu()
    assert copy.copy(x) is copy.deepcopy(x) is x
    again = pickled(x)
    assert again.device == "/CPU:0"
    np.testing.assert_array_equal(again.numpy(), [1.0, 2.0])
    assert isinstance(pickled(lab.reduce_sum(x))._array, np.float32)
    assert pickled(lab.Variable(x)).device == "/CPU:0"
    assert copy.deepcopy(lab.Variable(x)).device == "/GPU:0"


def test_identity_copies_where_a_block_says_so() -> None:
    """As in TensorFlow."""
    x = lab.constant([1.0, 2.0])
    with lab.device("/GPU:0"):
        y = lab.identity(x)
        assert y.device == lab.identity(y).device == "/GPU:0"
    with lab.device("/CPU:0"):
        assert lab.identity(y).device == "/CPU:0"
    assert lab.identity(y).device == "/GPU:0"
    assert y.gpu() is y
    assert x.cpu() is x
