"""Data sets that need no download: those that scikit-learn ships, under the interface of `keras.datasets`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.errors import MissingPackage, UnimplementedError

Pair = tuple[np.ndarray[Any, np.dtype[Any]], np.ndarray[Any, np.dtype[Any]]]
_OURS = {
    "digits": "handwritten digits: images (8, 8) of integers 0 to 16, ten classes, 1797 examples",
    "iris": "iris flowers: 4 lengths, three classes, 150 examples",
    "wine": "wines: 13 chemical measurements, three classes, 178 examples",
    "breast_cancer": "tumours: 30 measurements, two classes, 569 examples",
    "diabetes": "diabetes patients: 10 measurements and the progression of the disease, 442 examples",
}


class DataSet:
    """A data set with `load_data`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.datasets.iris
    <DataSet iris: iris flowers: 4 lengths, three classes, 150 examples>
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def load_data(self, test_split: float = 0.2, seed: int = 113) -> tuple[Pair, Pair]:
        """Return ``(x_train, y_train), (x_test, y_test)``.

        Parameters
        ----------
        test_split : float
            Share of the examples in the second pair.
        seed : int
            Of the order of the examples.

        Raises
        ------
        MissingPackage
            An `ImportError`: scikit-learn, which has the data, is not installed.
        """
        try:
            from sklearn import datasets
        except ImportError:
            raise MissingPackage.of(f"keras.datasets.{self.name}", "scikit-learn", "datasets") from None
        found = getattr(datasets, f"load_{self.name}")()
        x = found.images.astype(np.uint8) if self.name == "digits" else found.data.astype(np.float32)
        y = found.target.astype(np.float32 if self.name == "diabetes" else np.int64)
        order = np.random.default_rng(seed).permutation(len(x))
        cut = len(x) - round(len(x) * test_split)
        return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])

    def __repr__(self) -> str:
        return f"<DataSet {self.name}: {_OURS[self.name]}>"


class Downloaded:
    """A data set that Keras downloads, and this package does not.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.datasets.mnist.load_data()
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.UnimplementedError: keras.datasets.mnist would have to be downloaded, which this package does...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def load_data(self, *args: Any, **kwargs: Any) -> Any:
        """Raise an error that names what can be used instead."""
        instead = "digits" if self.name in ("mnist", "fashion_mnist", "cifar10", "cifar100") else "diabetes"
        raise UnimplementedError(
            f"keras.datasets.{self.name} would have to be downloaded, which this package does not do. Try "
            f"keras.datasets.{instead}, or numpy.load of a file you have."
        )


digits, iris, wine, breast_cancer, diabetes = (DataSet(name) for name in _OURS)
mnist, fashion_mnist, cifar10, cifar100, imdb, reuters, boston_housing, california_housing = (
    Downloaded(name) for name in (
        "mnist", "fashion_mnist", "cifar10", "cifar100", "imdb", "reuters", "boston_housing", "california_housing",
    )
)  # fmt: skip
