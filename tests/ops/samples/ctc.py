"""Calls of the loss of connectionist temporal classification, and of what its rule is made of."""

import numpy as np

from tests.ops.samples.core import Call, sampler

# Steps, classes, blank, labels with 9 beyond their lengths, lengths of labels and of logits.
CASES = [
    (4, 3, 0, [[1, 1], [2, 9], [1, 2]], [2, 1, 2], [4, 3, 2]),
    (3, 2, 1, [[0], [9]], [1, 0], [3, 2]),
    (1, 3, 2, [[0]], [1], [1]),
    (3, 3, 0, [[], []], [0, 0], [3, 0]),
]


@sampler("ctc_loss", "softmax_minus_occupancy")
def _ctc(rng: np.random.Generator) -> list[Call]:
    return [
        (
            (
                rng.normal(size=(steps, len(labels), classes)),
                np.array(labels, np.int64).reshape(len(labels), -1),
                np.array(of_labels),
                np.array(of_logits, np.int32),
            ),
            {"blank": blank},
        )
        for steps, classes, blank, labels, of_labels, of_logits in CASES
    ]
