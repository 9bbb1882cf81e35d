"""Images of another size: values by formulas in loops, derivatives, compiled functions, stacks, and what is refused."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.ops.resampling import METHODS, resized
from tests.refusals import refused

RNG = np.random.default_rng(0)
IMAGES = RNG.random((2, 5, 6, 3)).astype(np.float32)
SIZES = [(5, 6), (10, 12), (3, 4), (7, 2), (1, 1)]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_resize_gives_weighted_means(method: str, antialias: bool) -> None:
    for size in SIZES:
        found = lab.image.resize(IMAGES, size, method, antialias=antialias)
        expected = resized(IMAGES, *size, method, antialias and method not in ("nearest", "area"))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(
        lab.image.resize(IMAGES[0], (4, 4), method), lab.image.resize(IMAGES, (4, 4), method)[0]
    )


def test_methods_have_their_names_in_tensorflow() -> None:
    kind = lab.image.ResizeMethod
    assert {getattr(kind, name) for name in vars(kind) if name.isupper()} == set(METHODS)
    assert kind.NEAREST_NEIGHBOR == "nearest"


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float64", "bool"])
def test_results_are_float32_unless_pixels_are_only_picked(dtype: str) -> None:
    whole = lab.constant((IMAGES * 255).astype(dtype))
    assert lab.image.resize(whole, (3, 3)).dtype == lab.float32
    picked = lab.image.resize(whole, (10, 3), "nearest")
    assert picked.dtype.name == dtype
    np.testing.assert_array_equal(picked, np.repeat(whole.numpy(), 2, axis=1)[:, :, 1::2])


@pytest.mark.parametrize(
    ("size", "expected"), [((10, 10), (8, 10)), ((3, 12), (3, 4)), ((5, 100), (5, 6)), ((100, 1), (1, 1))]
)
def test_the_ratio_of_height_and_width_is_kept_if_asked(size: Any, expected: Any) -> None:
    found = lab.image.resize(IMAGES, size, preserve_aspect_ratio=True)
    np.testing.assert_array_equal(found, lab.image.resize(IMAGES, expected))


@pytest.mark.parametrize("method", METHODS)
def test_gradients_of_both_orders(method: str) -> None:
    """In float32, where differences need a long step; the op itself is compared in float64 with all others."""
    upstream = RNG.standard_normal((2, 3, 9, 3)).astype(np.float32)
    x = lab.Variable(IMAGES)
    with lab.GradientTape() as outer:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.image.resize(x, (3, 9), method, antialias=True) ** 2 * upstream) / 2
        first = tape.gradient(loss, x)
        total = lab.reduce_sum(first * IMAGES)
    columns = np.eye(IMAGES.size, dtype=np.float32).reshape(-1, *IMAGES.shape[1:])
    smooth = method not in ("nearest", "area")
    matrix = resized(columns.reshape(-1, 5, 6, 3), 3, 9, method, smooth).reshape(IMAGES.size, 2, 3, 9, 3)
    made = resized(IMAGES, 3, 9, method, smooth)
    np.testing.assert_allclose(first, np.tensordot(matrix, made * upstream, 4).reshape(x.shape), rtol=1e-4, atol=1e-5)
    # the loss is quadratic: its gradient is linear in x, and so the second derivative times x is the gradient again
    np.testing.assert_allclose(outer.gradient(total, x), first, rtol=1e-4, atol=1e-5)


def test_a_compiled_function_gives_the_same() -> None:
    def loss(x: Any) -> Any:
        small = lab.image.resize(x, (3, 4), "bicubic", antialias=True)
        return lab.reduce_sum(lab.image.resize_with_pad(small, 8, 8) ** 2)

    @lab.function
    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = loss(x)
        return y, tape.gradient(y, x)

    x = lab.constant(IMAGES)
    for _ in range(3):
        y, gradient = step(x)
        np.testing.assert_allclose(y, loss(x), rtol=1e-6)
        np.testing.assert_allclose(gradient, lab.gradient(loss)(x), rtol=1e-5, atol=1e-6)
    assert step.fallbacks == 0


def test_stacks_and_jacobians() -> None:
    rows = lab.constant(IMAGES)
    found = lab.vectorized_map(lambda x: lab.image.resize(x, (3, 3)), rows)
    np.testing.assert_array_equal(found, lab.image.resize(rows, (3, 3)))
    x = rows[:1, :3, :3, :1]
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.image.resize(x, (2, 4))
    jacobian = tape.jacobian(y, x)
    np.testing.assert_allclose(lab.tensordot(jacobian, x, 4), y, rtol=1e-5)


def test_padding_keeps_the_ratio_and_the_middle() -> None:
    found = lab.image.resize_with_pad(IMAGES, 10, 20).numpy()
    np.testing.assert_allclose(found[:, :, 4:16], resized(IMAGES, 10, 12, "bilinear", False), rtol=1e-5)
    assert not found[:, :, :4].any()
    assert not found[:, :, 16:].any()
    high = lab.image.resize_with_pad(IMAGES, 8, 6, "area").numpy()
    np.testing.assert_array_equal(high[:, 1:6], IMAGES)
    assert not high[:, [0, 6, 7]].any()


def test_cropping_and_padding() -> None:
    whole = np.pad(IMAGES, [(0, 0), (1, 2), (0, 0), (0, 0)])
    np.testing.assert_array_equal(lab.image.resize_with_crop_or_pad(IMAGES, 8, 3), whole[:, :, 1:4])
    np.testing.assert_array_equal(lab.image.resize_with_crop_or_pad(IMAGES[0], 2, 6), IMAGES[0, 1:3])
    np.testing.assert_array_equal(lab.image.crop_to_bounding_box(IMAGES, 1, 2, 3, 4), IMAGES[:, 1:4, 2:6])
    around = np.pad(IMAGES, [(0, 0), (1, 2), (3, 0), (0, 0)])
    np.testing.assert_array_equal(lab.image.pad_to_bounding_box(IMAGES, 1, 3, 8, 9), around)
    np.testing.assert_array_equal(lab.image.central_crop(IMAGES, 0.5), IMAGES[:, 1:4, 1:5])
    np.testing.assert_array_equal(lab.image.central_crop(IMAGES, 1.0), IMAGES)
    for function in (
        lambda x: lab.image.resize_with_crop_or_pad(x, 8, 3),
        lambda x: lab.image.central_crop(x, 0.5),
        lambda x: lab.image.pad_to_bounding_box(x, 1, 3, 8, 9),
    ):
        assert check_gradient(lambda x, f=function: f(x) ** 2, IMAGES)


def at(image: np.ndarray, y: float, x: float, nearest: bool, outside: float) -> np.ndarray:
    """Return an image between its pixels."""
    h, w, _ = image.shape
    if not (0 <= y <= h - 1 and 0 <= x <= w - 1):
        return np.full(image.shape[-1], outside)
    if nearest:
        return image[int(y + 0.5), int(x + 0.5)]
    top, left = int(y), int(x)
    below, right = min(top + 1, h - 1), min(left + 1, w - 1)
    y, x = y - top, x - left
    upper = image[top, left] * (1 - x) + image[top, right] * x
    return upper * (1 - y) + (image[below, left] * (1 - x) + image[below, right] * x) * y


def cropped(boxes: np.ndarray, numbers: list[int], size: tuple[int, int], nearest: bool, outside: float) -> np.ndarray:
    """Return boxes of the images, resized pixel by pixel."""
    found = np.empty((len(boxes), *size, 3))
    for k, (y1, x1, y2, x2) in enumerate(boxes):
        for i, j in np.ndindex(size):
            y, x = (
                (a + (b - a) * (n / (m - 1) if m > 1 else 0.5)) * (length - 1)
                for a, b, n, m, length in ((y1, y2, i, size[0], 5), (x1, x2, j, size[1], 6))
            )
            found[k, i, j] = at(IMAGES[numbers[k]], y, x, nearest, outside)
    return found


BOXES = np.array([[0.11, 0.23, 0.67, 0.9], [0.93, 0.82, 0.15, 0.31], [-0.3, 0.1, 0.6, 1.4]])


@pytest.mark.parametrize("size", [(3, 4), (1, 5)])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_boxes_are_cropped_and_resized(method: str, size: tuple[int, int]) -> None:
    found = lab.image.crop_and_resize(IMAGES, BOXES, [1, 0, 1], size, method, extrapolation_value=7.0)
    np.testing.assert_allclose(found, cropped(BOXES, [1, 0, 1], size, method == "nearest", 7.0), rtol=1e-4, atol=1e-5)


def test_gradients_of_boxes_and_their_images() -> None:
    """Compare those of boxes with differences of the loops; results are linear in the images."""
    weights = RNG.standard_normal((3, 3, 4, 3))
    images, boxes = lab.Variable(IMAGES), lab.Variable(BOXES, dtype=lab.float32)
    with lab.GradientTape() as tape:
        made = lab.image.crop_and_resize(images, boxes, [1, 0, 1], (3, 4))
        loss = lab.reduce_sum(made * weights.astype(np.float32))
    of_images, of_boxes = tape.gradient(loss, [images, boxes])
    np.testing.assert_allclose(lab.reduce_sum(of_images * images), loss, rtol=1e-4)
    for place in np.ndindex(BOXES.shape):
        step = np.zeros_like(BOXES)
        step[place] = 1e-6
        up, down = (cropped(BOXES + d, [1, 0, 1], (3, 4), False, 0.0) for d in (step, -step))
        np.testing.assert_allclose(of_boxes[place], ((up - down) * weights).sum() / 2e-6, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize(
    ("window", "strides", "rates"), [((2, 3), (1, 1), (1, 1)), ((3, 2), (2, 3), (1, 2)), ((2, 2), (2, 2), (1, 1))]
)
def test_patches(window: Any, strides: Any, rates: Any, padding: str) -> None:
    how = [[1, *pair, 1] for pair in (window, strides, rates)]
    found = lab.image.extract_patches(IMAGES, *how, padding).numpy()
    reach = [r * (k - 1) + 1 for k, r in zip(window, rates, strict=True)]
    if padding == "SAME":
        out = [-(-n // s) for n, s in zip((5, 6), strides, strict=True)]
        total = [max((m - 1) * s + r - n, 0) for m, s, r, n in zip(out, strides, reach, (5, 6), strict=True)]
        x = np.pad(IMAGES, [(0, 0), *[(n // 2, n - n // 2) for n in total], (0, 0)])
    else:
        out, x = [(n - r) // s + 1 for n, s, r in zip((5, 6), strides, reach, strict=True)], IMAGES
    assert found.shape == (2, *out, window[0] * window[1] * 3)
    for i, j in np.ndindex(*out):
        y, z = i * strides[0], j * strides[1]
        part = x[:, y : y + reach[0] : rates[0], z : z + reach[1] : rates[1]]
        np.testing.assert_array_equal(found[:, i, j], part.reshape(2, -1))
    check = check_gradient(lambda x: lab.image.extract_patches(x, *how, padding) ** 2, IMAGES)
    assert check, str(check)


IMAGE = lab.image
ERRORS = lab.errors


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: IMAGE.resize([[1.0]], (2, 2)), ERRORS.ShapeMismatch, "height, width, channels"),
        (lambda: IMAGE.resize(IMAGES, 3), ERRORS.InvalidArgumentError, "positive height and width, got .3"),
        (lambda: IMAGE.resize(IMAGES, (0, 3)), ERRORS.InvalidArgumentError, "positive height and width"),
        (lambda: IMAGE.resize(IMAGES, (2, 3), "cubic"), ERRORS.InvalidArgumentError, "'bicubic'"),
        (lambda: IMAGE.resize(IMAGES, (2.5, 3)), ERRORS.InvalidArgumentError, "resize: size"),
        (lambda: IMAGE.resize(IMAGES * 1j, (2, 3)), ERRORS.DtypeMismatch, "complex64. Try lab.math.real"),
        (lambda: IMAGE.resize(IMAGES[:, :0], (2, 3)), ERRORS.InvalidArgumentError, "0 by 6 pixels"),
        (lambda: IMAGE.resize_with_pad(IMAGES, 0, 3), ERRORS.InvalidArgumentError, "target_height must be at least 1"),
        (lambda: IMAGE.resize_with_crop_or_pad(IMAGES, 3, -1), ERRORS.InvalidArgumentError, "target_width"),
        (lambda: IMAGE.crop_to_bounding_box(IMAGES, 3, 0, 3, 6), ERRORS.ShapeMismatch, "rows 3 to 6"),
        (lambda: IMAGE.pad_to_bounding_box(IMAGES, 3, 0, 7, 6), ERRORS.ShapeMismatch, "does not lie in one of 7 by 6"),
        (lambda: IMAGE.central_crop(IMAGES, 1.5), ERRORS.InvalidArgumentError, r"must be in \(0, 1\], got 1.5"),
        (lambda: IMAGE.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0, 1], (2, 2)), ERRORS.ShapeMismatch, "boxes .n, 4"),
        (lambda: IMAGE.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [2], (2, 2)), Exception, "2"),
        (lambda: IMAGE.extract_patches(IMAGES[0], 2, 1, 1, "VALID"), ERRORS.ShapeMismatch, r"\(b, h, w, c\)"),
        (lambda: IMAGE.extract_patches(IMAGES, [1, 9, 9, 1], 1, 1, "VALID"), ERRORS.ShapeMismatch, "larger than"),
        (lambda: IMAGE.extract_patches(IMAGES, [1, 2, 2, 2], 1, 1, "VALID"), ERRORS.InvalidArgumentError, "sizes"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()
