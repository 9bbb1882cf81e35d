"""Logistic regression on scikit-learn's handwritten digits, by stochastic gradient descent."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import autodiff_lab as lab

STEPS = 8
BATCH = 64
RATE = 0.3

images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype(np.float32)
train_x, test_x, train_y, test_y = train_test_split(images, labels, test_size=0.25, random_state=0)

weights = lab.Variable(np.zeros((64, 10), np.float32), name="weights")
bias = lab.Variable(np.zeros(10, np.float32), name="bias")


def predict(x: lab.Tensor) -> lab.Tensor:
    with lab.name_scope("model"):
        return x @ weights + bias


def cross_entropy(logits: lab.Tensor, targets: lab.Tensor) -> lab.Tensor:
    with lab.name_scope("loss"):
        per_image = lab.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        return lab.reduce_mean(per_image)


def accuracy(x: np.ndarray, y: np.ndarray) -> float:
    guesses = np.argmax(x @ weights.numpy() + bias.numpy(), axis=1)
    return float(np.mean(guesses == y))


rng = np.random.default_rng(0)
print(f"before: accuracy {accuracy(test_x, test_y):.3f}")
for step in range(1, STEPS + 1):
    chosen = rng.choice(len(train_x), BATCH, replace=False)
    batch_x = lab.constant(train_x[chosen])
    batch_y = lab.constant(train_y[chosen])
    with lab.name_scope(f"step {step}"):
        with lab.GradientTape() as tape:
            loss = cross_entropy(predict(batch_x), batch_y)
        weights_slope, bias_slope = tape.gradient(loss, [weights, bias])
        with lab.name_scope("update"):
            weights.assign_sub(RATE * weights_slope)
            bias.assign_sub(RATE * bias_slope)
    print(f"step {step}: loss {float(loss):.3f}")
print(f"after:  accuracy {accuracy(test_x, test_y):.3f}")
