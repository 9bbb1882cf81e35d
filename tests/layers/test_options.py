"""Options of layers that Keras users set, against equivalent programs with other layers and NumPy."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

layers = lab.layers


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def like(layer: Any, other: Any, x: Any) -> None:
    """Give a layer the weights of another one."""
    for one in (layer, other):
        one(x)
    layer.set_weights(other.get_weights())


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_a_causal_convolution_looks_at_no_later_point(kernel: int, dilation: int) -> None:
    x = draw(2, 7, 3)
    causal = layers.Conv1D(2, kernel, padding="causal", dilation_rate=dilation)
    valid = layers.Conv1D(2, kernel, dilation_rate=dilation)
    like(valid, causal, x)
    padded = np.pad(x, ((0, 0), ((kernel - 1) * dilation, 0), (0, 0)))
    np.testing.assert_allclose(causal(x), valid(padded), 1e-6, 1e-6)
    changed = x.copy()
    changed[:, 4:] = 9
    np.testing.assert_array_equal(causal(changed)[:, :4], causal(x)[:, :4])


@pytest.mark.parametrize(("layer", "shape"), [
    (layers.Conv1D, (2, 6, 4)), (layers.Conv2D, (2, 5, 4, 4)), (layers.Conv3D, (1, 3, 3, 4, 4)),
])  # fmt: skip
def test_groups_of_channels_meet_filters_of_their_own(layer: Any, shape: tuple[int, ...]) -> None:
    x, grouped = lab.Variable(draw(*shape)), layer(6, 2, padding="same", strides=2, groups=2)
    with lab.GradientTape() as tape:
        y = grouped(x)
    assert grouped.kernel.shape[-2:] == (2, 6)
    halves = []
    for k in range(2):
        half = layer(3, 2, padding="same", strides=2)
        part = x.numpy()[..., 2 * k : 2 * k + 2]
        half(part)
        half.set_weights([w[..., 3 * k : 3 * k + 3] for w in grouped.get_weights()])
        halves.append(half(part).numpy())
    np.testing.assert_allclose(y, np.concatenate(halves, -1), 1e-5, 1e-6)
    assert all(g is not None for g in tape.gradient(y, [x, grouped.kernel]))
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"5 filters.*2 equal groups"):
        layer(5, 2, groups=2)
    with pytest.raises(lab.errors.ShapeMismatch, match="channels cannot be divided into 3 equal groups"):
        layer(6, 2, groups=3)(x)


@pytest.mark.parametrize("axis", [1, 2, -2, (1, 3), [3, 1]])
def test_batch_normalization_along_any_axis(axis: Any) -> None:
    x = draw(3, 4, 2, 5) * 3 + 1
    kept = tuple(sorted(a % 4 for a in (axis if isinstance(axis, (tuple, list)) else (axis,))))
    over = tuple(a for a in range(4) if a not in kept)
    layer = layers.BatchNormalization(axis=axis, momentum=0.0, epsilon=1e-3)
    trained = layer(x, training=True)
    assert layer.gamma.shape == tuple(x.shape[a] for a in kept)
    expected = (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + 1e-3)
    np.testing.assert_allclose(trained, expected, 1e-3, 1e-4)
    np.testing.assert_allclose(layer(x), expected, 1e-3, 1e-4, err_msg="the averages are those of the last batch")


@pytest.mark.parametrize("axis", [-1, 1, (1, 2), [2, 1], -3])
@pytest.mark.parametrize(("center", "scale"), [(True, True), (False, True), (True, False), (False, False)])
def test_layer_normalization_over_any_axes(axis: Any, center: bool, scale: bool) -> None:
    x = draw(2, 3, 4)
    over = tuple(sorted(a % 3 for a in (axis if isinstance(axis, (tuple, list)) else (axis,))))
    layer = layers.LayerNormalization(axis=axis, center=center, scale=scale)
    layer(x)
    assert len(layer.weights) == center + scale
    layer.set_weights([draw(*w.shape) for w in layer.weights])
    expected = (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + 1e-3)
    shape = [x.shape[a] if a in over else 1 for a in range(3)]
    weights = [w.reshape(shape) for w in layer.get_weights()]
    expected = expected * (weights.pop(0) if scale else 1) + (weights.pop(0) if center else 0)
    np.testing.assert_allclose(layer(x), expected, 1e-4, 1e-5)


RECURRENT = [layers.SimpleRNN, layers.LSTM, layers.GRU]


@pytest.mark.parametrize("layer", RECURRENT)
def test_a_recurrent_layer_that_goes_backwards_reads_the_turned_sequence(layer: Any) -> None:
    x = draw(2, 4, 3)
    forwards, backwards = (layer(3, return_sequences=True, go_backwards=turned) for turned in (False, True))
    like(backwards, forwards, x)
    np.testing.assert_array_equal(backwards(x), forwards(x[:, ::-1].copy()))


@pytest.mark.parametrize("layer", RECURRENT)
def test_a_recurrent_layer_without_bias_has_none_and_its_states_go_on(layer: Any) -> None:
    x = draw(2, 4, 3)
    plain = layer(3, use_bias=False, return_state=True)
    whole, *states = plain(x)
    assert len(plain.weights) == 2
    np.testing.assert_array_equal(whole, states[0])
    _, *half = plain(x[:, :2])
    again, *rest = plain(x[:, 2:], initial_state=half)
    np.testing.assert_allclose(again, whole, 1e-6, 1e-6)
    assert len(rest) == len(states)
    with pytest.raises(lab.errors.InvalidArgumentError, match="initial_state must have length"):
        plain(x, initial_state=[*half, *half])


@pytest.mark.parametrize("layer", RECURRENT)
def test_dropout_of_inputs_is_the_same_at_each_step(layer: Any) -> None:
    x = np.ones((1, 5, 40), np.float32)
    dropping = layer(2, dropout=0.5, recurrent_dropout=0.25)
    np.testing.assert_array_equal(dropping(x), dropping(x))
    assert np.any(dropping(x, training=True).numpy() != dropping(x, training=True).numpy())
    with pytest.raises(lab.errors.InvalidArgumentError, match="dropout rates"):
        layer(2, dropout=1.0)


@pytest.mark.parametrize("layer", [layers.LSTM, layers.GRU])
def test_gates_have_an_activation_of_their_own(layer: Any) -> None:
    open_gates = layer(2, recurrent_activation=lab.ones_like, activation="linear")
    x = draw(1, 3, 2)
    value = open_gates(x).numpy()
    if layer is layers.GRU:
        np.testing.assert_array_equal(value, np.zeros((1, 2)), err_msg="an update gate of 1 keeps the state")
    else:
        assert np.all(np.isfinite(value))
        assert np.any(value != layer(2)(x).numpy())


@pytest.mark.parametrize(("open_forget", "start"), [(True, [0, 0, 1, 1, 0, 0, 0, 0]), (False, [0] * 8)])
def test_the_forget_gate_starts_open_if_it_is_asked_to(open_forget: bool, start: list[int]) -> None:
    layer = layers.LSTM(2, unit_forget_bias=open_forget)
    layer(draw(1, 2, 3))
    np.testing.assert_array_equal(layer.bias, start)


@pytest.mark.parametrize("mode", ["concat", "sum", "mul", "ave", None])
def test_a_bidirectional_layer_gives_the_states_of_both(mode: Any) -> None:
    both = layers.Bidirectional(layers.LSTM(2, return_state=True, return_sequences=True), mode)
    found = both(draw(2, 4, 3))
    assert len(found) == (6 if mode is None else 5)
    assert [tuple(s.shape) for s in found[-4:]] == [(2, 2)] * 4
    np.testing.assert_array_equal(found[-4], both.forward_layer(draw(2, 4, 3))[1])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize(
    ("options", "want"),
    [({}, [0, 1, 2, 9]), ({"threshold": 1.7}, [0, 0, 2, 9]), ({"max_value": 2.5}, [0, 1, 2, 2]),
     ({"threshold": 1.0, "max_value": 3.0}, [0, 0, 2, 3])],
)  # fmt: skip
def test_relu_keeps_whole_numbers_whole(options: dict[str, float], want: list[int], dtype: str) -> None:
    """As in Keras, where bounds and the threshold lose their fraction."""
    for x in (lab.constant([0, 1, 2, 9], dtype), np.array([0, 1, 2, 9], dtype)):
        got = layers.ReLU(**options)(x)
        assert got.dtype.name == dtype
        np.testing.assert_array_equal(got, want)
    assert layers.ReLU(negative_slope=0.5)(lab.constant([0, 1], dtype)).dtype == lab.float32


def test_thresholds_and_shared_slopes() -> None:
    x = np.array([[-2.0, 0.2, 0.5, 3.0]], np.float32)
    np.testing.assert_array_equal(layers.ReLU(threshold=0.5)(x), [[0, 0, 0, 3]])
    np.testing.assert_allclose(layers.ReLU(2.0, 0.5, 1.0)(x), [[-1.5, -0.4, -0.25, 2]], 1e-6)
    np.testing.assert_allclose(layers.ELU(0.5)(x), np.where(x > 0, x, 0.5 * np.expm1(x)), 1e-6)
    layer = layers.PReLU("ones", shared_axes=[1])
    layer(draw(2, 3, 4))
    assert layer.alpha.shape == (1, 4)
    assert layers.MaxPool1D(2)(np.arange(8, dtype=np.int32).reshape(1, 4, 2)).dtype == lab.int32


@pytest.mark.parametrize("make", [
    lambda: layers.Conv2D(1, 2, padding="causal"), lambda: layers.Conv1D(1, 2, padding="full"),
    lambda: layers.DepthwiseConv2D(2, padding="causal"), lambda: layers.GRU(0),
])  # fmt: skip
def test_options_that_do_not_exist_are_refused_when_the_layer_is_made(make: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError):
        make()


@pytest.mark.parametrize(("make", "says"), [
    (lambda: lab.Sequential(layers.Dense(2), layers.Dense(3)), r"a list of layers.*Sequential\(\[a, b\]\)"),  # type: ignore[arg-type]
    (lambda: layers.Dense(2, name=5), "name must be a str, got 5"),  # type: ignore[arg-type]
    (lambda: layers.Dense(2).build(5), r"expected the shape of the input, got 5. Try \(None, 5\)"),  # type: ignore[arg-type]
    (lambda: layers.GRUCell(2).build(5), "expected the shape of the input"),  # type: ignore[arg-type]
    (lambda: layers.Conv2D(4, 3, padding=1), r"ZeroPadding2D\(1\) before it"),  # type: ignore[arg-type]
])  # fmt: skip
def test_what_other_libraries_take_there_is_refused_with_a_way_out(make: Any, says: str) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match=says):
        make()


GRIDS: dict[str, tuple[Any, ...]] = {
    "MaxPool1D": (), "MaxPool2D": (), "MaxPool3D": (), "AveragePooling1D": (), "AveragePooling2D": (),
    "AveragePooling3D": (), "GlobalAveragePooling1D": (), "GlobalAveragePooling2D": (), "GlobalMaxPooling1D": (),
    "GlobalMaxPooling2D": (), "Flatten": (), "UpSampling2D": (), "ZeroPadding2D": (), "Cropping2D": (),
    "Conv1D": (2, 2), "Conv2D": (2, 2), "Conv3D": (2, 2), "Conv2DTranspose": (2, 2), "DepthwiseConv2D": (2,),
    "SeparableConv2D": (2, 2), "SpatialDropout2D": (0.5,), "SpatialDropout3D": (0.5,), "Resizing": (2, 2),
    "CenterCrop": (2, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_channels_are_last_and_first_is_refused(name: str) -> None:
    kind = getattr(layers, name)
    rank = next((n for n in (1, 3) if f"{n}D" in name), 2)
    x = draw(2, *(4,) * rank, 3)
    assert kind(*GRIDS[name], data_format="channels_last")(x).shape == kind(*GRIDS[name])(x).shape
    with pytest.raises(NotImplementedError, match=r"channels_first.*only channels last.*Permute"):
        kind(*GRIDS[name], data_format="channels_first")


def test_upsampling_repeats_the_nearest_point() -> None:
    x = draw(1, 2, 2, 1)
    found = layers.UpSampling2D(2, "channels_last", "nearest")(x)
    np.testing.assert_array_equal(found, x.repeat(2, axis=1).repeat(2, axis=2))
