"""A small convolutional network on scikit-learn's handwritten digits, with a progress bar for each pass."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import autodiff_lab as lab

BATCH = 64


def batches(images, labels, rng):
    order = rng.permutation(len(images))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        yield lab.constant(images[chosen]), lab.constant(labels[chosen])


def make_model():
    return lab.Sequential(
        [
            lab.layers.Conv2D(8, 3, activation="relu"),
            lab.layers.MaxPool2D(2),
            lab.layers.Flatten(),
            lab.layers.Dense(32, activation="relu"),
            lab.layers.Dense(10),
        ]
    )


def train(passes=12, seed=0, progress=True):
    """Give the model, and the accuracy on images that it has not seen after each pass."""
    lab.random.set_seed(seed)
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32).reshape(-1, 8, 8, 1)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels.astype(np.int32), test_size=0.25, random_state=seed
    )
    model = make_model()
    measure = lab.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = lab.optimizers.Adam(0.005)
    rng = np.random.default_rng(seed)
    accuracies = []
    for number in range(1, passes + 1):
        mean_loss = lab.metrics.Mean()
        count = -(-len(train_x) // BATCH)
        with tqdm(batches(train_x, train_y, rng), f"pass {number}", count, disable=not progress) as bar:
            for x, y in bar:
                with lab.GradientTape() as tape:
                    loss = measure(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                bar.set_postfix(loss=f"{float(mean_loss(loss)):.3f}", refresh=False)
        accuracy = lab.metrics.SparseCategoricalAccuracy()
        accuracies.append(float(accuracy(test_y, model(test_x))))
    return model, accuracies


if __name__ == "__main__":
    print([round(a, 3) for a in train()[1]])
