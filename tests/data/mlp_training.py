"""Fifty steps of gradient descent on a network of two layers."""

import numpy as np

import autodiff_lab as lab

rng = np.random.default_rng(0)
X = lab.constant(rng.standard_normal((16, 4)).astype(np.float32), name="X")
T = lab.constant(rng.standard_normal((16, 1)).astype(np.float32), name="T")
W1 = lab.Variable(0.3 * rng.standard_normal((4, 8)).astype(np.float32), name="W1")
W2 = lab.Variable(0.3 * rng.standard_normal((8, 1)).astype(np.float32), name="W2")

for _ in range(50):
    with lab.GradientTape() as tape:
        h = lab.tanh(X @ W1)
        loss = lab.reduce_mean((h @ W2 - T) ** 2)
    g1, g2 = tape.gradient(loss, [W1, W2])
    W1.assign_sub(0.1 * g1)
    W2.assign_sub(0.1 * g2)
