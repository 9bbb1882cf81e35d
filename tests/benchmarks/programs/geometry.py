"""Geometry: bundle adjustment, sphere tracing, a radiance field, inverse kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Layered, Program
from tests.benchmarks.programs.training import dense

FREQUENCIES = 6
JOINTS = 6


class BundleAdjustment(Program):
    """Where cameras should have seen points: rotations from angles, a perspective division, squared errors."""

    program, about = "bundle_adjustment", "{cameras} cameras, {points} points, {seen} observations"
    sizes = {
        "test": {"cameras": 2, "points": 3, "seen": 4},
        "small": {"cameras": 3, "points": 10, "seen": 30},
        "middle": {"cameras": 20, "points": 500, "seen": 4_000},
        "large": {"cameras": 100, "points": 10_000, "seen": 100_000},
    }
    leaves = ("turns", "places", "points")

    def arrays(self, draw: np.random.Generator, *, cameras: int, points: int, seen: int) -> Data:
        return {
            "turns": normal(draw, cameras, 3, scale=0.3),
            "places": normal(draw, cameras, 3, scale=0.2) + np.array([0, 0, 6], np.float32),
            "points": normal(draw, points, 3),
            "camera": draw.integers(0, cameras, seen),
            "point": draw.integers(0, points, seen),
            "spots": normal(draw, seen, 2, scale=0.2),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(turns: Any, places: Any, points: Any, camera: Any, point: Any, spots: Any) -> Any:
            a, b, c = tf.unstack(tf.gather(turns, camera), axis=1)
            x, y, z = tf.unstack(tf.gather(points, point), axis=1)
            y, z = tf.cos(a) * y - tf.sin(a) * z, tf.sin(a) * y + tf.cos(a) * z
            x, z = tf.cos(b) * x + tf.sin(b) * z, tf.cos(b) * z - tf.sin(b) * x
            x, y = tf.cos(c) * x - tf.sin(c) * y, tf.sin(c) * x + tf.cos(c) * y
            p, q, r = tf.unstack(tf.stack([x, y, z], axis=1) + tf.gather(places, camera), axis=1)
            return tf.reduce_mean(tf.square(tf.stack([p / r, q / r], axis=1) - spots))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(turns: Any, places: Any, points: Any, camera: Any, point: Any, spots: Any) -> Any:
            a, b, c = turns[camera].unbind(1)
            x, y, z = points[point].unbind(1)
            y, z = a.cos() * y - a.sin() * z, a.sin() * y + a.cos() * z
            x, z = b.cos() * x + b.sin() * z, b.cos() * z - b.sin() * x
            x, y = c.cos() * x - c.sin() * y, c.sin() * x + c.cos() * y
            p, q, r = (torch.stack([x, y, z], 1) + places[camera]).unbind(1)
            return ((torch.stack([p / r, q / r], 1) - spots) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(turns: Any, places: Any, points: Any, camera: Any, point: Any, spots: Any) -> Any:
            a, b, c = turns[camera].T
            x, y, z = points[point].T
            y, z = np.cos(a) * y - np.sin(a) * z, np.sin(a) * y + np.cos(a) * z
            x, z = np.cos(b) * x + np.sin(b) * z, np.cos(b) * z - np.sin(b) * x
            x, y = np.cos(c) * x - np.sin(c) * y, np.sin(c) * x + np.cos(c) * y
            p, q, r = (np.stack([x, y, z], axis=1) + places[camera]).T
            return ((np.stack([p / r, q / r], axis=1) - spots) ** 2).mean()

        return loss


class Rendering(Program):
    """Rays march by the distance to a smooth union of spheres; how deep they get, against a picture of depths."""

    program, about = "rendering", "{side} × {side} pixels, {spheres} spheres, {steps} steps"
    sizes = {
        "test": {"side": 2, "spheres": 2, "steps": 3},
        "small": {"side": 8, "spheres": 3, "steps": 16},
        "middle": {"side": 32, "spheres": 8, "steps": 24},
        "large": {"side": 96, "spheres": 16, "steps": 32},
    }
    leaves = ("centres", "radii")

    def arrays(self, draw: np.random.Generator, *, side: int, spheres: int, steps: int) -> Data:
        x, y = np.meshgrid(np.linspace(-0.5, 0.5, side), np.linspace(-0.5, 0.5, side))
        rays = np.stack([x, y, np.ones_like(x)], axis=2).reshape(-1, 3)
        return {
            "centres": normal(draw, spheres, 3, scale=0.5) + np.array([0, 0, 3], np.float32),
            "radii": draw.uniform(0.2, 0.5, spheres).astype(np.float32),
            "rays": (rays / np.linalg.norm(rays, axis=1, keepdims=True)).astype(np.float32),
            "depths": draw.uniform(2, 4, side * side).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(centres: Any, radii: Any, rays: Any, depths: Any) -> Any:
            depth = tf.zeros(rays.shape[0])
            for _ in range(self.at["steps"]):
                apart = (depth[:, None] * rays)[:, None] - centres
                distances = tf.sqrt(tf.reduce_sum(tf.square(apart), axis=2)) - radii
                depth = depth - 0.1 * tf.reduce_logsumexp(-10.0 * distances, axis=1)
            return tf.reduce_mean(tf.square(tf.minimum(depth, 6.0) - depths))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(centres: Any, radii: Any, rays: Any, depths: Any) -> Any:
            depth = torch.zeros(len(rays))
            for _ in range(self.at["steps"]):
                apart = (depth[:, None] * rays)[:, None] - centres
                distances = (apart**2).sum(2).sqrt() - radii
                depth = depth - 0.1 * (-10.0 * distances).logsumexp(1)
            return ((depth.clamp(max=6.0) - depths) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(centres: Any, radii: Any, rays: Any, depths: Any) -> Any:
            def step(depth: Any, _: Any) -> Any:
                apart = (depth[:, None] * rays)[:, None] - centres
                distances = np.sqrt((apart**2).sum(2)) - radii
                return depth - 0.1 * jax.nn.logsumexp(-10.0 * distances, axis=1), None

            depth, _ = jax.lax.scan(step, np.zeros(len(rays), rays.dtype), None, length=self.at["steps"])
            return ((np.minimum(depth, 6.0) - depths) ** 2).mean()

        return loss


class RadianceField(Layered):
    """A neural radiance field (Mildenhall et al. 2020): encoded positions, four layers, volume rendering along rays."""

    program, about = "nerf", "{rays} rays, {samples} samples, 4 layers, {hidden} wide"
    sizes = {
        "test": {"rays": 2, "samples": 3, "hidden": 2},
        "small": {"rays": 4, "samples": 8, "hidden": 16},
        "middle": {"rays": 32, "samples": 32, "hidden": 32},
        "large": {"rays": 128, "samples": 64, "hidden": 64},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4", "V", "c")
    turned = dict.fromkeys(("W1", "W2", "W3", "W4", "V"), DENSE)

    def arrays(self, draw: np.random.Generator, *, rays: int, samples: int, hidden: int) -> Data:
        encoded = 3 + 6 * FREQUENCIES
        weights = [*dense(draw, encoded, hidden, hidden), *dense(draw, hidden + encoded, hidden, hidden, 4)]
        depths = np.sort(draw.uniform(2, 6, (rays, samples)), axis=1).astype(np.float32)
        return dict(zip(self.leaves, weights, strict=True)) | {
            "origin": normal(draw, rays, 3, scale=0.1),
            "way": normal(draw, rays, 3, scale=0.3),
            "depths": depths,
            "y": draw.uniform(0, 1, (rays, 3)).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        one, two, three, four = (layers.Dense(hidden, activation="relu") for _ in range(4))
        last = layers.Dense(4)

        def encode(x: Any) -> Any:
            parts = [x]
            for k in range(FREQUENCIES):
                parts += [tf.sin(2.0**k * x), tf.cos(2.0**k * x)]
            return tf.concat(parts, axis=-1)

        def loss(origin: Any, way: Any, depths: Any, y: Any) -> Any:
            places = encode(origin[:, None, :] + depths[:, :, None] * way[:, None, :])
            h = two(one(places))
            out = last(four(three(tf.concat([h, places], axis=-1))))
            colours, density = tf.sigmoid(out[..., :3]), tf.nn.softplus(out[..., 3])
            apart = tf.concat([depths[:, 1:] - depths[:, :-1], 0.5 * tf.ones_like(depths[:, :1])], axis=1)
            opaque = 1.0 - tf.exp(-density * apart)
            weights = opaque * tf.math.cumprod(1.0 - opaque + 1e-10, axis=1, exclusive=True)
            seen = tf.reduce_sum(weights[:, :, None] * colours, axis=1)
            return tf.reduce_mean(tf.square(seen - y))

        return [one, two, three, four, last], loss

    def as_torch(self, torch: Any) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        encoded = 3 + 6 * FREQUENCIES
        one, two = nn.Linear(encoded, hidden), nn.Linear(hidden, hidden)
        three, four = nn.Linear(hidden + encoded, hidden), nn.Linear(hidden, hidden)
        last = nn.Linear(hidden, 4)

        def encode(x: Any) -> Any:
            parts = [x]
            for k in range(FREQUENCIES):
                parts += [torch.sin(2.0**k * x), torch.cos(2.0**k * x)]
            return torch.cat(parts, -1)

        def loss(origin: Any, way: Any, depths: Any, y: Any) -> Any:
            places = encode(origin[:, None, :] + depths[:, :, None] * way[:, None, :])
            h = torch.relu(two(torch.relu(one(places))))
            out = last(torch.relu(four(torch.relu(three(torch.cat([h, places], -1))))))
            colours, density = torch.sigmoid(out[..., :3]), nn.functional.softplus(out[..., 3])
            apart = torch.cat([depths[:, 1:] - depths[:, :-1], 0.5 * torch.ones_like(depths[:, :1])], 1)
            opaque = 1.0 - torch.exp(-density * apart)
            passed = torch.cat([torch.ones_like(opaque[:, :1]), 1.0 - opaque + 1e-10], 1).cumprod(1)[:, :-1]
            seen = ((opaque * passed)[:, :, None] * colours).sum(1)
            return nn.functional.mse_loss(seen, y)

        return [one, two, three, four, last], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def encode(x: Any) -> Any:
            parts = [x]
            for k in range(FREQUENCIES):
                parts += [np.sin(2.0**k * x), np.cos(2.0**k * x)]
            return np.concatenate(parts, axis=-1)

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, W4: Any, b4: Any, V: Any, c: Any, origin: Any,
                 way: Any, depths: Any, y: Any) -> Any:  # fmt: skip
            places = encode(origin[:, None, :] + depths[:, :, None] * way[:, None, :])
            h = jax.nn.relu(jax.nn.relu(places @ W1 + b1) @ W2 + b2)
            h = jax.nn.relu(np.concatenate([h, places], axis=-1) @ W3 + b3)
            out = jax.nn.relu(h @ W4 + b4) @ V + c
            colours, density = jax.nn.sigmoid(out[..., :3]), jax.nn.softplus(out[..., 3])
            apart = np.concatenate([depths[:, 1:] - depths[:, :-1], 0.5 * np.ones_like(depths[:, :1])], axis=1)
            opaque = 1.0 - np.exp(-density * apart)
            passed = np.cumprod(np.concatenate([np.ones_like(opaque[:, :1]), 1.0 - opaque + 1e-10], axis=1), axis=1)
            seen = ((opaque * passed[:, :-1])[:, :, None] * colours).sum(1)
            return ((seen - y) ** 2).mean()

        return loss


class RobotArm(Program):
    """Inverse kinematics of a six-joint arm: the loss of the hand's position and orientation at each target."""

    program, about = "robot_arm", "{targets} targets, 6 joints"
    sizes = {"test": {"targets": 2}, "small": {"targets": 4}, "middle": {"targets": 256}, "large": {"targets": 8_192}}
    leaves = ("angles", "lengths")
    axes = "zyyxyx"

    def arrays(self, draw: np.random.Generator, *, targets: int) -> Data:
        return {
            "angles": draw.uniform(-1, 1, (targets, JOINTS)).astype(np.float32),
            "lengths": draw.uniform(0.3, 1, JOINTS).astype(np.float32),
            "places": normal(draw, targets, 3),
            "ways": normal(draw, targets, 3, scale=0.5),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def rotation(axis: str, angle: Any) -> Any:
            c, s, one, zero = tf.cos(angle), tf.sin(angle), tf.ones_like(angle), tf.zeros_like(angle)
            rows = {
                "x": [[one, zero, zero], [zero, c, -s], [zero, s, c]],
                "y": [[c, zero, s], [zero, one, zero], [-s, zero, c]],
                "z": [[c, -s, zero], [s, c, zero], [zero, zero, one]],
            }[axis]
            return tf.stack([tf.stack(row, axis=-1) for row in rows], axis=-2)

        def loss(angles: Any, lengths: Any, places: Any, ways: Any) -> Any:
            turned = tf.eye(3, batch_shape=[angles.shape[0]])
            place = tf.zeros((angles.shape[0], 3))
            for k, axis in enumerate(self.axes):
                turned = tf.matmul(turned, rotation(axis, angles[:, k]))
                place = place + lengths[k] * turned[:, :, 2]
            miss = tf.reduce_sum(tf.square(place - places), axis=1)
            twist = tf.reduce_sum(tf.square(turned[:, :, 0] - ways), axis=1)
            return tf.reduce_mean(miss + 0.1 * twist) + 0.01 * tf.reduce_mean(tf.square(angles))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def rotation(axis: str, angle: Any) -> Any:
            c, s, one, zero = torch.cos(angle), torch.sin(angle), torch.ones_like(angle), torch.zeros_like(angle)
            rows = {
                "x": [[one, zero, zero], [zero, c, -s], [zero, s, c]],
                "y": [[c, zero, s], [zero, one, zero], [-s, zero, c]],
                "z": [[c, -s, zero], [s, c, zero], [zero, zero, one]],
            }[axis]
            return torch.stack([torch.stack(row, -1) for row in rows], -2)

        def loss(angles: Any, lengths: Any, places: Any, ways: Any) -> Any:
            turned = torch.eye(3).expand(len(angles), 3, 3)
            place = torch.zeros(len(angles), 3)
            for k, axis in enumerate(self.axes):
                turned = turned @ rotation(axis, angles[:, k])
                place = place + lengths[k] * turned[:, :, 2]
            miss = ((place - places) ** 2).sum(1)
            twist = ((turned[:, :, 0] - ways) ** 2).sum(1)
            return (miss + 0.1 * twist).mean() + 0.01 * (angles**2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def rotation(axis: str, angle: Any) -> Any:
            c, s, one, zero = np.cos(angle), np.sin(angle), np.ones_like(angle), np.zeros_like(angle)
            rows = {
                "x": [[one, zero, zero], [zero, c, -s], [zero, s, c]],
                "y": [[c, zero, s], [zero, one, zero], [-s, zero, c]],
                "z": [[c, -s, zero], [s, c, zero], [zero, zero, one]],
            }[axis]
            return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

        def loss(angles: Any, lengths: Any, places: Any, ways: Any) -> Any:
            turned = np.broadcast_to(np.eye(3, dtype=angles.dtype), (len(angles), 3, 3))
            place = np.zeros((len(angles), 3), angles.dtype)
            for k, axis in enumerate(self.axes):
                turned = turned @ rotation(axis, angles[:, k])
                place = place + lengths[k] * turned[:, :, 2]
            miss = ((place - places) ** 2).sum(1)
            twist = ((turned[:, :, 0] - ways) ** 2).sum(1)
            return (miss + 0.1 * twist).mean() + 0.01 * (angles**2).mean()

        return loss
