"""One training step of a two-layer net that learns exclusive or."""

import autodiff_lab as lab

inputs = lab.constant([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], name="inputs")
wanted = lab.constant([[0.0], [1.0], [1.0], [0.0]], name="wanted")

w1 = lab.Variable([[0.6, -0.4, 0.9], [-0.7, 0.8, 0.5]], name="w1")
b1 = lab.Variable([0.1, 0.0, -0.1], name="b1")
w2 = lab.Variable([[1.0], [1.2], [-0.8]], name="w2")
b2 = lab.Variable([0.0], name="b2")
weights = [w1, b1, w2, b2]


def net(x: lab.Tensor) -> lab.Tensor:
    with lab.name_scope("hidden"):
        hidden = lab.tanh(x @ w1 + b1)
    with lab.name_scope("output"):
        return hidden @ w2 + b2


def loss_now() -> lab.Tensor:
    error = net(inputs) - wanted
    return lab.reduce_mean(error * error)


with lab.GradientTape() as tape:
    loss = loss_now()
gradients = tape.gradient(loss, weights)

with lab.name_scope("update"):
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.assign_sub(0.1 * gradient)

print(f"loss before the step: {float(loss):.4f}")
