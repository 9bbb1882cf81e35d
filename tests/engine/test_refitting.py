"""NumPy values in another dtype: accepted if only float precision is lost, else refused with what would be lost."""

import itertools

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError
from tests.refusals import refused

DTYPES = ["float16", "float32", "float64", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "uint64",
          "complex64", "complex128", "bool"]  # fmt: skip
VALUES = [[0, 1], [1, 100], [-3, 2], [300, 5], [1.5, 2.0], [float("nan"), 1.0], [1 + 2j, 3.0], [3 + 0j, 1.0], []]


@pytest.mark.parametrize(("have", "want"), list(itertools.product(DTYPES, DTYPES)))
def test_what_is_taken_is_the_same_number(have: str, want: str) -> None:
    source, target = lab.as_dtype(have).as_numpy_dtype, lab.as_dtype(want).as_numpy_dtype
    for value in VALUES:
        with np.errstate(all="ignore"):
            array = np.array(value)
            if array.dtype.kind == "c" and "complex" not in have:
                array = array.real
            array = array.astype(source)
        if not np.all(np.abs(array.astype(complex)) < 1e4) and array.dtype.kind in "iu":
            continue  # NumPy's own idea of nan or -3 in such a dtype
        try:
            made = lab.constant(array, want)
        except ConversionError:
            assert have != want
            with np.errstate(all="ignore"):
                cast = np.asarray(array.real if array.dtype.kind == "c" else array).astype(target)
            assert not np.array_equal(cast.astype(complex), array.astype(complex))
        else:
            assert made.dtype == lab.as_dtype(want)
            tolerance = 0.0 if want == "bool" or "int" in want else 1e-2
            np.testing.assert_allclose(made.numpy().astype(complex), array.astype(complex), tolerance)


@pytest.mark.parametrize(("value", "dtype", "words"), [
    (np.array([1.5, 2.0]), "int32", "fractional parts"), (np.float64(1.5), "int32", "fractional parts"),
    (np.array([np.inf]), "int64", "finite"), (np.array([2**40]), "int32", "out of range"),
    (np.array([-1]), "uint8", "out of range"),
    (np.array([1 + 2j]), "float32", "imaginary"), (np.array([2]), "bool", "0 and 1"), (np.array([1]), "string", "text"),
    (np.array([2.0**63]), "int64", "out of range"),
])  # fmt: skip
def test_the_refusal_names_what_would_be_lost(value: object, dtype: str, words: str) -> None:
    for make in (lab.constant, lab.convert_to_tensor, lab.Variable):
        with refused(ConversionError, words):
            make(value, dtype=dtype)


def test_an_array_that_meets_a_tensor_does_not_wrap_around() -> None:
    with pytest.raises(ConversionError, match="out of range"):
        _ = lab.constant([1]) + np.array([2**40])


def test_python_numbers_beyond_32_bits_are_int64_and_bools_count() -> None:
    for value in (2**31, -(2**31) - 1, [1, 2**40]):
        assert lab.constant(value).dtype == lab.int64
        assert lab.convert_to_tensor(value).numpy().tolist() == value
    assert lab.constant([-(2**31), 2**31 - 1]).dtype == lab.int32
    assert lab.constant([True, False], lab.float32).numpy().tolist() == [1.0, 0.0]
    for number in (2**64, [0.5]):
        with pytest.raises(ConversionError):
            lab.constant(number, lab.int64)
