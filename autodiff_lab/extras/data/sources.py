"""Infinite datasets, and mixtures of datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.data.batching import seed_of
from autodiff_lab.extras.ragged.partition import integer

if TYPE_CHECKING:
    from autodiff_lab.extras.data.dataset import Dataset

_ENDLESS, _UNKNOWN = -1, -2


class Sources:
    """Further constructors of `Dataset`."""

    if TYPE_CHECKING:

        def __init__(self, make: Callable[[], Iterator[Any]], cardinality: int = _UNKNOWN) -> None: ...

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = "int64", name: str | None = None) -> Dataset:
        """Create an infinite dataset of numbers from `start` on."""
        kind = as_dtype(dtype).dtype.type
        first, by = integer(start, "counter: start"), integer(step, "counter: step")

        def make() -> Iterator[Any]:
            at = first
            while True:
                yield wrap(kind(at))
                at += by

        return cls(make, _ENDLESS)  # type: ignore[return-value]

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Create an infinite dataset of random integers below 2³²; int64."""
        first = seed_of(seed)
        shared = np.random.default_rng(first)

        def make() -> Iterator[Any]:
            generator = shared if rerandomize_each_iteration else np.random.default_rng(first)
            while True:
                yield wrap(generator.integers(2**32, dtype=np.int64))

        return cls(make, _ENDLESS)  # type: ignore[return-value]

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Take each element from the dataset whose number comes next.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> Dataset = lab.data.Dataset
        >>> parts = [Dataset.from_tensors(k).repeat(2) for k in (10, 20)]
        >>> [int(x) for x in Dataset.choose_from_datasets(parts, Dataset.from_tensor_slices([1, 0, 1]))]
        [20, 10, 20]
        """
        return _mixed(datasets, lambda: (int(i) for i in choice_dataset._make()), stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Any],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Take each element from a dataset drawn at random by weight."""
        count = len(datasets)
        chances = np.full(count, 1 / max(count, 1)) if weights is None else np.asarray(weights, np.float64)
        if chances.shape != (count,) or not count or (chances < 0).any() or not chances.sum() > 0:
            raise InvalidArgumentError(f"sample_from_datasets: expected {count} non-negative weights, got {weights!r}.")
        first = seed_of(seed)

        def numbers() -> Iterator[int]:
            generator = np.random.default_rng(first)
            while True:
                yield int(generator.choice(count, p=chances / chances.sum()))

        return _mixed(datasets, numbers, stop_on_empty_dataset, positive=chances > 0)


def _mixed(datasets: Sequence[Any], numbers: Callable[[], Iterator[int]], stop: bool, positive: Any = None) -> Any:
    """Return a dataset that takes each element from the dataset with the next number."""
    if not datasets:
        raise InvalidArgumentError("expected at least one dataset, got none.")

    def make() -> Iterator[Any]:
        sources = [d._make() for d in datasets]
        left = set(range(len(sources)) if positive is None else np.flatnonzero(positive).tolist())
        for number in numbers():
            if not 0 <= number < len(sources):
                raise InvalidArgumentError(
                    f"choose_from_datasets: choice {number} is out of range for {len(sources)} datasets."
                )
            try:
                element = next(sources[number])
            except StopIteration:
                left.discard(number)
                if stop or not left:
                    return
                continue
            yield element

    return type(datasets[0])(make)
