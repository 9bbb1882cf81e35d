"""Structured data: a conditional random field over sequences, convolutions on a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program
from tests.benchmarks.programs.training import dense


class RandomField(Program):
    """A linear-chain conditional random field: the log likelihood of tags, by the forward algorithm."""

    program, about = "crf", "batch {batch}, {time} tokens, {tags} tags"
    sizes = {
        "test": {"batch": 2, "time": 3, "tags": 3},
        "small": {"batch": 2, "time": 10, "tags": 4},
        "middle": {"batch": 16, "time": 40, "tags": 16},
        "large": {"batch": 64, "time": 80, "tags": 32},
    }
    leaves = ("scores", "moves")

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, tags: int) -> Data:
        return {
            "scores": normal(draw, batch, time, tags),
            "moves": normal(draw, tags, tags, scale=0.5),
            "y": draw.integers(0, tags, (batch, time)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(scores: Any, moves: Any, y: Any) -> Any:
            chosen = tf.reduce_sum(tf.gather(scores, y, axis=2, batch_dims=2))
            chosen = chosen + tf.reduce_sum(tf.gather_nd(moves, tf.stack([y[:, :-1], y[:, 1:]], axis=2)))
            alpha = scores[:, 0]
            for t in range(1, scores.shape[1]):
                alpha = tf.reduce_logsumexp(alpha[:, :, None] + moves, axis=1) + scores[:, t]
            return (tf.reduce_sum(tf.reduce_logsumexp(alpha, axis=1)) - chosen) / scores.shape[0]

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(scores: Any, moves: Any, y: Any) -> Any:
            chosen = scores.gather(2, y[:, :, None]).sum() + moves[y[:, :-1], y[:, 1:]].sum()
            alpha = scores[:, 0]
            for t in range(1, scores.shape[1]):
                alpha = (alpha[:, :, None] + moves).logsumexp(1) + scores[:, t]
            return (alpha.logsumexp(1).sum() - chosen) / len(scores)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(scores: Any, moves: Any, y: Any) -> Any:
            chosen = np.take_along_axis(scores, y[:, :, None], axis=2).sum() + moves[y[:, :-1], y[:, 1:]].sum()

            def step(alpha: Any, row: Any) -> Any:
                return jax.nn.logsumexp(alpha[:, :, None] + moves, axis=1) + row, None

            alpha, _ = jax.lax.scan(step, scores[:, 0], scores[:, 1:].swapaxes(0, 1))
            return (jax.nn.logsumexp(alpha, axis=1).sum() - chosen) / len(scores)

        return loss


class GraphConvolution(Program):
    """Two layers on a graph: the neighbours of each node are added up; then the cross entropy of the nodes' classes."""

    program, about = "graph_conv", "{nodes} nodes, {edges} edges, {features}-{hidden}-7"
    sizes = {
        "test": {"nodes": 4, "edges": 6, "features": 2, "hidden": 2},
        "small": {"nodes": 50, "edges": 200, "features": 8, "hidden": 8},
        "middle": {"nodes": 2_000, "edges": 10_000, "features": 64, "hidden": 16},
        "large": {"nodes": 20_000, "edges": 200_000, "features": 128, "hidden": 32},
    }
    leaves = ("W1", "b1", "W2", "b2")

    def arrays(self, draw: np.random.Generator, *, nodes: int, edges: int, features: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, features, hidden, 7), strict=True))
        ends = {"source": draw.integers(0, nodes, edges), "target": draw.integers(0, nodes, edges)}
        return weights | ends | {"x": normal(draw, nodes, features), "labels": draw.integers(0, 7, nodes)}

    def as_tensorflow(self, tf: Any) -> Any:
        def neighbours(h: Any, source: Any, target: Any) -> Any:
            return h + tf.math.unsorted_segment_sum(tf.gather(h, source), target, h.shape[0])

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            h = tf.nn.relu(neighbours(x @ W1, source, target) + b1)
            logits = neighbours(h @ W2, source, target) + b2
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def neighbours(h: Any, source: Any, target: Any) -> Any:
            return h.index_add(0, target, h[source])

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            h = torch.relu(neighbours(x @ W1, source, target) + b1)
            return torch.nn.functional.cross_entropy(neighbours(h @ W2, source, target) + b2, labels)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def neighbours(h: Any, source: Any, target: Any) -> Any:
            return h + jax.ops.segment_sum(h[source], target, num_segments=len(h))

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            h = jax.nn.relu(neighbours(x @ W1, source, target) + b1)
            logs = jax.nn.log_softmax(neighbours(h @ W2, source, target) + b2)
            return -np.take_along_axis(logs, labels[:, None], axis=1).mean()

        return loss
