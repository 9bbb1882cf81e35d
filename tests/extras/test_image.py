"""Image ops follow their formulas; adjusting contrast has no gradient until one is registered."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

IMAGE = np.random.default_rng(0).random((2, 4, 5, 3))


@pytest.fixture
def unregistered() -> Iterator[None]:
    """Take back what a test registers."""
    op = REGISTRY["adjust_contrast"]
    before = op.rules, op.stacked
    yield
    op.rules, op.stacked = before


def test_contrast_stretches_about_the_mean_of_each_channel() -> None:
    mean = IMAGE.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(lab.image.adjust_contrast(IMAGE, 0.5), (IMAGE - mean) * 0.5 + mean)


def test_a_gradient_through_contrast_raises_only_where_it_is_needed() -> None:
    image, factor = lab.Variable(IMAGE), lab.Variable(0.5, dtype=lab.float64)
    with lab.GradientTape(persistent=True) as tape:
        changed = lab.image.adjust_contrast(image, factor)
        beside = lab.reduce_sum(image * 2.0)
    for source in (image, factor):
        with pytest.raises(LookupError) as caught:
            tape.gradient(changed, source)
        assert str(caught.value) == "gradient registry has no entry for: AdjustContrastv2"
    np.testing.assert_array_equal(tape.gradient(beside, image), np.full(IMAGE.shape, 2.0))
    assert "AdjustContrastv2" not in lab.registered_gradients()


def test_a_registered_gradient_is_used(unregistered: None) -> None:
    @lab.RegisterGradient("AdjustContrastv2")
    def gradient(op: Any, upstream: Any) -> Any:
        image, factor = op.inputs
        mean = lab.reduce_mean(image, axis=(-3, -2), keepdims=True)
        centred = upstream - lab.reduce_mean(upstream, axis=(-3, -2), keepdims=True)
        return upstream - centred * (1.0 - factor), lab.reduce_sum(upstream * (image - mean))

    check = check_gradient(lambda x, f: lab.image.adjust_contrast(x, f) ** 2, IMAGE, 0.7)
    assert check, str(check)
    assert "AdjustContrastv2" in lab.registered_gradients()
    with refused(KeyError, "AdjustContrastv2"):
        lab.RegisterGradient("AdjustContrastv2")(gradient)


def test_the_other_functions_agree_with_numpy() -> None:
    np.testing.assert_array_equal(lab.image.flip_left_right(IMAGE), IMAGE[:, :, ::-1])
    np.testing.assert_array_equal(lab.image.flip_up_down(IMAGE), IMAGE[:, ::-1])
    np.testing.assert_allclose(lab.image.adjust_brightness(IMAGE, 0.1), IMAGE + 0.1)
    grey = lab.image.rgb_to_grayscale(IMAGE)
    np.testing.assert_allclose(grey[..., 0], IMAGE @ [0.2989, 0.587, 0.114])
    variation = np.abs(np.diff(IMAGE, axis=1)).sum((1, 2, 3)) + np.abs(np.diff(IMAGE, axis=2)).sum((1, 2, 3))
    np.testing.assert_allclose(lab.image.total_variation(IMAGE), variation)


@pytest.mark.parametrize(
    "function",
    [
        lab.image.flip_left_right,
        lab.image.flip_up_down,
        lab.image.rgb_to_grayscale,
        lab.image.total_variation,
        lambda x: lab.image.adjust_brightness(x, 0.5),
    ],
)
def test_their_gradients_agree_with_differences(function: Any) -> None:
    check = check_gradient(lambda x: function(x) ** 2, IMAGE[0])
    assert check, str(check)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lab.image.adjust_contrast([1.0], 0.5), lab.errors.ShapeMismatch, "height, width, channels"),
        (lambda: lab.image.adjust_contrast([[[1]]], 0.5), lab.errors.DtypeMismatch, "floating-point"),
        (lambda: lab.image.adjust_contrast([[[1.0]]], [0.5]), lab.errors.ShapeMismatch, "must be a scalar"),
        (lambda: lab.image.adjust_contrast([[[1.0]]], lab.constant(1)), lab.errors.DtypeMismatch, "int32"),
        (lambda: lab.image.rgb_to_grayscale([[[1.0]]]), lab.errors.ShapeMismatch, "3 channels"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()
