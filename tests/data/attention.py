"""One head of attention on five positions, with a residual connection: twelve ops without a name for any part."""

import numpy as np

import autodiff_lab as lab

rng = np.random.default_rng(0)
X = lab.constant(rng.standard_normal((5, 8)).astype(np.float32), name="X")
Wq, Wk, Wv, Wo = [lab.Variable(0.3 * rng.standard_normal((8, 8)).astype(np.float32), name=f"W{part}") for part in "qkvo"]

with lab.GradientTape() as tape:
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    scores = q @ lab.transpose(k) / 8**0.5
    weights = lab.nn.softmax(scores)
    out = (weights @ v) @ Wo
    loss = lab.reduce_mean((out + X) ** 2)
gradients = tape.gradient(loss, [Wq, Wk, Wv, Wo])
