"""What layers compute: values against NumPy, weights created at the first call, names, refusals."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.ops.resampling import resized
from tests.refusals import refused

layers = lab.layers


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def test_a_dense_layer_makes_its_weights_when_it_is_first_called() -> None:
    layer = layers.Dense(2, activation="relu")
    assert not layer.variables
    with lab.GradientTape() as tape:
        y = layer(lab.constant([[1.0, 2.0, 3.0]]))
        loss = lab.reduce_mean(y**2)
    kernel_slope, bias_slope = tape.gradient(loss, layer.trainable_variables)
    assert (layer.kernel.shape, layer.bias.shape) == ((3, 2), (2,))
    assert not layer.bias.numpy().any()
    np.testing.assert_allclose(y, np.maximum(np.array([[1, 2, 3]]) @ layer.kernel.numpy(), 0), 1e-6)
    np.testing.assert_allclose(bias_slope, y.numpy()[0], 1e-6)
    np.testing.assert_allclose(kernel_slope, np.outer([1, 2, 3], y.numpy()[0]), 1e-6)


def test_names_count_the_layers_of_a_process() -> None:
    program = (
        "import autodiff_lab as lab\n"
        "for layer in (lab.layers.Dense(2), lab.layers.Dense(1), lab.layers.Conv2DTranspose(1, 2)):\n"
        "    print(layer.name)\n"
        "a = lab.layers.Dense(2, name='mine'); a([[1.0, 2.0, 3.0]])\n"
        "for v in a.trainable_variables: print(f'{v.name}, shape: {v.shape}')\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "dense", "dense_1", "conv2d_transpose", "mine/kernel:0, shape: (3, 2)", "mine/bias:0, shape: (2,)",
    ]  # fmt: skip


def test_convolution_pooling_flattening_and_dense_follow_each_other() -> None:
    conv, pool = layers.Conv2D(6, (5, 5)), layers.MaxPool2D((2, 2), strides=(2, 2))
    flat, dense = layers.Flatten(), layers.Dense(10)
    x = lab.constant(draw(10, 16, 16, 3))
    shapes = []
    y = x
    for layer in (conv, pool, flat, dense):
        y = layer(y)
        shapes.append(tuple(y.shape))
    assert shapes == [(10, 12, 12, 6), (10, 6, 6, 6), (10, 216), (10, 10)]
    together = lab.Sequential([conv, pool, flat, dense])
    np.testing.assert_array_equal(together(x), y)
    np.testing.assert_array_equal(lab.sequenced(x, conv, pool, flat, dense), y)
    with lab.GradientTape() as tape:
        total = lab.reduce_sum(conv(x))
    kernel_slope, bias_slope = tape.gradient(total, conv.trainable_variables)
    assert kernel_slope.shape == (5, 5, 3, 6)
    np.testing.assert_allclose(bias_slope, np.full(6, 10 * 12 * 12))


def test_batch_normalization_uses_the_batch_in_training_and_the_averages_otherwise() -> None:
    x = draw(8, 3)
    layer = layers.BatchNormalization(momentum=0.9, epsilon=1e-3)
    trained = layer(x, training=True)
    np.testing.assert_allclose(trained, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3), 1e-4, 1e-6)
    np.testing.assert_allclose(layer.moving_mean, 0.1 * x.mean(0), 1e-5, 1e-7)
    np.testing.assert_allclose(layer.moving_variance, 0.9 + 0.1 * x.var(0), 1e-5)
    used = layer(x)
    np.testing.assert_allclose(used, (x - 0.1 * x.mean(0)) / np.sqrt(0.9 + 0.1 * x.var(0) + 1e-3), 1e-4, 1e-6)
    assert [v.name.rpartition("/")[2] for v in layer.trainable_variables] == ["gamma:0", "beta:0"]
    assert len(layer.variables) == 4
    plain = layers.BatchNormalization(center=False, scale=False)
    plain(x)
    assert not plain.trainable_variables


@pytest.mark.parametrize("axis", [-1, 1])
def test_the_averages_of_a_batch_are_the_same_whoever_listens(axis: int) -> None:
    def averages(run: Any) -> Any:
        layer = layers.BatchNormalization(axis=axis, momentum=0.7)
        for seed in range(3):
            x = lab.constant(np.random.default_rng(seed).normal(size=(6, 2, 4)).astype(np.float32))
            run(layer, x)
        return [v.numpy() for v in layer.non_trainable_variables]

    def recorded(layer: Any, x: Any) -> None:
        with lab.record() as recording:
            layer(x, training=True)
        assert "moments" in recording.ops

    compiled = lab.function(lambda layer, x: layer(x, training=True))
    plain = averages(lambda layer, x: layer(x, training=True))
    for run in (recorded, compiled):
        for mine, other in zip(plain, averages(run), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_the_gradient_of_batch_normalization_passes_through_the_mean_and_the_variance() -> None:
    layer = layers.BatchNormalization(dtype="float64")
    check = lab.testing.check_gradient(lambda t: layer(t, training=True), draw(4, 2).astype(np.float64))
    assert check, str(check)


@pytest.mark.parametrize("shape", [(2, 4), (2, 3, 4)])
def test_layer_and_group_normalization_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    x = draw(*shape)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    np.testing.assert_allclose(layers.LayerNormalization()(x), (x - mean) / np.sqrt(variance + 1e-3), 1e-4, 1e-5)
    grouped = x.reshape(*shape[:-1], 2, 2)
    over = (*range(1, len(shape) - 1), len(shape))
    mean, variance = grouped.mean(over, keepdims=True), grouped.var(over, keepdims=True)
    expected = ((grouped - mean) / np.sqrt(variance + 1e-3)).reshape(shape)
    np.testing.assert_allclose(layers.GroupNormalization(2)(x), expected, 1e-4, 1e-5)


def test_dropout_keeps_the_mean_drops_the_share_and_is_idle_outside_training() -> None:
    lab.random.set_seed(1)
    layer, x = layers.Dropout(0.25), lab.ones((200, 100))
    assert layer(x) is x
    y = layer(x, training=True).numpy()
    assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(np.mean(y == 0) - 0.25) < 0.02
    assert np.any(layer(x, training=True).numpy() != y), "a mask is drawn again each time"
    rows = layers.Dropout(0.5, noise_shape=(None, 1))(x, training=True).numpy()
    assert np.all((rows == 0).all(1) | (rows != 0).all(1))


def test_dropout_with_a_seed_is_repeatable_and_goes_on() -> None:
    masks = []
    for _ in range(2):
        lab.random.set_seed(5)
        layer = layers.Dropout(0.5, seed=3)
        masks.append([layer(lab.ones(50), training=True).numpy() for _ in range(2)])
    np.testing.assert_array_equal(masks[0], masks[1])
    assert np.any(masks[0][0] != masks[0][1])


def test_the_gradient_of_dropout_passes_where_elements_were_kept() -> None:
    x = lab.Variable(np.ones(50, np.float32))
    with lab.GradientTape() as tape:
        y = lab.nn.dropout(x, 0.5)
    np.testing.assert_array_equal(tape.gradient(y, x), y.numpy())


def test_an_embedding_adds_up_the_gradients_of_a_row_that_is_used_twice() -> None:
    layer = layers.Embedding(5, 2)
    with lab.GradientTape() as tape:
        y = layer(lab.constant([[1, 3, 1]]))
    table = layer.embeddings.numpy()
    np.testing.assert_array_equal(y[0], table[[1, 3, 1]])
    slope = np.asarray(lab.convert_to_tensor(tape.gradient(y, layer.embeddings)))
    np.testing.assert_array_equal(slope[:, 0], [0, 2, 0, 1, 0])
    with pytest.raises(lab.errors.InvalidArgumentError, match="index 5"):
        layer(lab.constant([5]))


def test_recurrent_layers_are_their_textbook_loops() -> None:
    x = draw(2, 3, 2)

    def weights(layer: Any) -> tuple[Any, Any, Any]:
        layer(x)
        for v in layer.variables:
            v.assign(draw(*v.shape))
        return layer.kernel.numpy(), layer.recurrent_kernel.numpy(), layer.bias.numpy()

    simple = layers.SimpleRNN(3)
    w, u, b = weights(simple)
    h = np.zeros((2, 3))
    for t in range(3):
        h = np.tanh(x[:, t] @ w + h @ u + b)
    np.testing.assert_allclose(simple(x), h, 1e-5, 1e-6)

    lstm = layers.LSTM(3, return_state=True)
    w, u, b = weights(lstm)
    h = c = np.zeros((2, 3))
    for t in range(3):
        i, f, g, o = np.split(x[:, t] @ w + h @ u + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    out, last, cell = lstm(x)
    np.testing.assert_allclose(out, h, 1e-5, 1e-6)
    np.testing.assert_allclose(cell, c, 1e-5, 1e-6)
    np.testing.assert_array_equal(last, out)

    for reset_after in (True, False):
        gru = layers.GRU(3, reset_after=reset_after)
        w, u, b = weights(gru)
        assert b.shape == ((2, 9) if reset_after else (9,))
        b, c = b if reset_after else (b, np.zeros(9))
        h = np.zeros((2, 3))
        for t in range(3):
            (xz, xr, xh), (hz, hr, hh) = np.split(x[:, t] @ w + b, 3, -1), np.split(h @ u + c, 3, -1)
            z, r = sigmoid(xz + hz), sigmoid(xr + hr)
            h = z * h + (1 - z) * np.tanh(xh + (r * hh if reset_after else (r * h) @ u[:, 6:]))
        np.testing.assert_allclose(gru(x), h, 1e-5, 1e-6)


def test_the_forget_gate_starts_open() -> None:
    layer = layers.LSTM(2)
    layer(draw(1, 2, 3))
    np.testing.assert_array_equal(layer.bias, [0, 0, 1, 1, 0, 0, 0, 0])


def test_a_bidirectional_layer_reads_forwards_and_backwards() -> None:
    x = draw(2, 4, 3)
    both = layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True))
    y = both(x).numpy()
    np.testing.assert_array_equal(y[..., :2], both.forward_layer(x))
    np.testing.assert_array_equal(y[..., 2:], both.backward_layer(x).numpy()[:, ::-1])
    assert both.backward_layer.go_backwards
    assert np.any(both.forward_layer.kernel.numpy() != both.backward_layer.kernel.numpy())


def test_up_sampling_repeats_points() -> None:
    x = draw(1, 2, 3, 2)
    np.testing.assert_array_equal(layers.UpSampling2D((2, 3))(x), x.repeat(2, 1).repeat(3, 2))


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "lanczos3", "lanczos5"])
def test_up_sampling_interpolates(method: str) -> None:
    x = draw(1, 2, 3, 2)
    found = layers.UpSampling2D((2, 3), interpolation=method)(x)
    np.testing.assert_allclose(found, resized(x, 4, 9, method, False), rtol=1e-5, atol=1e-6)


def test_up_sampling_of_integers_repeats_them_or_makes_floats_of_the_layers_dtype() -> None:
    x = np.arange(4, dtype=np.int32).reshape(1, 2, 2, 1)
    assert layers.UpSampling2D(2)(x).dtype == lab.int32
    for dtype in ("float32", "float64"):
        found = layers.UpSampling2D(2, interpolation="bilinear", dtype=dtype)(x)
        assert found.dtype.name == dtype
        assert found.numpy()[0, 0, :, 0].tolist() == [0.0, 0.25, 0.75, 1.0]


def test_resizing_crops_or_pads_to_the_ratio_if_asked() -> None:
    x = draw(2, 4, 6, 1)
    np.testing.assert_allclose(layers.Resizing(3, 3)(x), resized(x, 3, 3, "bilinear", False), rtol=1e-5, atol=1e-6)
    found = layers.Resizing(2, 2, "bicubic", antialias=True)(x[0])
    np.testing.assert_allclose(found, resized(x[0], 2, 2, "bicubic", True), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(layers.Resizing(4, 4, crop_to_aspect_ratio=True)(x), x[:, :, 1:5])
    padded = np.pad(x, [(0, 0), (1, 1), (0, 0), (0, 0)], constant_values=2.0)
    np.testing.assert_array_equal(layers.Resizing(6, 6, pad_to_aspect_ratio=True, fill_value=2.0)(x), padded)
    assert layers.Resizing(2, 2, "nearest")(np.ones((1, 4, 4, 1), np.uint8)).dtype == lab.float32


def test_the_middle_is_cropped_and_smaller_images_are_resized() -> None:
    x = draw(2, 4, 7, 1)
    np.testing.assert_array_equal(layers.CenterCrop(2, 4)(x), x[:, 1:3, 1:5])
    larger = resized(x[:, :, 1:5], 8, 8, "bilinear", False)
    np.testing.assert_allclose(layers.CenterCrop(8, 8)(x), larger, rtol=1e-5, atol=1e-6)


REFUSALS: dict[str, tuple[Any, Any, str]] = {
    "dense of another width": (lambda: built(layers.Dense(2), (1, 3)), (1, 4), "built for 3 features.*1, 4"),
    "convolution of a vector": (lambda: layers.Conv2D(2, 3), (3, 3), r"input \(b, \*2 axes, c\).*\(3, 3\)"),
    "window too large": (lambda: layers.Conv2D(2, 3), (1, 2, 2, 1), "conv2d: the filter window .* is larger"),
    "recurrent of a matrix": (lambda: layers.LSTM(2), (3, 3), r"\(b, time, c\).*\(3, 3\)"),
    "recurrent of no step": (lambda: layers.GRU(2), (3, 0, 3), "at least one step"),
    "recurrent of another width": (lambda: built(layers.GRU(2), (1, 2, 3)), (1, 2, 4), r"\(b, time, 3\)"),
    "pooling of a matrix": (layers.MaxPool2D, (3, 3), r"input \(b, \*2 axes, c\)"),
    "groups that do not fit": (lambda: layers.GroupNormalization(3), (2, 4), "3 groups"),
    "resizing of a matrix": (lambda: layers.Resizing(2, 2), (3, 3), r"\(b, h, w, c\)"),
    "cropping too much": (lambda: layers.Cropping1D(3), (1, 4, 1), "cannot be cut from an axis of 4"),
    "time distributed over a matrix": (lambda: layers.TimeDistributed(layers.Dense(1)), (2, 3), "time"),
}  # fmt: skip


def built(layer: Any, shape: tuple[int, ...]) -> Any:
    layer(lab.zeros(shape))
    return layer


@pytest.mark.parametrize("name", REFUSALS)
def test_a_layer_refuses_a_shape_that_does_not_fit_in_its_own_words(name: str) -> None:
    make, shape, words = REFUSALS[name]
    layer = make()
    with refused(lab.errors.ShapeMismatch, words):
        layer(lab.zeros(shape))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layers.Dense(0), "units"),
        (lambda: layers.Conv2D(0, 3), "filters"),
        (lambda: layers.Conv2D(1, 0), "kernel_size"),
        (lambda: layers.Conv2D(1, (3, 3, 3)), "kernel_size"),
        (lambda: layers.Dropout(1.0), r"\[0, 1\)"),
        (lambda: layers.Dense(1, activation="rellu"), "rellu"),
        (lambda: layers.GroupNormalization(0), "groups"),
        (lambda: layers.Permute((1, 3)), "permutation"),
        (lambda: layers.UpSampling2D((2, 0)), "positive"),
        (lambda: layers.UpSampling2D(2, interpolation="cubic"), "UpSampling2D: interpolation .*'bicubic'"),
        (lambda: layers.Resizing(0, 2), "Resizing: height must be at least 1"),
        (lambda: layers.Resizing(2, 2, "cubic"), "Resizing: interpolation"),
        (lambda: layers.Resizing(2, 2, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True), "not both"),
        (lambda: layers.Resizing(2, 2, fill_mode="reflect"), "fill_mode must be 'constant'"),
        (lambda: layers.ZeroPadding2D((1, -1)), "pair"),
        (lambda: layers.Bidirectional(layers.Dense(1)), "recurrent"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_when_the_layer_is_made(make: Any, words: str) -> None:
    with refused(lab.errors.InvalidArgumentError, words):
        make()


def test_a_layer_that_discards_its_activations_computes_twice_and_keeps_less() -> None:
    calls = []

    class Noted(layers.Dense):
        def call(self, x: Any) -> Any:
            calls.append(1)
            return super().call(x)

    x, gradients = lab.constant(draw(4, 3)), []
    layer = Noted(2, activation="tanh")
    layer(x)
    for one in (layer, layer.discarding_activations()):
        calls.clear()
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(one(x) ** 2)
        gradients.append([g.numpy() for g in tape.gradient(loss, layer.trainable_variables)])
        assert len(calls) == (1 if one is layer else 2)
    for plain, again in zip(*gradients, strict=True):
        np.testing.assert_array_equal(plain, again)
