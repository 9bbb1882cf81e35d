"""Functions in which CuPy and NumPy differ: against NumPy, over dtypes, nan and infinities; and deferred checks."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels import arrays
from autodiff_lab.kernels.cuda import promises
from tests.simulated.agreement import on_gpu

NUMBERS = np.array([0.0, -0.0, 1.0, -1.0, 0.1, 2.5, -7.0, 1e10, np.inf, -np.inf, np.nan])
DTYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def pairs(dtype: str) -> tuple[Any, Any]:
    """Every number with every other one."""
    finite = np.isfinite(NUMBERS) & (np.abs(NUMBERS) < 100)
    numbers = NUMBERS if dtype[0] == "f" else np.abs(NUMBERS[finite]) if dtype[0] == "u" else NUMBERS[finite]
    with np.errstate(all="ignore"):
        x, y = np.meshgrid(numbers.astype(dtype), numbers.astype(dtype))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["remainder", "floor_divide"])
def test_remainders_and_quotients_are_numpys(name: str, dtype: str) -> None:
    x, y = pairs(dtype)
    ufunc = getattr(np, name)
    with np.errstate(all="ignore"):
        expected = ufunc(x, y)
    np.testing.assert_array_equal(ufunc(on_gpu(x), on_gpu(y)).to_host(), expected, strict=True)
    with np.errstate(all="ignore"):
        whole = ufunc(x, y.dtype.type(3))
    np.testing.assert_array_equal(ufunc(on_gpu(x), y.dtype.type(3)).to_host(), whole)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "minimum"])
def test_values_at_positions_are_numpys(name: str, dtype: str) -> None:
    """Repeated positions, one axis and two, nan among floats, integers that wrap around."""
    if dtype[0] == "c" and name in ("maximum", "minimum"):
        return  # CuPy and NumPy order complex numbers, and no op here does
    rng = np.random.default_rng(3)
    ufunc = getattr(np, name)
    values = (rng.normal(size=40) * 50).astype(dtype) if dtype[0] != "u" else rng.integers(0, 200, 40).astype(dtype)
    if dtype[0] == "f":
        values[[3, 17]] = np.nan, -np.inf
    for shape, index in (((7,), rng.integers(0, 7, 40)), ((3, 5), (rng.integers(0, 3, 40), rng.integers(0, 5, 40)))):
        expected = (np.arange(np.prod(shape)) % 5).reshape(shape).astype(dtype)
        total = on_gpu(expected)
        places = tuple(map(on_gpu, index)) if isinstance(index, tuple) else on_gpu(index)
        ufunc.at(total, places, on_gpu(values))
        with np.errstate(invalid="ignore"):
            ufunc.at(expected, index, values)
        np.testing.assert_allclose(total.to_host(), expected, 2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("name", ["logaddexp", "maximum", "minimum", "add", "multiply"])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 33])
def test_accumulations_are_numpys(name: str, length: int) -> None:
    x = np.random.default_rng(length).normal(size=(length, 2))
    ufunc = getattr(np, name)
    for axis in (0, -1):
        expected = ufunc.accumulate(x, axis=axis)
        np.testing.assert_allclose(ufunc.accumulate(on_gpu(x), axis=axis).to_host(), expected, 1e-12)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_reductions_are_numpys(name: str, axis: Any) -> None:
    """Over any axes and over none, with and without a start."""
    x, ufunc = np.random.default_rng(1).integers(-2, 3, (2, 3, 4)).astype(np.float32), getattr(np, name)
    for keepdims in (False, True):
        made = ufunc.reduce(on_gpu(x), axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(made.to_host(), ufunc.reduce(x, axis=axis, keepdims=keepdims), strict=True)
    if name in ("maximum", "minimum"):
        empty = np.empty((2, 0), np.float32)
        made = ufunc.reduce(on_gpu(empty), axis=-1, initial=-np.inf)
        np.testing.assert_array_equal(made.to_host(), ufunc.reduce(empty, axis=-1, initial=-np.inf), strict=True)


def test_what_writes_into_an_array_writes_into_that_of_the_gpu() -> None:
    """Also where CuPy does not know the function, and NumPy writes into a copy."""
    for write in (
        lambda x: np.copyto(x, 7),
        lambda x: np.put(x, [1], [5]),
        lambda x: np.putmask(x, np.asarray(x) > 1, 9),
        lambda x: np.fill_diagonal(x, 4),
        lambda x: np.add.at(x, ([0], [1]), 3),
        lambda x: np.multiply.at(x, ([0, 0], [1, 1]), 3),
        lambda x: np.put_along_axis(x, x * 0, 6, 0),
    ):
        host = np.arange(6).reshape(2, 3)
        there = on_gpu(host)
        write(there)
        write(host)
        np.testing.assert_array_equal(there.to_host(), host)


class Waiting(SimpleNamespace):
    """A memory that responds asynchronously, like a real one."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def download(self, raw: Any) -> Any:
        """Copy, and count."""
        self.reads += 1
        return np.asarray(raw)


def test_a_question_about_values_waits_for_the_next_read() -> None:
    """Nothing is read when it is asked; at the next read the first broken promise raises, and says that it is late."""
    memory: Any = Waiting(simulated=False, module=np, reads=0)
    promises.ask(memory, np.bool_(True), lambda: ValueError("kept"))
    promises.ask(memory, np.bool_(False), lambda: InvalidArgumentError("broken"))
    promises.ask(memory, np.bool_(False), lambda: InvalidArgumentError("later"))
    assert memory.reads == 0
    with pytest.raises(InvalidArgumentError, match="broken") as raised:
        promises.answer(memory)
    assert raised.value.__notes__[-1] == promises.LATE
    promises.answer(memory)  # all questions are gone


def test_questions_do_not_pile_up() -> None:
    memory: Any = Waiting(simulated=False, module=np, reads=0)
    for _ in range(3 * promises.MOST):
        promises.ask(memory, np.bool_(True), lambda: ValueError("kept"))
    assert memory.reads == 3


def test_an_index_out_of_range_is_an_error_on_a_gpu() -> None:
    import autodiff_lab as lab

    with lab.device("/GPU:0"):
        x = lab.constant([1.0, 2.0])
        for bad in (2, -1):
            with pytest.raises(InvalidArgumentError, match=r"not in \[0, 2\)"):
                lab.gather(x, [bad]).numpy()
        with pytest.raises(InvalidArgumentError, match="by zero"):
            (lab.constant([1]) // lab.constant([0])).numpy()


def test_what_kernels_make_lies_beside_their_operands() -> None:
    x = on_gpu(np.ones((2, 3), np.float32))
    for made, expected in (
        (arrays.zeros((2,), x), np.zeros(2, np.float32)),
        (arrays.full((2,), 3, x, np.int64), np.full(2, 3)),
        (arrays.arange(4, x), np.arange(4)),
        (arrays.eye(3, x), np.eye(3, dtype=np.float32)),
        (arrays.beside(x, np.arange(2)), np.arange(2)),
        (arrays.contiguous(x.T), np.ones((3, 2), np.float32)),
    ):
        assert arrays.on_gpu(made)
        np.testing.assert_array_equal(made.to_host(), expected, strict=True)
