"""Geometry: cameras and points adjusted to what the cameras saw, a picture of spheres drawn by marching along rays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program


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
