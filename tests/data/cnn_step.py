"""One training step of a small convolutional network, written with ops."""

import numpy as np

import autodiff_lab as lab

rng = np.random.default_rng(0)


def weights(name: str, *shape: int) -> lab.Variable:
    return lab.Variable(0.3 * rng.standard_normal(shape).astype(np.float32), name=name)


images = lab.constant(rng.standard_normal((4, 8, 8, 1)).astype(np.float32), name="images")
labels = lab.constant([0, 1, 2, 3], name="labels")
K1, K2, W = weights("K1", 3, 3, 1, 4), weights("K2", 3, 3, 4, 8), weights("W", 32, 10)
b1, b2, b = weights("b1", 4), weights("b2", 8), weights("b", 10)

with lab.GradientTape() as tape:
    h = lab.nn.relu(lab.nn.conv2d(images, K1, strides=1, padding="SAME") + b1)
    h = lab.nn.max_pool2d(h, 2, 2, "VALID")
    h = lab.nn.relu(lab.nn.conv2d(h, K2, strides=1, padding="SAME") + b2)
    h = lab.nn.max_pool2d(h, 2, 2, "VALID")
    logits = lab.reshape(h, (4, -1)) @ W + b
    loss = lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
for variable, gradient in zip([K1, b1, K2, b2, W, b], tape.gradient(loss, [K1, b1, K2, b2, W, b]), strict=True):
    variable.assign_sub(0.1 * gradient)
