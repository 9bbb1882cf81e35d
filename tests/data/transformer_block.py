"""A transformer block with both norms written out, and no name for any part."""

import numpy as np

import autodiff_lab as lab

rng = np.random.default_rng(0)
WIDTH = 8


def weights(name: str, *shape: int) -> lab.Variable:
    return lab.Variable(0.3 * rng.standard_normal(shape).astype(np.float32), name=name)


def normalize(x: lab.Tensor, scale: lab.Variable) -> lab.Tensor:
    centred = x - lab.reduce_mean(x, -1, keepdims=True)
    variance = lab.reduce_mean(centred**2, -1, keepdims=True)
    return centred / lab.sqrt(variance + 1e-5) * scale


X = lab.constant(rng.standard_normal((5, WIDTH)).astype(np.float32), name="X")
Wq, Wk, Wv, Wo = [weights(f"W{part}", WIDTH, WIDTH) for part in "qkvo"]
W1, W2 = weights("W1", WIDTH, 16), weights("W2", 16, WIDTH)
g1, g2 = weights("g1", WIDTH), weights("g2", WIDTH)

with lab.GradientTape() as tape:
    n = normalize(X, g1)
    q, k, v = n @ Wq, n @ Wk, n @ Wv
    weighted = lab.nn.softmax(q @ lab.transpose(k) / WIDTH**0.5) @ v
    y = X + weighted @ Wo
    z = y + lab.nn.gelu(normalize(y, g2) @ W1) @ W2
    loss = lab.reduce_mean(z**2)
gradients = tape.gradient(loss, [Wq, Wk, Wv, Wo, W1, W2, g1, g2])
