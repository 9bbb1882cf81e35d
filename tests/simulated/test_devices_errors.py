"""Device errors name the op, devices, shapes and the user's line; memory is released."""

import gc
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.apply import general, unary
from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gpus import memory_of
from autodiff_lab.kernels.cuda.launching import check_size


def on_gpu(*values: float) -> lab.Tensor:
    return lab.constant(list(values)).gpu()


MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "multiply": lambda x, y: x * y,
    "add": lambda x, y: y + x,
    "matmul": lambda x, y: lab.matmul(x[:, None], y[None, :]),
    "maximum": lab.maximum,
    "less": lab.less,
    "concat": lambda x, y: lab.concat([x, y], 0),
    "stack": lambda x, y: lab.stack([x, y]),
    "atan2": lab.atan2,
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_two_devices_in_one_op(name: str) -> None:
    """In either order, for elementwise ops, products and ops with parameters."""
    for x, y in ((on_gpu(1.0, 2.0), lab.ones(2)), (lab.ones(2), on_gpu(1.0, 2.0))):
        with pytest.raises(lab.errors.DeviceMismatch, match=rf"{name}\(f32\[.*on /[GC]PU:0.*on /[GC]PU:0") as caught:
            MIXED[name](x, y)
        assert f"at {__file__}, line " in str(caught.value)
        assert "Try x.gpu() or x.cpu()" in str(caught.value)


def test_an_element_of_a_gpu_does_not_meet_an_array_of_the_cpu() -> None:
    """The other way round it goes along as a number."""
    with pytest.raises(lab.errors.DeviceMismatch):
        _ = lab.reduce_sum(on_gpu(1.0, 2.0)) * lab.ones(2)


def test_a_listener_hears_of_a_mismatch() -> None:
    """As of every op that fails."""
    seen: list[Any] = []
    with lab.events.observing(seen.append), pytest.raises(lab.errors.DeviceMismatch):
        _ = on_gpu(1.0) * lab.ones(1)
    (failed,) = [event for event in seen if isinstance(event, lab.events.OpFailed)]
    assert (failed.op, failed.error) == ("multiply", "DeviceMismatch")


@pytest.mark.parametrize("run", [lambda x: x + lab.cast(x, "float64"), lambda x: x @ lab.cast(x, "float64")])
def test_two_dtypes_are_refused_as_on_the_cpu(run: Callable[[Any], Any]) -> None:
    """The words are the same but for the device."""
    said = []
    for x in (lab.ones((2, 2)), lab.ones((2, 2)).gpu()):
        with pytest.raises(lab.errors.DtypeMismatch) as caught:
            run(x)
        said.append(str(caught.value).replace(" on /GPU:0", ""))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["sin", "sqrt", "sigmoid", "tanh"])
def test_whole_numbers_are_refused_where_the_cpu_refuses_them(name: str) -> None:
    """No op makes floats of them by itself."""
    with pytest.raises(lab.errors.DtypeMismatch, match=r"\(i32\[2\] on /GPU:0\): this op requires floating-point"):
        getattr(lab, name)(lab.constant([1, 2]).gpu())


def test_shapes_that_do_not_fit_are_told_as_on_the_cpu() -> None:
    """With the devices."""
    with pytest.raises(lab.errors.ShapeMismatch, match=r"add\(f32\[2\] on /GPU:0, f32\[3\] on /GPU:0\): .* broadcast"):
        _ = on_gpu(1.0, 2.0) + on_gpu(1.0, 2.0, 3.0)
    with pytest.raises(lab.errors.ShapeMismatch, match=r"inner dimensions differ: 2 and 3"):
        _ = lab.ones((2, 2)).gpu() @ lab.ones((3, 2)).gpu()


@pytest.mark.parametrize("dtype", ["bfloat16", "string"])
def test_elements_that_a_gpu_does_not_hold(dtype: str) -> None:
    """Copied, cast and made there."""
    x = lab.constant(["a"]) if dtype == "string" else lab.cast([1.0], dtype)
    ways: list[Callable[[], Any]] = [x.gpu, lambda: lab.Variable(x).move_to("gpu")]
    if dtype == "bfloat16":
        ways += [lambda: lab.cast(on_gpu(1.0), dtype), lambda: _inside(lambda: lab.zeros(2, dtype=dtype))]
    for way in ways:
        with pytest.raises(lab.errors.DeviceError, match=r"live on the CPU only\. Try"):
            way()


def _inside(make: Callable[[], Any]) -> Any:
    with lab.device("/GPU:0"):
        return make()


@pytest.mark.parametrize("name", ["GPU:1", "/GPU:7", "CPU:1", "TPU:0", "gpu:x", "", 3])
def test_devices_that_are_not_there(name: Any) -> None:
    """What is there is said."""
    with pytest.raises(lab.errors.DeviceError, match="Try"):
        lab.device(name)


_NoRoom = type("OutOfMemoryError", (MemoryError,), {"__module__": "cupy.cuda.memory"})
_Broken = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})


FAILING = {
    lab.errors.DeviceMemoryError: ("room", _NoRoom),
    lab.errors.DeviceError: ("launch", _Broken),
    lab.errors.InvalidArgumentError: ("kernel", KeyError),
}


@pytest.fixture
def passing() -> Iterator[None]:
    """Forget the ops that a test declares: others go through the whole registry."""
    known = set(REGISTRY)
    yield
    for name in set(REGISTRY) - known:
        dict.pop(REGISTRY, name)
        delattr(RAW, name)
        delattr(RECORDING, name)


def _failing(name: str, error: type[Exception]) -> Any:
    """An op that makes a large array and fails then."""

    def kernel(x: Any) -> Any:
        made = x + x.dtype.type(1)
        raise error(f"after {made.nbytes} bytes")

    return unary(f"failing_{name}", kernel, None, doc="Fails.")


@pytest.mark.usefixtures("passing")
@pytest.mark.parametrize("kind", FAILING)
def test_an_op_that_fails_keeps_no_arrays_alive(kind: type[Exception]) -> None:
    """While its exception is held, as a notebook holds the last one, only its operands live."""
    before = {id(a) for a in gc.get_objects() if a.__class__ is DeviceArray}  # those of other tests
    x, fails = on_gpu(*range(1000)), _failing(*FAILING[kind])
    with pytest.raises(kind, match=r"failing_\w+\(i32\[1000\] on /GPU:0\): ") as caught:
        fails(x)
    assert "4000" in str(caught.value)
    gc.collect()
    alive = [a for a in gc.get_objects() if a.__class__ is DeviceArray and id(a) not in before]
    assert alive == [x._array]
    assert type(caught.value) is kind
    assert not isinstance(caught.value, lab.errors.DeviceError) or "Try" in str(caught.value)


@pytest.mark.usefixtures("passing")
def test_no_room_is_told_with_figures() -> None:
    """What an allocation of ours raises; an op adds its name, its shapes and the user's line."""
    with pytest.raises(
        lab.errors.DeviceMemoryError, match=r"no room for 4,503,599,627,370,496 bytes; .* are free\. Try"
    ):
        _inside(lambda: lab.zeros((2**25, 2**25)))
    grow = general("grow", lambda x, size: x.memory.empty((size,), x.dtype), None, doc="Makes a large array.")
    with pytest.raises(
        lab.errors.DeviceMemoryError, match=r"(?s)grow\(f32\[1\] on /GPU:0\): /GPU:0: no room.*line \d+"
    ):
        grow(on_gpu(1.0), size=2**50)


@pytest.mark.usefixtures("passing")
def test_more_elements_than_kernels_count() -> None:
    """The check that launchers make is told as it stands: it names the op and the shape."""
    huge = general("huge", lambda x: check_size("huge", (2**16, 2**16)) or x, None, doc="Checks.")
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"huge: an array of shape \(65536, 65536\).*lab\.split"):
        huge(on_gpu(1.0))


def test_float64_on_a_card_that_is_slow_at_it_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first op that meets it is named."""
    memory = memory_of(0)
    x, y = lab.constant([1.0, 2.0], "float64").gpu(), on_gpu(1.0)
    for run, name in ((lambda: x * x, "multiply"), (lambda: lab.reduce_sum(x), "sum")):
        monkeypatch.setattr(memory, "slow_doubles", True)
        _ = y + y
        with pytest.warns(lab.errors.DeviceWarning, match=rf"^{name}: .* float64 at 1/32 .* appears once") as told:
            run()
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run()


@pytest.mark.usefixtures("passing")
def test_a_kernels_own_arrays_of_the_cpu_are_no_mismatch() -> None:
    """They are copied, and that is told: what must not mix are the operands."""
    table = np.array([1.0, 2.0], np.float32)
    shifted = unary("shifted", lambda x: x + table, None, doc="Adds a table.")
    y = shifted(on_gpu(1.0, 1.0))
    assert (y.device, y.numpy().tolist()) == ("/GPU:0", [2.0, 3.0])


def test_foreign_arrays_are_copied_by_constant_and_shared_by_from_dlpack() -> None:
    """An array of another library with the CUDA array interface; on a simulated GPU its memory is the CPU's."""
    memory = memory_of(0)
    host = memory.module.asarray(np.array([1.0, 2.0], np.float32))
    foreign = SimpleNamespace(__cuda_array_interface__=memory.interface(host), keep=host)
    for tensor in (lab.constant(foreign), lab.convert_to_tensor(foreign), lab.identity(foreign)):
        assert tensor.device == "/GPU:0"
        host[0] = 5.0
        assert tensor.numpy().tolist() == [1.0, 2.0]
        host[0] = 1.0
    assert (on_gpu(1.0, 1.0) * foreign).numpy().tolist() == [1.0, 2.0]
    assert lab.constant(foreign, "float64").dtype == lab.float64
    with pytest.raises(lab.errors.ConversionError, match=r"float32 on /GPU:0 to Tensor of dtype int32"):
        lab.constant(foreign, "int32")


def address(tensor: lab.Tensor) -> int:
    """Tell where in the GPU's memory a tensor lies."""
    return memory_of(0).interface(tensor._array.raw)["data"][0]


def test_tensors_of_a_gpu_share_their_memory() -> None:
    """By both protocols, without a copy; on the CPU one protocol is absent and the other copies."""
    x = on_gpu(1.0, 2.0)
    pointer = address(x)
    assert x.__cuda_array_interface__["data"][0] == pointer
    assert x.__dlpack_device__() == (2, 0)
    again = lab.from_dlpack(x)
    assert again.device == "/GPU:0"
    assert address(again) == pointer
    assert not hasattr(lab.ones(2), "__cuda_array_interface__")
