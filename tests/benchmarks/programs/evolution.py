"""Evolution: the likelihood of sequences on a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program

ROWS, COLUMNS = np.triu_indices(4, 1)
"""The pairs of nucleotides that have a rate of exchange."""


class Phylogeny(Program):
    """Felsenstein's pruning (1981) on a balanced tree: the log likelihood of sequences by rates and branch lengths."""

    program, about = "phylogeny", "{taxa} species, {sites} sites"
    sizes = {
        "test": {"taxa": 3, "sites": 3},
        "small": {"taxa": 4, "sites": 16},
        "middle": {"taxa": 12, "sites": 1_000},
        "large": {"taxa": 24, "sites": 20_000},
    }
    leaves = ("log_rates", "log_shares", "log_lengths")

    def arrays(self, draw: np.random.Generator, *, taxa: int, sites: int) -> Data:
        first = draw.integers(0, 4, sites)
        letters = np.where(draw.random((taxa, sites)) < 0.7, first, draw.integers(0, 4, (taxa, sites)))
        return {
            "log_rates": normal(draw, 6, scale=0.5),
            "log_shares": normal(draw, 4, scale=0.3),
            "log_lengths": normal(draw, 2 * taxa - 2, scale=0.5) - np.float32(1.5),
            "seen": np.eye(4, dtype=np.float32)[letters],
            "counts": draw.integers(1, 5, sites).astype(np.float32),
        }

    def _merges(self) -> list[tuple[int, int]]:
        """The children of each inner node, which are numbered on after the species; the last is the root."""
        nodes, merges, taxa = list(range(self.at["taxa"])), [], self.at["taxa"]
        while len(nodes) > 1:
            merges.append((nodes[0], nodes[1]))
            nodes = [*nodes[2:], taxa + len(merges) - 1]
        return merges

    def as_tensorflow(self, tf: Any) -> Any:
        merges, pairs = self._merges(), np.stack([ROWS, COLUMNS], axis=1)

        def loss(log_rates: Any, log_shares: Any, log_lengths: Any, seen: Any, counts: Any) -> Any:
            half, shares = tf.scatter_nd(pairs, tf.exp(log_rates), (4, 4)), tf.nn.softmax(log_shares)
            Q = (half + tf.transpose(half)) * shares
            away = tf.reduce_sum(Q, axis=1)
            Q = (Q - tf.linalg.diag(away)) / tf.reduce_sum(shares * away)
            P = tf.linalg.expm(tf.exp(log_lengths)[:, None, None] * Q)
            partials, logs = tf.unstack(seen), 0.0
            for left, right in merges:
                both = (tf.matmul(partials[left], P[left], transpose_b=True)
                        * tf.matmul(partials[right], P[right], transpose_b=True))  # fmt: skip
                high = tf.reduce_max(both, axis=1, keepdims=True)
                partials.append(both / high)
                logs = logs + tf.math.log(high[:, 0])
            each = logs + tf.math.log(tf.linalg.matvec(partials[-1], shares))
            return -tf.reduce_sum(counts * each) / tf.reduce_sum(counts)

        return loss

    def as_torch(self, torch: Any) -> Any:
        merges, rows, columns = self._merges(), torch.from_numpy(ROWS), torch.from_numpy(COLUMNS)

        def loss(log_rates: Any, log_shares: Any, log_lengths: Any, seen: Any, counts: Any) -> Any:
            half, shares = torch.zeros(4, 4).index_put((rows, columns), log_rates.exp()), log_shares.softmax(0)
            Q = (half + half.T) * shares
            away = Q.sum(1)
            Q = (Q - torch.diag(away)) / (shares * away).sum()
            P = torch.linalg.matrix_exp(log_lengths.exp()[:, None, None] * Q)
            partials, logs = list(seen), 0.0
            for left, right in merges:
                both = (partials[left] @ P[left].T) * (partials[right] @ P[right].T)
                high = both.amax(1, keepdim=True)
                partials.append(both / high)
                logs = logs + high[:, 0].log()
            each = logs + (partials[-1] @ shares).log()
            return -(counts * each).sum() / counts.sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        merges = self._merges()
        index = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]])

        def loss(log_rates: Any, log_shares: Any, log_lengths: Any, seen: Any, counts: Any) -> Any:
            shares = jax.nn.softmax(log_shares)
            Q = np.where(np.eye(4, dtype=bool), 0, np.exp(log_rates)[index]) * shares
            away = Q.sum(1)
            Q = (Q - np.diag(away)) / (shares * away).sum()
            P = jax.scipy.linalg.expm(np.exp(log_lengths)[:, None, None] * Q)
            partials, logs = list(seen), 0.0
            for left, right in merges:
                both = (partials[left] @ P[left].T) * (partials[right] @ P[right].T)
                high = both.max(1, keepdims=True)
                partials.append(both / high)
                logs = logs + np.log(high[:, 0])
            each = logs + np.log(partials[-1] @ shares)
            return -(counts * each).sum() / counts.sum()

        return loss
