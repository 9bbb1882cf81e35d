"""Compiled functions with unusual input: dtypes, layouts, nan, threads, forks, pickles, warnings."""

import copy
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.tensor import wrap

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8", "uint8", "int32", "int64")


def whole(x: Any, y: Any) -> list[Any]:
    """Ops that every number has, elementwise and summed."""
    return [x * y + x, lab.reduce_sum(x * y, axis=-1), lab.reduce_mean(x), x - y, lab.matmul(x, lab.transpose(y))]


def floating(x: Any, y: Any) -> list[Any]:
    """Ops that loops fuse, with what becomes of nan, infinities and zeros."""
    return [
        lab.exp(x) * y + lab.sin(x), lab.reduce_max(x * y, axis=0), lab.reduce_min(x, axis=1), lab.nn.softmax(x),
        lab.reduce_mean(lab.math.log1p(lab.abs(x)), axis=1), lab.math.reduce_logsumexp(x, axis=1), lab.sigmoid(x),
        lab.nn.relu(x), lab.sqrt(x), lab.where(x > 0.0, x, lab.tanh(y)), lab.clip_by_value(x, -1.0, 1.0), lab.sign(x),
        lab.maximum(x, y), lab.round(x), lab.floor(x), lab.pow(lab.abs(x), -0.5), lab.math.erf(x), lab.cos(x * 1e6),
    ]  # fmt: skip


def agree(function: Callable[..., Any], compiled: Any, *tensors: Any, within: float = 2e-5) -> None:
    """Check that two compiled calls give what the eager one gives, dtypes and the signs of zeros included."""
    expected = [t.numpy() for t in function(*tensors)]
    for _ in range(2):
        for n, (found, wanted) in enumerate(zip([t.numpy() for t in compiled(*tensors)], expected, strict=True)):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            wide = np.result_type(wanted.dtype, np.float64) if wanted.dtype.kind in "iufc" else np.float64
            a, b = found.astype(wide), wanted.astype(wide)
            np.testing.assert_allclose(a, b, rtol=within, atol=within, err_msg=f"result {n}")
            if wide == np.float64:
                np.testing.assert_array_equal(np.signbit(a[b == 0]), np.signbit(b[b == 0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_compiled_or_runs_as_before(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (lab.cast(lab.constant(rng.integers(1, 9, (5, 40))), dtype) for _ in range(2))
    compiled = lab.function(whole)
    agree(whole, compiled, x, y, within=2e-2 if dtype.endswith("16") else 1e-5)
    assert compiled.fallbacks == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_a_mean_of_more_small_numbers_than_their_dtype_counts(dtype: str) -> None:
    x = lab.constant(np.full((300, 200), 100, dtype))
    for mean in (lab.reduce_mean, lab.function(lab.reduce_mean)):
        assert mean(x).numpy() == 100
        assert mean(x, axis=0).numpy().tolist() == [100] * 200


def layouts(x: Any) -> Iterator[Any]:
    """Yield an array in layouts that loops do not take as they are."""
    frozen, bytes_ = x.copy(), np.frombuffer(b"x" + x.tobytes(), np.uint8)
    frozen.flags.writeable = False
    yield from (x[::-1, ::-1], np.asfortranarray(x), np.broadcast_to(x[:1], x.shape), np.broadcast_to(x[0, 0], x.shape))
    yield from (frozen, bytes_[1:].view(x.dtype).reshape(x.shape), np.repeat(x, 2, 1)[:, ::2])


@pytest.mark.parametrize("shape", [(6, 40), (300, 260)], ids=["small", "shared by threads"])
def test_layouts_change_nothing(shape: tuple[int, ...]) -> None:
    compiled = lab.function(floating)
    plain = np.random.default_rng(1).normal(size=shape).astype("float32")
    for array in layouts(plain):
        agree(floating, compiled, wrap(array), wrap(plain))
        agree(floating, compiled, wrap(plain), wrap(array))
    assert compiled.fallbacks == 0


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6, 40), (300, 260), (1, 1), (1, 5000), (3, 1)])
def test_nan_infinities_denormals_and_both_zeros_go_where_eager_ops_put_them(dtype: str, shape: Any) -> None:
    rng = np.random.default_rng(2)
    odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 1e30, 0.5, -0.5, 2.5], dtype)
    x, y = (lab.constant(rng.choice(odd, shape)) for _ in range(2))
    agree(floating, lab.function(floating), x, y)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_arrays_without_elements(shape: Any) -> None:
    agree(whole, lab.function(whole), lab.zeros(shape), lab.zeros(shape))


def test_errors_of_floating_point_are_silent_whatever_numpy_and_warnings_were_told() -> None:
    x = lab.constant(np.array([0.0, 1e30, np.inf, -np.inf] * 30, np.float32))
    compiled = lab.function(lambda x: (lab.exp(x), 1.0 / x, lab.reduce_sum(x * 1e30) * 1e30))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            compiled(x)
    assert compiled.fallbacks == 0


def test_eight_threads_call_one_function_and_one_kernel() -> None:
    rng = np.random.default_rng(3)
    tensors = [lab.constant(rng.normal(size=(30 + k % 3, 200)).astype("float32")) for k in range(8)]

    def run(x: Any) -> Any:
        return lab.reduce_sum(lab.exp(x * 0.1) * x, axis=1) + lab.reduce_max(lab.nn.softmax(x), axis=1)

    compiled, wrong = lab.function(run), []
    expected = [run(x).numpy() for x in tensors]

    def work(k: int) -> None:
        for _ in range(20):
            found = [compiled(tensors[k]).numpy(), run(tensors[k]).numpy()]
            if not all(np.allclose(one, expected[k], rtol=1e-4, atol=1e-4) for one in found):
                wrong.append(k)

    with lab.use_kernels("numba"):
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert compiled.fallbacks == 0


@lab.function
def doubled(x: Any) -> Any:
    """Return twice x."""
    return x * 2.0


def test_a_compiled_function_is_pickled_by_its_name_as_functions_are() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled  # noqa: S301 - our own bytes
    assert copy.deepcopy(doubled) is doubled
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(lab.function(lambda x: x))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_may_call_a_function_that_another_thread_was_tracing() -> None:
    inside, go = threading.Event(), threading.Event()

    def slowly(x: Any) -> Any:
        if threading.current_thread() is tracing:
            inside.set()
            go.wait(60)
        return x + 1.0

    compiled = lab.function(slowly)
    tracing = threading.Thread(target=lambda: compiled(lab.constant(1.0)))
    tracing.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        caller = threading.Thread(target=lambda: compiled(lab.constant(2.0)), daemon=True)
        caller.start()
        caller.join(60)
        os._exit(caller.is_alive())
    go.set()
    tracing.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
