"""Created tensors: `range`, `linspace`, `one_hot`, `fill`, integer division, shapes with unknown lengths."""

import itertools

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from tests.refusals import refused

ENDS = [0, 1, -7, 2**31 - 1, -(2**31), 2**31, 2**40, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize(("start", "limit"), list(itertools.product(ENDS, ENDS)))
def test_a_range_counts_as_python_does_up_to_64_bits(start: int, limit: int) -> None:
    for steps in (1, 3, 7):
        delta = (limit - start) // steps or 1
        if abs(delta) >= 2**63:
            continue
        wide = any(not -(2**31) <= n < 2**31 for n in (start, limit, delta))
        made = lab.range(start, limit, delta)
        assert made.numpy().tolist() == list(range(start, limit, delta))
        assert made.dtype == (lab.int64 if wide else lab.int32)
        assert lab.range(start, limit, delta, dtype=lab.int64).numpy().tolist() == made.numpy().tolist()


@pytest.mark.parametrize("dtype", [None, "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("ends", [(5,), (0,), (-3,), (2, 9, 3), (9, 2, -3), (2, 9, -3), (-4, 1 << 24, 1 << 20)])
def test_a_range_of_python_numbers_is_that_of_numpy_numbers(ends: tuple[int, ...], dtype: str | None) -> None:
    quick, long = lab.range(*ends, dtype=dtype), lab.range(*map(np.int32, ends), dtype=dtype)
    assert quick.dtype == long.dtype
    np.testing.assert_array_equal(quick.numpy(), long.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_range_of_floats_has_its_numbers_in_its_dtype(dtype: str) -> None:
    first, last, step = (lab.cast(v, dtype) for v in (0.5, 2.0, 0.1))
    made = lab.range(first, last, step)
    assert made.dtype == lab.as_dtype(dtype)
    assert np.abs(made.numpy().astype(float) - (0.5 + 0.1 * np.arange(15))).max() < 0.02


def test_a_linspace_of_whole_numbers_is_float64_and_has_a_place_for_its_axis() -> None:
    line = lab.linspace(0, 10, 5)
    assert line.dtype == lab.float64
    assert line.numpy().tolist() == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert lab.linspace(0.0, 1.0, 0).shape == (0,)
    assert lab.linspace([[0.0, 1.0]], [2.0, 3.0], 4, axis=1).shape == (1, 4, 2)
    assert lab.linspace([0.0, 1.0], 3.0, 4, axis=-1).shape == (2, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: lab.fill([3], x),
        lambda x: lab.linspace(x, 2.0, 4),
        lambda x: lab.linspace(0.0, x, 4),
        lambda x: lab.random.uniform([3], minval=x, maxval=5.0),
        lambda x: lab.random.uniform([3], minval=0.0, maxval=x),
        lambda x: lab.random.normal([3], mean=x),
        lambda x: lab.random.normal([3], stddev=x),
        lambda x: lab.random.truncated_normal([3], mean=x),
        lambda x: lab.random.stateless_uniform([3], (1, 2), minval=x, maxval=5.0),
        lambda x: lab.random.stateless_normal([3], (1, 2), mean=x),
    ],
)
def test_an_argument_that_is_a_tensor_has_a_gradient(make: object) -> None:
    x = lab.constant(1.5)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = make(x)  # type: ignore[operator]
    assert tape.gradient(y, x) is not None


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_divide_to_the_float_that_holds_them(dtype: str) -> None:
    wanted = lab.float32 if lab.as_dtype(dtype).size <= 2 else lab.float64
    x = lab.constant([51, 2], dtype)
    for y in (x / 5, 5 / x, x / x, lab.divide(x, 5), lab.truediv(x, x), x[0] / 3, lab.math.divide_no_nan(x, x)):
        assert y.dtype == wanted
    divide = lab.function(lambda v: v / 5)
    for _ in range(3):
        assert divide(x).dtype == wanted
        np.testing.assert_array_equal(divide(x), x / 5)


def test_one_hot_takes_its_dtype_from_its_values() -> None:
    def made(**options: object) -> lab.Tensor:
        return lab.one_hot([0, 2], 3, **options)

    assert made().dtype == lab.float32
    assert made(on_value=5, off_value=-5).dtype == lab.int32
    assert made(off_value=5).numpy().tolist() == [[1, 5, 5], [5, 5, 1]]
    assert made(on_value=5, dtype=lab.float64).dtype == lab.float64
    assert made(on_value=True, off_value=False).dtype == lab.bool
    assert made(on_value="a", off_value="b").numpy().tolist() == [[b"a", b"b", b"b"], [b"b", b"b", b"a"]]


@pytest.mark.parametrize(
    "options",
    [
        {"on_value": 5.0, "off_value": 1}, {"on_value": 5, "off_value": lab.constant(1.0)}, {"on_value": [1, 2]},
        {"on_value": 5.0, "dtype": lab.int32}, {"dtype": lab.bool}, {"dtype": lab.string}, {"on_value": True},
        {"axis": 5}, {"axis": 0.5},
    ],
)  # fmt: skip
def test_one_hot_refuses_values_of_two_dtypes(options: dict[str, object]) -> None:
    with refused(LabError, r"one_hot|Cannot convert"):
        lab.one_hot([0, 2], 3, **options)


@pytest.mark.parametrize(
    ("old", "asked", "new"),
    [
        ((0, 6), (0, -1, 3), (0, 2, 3)), ((0, 6), (0, -1), (0, 6)), ((0, 6), (0, -1, 0), (0, 6, 0)),
        ((0, 6), (-1, 3), (0, 3)), ((0, 6), (-1, 0), (6, 0)), ((2, 0), (-1, 0, 5), (0, 0, 5)), ((0,), (-1,), (0,)),
        ((2, 3), (-1,), (6,)), ((), (-1,), (1,)), ((0, 4), (-1, 0, 2), (2, 0, 2)),
    ],
)  # fmt: skip
def test_an_open_length_among_lengths_of_0(old: tuple[int, ...], asked: tuple[int, ...], new: tuple[int, ...]) -> None:
    assert lab.reshape(lab.zeros(old), asked).shape == new
