"""Small helpers of Keras programs: one-hot labels, one seed for everything, unit vectors, sequences of batches."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.layer import reset_names
from autodiff_lab.ops.random_state import set_seed


def to_categorical(x: Any, num_classes: int | None = None) -> np.ndarray[Any, np.dtype[Any]]:
    """Return class numbers as one-hot rows.

    Parameters
    ----------
    x : array of int
        Class numbers, shape (*b); a last axis of length 1 is dropped.
    num_classes : int, optional
        By default one more than the largest number.

    Returns
    -------
    ndarray
        Shape (*b, num_classes), float64.

    Raises
    ------
    InvalidArgumentError
        If a number is not in [0, num_classes).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.utils.to_categorical([0, 2], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    numbers = np.asarray(x)
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    whole = numbers.astype(np.int64)
    count = (int(whole.max()) + 1 if whole.size else 0) if num_classes is None else num_classes
    if whole.size and not (whole.min() >= 0 and whole.max() < count):
        raise InvalidArgumentError(
            f"to_categorical: class numbers must be in [0, {count}), got {whole.min()} to {whole.max()}."
        )
    return np.eye(count)[whole]


def set_random_seed(seed: int) -> None:
    """Seed Python's `random`, NumPy's global generator, and that of this package.

    Raises
    ------
    InvalidArgumentError
        If the seed is not an integer that all three accept.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.utils.set_random_seed(1)
    """
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise InvalidArgumentError(f"set_random_seed: the seed must be an integer in [0, 2**32), got {seed!r}.")
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002 - programs that draw from it are what this is for
    set_seed(int(seed))


def normalize(x: Any, axis: int = -1, order: float = 2) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array divided by its norms along an axis; zeros stay zeros.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.utils.normalize([[3.0, 4.0]]).tolist()
    [[0.6, 0.8]]
    """
    array = np.asarray(x)
    norms = np.linalg.norm(array, order, axis, keepdims=True)
    return array / np.where(norms == 0, 1, norms)


CUSTOM: dict[str, Any] = {}
"""The classes of programs that `load_model` and `from_config` find by name without being given them."""


def get_custom_objects() -> dict[str, Any]:
    """Return the dict of the classes that models are read with; what is added to it is found by name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> type(lab.keras.utils.get_custom_objects())
    <class 'dict'>
    """
    return CUSTOM


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[type], type]:
    """Return a decorator of classes, after which `load_model` finds the class by name.

    Parameters
    ----------
    package : str
        Accepted for Keras code; names are those of the classes.
    name : str, optional
        Another name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.keras.utils.register_keras_serializable()
    ... class Doubled(lab.layers.Layer):
    ...     def call(self, x):
    ...         return 2 * x
    >>> lab.Sequential.from_config(lab.Sequential([Doubled()]).get_config()).layers
    [<Doubled name=doubled, built=False>]
    """

    def register(cls: type) -> type:
        CUSTOM[name or cls.__name__] = cls
        return cls

    return register


@contextmanager
def custom_object_scope(objects: Mapping[str, Any]) -> Generator[None]:
    """Let `load_model` and `from_config` find these classes by name inside a ``with`` block.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.keras.utils.custom_object_scope({"Mine": lab.layers.Dense}):
    ...     "Mine" in lab.keras.utils.get_custom_objects()
    True
    """
    before = dict(CUSTOM)
    CUSTOM.update(objects)
    try:
        yield
    finally:
        CUSTOM.clear()
        CUSTOM.update(before)


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return what a `train_step` gets as x, y and sample_weight, None where there is none.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.utils.unpack_x_y_sample_weight((1, 2))
    (1, 2, None)
    """
    x, y, weight = (*(data if isinstance(data, (list, tuple)) else (data,)), None, None)[:3]
    return x, y, weight


class PyDataset:
    """Base of data in batches: a subclass defines ``__len__`` and ``__getitem__``, which returns a batch.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Squares(lab.keras.utils.PyDataset):
    ...     def __len__(self):
    ...         return 2
    ...     def __getitem__(self, index):
    ...         return lab.constant([[float(index)]]), lab.constant([[float(index**2)]])
    >>> model = lab.Sequential([lab.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> len(model.fit(Squares(), epochs=2, verbose=0).epoch)
    2
    """

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10) -> None:
        self.workers, self.use_multiprocessing, self.max_queue_size = workers, use_multiprocessing, max_queue_size

    def __len__(self) -> int:
        """Return the number of batches."""
        raise NotImplementedError

    def __getitem__(self, index: int) -> Any:
        """Return a batch."""
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Run after each epoch."""


def clear_session() -> None:
    """Begin the numbering of layers again: the next `Dense` is named ``dense``. Nothing else is kept between models.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.utils.clear_session()
    >>> lab.layers.Dense(1).name, lab.layers.Dense(1).name
    ('dense', 'dense_1')
    """
    reset_names()


def epsilon() -> float:
    """Return the small number that losses add or clip with, 1e-7.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.backend.epsilon()
    1e-07
    """
    return 1e-7


def floatx() -> str:
    """Return the dtype of layers by default.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.backend.floatx()
    'float32'
    """
    return "float32"


def image_data_format() -> str:
    """Return the order of the axes of images, which is always this one.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.backend.image_data_format()
    'channels_last'
    """
    return "channels_last"
