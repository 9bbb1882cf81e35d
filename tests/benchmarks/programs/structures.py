"""Structured data: random fields and hidden Markov models of sequences, networks on graphs and on sets of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Layered, Program
from tests.benchmarks.programs.training import dense

HEADS = 2


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


class GraphAttention(Program):
    """A two-head graph attention layer (Velickovic et al. 2018) and the cross entropy of node classes."""

    program, about = "graph_attention", "{nodes} nodes, {edges} edges, {features}-2×{hidden}-5"
    sizes = {
        "test": {"nodes": 4, "edges": 8, "features": 2, "hidden": 2},
        "small": {"nodes": 30, "edges": 120, "features": 8, "hidden": 8},
        "middle": {"nodes": 1_000, "edges": 5_000, "features": 32, "hidden": 16},
        "large": {"nodes": 8_000, "edges": 60_000, "features": 64, "hidden": 16},
    }
    leaves = ("W", "a", "b", "V", "c")

    def arrays(self, draw: np.random.Generator, *, nodes: int, edges: int, features: int, hidden: int) -> Data:
        V, c = dense(draw, HEADS * hidden, 5)
        return {
            "W": normal(draw, features, HEADS * hidden, scale=features**-0.5),
            "a": normal(draw, HEADS, hidden, scale=hidden**-0.5),
            "b": normal(draw, HEADS, hidden, scale=hidden**-0.5),
            "V": V,
            "c": c,
            "source": draw.integers(0, nodes, edges),
            "target": draw.integers(0, nodes, edges),
            "x": normal(draw, nodes, features),
            "labels": draw.integers(0, 5, nodes),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, a: Any, b: Any, V: Any, c: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            nodes = x.shape[0]
            h = tf.reshape(tf.matmul(x, W), (nodes, HEADS, -1))
            left, right = tf.reduce_sum(h * a, axis=2), tf.reduce_sum(h * b, axis=2)
            scores = tf.nn.leaky_relu(tf.gather(left, source) + tf.gather(right, target), 0.2)
            highest = tf.math.unsorted_segment_max(scores, target, nodes)
            shares = tf.exp(scores - tf.gather(highest, target))
            shares = shares / tf.gather(tf.math.unsorted_segment_sum(shares, target, nodes), target)
            mixed = tf.math.unsorted_segment_sum(shares[:, :, None] * tf.gather(h, source), target, nodes)
            logits = tf.matmul(tf.nn.elu(tf.reshape(mixed, (nodes, -1))), V) + c
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def loss(W: Any, a: Any, b: Any, V: Any, c: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            nodes = x.shape[0]
            h = (x @ W).view(nodes, HEADS, -1)
            left, right = (h * a).sum(2), (h * b).sum(2)
            scores = nn.leaky_relu(left[source] + right[target], 0.2)
            highest = torch.full((nodes, HEADS), -torch.inf)
            highest = highest.scatter_reduce(0, target[:, None].expand(-1, HEADS), scores, "amax")
            shares = torch.exp(scores - highest[target])
            shares = shares / torch.zeros(nodes, HEADS).index_add(0, target, shares)[target]
            mixed = torch.zeros_like(h).index_add(0, target, shares[:, :, None] * h[source])
            return nn.cross_entropy(nn.elu(mixed.flatten(1)) @ V + c, labels)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, a: Any, b: Any, V: Any, c: Any, source: Any, target: Any, x: Any, labels: Any) -> Any:
            nodes = len(x)
            h = (x @ W).reshape(nodes, HEADS, -1)
            left, right = (h * a).sum(2), (h * b).sum(2)
            scores = jax.nn.leaky_relu(left[source] + right[target], 0.2)
            highest = jax.ops.segment_max(scores, target, num_segments=nodes)
            shares = np.exp(scores - highest[target])
            shares = shares / jax.ops.segment_sum(shares, target, num_segments=nodes)[target]
            mixed = jax.ops.segment_sum(shares[:, :, None] * h[source], target, num_segments=nodes)
            logs = jax.nn.log_softmax(jax.nn.elu(mixed.reshape(nodes, -1)) @ V + c)
            return -np.take_along_axis(logs, labels[:, None], axis=1).mean()

        return loss


class HiddenMarkov(Program):
    """The log likelihood of sequences under a hidden Markov model, by the scaled forward algorithm."""

    program, about = "hidden_markov", "batch {batch}, {time} steps, {states} states, {symbols} symbols"
    sizes = {
        "test": {"batch": 2, "time": 3, "states": 2, "symbols": 2},
        "small": {"batch": 4, "time": 20, "states": 4, "symbols": 6},
        "middle": {"batch": 32, "time": 50, "states": 16, "symbols": 32},
        "large": {"batch": 128, "time": 100, "states": 64, "symbols": 100},
    }
    leaves = ("begin", "move", "emit")

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, states: int, symbols: int) -> Data:
        return {
            "begin": normal(draw, states),
            "move": normal(draw, states, states),
            "emit": normal(draw, states, symbols),
            "seen": draw.integers(0, symbols, (batch, time)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(begin: Any, move: Any, emit: Any, seen: Any) -> Any:
            first, moves = tf.nn.softmax(begin), tf.nn.softmax(move, axis=1)
            emits = tf.transpose(tf.nn.softmax(emit, axis=1))
            alpha = first * tf.gather(emits, seen[:, 0])
            total = 0.0
            for t in range(1, seen.shape[1]):
                scale = tf.reduce_sum(alpha, axis=1, keepdims=True)
                total = total + tf.math.log(scale)
                alpha = tf.matmul(alpha / scale, moves) * tf.gather(emits, seen[:, t])
            total = total[:, 0] + tf.math.log(tf.reduce_sum(alpha, axis=1))
            return -tf.reduce_mean(total)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(begin: Any, move: Any, emit: Any, seen: Any) -> Any:
            first, moves = begin.softmax(0), move.softmax(1)
            emits = emit.softmax(1).T
            alpha = first * emits[seen[:, 0]]
            total = 0.0
            for t in range(1, seen.shape[1]):
                scale = alpha.sum(1, keepdim=True)
                total = total + scale.log()
                alpha = (alpha / scale) @ moves * emits[seen[:, t]]
            return -(total[:, 0] + alpha.sum(1).log()).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(begin: Any, move: Any, emit: Any, seen: Any) -> Any:
            first, moves = jax.nn.softmax(begin), jax.nn.softmax(move, axis=1)
            emits = jax.nn.softmax(emit, axis=1).T

            def step(state: Any, symbols: Any) -> Any:
                alpha, total = state
                scale = alpha.sum(1, keepdims=True)
                return ((alpha / scale) @ moves * emits[symbols], total + np.log(scale[:, 0])), None

            alpha = first * emits[seen[:, 0]]
            (alpha, total), _ = jax.lax.scan(step, (alpha, np.zeros(len(seen), move.dtype)), seen[:, 1:].T)
            return -(total + np.log(alpha.sum(1))).mean()

        return loss


class PointSets(Layered):
    """Deep sets (Zaheer et al. 2017): a network for each point, sums and maxima over each ragged set, and its class."""

    program, about = "point_sets", "{points} points of {features} in {sets} sets, {hidden} hidden, {classes} classes"
    sizes = {
        "test": {"points": 7, "sets": 3, "features": 2, "hidden": 2, "classes": 2},
        "small": {"points": 64, "sets": 8, "features": 3, "hidden": 16, "classes": 4},
        "middle": {"points": 2_000, "sets": 64, "features": 3, "hidden": 64, "classes": 10},
        "large": {"points": 20_000, "sets": 500, "features": 6, "hidden": 128, "classes": 40},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4")
    turned = dict.fromkeys(("W1", "W2", "W3", "W4"), DENSE)

    def arrays(self, draw: np.random.Generator, *, points: int, sets: int, features: int, hidden: int,
               classes: int) -> Data:  # fmt: skip
        weights = [*dense(draw, features, hidden, hidden), *dense(draw, 2 * hidden, hidden, classes)]
        more = draw.integers(0, sets, points - sets)
        return dict(zip(self.leaves, weights, strict=True)) | {
            "x": normal(draw, points, features),
            "ids": np.sort(np.concatenate([np.arange(sets), more])),
            "labels": draw.integers(0, classes, sets),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        each = tf.keras.Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(hidden)])
        head = tf.keras.Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(self.at["classes"])])

        def loss(x: Any, ids: Any, labels: Any) -> Any:
            h = each(x)
            pooled = tf.concat([tf.math.segment_sum(h, ids), tf.math.segment_max(h, ids)], axis=1)
            logits = head(pooled)
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

        return [each, head], loss

    def as_torch(self, torch: Any) -> Any:
        nn, hidden, sets = torch.nn, self.at["hidden"], self.at["sets"]
        each = nn.Sequential(nn.Linear(self.at["features"], hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        head = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, self.at["classes"]))

        def loss(x: Any, ids: Any, labels: Any) -> Any:
            h = each(x)
            total = torch.zeros(sets, hidden).index_add(0, ids, h)
            highest = torch.full((sets, hidden), -torch.inf)
            highest = highest.scatter_reduce(0, ids[:, None].expand_as(h), h, "amax", include_self=False)
            return nn.functional.cross_entropy(head(torch.cat([total, highest], 1)), labels)

        return [each, head], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        sets = self.at["sets"]

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, W4: Any, b4: Any, x: Any, ids: Any,
                 labels: Any) -> Any:  # fmt: skip
            h = jax.nn.relu(x @ W1 + b1) @ W2 + b2
            total = jax.ops.segment_sum(h, ids, num_segments=sets)
            highest = jax.ops.segment_max(h, ids, num_segments=sets)
            logits = jax.nn.relu(np.concatenate([total, highest], axis=1) @ W3 + b3) @ W4 + b4
            return -np.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()

        return loss
