"""Image networks: a U-Net, depthwise separable convolutions, squeeze-and-excitation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.networks import EPSILON
from tests.benchmarks.programs.program import DENSE, DEPTHWISE, FILTERS_2D, IMAGES, Layered
from tests.benchmarks.programs.training import dense

GROUPS = 4
LAYOUT = ("NHWC", "HWIO", "NHWC")


def filters(draw: np.random.Generator, side: int, fan_in: int, fan_out: int) -> list[np.ndarray]:
    """The weights of a convolution and its bias."""
    scale = (side * side * fan_in) ** -0.5
    return [normal(draw, side, side, fan_in, fan_out, scale=scale), normal(draw, fan_out, scale=0.1)]


class Unet(Layered):
    """Segmentation: down to half the size, up again, and a shortcut; the loss of each pixel's logit."""

    program, about = "unet", "two scales, {batch} images {side} × {side}, {channels} channels"
    sizes = {
        "test": {"batch": 1, "side": 4, "channels": 2},
        "small": {"batch": 2, "side": 16, "channels": 8},
        "middle": {"batch": 4, "side": 32, "channels": 16},
        "large": {"batch": 8, "side": 64, "channels": 32},
    }
    leaves = ("F1", "b1", "F2", "b2", "F3", "b3", "F4", "b4", "F5", "b5")
    turned = dict.fromkeys(("F1", "F2", "F3", "F4", "F5"), FILTERS_2D) | {"x": IMAGES, "y": IMAGES}

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, channels: int) -> Data:
        wide, (up, _) = 2 * channels, filters(draw, 2, channels, 2 * channels)  # that of a transposed one is (out, in)
        weights = [*filters(draw, 3, 3, channels), *filters(draw, 3, channels, wide), up,
                   normal(draw, channels, scale=0.1), *filters(draw, 3, wide, channels),
                   *filters(draw, 1, channels, 1)]  # fmt: skip
        images, masks = normal(draw, batch, side, side, 3), draw.random((batch, side, side, 1)) < 0.5
        return dict(zip(self.leaves, weights, strict=True)) | {"x": images, "y": masks.astype(np.float32)}

    def as_tensorflow(self, tf: Any) -> Any:
        layers, channels = tf.keras.layers, self.at["channels"]
        left = layers.Conv2D(channels, 3, padding="same", activation="relu")
        bottom = layers.Conv2D(2 * channels, 3, padding="same", activation="relu")
        up = layers.Conv2DTranspose(channels, 2, strides=2)
        right = layers.Conv2D(channels, 3, padding="same", activation="relu")
        last = layers.Conv2D(1, 1)
        pool, join = layers.MaxPooling2D(2), layers.Concatenate()

        def loss(x: Any, y: Any) -> Any:
            fine = left(x)
            logits = last(right(join([fine, up(bottom(pool(fine)))])))
            return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))

        return [left, bottom, up, right, last], loss

    def as_torch(self, torch: Any) -> Any:
        nn, channels = torch.nn, self.at["channels"]
        left, bottom = nn.Conv2d(3, channels, 3, padding=1), nn.Conv2d(channels, 2 * channels, 3, padding=1)
        up = nn.ConvTranspose2d(2 * channels, channels, 2, stride=2)
        right, last = nn.Conv2d(2 * channels, channels, 3, padding=1), nn.Conv2d(channels, 1, 1)
        relu = nn.functional.relu

        def loss(x: Any, y: Any) -> Any:
            fine = relu(left(x))
            coarse = relu(bottom(nn.functional.max_pool2d(fine, 2)))
            logits = last(relu(right(torch.cat([fine, up(coarse)], 1))))
            return nn.functional.binary_cross_entropy_with_logits(logits, y)

        return [left, bottom, up, right, last], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def conv(x: Any, F: Any, b: Any) -> Any:
            return jax.lax.conv_general_dilated(x, F, (1, 1), "SAME", dimension_numbers=LAYOUT) + b

        def up(x: Any, F: Any, b: Any) -> Any:
            batch, height, width, _ = x.shape
            return np.einsum("bijc,hwoc->bihjwo", x, F).reshape(batch, 2 * height, 2 * width, -1) + b

        def pool(x: Any) -> Any:
            batch, height, width, channels = x.shape
            return x.reshape(batch, height // 2, 2, width // 2, 2, channels).max((2, 4))

        def loss(F1: Any, b1: Any, F2: Any, b2: Any, F3: Any, b3: Any, F4: Any, b4: Any, F5: Any, b5: Any, x: Any,
                 y: Any) -> Any:  # fmt: skip
            fine = jax.nn.relu(conv(x, F1, b1))
            coarse = jax.nn.relu(conv(pool(fine), F2, b2))
            both = np.concatenate([fine, up(coarse, F3, b3)], axis=3)
            logits = conv(jax.nn.relu(conv(both, F4, b4)), F5, b5)
            return (np.maximum(logits, 0) - logits * y + np.log1p(np.exp(-np.abs(logits)))).mean()

        return loss


class Separable(Layered):
    """Two blocks of a mobile network: each channel by itself, 3 x 3, and then all channels of a pixel."""

    program, about = "separable_conv", "2 blocks, {batch} images {side} × {side} × {channels}"
    sizes = {
        "test": {"batch": 1, "side": 3, "channels": 2},
        "small": {"batch": 2, "side": 8, "channels": 8},
        "middle": {"batch": 8, "side": 16, "channels": 64},
        "large": {"batch": 16, "side": 32, "channels": 128},
    }
    leaves = ("D1", "a1", "P1", "b1", "D2", "a2", "P2", "b2")
    turned = {"D1": DEPTHWISE, "P1": FILTERS_2D, "D2": DEPTHWISE, "P2": FILTERS_2D, "x": IMAGES}

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, channels: int) -> Data:
        weights = []
        for _ in range(2):
            each = [normal(draw, 3, 3, channels, 1, scale=1 / 3), normal(draw, channels, scale=0.1)]
            weights += [*each, *filters(draw, 1, channels, channels)]
        given = {"x": normal(draw, batch, side, side, channels), "y": normal(draw, batch, channels)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, channels = tf.keras.layers, self.at["channels"]
        stack = []
        for _ in range(2):
            stack += [layers.DepthwiseConv2D(3, padding="same", activation="relu"),
                      layers.Conv2D(channels, 1, activation="relu")]  # fmt: skip
        model = tf.keras.Sequential([*stack, layers.GlobalAveragePooling2D()])
        return stack, lambda x, y: tf.reduce_mean(tf.square(model(x) - y))

    def as_torch(self, torch: Any) -> Any:
        nn, channels = torch.nn, self.at["channels"]
        stack: list[Any] = []
        for _ in range(2):
            stack += [nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.ReLU(),
                      nn.Conv2d(channels, channels, 1), nn.ReLU()]  # fmt: skip
        model = nn.Sequential(*stack)
        return [model], lambda x, y: nn.functional.mse_loss(model(x).mean((2, 3)), y)

    def as_jax(self, jax: Any, np: Any) -> Any:
        def block(x: Any, D: Any, a: Any, P: Any, b: Any) -> Any:
            x = jax.lax.conv_general_dilated(x, D.transpose(0, 1, 3, 2), (1, 1), "SAME", dimension_numbers=LAYOUT,
                                             feature_group_count=x.shape[3])  # fmt: skip
            return jax.nn.relu(jax.nn.relu(x + a) @ P[0, 0] + b)

        def loss(*given: Any) -> Any:
            *weights, x, y = given
            return ((block(block(x, *weights[:4]), *weights[4:]).mean((1, 2)) - y) ** 2).mean()

        return loss


class SqueezeExcite(Layered):
    """A residual block: depthwise convolution, group norm, squeeze-and-excitation, pointwise convolution."""

    program, about = "squeeze_excite", "block, {batch} images {side} × {side} × {channels}"
    sizes = {
        "test": {"batch": 1, "side": 3, "channels": 8},
        "small": {"batch": 2, "side": 8, "channels": 16},
        "middle": {"batch": 8, "side": 16, "channels": 32},
        "large": {"batch": 8, "side": 32, "channels": 96},
    }
    leaves = ("D", "a", "gamma", "beta", "S1", "s1", "S2", "s2", "P", "p")
    turned = {"D": DEPTHWISE, "P": FILTERS_2D, "S1": DENSE, "S2": DENSE, "x": IMAGES, "y": IMAGES}

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, channels: int) -> Data:
        weights = [
            normal(draw, 3, 3, channels, 1, scale=1 / 3), normal(draw, channels, scale=0.1),
            1 + normal(draw, channels, scale=0.1), normal(draw, channels, scale=0.1),
            *dense(draw, channels, channels // 4, channels), *filters(draw, 1, channels, channels),
        ]  # fmt: skip
        given = {name: normal(draw, batch, side, side, channels) for name in ("x", "y")}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, channels = tf.keras.layers, self.at["channels"]
        wise = layers.DepthwiseConv2D(3, padding="same")
        norm = layers.GroupNormalization(groups=GROUPS, epsilon=EPSILON)
        pool = layers.GlobalAveragePooling2D()
        squeeze = layers.Dense(channels // 4, activation="relu")
        excite = layers.Dense(channels, activation="sigmoid")
        point = layers.Conv2D(channels, 1)

        def loss(x: Any, y: Any) -> Any:
            h = tf.nn.silu(norm(wise(x)))
            h = h * excite(squeeze(pool(h)))[:, None, None, :]
            return tf.reduce_mean(tf.square(x + point(h) - y))

        return [wise, norm, squeeze, excite, point], loss

    def as_torch(self, torch: Any) -> Any:
        nn, channels = torch.nn, self.at["channels"]
        wise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        norm = nn.GroupNorm(GROUPS, channels, eps=EPSILON)
        squeeze, excite = nn.Linear(channels, channels // 4), nn.Linear(channels // 4, channels)
        point = nn.Conv2d(channels, channels, 1)

        def loss(x: Any, y: Any) -> Any:
            h = nn.functional.silu(norm(wise(x)))
            h = h * torch.sigmoid(excite(torch.relu(squeeze(h.mean((2, 3))))))[:, :, None, None]
            return nn.functional.mse_loss(x + point(h), y)

        return [wise, norm, squeeze, excite, point], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def norm(x: Any, gamma: Any, beta: Any) -> Any:
            batch, height, width, channels = x.shape
            parts = x.reshape(batch, height, width, GROUPS, channels // GROUPS)
            centred = parts - parts.mean((1, 2, 4), keepdims=True)
            parts = centred / np.sqrt((centred**2).mean((1, 2, 4), keepdims=True) + EPSILON)
            return gamma * parts.reshape(x.shape) + beta

        def loss(D: Any, a: Any, gamma: Any, beta: Any, S1: Any, s1: Any, S2: Any, s2: Any, P: Any, p: Any, x: Any,
                 y: Any) -> Any:  # fmt: skip
            h = jax.lax.conv_general_dilated(x, D.transpose(0, 1, 3, 2), (1, 1), "SAME", dimension_numbers=LAYOUT,
                                             feature_group_count=x.shape[3])  # fmt: skip
            h = jax.nn.silu(norm(h + a, gamma, beta))
            scale = jax.nn.sigmoid(jax.nn.relu(h.mean((1, 2)) @ S1 + s1) @ S2 + s2)
            h = h * scale[:, None, None, :]
            return ((x + h @ P[0, 0] + p - y) ** 2).mean()

        return loss
