"""Formatted numbers: few characters, and different kinds of value look different."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_lab.recording.numbers import brief, dimensions, short
from autodiff_lab.recording.snapshot import Snapshot, Summary, snapshot


@given(st.floats(min_value=-1e308, max_value=1e308))
def test_short_keeps_four_digits_of_every_float(value: float) -> None:
    """Reading the text back gives the number within half a unit of the fourth digit, and 0 only for 0."""
    text = short(value)
    assert abs(float(text) - value) <= 0.5001e-3 * abs(value)
    assert (text == "0") == (value == 0)


@given(st.floats(min_value=1e-4, max_value=9e5))
def test_ordinary_magnitudes_have_no_exponent(value: float) -> None:
    """A learner never meets an exponent between a ten-thousandth and a million."""
    assert "e" not in short(value)


def test_minus_sign_is_replaced_everywhere() -> None:
    """The sign of the mantissa and of the exponent are both the true minus sign in pictures."""
    assert short(-1.5e-9, minus="−") == "−1.5e−9"
    assert short(-3, minus="−") == "−3"
    assert short(np.float32(-np.inf), minus="−") == "−inf"


def test_other_kinds_of_values() -> None:
    """Integers are exact, booleans and texts are shown as such, and a complex number has two parts."""
    assert short(np.int64(123456789)) == "123456789"
    assert short(np.bool_(False)) == "False"
    assert short(b"abc") == '"abc"'
    assert short(1 - 2j) == "1 - 2i"
    assert short("x" * 50).endswith('‥"')


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros((0, 3)), "[]"),
        (np.array([1, 2, 3]), "[1, 2, 3]"),
        (np.full((10, 10), np.nan), "nothing finite, 100 nan [10×10]"),
        (np.array([np.inf, *range(9)]), "mean 4, 1 inf [10]"),
    ],
)
def test_brief_of_arrays(array: np.ndarray, text: str) -> None:
    """Small arrays are written out, large ones summarised; what is not finite is always counted."""
    assert brief(snapshot(array)) == text


def test_brief_of_a_summary_and_of_foreign_dtypes() -> None:
    """A value of which only the summary was kept, and one whose dtype NumPy does not know, can be shown."""
    summary = Summary(None, None, None, 0, 0, ("a", "b"))
    assert brief(Snapshot("string", (9,), None, summary)) == '"a", "b", ⋯ [9]'
    assert brief(Snapshot("float8", (2,), [1.5, 2.5])) == "[1.5, 2.5]"
    assert dimensions((2, 3, 4)) == "[2×3×4]"
