"""A recurrent network, one Python loop over the steps of a sequence."""

import os

import numpy as np

import autodiff_lab as lab

STEPS = int(os.environ.get("RNN_STEPS", "20"))
rng = np.random.default_rng(0)
xs = [lab.constant(rng.standard_normal((5, 4)).astype(np.float32), name=f"input{t}") for t in range(STEPS)]
target = lab.constant(rng.standard_normal((5, 8)).astype(np.float32), name="target")
U = lab.Variable(0.3 * rng.standard_normal((4, 8)).astype(np.float32), name="U")
W = lab.Variable(0.3 * rng.standard_normal((8, 8)).astype(np.float32), name="W")
b = lab.Variable(np.zeros(8, np.float32), name="b")

with lab.GradientTape() as tape:
    h = lab.zeros((5, 8))
    for x in xs:
        h = lab.tanh(x @ U + h @ W + b)
    loss = lab.reduce_mean((h - target) ** 2)
gradients = tape.gradient(loss, [U, W, b])
