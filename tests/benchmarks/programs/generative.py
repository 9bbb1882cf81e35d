"""Generative models of images: a Wasserstein GAN's critic, a vector-quantized autoencoder, denoising diffusion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.images import LAYOUT, filters
from tests.benchmarks.programs.nested import NestedLayered
from tests.benchmarks.programs.program import DENSE, FILTERS_2D, IMAGES, Layered, Program
from tests.benchmarks.programs.training import dense

TIMES = 1_000


class GradientPenalty(NestedLayered):
    """The loss of a Wasserstein GAN's critic, with a gradient penalty (Gulrajani et al. 2017)."""

    program, about = "wgan_gp", "critic {pixels}-{hidden}-{hidden}-1, batch {batch}"
    sizes = {
        "test": {"batch": 5, "pixels": 3, "hidden": 4},
        "small": {"batch": 16, "pixels": 16, "hidden": 32},
        "middle": {"batch": 64, "pixels": 196, "hidden": 128},
        "large": {"batch": 256, "pixels": 784, "hidden": 512},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3")
    turned = dict.fromkeys(("W1", "W2", "W3"), DENSE)

    def arrays(self, draw: np.random.Generator, *, batch: int, pixels: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, pixels, hidden, hidden, 1)[:5], strict=True))
        return weights | {
            "real": normal(draw, batch, pixels),
            "fake": draw.uniform(-1, 1, (batch, pixels)).astype(np.float32),
            "epsilon": draw.random((batch, 1)).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        critic = tf.keras.Sequential([
            layers.Dense(hidden), layers.LeakyReLU(0.2), layers.Dense(hidden), layers.LeakyReLU(0.2),
            layers.Dense(1, use_bias=False),
        ])  # fmt: skip

        def gradient_penalty(real: Any, fake: Any, epsilon: Any) -> Any:
            mixed = epsilon * real + (1 - epsilon) * fake
            with tf.GradientTape() as tape:
                tape.watch(mixed)
                scores = critic(mixed, training=True)
            grads = tape.gradient(scores, [mixed])[0]
            norms = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1) + 1e-12)
            return tf.reduce_mean((norms - 1.0) ** 2)

        def loss(real: Any, fake: Any, epsilon: Any) -> Any:
            cost = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
            return cost + 10.0 * gradient_penalty(real, fake, epsilon)

        return [critic], loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        critic = nn.Sequential(nn.Linear(self.at["pixels"], hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden),
                               nn.LeakyReLU(0.2), nn.Linear(hidden, 1, bias=False))  # fmt: skip

        def loss(real: Any, fake: Any, epsilon: Any) -> Any:
            mixed = epsilon * real + (1 - epsilon) * fake
            if functional:
                grads = torch.func.grad(lambda x: critic(x).sum())(mixed)
            else:
                scores = critic(mixed.requires_grad_(True))
                grads = torch.autograd.grad(outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores),
                                            create_graph=True, retain_graph=True)[0]  # fmt: skip
            penalty = (((grads.pow(2).sum(1) + 1e-12).sqrt() - 1) ** 2).mean()
            return critic(fake).mean() - critic(real).mean() + 10 * penalty

        return [critic], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, real: Any, fake: Any, epsilon: Any) -> Any:
            def critic(x: Any) -> Any:
                x = jax.nn.leaky_relu(x @ W1 + b1, 0.2)
                return (jax.nn.leaky_relu(x @ W2 + b2, 0.2) @ W3)[..., 0]

            grads = jax.vmap(jax.grad(critic))(epsilon * real + (1 - epsilon) * fake)
            penalty = ((np.sqrt((grads**2).sum(1) + 1e-12) - 1) ** 2).mean()
            return critic(fake).mean() - critic(real).mean() + 10 * penalty

        return loss


class VqVae(Program):
    """A VQ-VAE (van den Oord et al. 2017): each vector takes its nearest code; gradients pass straight through."""

    program, about = "vq_vae", "{rows} vectors of {features}, {codes} codes of {width}"
    sizes = {
        "test": {"rows": 4, "features": 2, "codes": 3, "width": 2},
        "small": {"rows": 32, "features": 16, "codes": 16, "width": 8},
        "middle": {"rows": 512, "features": 64, "codes": 128, "width": 32},
        "large": {"rows": 8_192, "features": 128, "codes": 512, "width": 64},
    }
    leaves = ("We", "be", "book", "Wd", "bd")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, codes: int, width: int) -> Data:
        We, be, Wd, bd = dense(draw, features, width, features)
        weights = [We, be, normal(draw, codes, width), Wd, bd]
        return dict(zip(self.leaves, weights, strict=True)) | {"x": normal(draw, rows, features)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(We: Any, be: Any, book: Any, Wd: Any, bd: Any, x: Any) -> Any:
            z = tf.matmul(x, We) + be
            distances = (
                tf.reduce_sum(z**2, axis=1, keepdims=True)
                - 2 * tf.matmul(z, book, transpose_b=True)
                + tf.reduce_sum(book**2, axis=1)
            )
            encodings = tf.one_hot(tf.argmin(distances, axis=1), book.shape[0])
            quantized = tf.matmul(encodings, book)
            commitment = tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2)
            codebook = tf.reduce_mean((quantized - tf.stop_gradient(z)) ** 2)
            quantized = z + tf.stop_gradient(quantized - z)
            rebuilt = tf.matmul(quantized, Wd) + bd
            return tf.reduce_mean((rebuilt - x) ** 2) + codebook + 0.25 * commitment

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def loss(We: Any, be: Any, book: Any, Wd: Any, bd: Any, x: Any) -> Any:
            z = x @ We + be
            distances = (z**2).sum(1, keepdim=True) - 2 * z @ book.t() + (book**2).sum(1)
            encodings = nn.one_hot(distances.argmin(1), len(book)).to(z.dtype)
            quantized = encodings @ book
            commitment, codebook = nn.mse_loss(quantized.detach(), z), nn.mse_loss(quantized, z.detach())
            quantized = z + (quantized - z).detach()
            return nn.mse_loss(quantized @ Wd + bd, x) + codebook + 0.25 * commitment

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        stop = jax.lax.stop_gradient

        def loss(We: Any, be: Any, book: Any, Wd: Any, bd: Any, x: Any) -> Any:
            z = x @ We + be
            distances = (z**2).sum(1, keepdims=True) - 2 * z @ book.T + (book**2).sum(1)
            quantized = book[np.argmin(distances, axis=1)]
            commitment, codebook = ((stop(quantized) - z) ** 2).mean(), ((quantized - stop(z)) ** 2).mean()
            quantized = z + stop(quantized - z)
            return ((quantized @ Wd + bd - x) ** 2).mean() + codebook + 0.25 * commitment

        return loss


class Diffusion(Layered):
    """The loss of denoising diffusion (Ho et al. 2020): a small U-Net predicts the noise at random times."""

    program, about = "diffusion", "{batch} images {side} × {side}, {channels} channels, two scales"
    sizes = {
        "test": {"batch": 2, "side": 4, "channels": 2},
        "small": {"batch": 1, "side": 8, "channels": 8},
        "middle": {"batch": 8, "side": 16, "channels": 16},
        "large": {"batch": 16, "side": 32, "channels": 64},
    }
    leaves = ("T1", "t1", "T2", "t2", "F1", "b1", "F2", "b2", "F3", "b3", "F4", "b4")
    turned = {"T1": DENSE, "T2": DENSE, **dict.fromkeys(("F1", "F2", "F3", "F4"), FILTERS_2D),
              "x": IMAGES, "noise": IMAGES}  # fmt: skip

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, channels: int) -> Data:
        weights = [*dense(draw, 2 * channels, 2 * channels, channels), *filters(draw, 3, 3, channels),
                   *filters(draw, 3, channels, channels), *filters(draw, 3, 2 * channels, channels),
                   *filters(draw, 3, channels, 3)]  # fmt: skip
        kept = np.cumprod(1 - np.linspace(1e-4, 0.02, TIMES)).astype(np.float32)
        images = {name: normal(draw, batch, side, side, 3) for name in ("x", "noise")}
        given = {"kept": kept, "t": draw.integers(0, TIMES, batch)} | images
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, channels = tf.keras.layers, self.at["channels"]
        time1, time2 = layers.Dense(2 * channels, activation="silu"), layers.Dense(channels)
        first = layers.Conv2D(channels, 3, padding="same")
        down = layers.Conv2D(channels, 3, strides=2, padding="same", activation="silu")
        up = layers.UpSampling2D(2)
        joined = layers.Conv2D(channels, 3, padding="same", activation="silu")
        last = layers.Conv2D(3, 3, padding="same")

        def sinusoidal_embedding(t: Any, dim: int) -> Any:
            half = dim // 2
            frequencies = tf.exp(-tf.math.log(10000.0) * tf.range(half, dtype=tf.float32) / half)
            angles = tf.cast(t, tf.float32)[:, None] * frequencies[None, :]
            return tf.concat([tf.sin(angles), tf.cos(angles)], axis=-1)

        def network(x: Any, t: Any) -> Any:
            embedding = time2(time1(sinusoidal_embedding(t, 2 * channels)))
            fine = tf.nn.silu(first(x) + embedding[:, None, None, :])
            h = up(down(fine))
            return last(joined(tf.concat([h, fine], axis=-1)))

        def loss(kept: Any, t: Any, x: Any, noise: Any) -> Any:
            a = tf.reshape(tf.gather(kept, t), (-1, 1, 1, 1))
            noisy = tf.sqrt(a) * x + tf.sqrt(1.0 - a) * noise
            return tf.reduce_mean(tf.square(noise - network(noisy, t)))

        return [time1, time2, first, down, joined, last], loss

    def as_torch(self, torch: Any) -> Any:
        nn, F, channels = torch.nn, torch.nn.functional, self.at["channels"]
        time = nn.Sequential(nn.Linear(2 * channels, 2 * channels), nn.SiLU(), nn.Linear(2 * channels, channels))
        first = nn.Conv2d(3, channels, 3, padding=1)
        down = nn.Conv2d(channels, channels, 3, stride=2)
        joined = nn.Conv2d(2 * channels, channels, 3, padding=1)
        last = nn.Conv2d(channels, 3, 3, padding=1)

        def sinusoidal_embedding(t: Any, dim: int) -> Any:
            half = dim // 2
            frequencies = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
            angles = t.float()[:, None] * frequencies[None]
            return torch.cat([angles.sin(), angles.cos()], dim=-1)

        def network(x: Any, t: Any) -> Any:
            embedding = time(sinusoidal_embedding(t, 2 * channels))
            fine = F.silu(first(x) + embedding[:, :, None, None])
            h = F.silu(down(F.pad(fine, (0, 1, 0, 1))))
            h = F.interpolate(h, scale_factor=2, mode="nearest")
            return last(F.silu(joined(torch.cat([h, fine], dim=1))))

        def loss(kept: Any, t: Any, x: Any, noise: Any) -> Any:
            a = kept[t].view(-1, 1, 1, 1)
            noisy = a.sqrt() * x + (1 - a).sqrt() * noise
            return F.mse_loss(network(noisy, t), noise)

        return [time, first, down, joined, last], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def conv(x: Any, F: Any, b: Any, stride: int = 1) -> Any:
            return jax.lax.conv_general_dilated(x, F, (stride, stride), "SAME", dimension_numbers=LAYOUT) + b

        def loss(T1: Any, t1: Any, T2: Any, t2: Any, F1: Any, b1: Any, F2: Any, b2: Any, F3: Any, b3: Any, F4: Any,
                 b4: Any, kept: Any, t: Any, x: Any, noise: Any) -> Any:  # fmt: skip
            half = T1.shape[0] // 2
            frequencies = np.exp(-math.log(10000) * np.arange(half, dtype=x.dtype) / half)
            angles = t.astype(x.dtype)[:, None] * frequencies
            embedding = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
            embedding = jax.nn.silu(embedding @ T1 + t1) @ T2 + t2
            a = kept[t][:, None, None, None]
            noisy = np.sqrt(a) * x + np.sqrt(1 - a) * noise
            fine = jax.nn.silu(conv(noisy, F1, b1) + embedding[:, None, None, :])
            h = jax.nn.silu(conv(fine, F2, b2, stride=2))
            h = np.repeat(np.repeat(h, 2, axis=1), 2, axis=2)
            h = jax.nn.silu(conv(np.concatenate([h, fine], axis=-1), F3, b3))
            return ((conv(h, F4, b4) - noise) ** 2).mean()

        return loss
