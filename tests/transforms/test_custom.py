"""Custom derivatives: used, differentiated again, refused when they are incompatible, registered once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused


@lab.custom_gradient
def log1pexp(x: Any) -> Any:
    """``ln(1 + e^x)`` whose gradient function uses a value of the body."""
    e = lab.exp(x)
    return lab.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))


def test_the_value_is_the_functions_and_the_slope_the_users() -> None:
    x = lab.constant(100.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    assert float(tape.gradient(y, x)) == 1.0


def test_a_gradient_function_that_uses_the_body_is_differentiated_twice_and_thrice() -> None:
    x = lab.constant(0.3, "float64")
    with lab.GradientTape() as third, lab.GradientTape() as second:
        third.watch(x)
        second.watch(x)
        with lab.GradientTape() as first:
            first.watch(x)
            y = log1pexp(x)
        d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    s = 1 / (1 + np.exp(-0.3))
    assert float(d1) == pytest.approx(s)
    assert float(d2) == pytest.approx(s * (1 - s))
    assert float(third.gradient(d2, x)) == pytest.approx(s * (1 - s) * (1 - 2 * s))


def test_several_inputs_and_outputs() -> None:
    @lab.custom_gradient
    def polar(r: Any, a: Any) -> Any:
        x, y = r * lab.cos(a), r * lab.sin(a)
        return (x, y), lambda dx, dy: (dx + 10.0 * dy, None)

    r, a = lab.Variable(2.0), lab.Variable(0.5)
    with lab.GradientTape(persistent=True) as tape:
        x, y = polar(r, a)
        z = 3.0 * x + y
    assert float(tape.gradient(z, r)) == 13.0
    assert tape.gradient(z, a) is None
    assert float(tape.gradient(y, r)) == 10.0


def test_the_body_does_not_leak_a_gradient_around_the_custom_one() -> None:
    v = lab.Variable(3.0)

    @lab.custom_gradient
    def blind(x: Any) -> Any:
        return x * v, lambda upstream, variables: (upstream * 0.0, [None for _ in variables])

    x = lab.constant(2.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = blind(x)
    dx, dv = tape.gradient(y, [x, v])
    assert (float(dx), dv) == (0.0, None)


def test_what_does_not_fit_is_refused() -> None:
    x = lab.Variable(3.0)

    @lab.custom_gradient
    def square(t: Any) -> Any:
        return t * t

    with pytest.raises(lab.errors.InvalidArgumentError, match=r"square must return a pair.*got Tensor"):
        square(x)

    @lab.custom_gradient
    def two(t: Any) -> Any:
        return lab.identity(t), lambda upstream: (upstream, upstream)

    with lab.GradientTape() as tape:
        y = two(x)
    with pytest.raises(lab.errors.InvalidArgumentError, match="the gradient of two gave 2 cotangents for 1 input"):
        tape.gradient(y, x)


@pytest.mark.extras
def test_a_registered_rule_is_not_replaced_and_a_missing_one_is_named() -> None:
    with refused(KeyError, "Mul"):
        lab.RegisterGradient("Mul")(lambda op, upstream: upstream)
    with pytest.raises(LookupError, match="no op named 'Nonsense'"):
        lab.RegisterGradient("Nonsense")(lambda op, upstream: upstream)
    image = lab.Variable([[[0.5, 0.25]]])
    with lab.GradientTape(persistent=True) as tape:
        new = lab.image.adjust_contrast(image, 2.0)
        other = image * 2.0
    with pytest.raises(LookupError, match=r"^gradient registry has no entry for: AdjustContrastv2"):
        tape.gradient(new, image)
    assert tape.gradient(other, image).shape == image.shape


def returning(cotangent: Any) -> Any:
    """A square whose gradient function returns this, whatever comes in."""
    return lab.custom_gradient(lambda x: (x * x, lambda _: cotangent))


@pytest.mark.parametrize("way", ["gradient", "jacobian"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "cotangent",
    [
        lambda: np.array([0.0, 5.0, 0.0]),
        lambda: lab.constant([0.0, 5.0, 0.0], "float32"),
        lambda: lab.constant([0, 5, 0]),
        pytest.param(lambda: lab.IndexedSlices([5.0], [1], [3]), marks=pytest.mark.extras),
        pytest.param(lambda: lab.IndexedSlices([5.0], [1]), marks=pytest.mark.extras),
        pytest.param(lambda: lab.IndexedSlices([2.0, 1.0, 2.0], [1, 1, 1]), marks=pytest.mark.extras),
    ],
    ids=["array", "tensor", "whole numbers", "rows", "rows of an unknown whole", "as many rows"],
)
def test_a_cotangent_gets_the_dtype_and_the_shape_of_the_input(
    cotangent: Callable[[], Any], dtype: str, way: str
) -> None:
    x = lab.Variable([1.0, 2.0, 3.0], dtype=dtype)
    with lab.GradientTape() as tape:
        y = returning(cotangent())(x * 1)
    found = getattr(tape, way)(y, x)
    assert found.dtype == x.dtype
    assert lab.cast(found, "complex64").numpy().reshape(-1, 3)[-1].tolist() == [0, 5, 0]


@pytest.mark.parametrize(
    ("cotangent", "error", "words"),
    [
        (lab.ones(7), lab.errors.ShapeMismatch, r"shape \(7,\) for an input of shape \(3,\)"),
        (lab.ones((1, 3)), lab.errors.ShapeMismatch, r"shape \(1, 3\) for an input of shape \(3,\)"),
        (lab.constant(["a", "b", "c"]), lab.errors.DtypeMismatch, "dtype string for an input of dtype float32"),
        (lab.ones(3, "complex64"), lab.errors.DtypeMismatch, "dtype complex64 for an input of dtype float32"),
        ([lab.ones(3), lab.ones(3)], lab.errors.InvalidArgumentError, "gave 2 cotangents for 1 input"),
        ([], lab.errors.InvalidArgumentError, "gave 0 cotangents for 1 input"),
    ],
)
def test_a_cotangent_that_does_not_fit_is_refused_by_the_name_of_the_function(
    cotangent: Any, error: type[Exception], words: str
) -> None:
    x = lab.Variable([1.0, 2.0, 3.0])
    with lab.GradientTape() as tape:
        y = returning(cotangent)(x * 1.0)
    with refused(error, words):
        tape.gradient(y, x)


@pytest.mark.extras
def test_output_gradients_may_be_rows_of_the_target() -> None:
    x = lab.Variable([1.0, 2.0, 3.0])
    rows = lab.IndexedSlices(lab.constant([1.0, 1.0, 1.0]), lab.constant([2, 2, 0]), lab.constant([3]))
    with lab.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x, output_gradients=rows).numpy().tolist() == [2.0, 0.0, 12.0]
