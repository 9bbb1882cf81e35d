"""Matrix products by our kernel where CuPy's library does not load, against NumPy's."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.cuda import library as products_library
from autodiff_lab.kernels.cuda.gpus import memory_of
from autodiff_lab.kernels.matmul import cuda as products
from autodiff_lab.kernels.matmul.cuda import TILE, by_kernel
from tests.simulated.agreement import agree, declined, on_gpu

lab.matmul  # noqa: B018 - loads the family


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let cuBLAS be found missing."""
    monkeypatch.setitem(products_library._works, memory_of(0), False)


def normal(*shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (TILE, TILE, TILE), (TILE + 1, 3, TILE - 1), (2, 2 * TILE + 1, 3 * TILE + 2)]
)
def test_matrices_of_any_size(dtype: str, sizes: tuple[int, int, int]) -> None:
    """Sizes that are whole tiles, and sizes that leave rows, columns or steps over."""
    m, k, n = sizes
    x, y = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
    made = by_kernel(on_gpu(x), on_gpu(y)).to_host()
    np.testing.assert_allclose(made, x @ y, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6, strict=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 5, 4), (3, 4, 2)), ((3, 5, 4), (4, 2)), ((5, 4), (3, 4, 2)), ((2, 1, 3, 4), (3, 4, 2)),
        ((1, 3, 4), (2, 4, 1)), ((4,), (4, 3)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4,)),
        ((4,), (2, 4, 3)), ((1, 2, 3), (1, 3, 2)),
    ],
)  # fmt: skip
def test_vectors_and_stacks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """One matrix for many, many for one, stacks that broadcast; results of rank 0."""
    x, y = normal(*left), normal(*right)
    made = by_kernel(on_gpu(x), on_gpu(y)).to_host()
    np.testing.assert_allclose(made, np.asarray(x @ y), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize(("left", "right"), [((0, 3), (3, 2)), ((2, 3), (3, 0)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 2))])
def test_nothing_to_multiply(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Results without elements, and sums of nothing."""
    x, y = np.zeros(left, np.float32), np.zeros(right, np.float32)
    np.testing.assert_array_equal(by_kernel(on_gpu(x), on_gpu(y)).to_host(), x @ y, strict=True)


def test_stacks_longer_than_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several launches, each with its part of the stack."""
    monkeypatch.setattr(products, "MOST_STACKED", 2)
    x, y = normal(5, 3, 2), normal(5, 2, 3)
    made = by_kernel(on_gpu(x), on_gpu(y)).to_host()
    np.testing.assert_allclose(made, x @ y, rtol=1e-5, atol=1e-6)


def test_what_is_not_a_number_stays_where_it_is() -> None:
    """The zeros that fill up a tile meet no infinity of the matrices."""
    x, y = normal(3 * TILE + 2, 3), normal(3, 4)
    x[2, 1], x[5, 0] = np.inf, np.nan
    made = by_kernel(on_gpu(x), on_gpu(y)).to_host()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isfinite(made), np.isfinite(x @ y))


@pytest.mark.usefixtures("without_library")
@pytest.mark.parametrize("sizes", [(3, 4, 5), (13 * TILE, 2, 9 * TILE)])
def test_the_method_takes_over_where_the_library_is_missing(sizes: tuple[int, int, int]) -> None:
    """Results of one tile and of many; operands may be transposed views."""
    m, k, n = sizes
    agree("matmul", normal(m, k), normal(k, n), tolerance=1e-5)
    agree("matmul", normal(k, m).T, normal(n, k).T, tolerance=1e-5)
    assert declined("matmul", np.ones((2, 2), np.int32), np.ones((2, 2), np.int32))
    assert declined("matmul", normal(2, 2), normal(2, 2, dtype="float64"))
    assert declined("matmul", normal(2, 3), normal(2, 3))


def test_the_library_multiplies_where_it_is_there() -> None:
    """In the simulator NumPy stands for it."""
    assert declined("matmul", normal(2, 2), normal(2, 2))


@pytest.mark.usefixtures("without_library")
def test_the_operator_takes_over_too() -> None:
    """Products that never ask for a method, such as small ones, reach the kernel through the array's operator."""
    x, y = normal(3, 4), normal(4, 2)
    made = on_gpu(x) @ on_gpu(y)
    np.testing.assert_allclose(made.to_host(), x @ y, rtol=1e-5, atol=1e-6, strict=True)
    whole = on_gpu(np.ones((2, 2), np.int32))
    np.testing.assert_array_equal((whole @ whole).to_host(), np.full((2, 2), 2, np.int32), strict=True)


@pytest.mark.slow
@pytest.mark.usefixtures("without_library")
def test_the_op_takes_over_and_so_does_its_gradient() -> None:
    """Through the tape, at a size at which the op asks for the method."""
    x, y = normal(64, 64), normal(64, 65)
    with lab.device("/GPU:0"):
        a, b = lab.constant(x), lab.constant(y)
    with lab.GradientTape() as tape:
        tape.watch(a)
        made = lab.matmul(a, b)
    np.testing.assert_allclose(made.numpy(), x @ y, rtol=1e-4, atol=1e-4, strict=True)
    gradient = tape.gradient(made, a)
    assert gradient.device == "/GPU:0"
    np.testing.assert_allclose(gradient.numpy(), np.ones((64, 65), np.float32) @ y.T, rtol=1e-4, atol=1e-4)


def test_a_library_that_does_not_load_is_told_once() -> None:
    """One sentence with the reason and what to do; complex products then go to the CPU, which is told as traffic."""

    def missing(x: Any, y: Any) -> Any:
        raise ImportError("libcublas.so.13: cannot open shared object file\nand more")

    memory: Any = memory_of(0).__class__(0, SimpleNamespace(ones=np.ones, matmul=missing), None)
    with pytest.warns(RuntimeWarning, match=r"/GPU:0: cuBLAS does not load \(ImportError: libcublas.*file\)") as told:
        assert not products_library.library_works(memory)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not products_library.library_works(memory)
    memory.wrap, memory.module.ndarray = memory_of(0).wrap, np.ndarray
    with pytest.raises(NotImplementedError):
        products_library.product_of(memory)(np.ones((2, 2), "complex64"), np.ones((2, 2), "complex64"))


def test_too_many_elements_are_refused() -> None:
    """Sizes beyond 32-bit indices, in words that say what to do; no memory is asked for."""
    module = memory_of(0).module
    long = memory_of(0).wrap(module.broadcast_to(module.zeros(1, "float32"), (1, 1 << 31)))
    with pytest.raises(lab.errors.InvalidArgumentError, match="matmul: an array of shape"):
        by_kernel(long, long.T)
