"""Data sets under the name that Keras code uses: ``lab.keras.datasets``."""

from autodiff_lab.training.datasets import (
    boston_housing,
    breast_cancer,
    california_housing,
    cifar10,
    cifar100,
    diabetes,
    digits,
    fashion_mnist,
    imdb,
    iris,
    mnist,
    reuters,
    wine,
)

__all__ = [
    "boston_housing",
    "breast_cancer",
    "california_housing",
    "cifar10",
    "cifar100",
    "diabetes",
    "digits",
    "fashion_mnist",
    "imdb",
    "iris",
    "mnist",
    "reuters",
    "wine",
]
