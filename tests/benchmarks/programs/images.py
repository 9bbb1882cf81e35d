"""Image networks: a U-Net, separable convolutions, squeeze-and-excitation; losses of style and of segmentations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.networks import EPSILON
from tests.benchmarks.programs.program import DENSE, DEPTHWISE, FILTERS_2D, IMAGES, Layered, Program
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


class Style(Program):
    """Style transfer (Gatys et al. 2016): Gram matrices of two feature maps, total variation, and their picture."""

    program, about = "style", "picture {side} × {side}, {channels} and twice as many channels"
    sizes = {
        "test": {"side": 4, "channels": 2},
        "small": {"side": 8, "channels": 4},
        "middle": {"side": 40, "channels": 16},
        "large": {"side": 128, "channels": 32},
    }
    leaves = ("picture",)
    turned = {"picture": IMAGES, "F1": FILTERS_2D, "F2": FILTERS_2D}

    def arrays(self, draw: np.random.Generator, *, side: int, channels: int) -> Data:
        (F1, b1), (F2, b2) = filters(draw, 3, 3, channels), filters(draw, 3, channels, 2 * channels)
        grams = [np.abs(normal(draw, n, n, scale=0.3)) + np.eye(n, dtype=np.float32) for n in (channels, 2 * channels)]
        given = {"F1": F1, "b1": b1, "F2": F2, "b2": b2, "G1": grams[0], "G2": grams[1]}
        return {"picture": normal(draw, 1, side, side, 3)} | given

    def as_tensorflow(self, tf: Any) -> Any:
        def gram(h: Any) -> Any:
            return tf.einsum("bijc,bijd->bcd", h, h) / (h.shape[1] * h.shape[2])

        def loss(picture: Any, F1: Any, b1: Any, F2: Any, b2: Any, G1: Any, G2: Any) -> Any:
            fine = tf.nn.relu(tf.nn.conv2d(picture, F1, strides=1, padding="SAME") + b1)
            pooled = tf.nn.avg_pool2d(fine, ksize=2, strides=2, padding="VALID")
            coarse = tf.nn.relu(tf.nn.conv2d(pooled, F2, strides=1, padding="SAME") + b2)
            style = tf.reduce_mean(tf.square(gram(fine) - G1)) + tf.reduce_mean(tf.square(gram(coarse) - G2))
            down = tf.reduce_mean(tf.abs(picture[:, 1:] - picture[:, :-1]))
            right = tf.reduce_mean(tf.abs(picture[:, :, 1:] - picture[:, :, :-1]))
            return style + 0.01 * (down + right)

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def gram(h: Any) -> Any:
            rows = h.flatten(2)
            return rows @ rows.mT / rows.shape[2]

        def loss(picture: Any, F1: Any, b1: Any, F2: Any, b2: Any, G1: Any, G2: Any) -> Any:
            fine = nn.relu(nn.conv2d(picture, F1, b1, padding=1))
            coarse = nn.relu(nn.conv2d(nn.avg_pool2d(fine, 2), F2, b2, padding=1))
            style = nn.mse_loss(gram(fine)[0], G1) + nn.mse_loss(gram(coarse)[0], G2)
            down = (picture[:, :, 1:] - picture[:, :, :-1]).abs().mean()
            right = (picture[:, :, :, 1:] - picture[:, :, :, :-1]).abs().mean()
            return style + 0.01 * (down + right)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def conv(x: Any, F: Any, b: Any) -> Any:
            return jax.nn.relu(jax.lax.conv_general_dilated(x, F, (1, 1), "SAME", dimension_numbers=LAYOUT) + b)

        def pool(x: Any) -> Any:
            batch, height, width, channels = x.shape
            return x.reshape(batch, height // 2, 2, width // 2, 2, channels).mean((2, 4))

        def gram(h: Any) -> Any:
            return np.einsum("bijc,bijd->bcd", h, h) / (h.shape[1] * h.shape[2])

        def loss(picture: Any, F1: Any, b1: Any, F2: Any, b2: Any, G1: Any, G2: Any) -> Any:
            fine = conv(picture, F1, b1)
            coarse = conv(pool(fine), F2, b2)
            style = ((gram(fine) - G1) ** 2).mean() + ((gram(coarse) - G2) ** 2).mean()
            down = np.abs(picture[:, 1:] - picture[:, :-1]).mean()
            right = np.abs(picture[:, :, 1:] - picture[:, :, :-1]).mean()
            return style + 0.01 * (down + right)

        return loss


class Lovasz(Program):
    """The Lovász-softmax loss of a linear classifier of pixels (Berman et al. 2018): one sort for each class."""

    program, about = "lovasz", "{pixels} pixels of {features}, {classes} classes"
    sizes = {
        "test": {"pixels": 6, "features": 2, "classes": 2},
        "small": {"pixels": 64, "features": 4, "classes": 3},
        "middle": {"pixels": 2_048, "features": 16, "classes": 4},
        "large": {"pixels": 32_768, "features": 32, "classes": 8},
    }
    leaves = ("W", "b")

    def arrays(self, draw: np.random.Generator, *, pixels: int, features: int, classes: int) -> Data:
        labels = draw.integers(0, classes, pixels)
        x = draw.standard_normal((classes, features))[labels] * 0.5 + draw.standard_normal((pixels, features))
        weights = dict(zip(self.leaves, dense(draw, features, classes), strict=True))
        return weights | {"x": x.astype(np.float32), "labels": labels}

    def as_tensorflow(self, tf: Any) -> Any:
        def steps(truth: Any) -> Any:
            total = tf.reduce_sum(truth)
            shared = total - tf.cumsum(truth)
            union = total + tf.cumsum(1.0 - truth)
            jaccard = 1.0 - shared / union
            return tf.concat([jaccard[:1], jaccard[1:] - jaccard[:-1]], axis=0)

        def loss(W: Any, b: Any, x: Any, labels: Any) -> Any:
            shares = tf.nn.softmax(tf.matmul(x, W) + b)
            losses = []
            for k in range(self.at["classes"]):
                truth = tf.cast(tf.equal(labels, k), shares.dtype)
                errors = tf.abs(truth - shares[:, k])
                ordered, order = tf.math.top_k(errors, k=errors.shape[0])
                losses.append(tf.tensordot(ordered, tf.stop_gradient(steps(tf.gather(truth, order))), 1))
            return tf.reduce_mean(tf.stack(losses))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def steps(truth: Any) -> Any:
            total = truth.sum()
            shared = total - truth.cumsum(0)
            union = total + (1 - truth).cumsum(0)
            jaccard = 1 - shared / union
            return torch.cat([jaccard[:1], jaccard[1:] - jaccard[:-1]])

        def loss(W: Any, b: Any, x: Any, labels: Any) -> Any:
            shares = (x @ W + b).softmax(1)
            losses = []
            for k in range(self.at["classes"]):
                truth = (labels == k).to(shares.dtype)
                ordered, order = torch.sort((truth - shares[:, k]).abs(), 0, descending=True)
                losses.append(torch.dot(ordered, steps(truth[order])))
            return torch.stack(losses).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def steps(truth: Any) -> Any:
            total = truth.sum()
            shared = total - np.cumsum(truth)
            union = total + np.cumsum(1 - truth)
            jaccard = 1 - shared / union
            return np.concatenate([jaccard[:1], jaccard[1:] - jaccard[:-1]])

        def loss(W: Any, b: Any, x: Any, labels: Any) -> Any:
            shares = jax.nn.softmax(x @ W + b)

            def one(share: Any, k: Any) -> Any:
                truth = (labels == k).astype(share.dtype)
                errors = np.abs(truth - share)
                order = np.argsort(-errors)
                return np.dot(errors[order], steps(truth[order]))

            return jax.vmap(one)(shares.T, np.arange(shares.shape[1])).mean()

        return loss
