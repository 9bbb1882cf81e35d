"""Dataset: a sequence of elements that are created one at a time, on demand.

A dataset stores arrays, and its iterators a position in them: that is state, so gradients stop where a value enters.
Functions passed to `map` and similar methods are not recorded by enclosing tapes, as in TensorFlow's pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError, OutOfRangeError, ShapeMismatch
from autodiff_lab.events import TensorMet
from autodiff_lab.events.listener import SINKS, scoped, sinks_now
from autodiff_lab.extras.data.batching import as_element, batched, call, padded_batch, rows_of, seed_of
from autodiff_lab.extras.data.steps import Steps
from autodiff_lab.extras.state import kept, structure_of
from autodiff_lab.extras.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

AUTOTUNE = -1
"""For TensorFlow code that passes it; it has no effect, since elements are created one at a time."""
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_builtin_range, _builtin_enumerate = range, enumerate


class Dataset(Steps):
    """A sequence of elements: tensors, or tuples and dicts of them.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> numbers = lab.data.Dataset.range(5).map(lambda x: x * 10).batch(2)
    >>> for batch in numbers:
    ...     print(batch)
    Tensor([ 0 10], shape=(2,), dtype=int64)
    Tensor([20 30], shape=(2,), dtype=int64)
    Tensor([40], shape=(1,), dtype=int64)
    """

    def __init__(self, make: Callable[[], Iterator[object]], cardinality: int = UNKNOWN_CARDINALITY) -> None:
        self._make = make
        self._cardinality = cardinality

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of the first element, as a structure of `lab.TensorSpec`; other elements may differ.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.data.Dataset.from_tensor_slices(([[1.0, 2.0]], [3])).element_spec[0]
        TensorSpec(shape=(2,), dtype=autodiff_lab.float32, name=None)
        """
        leaves, rebuild = structure_of(next(self._make(), ()))
        return rebuild([TensorSpec.from_tensor(leaf) for leaf in leaves])

    # --- sources ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_tensor_slices(cls, tensors: object, name: str | None = None) -> Dataset:
        """Create a dataset with one element for each row of a tensor, or of a structure of tensors.

        Raises
        ------
        ShapeMismatch
            If the tensors have no rows, or different numbers of them.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> for x, y in lab.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"])):
        ...     print(x, y)
        Tensor(1, shape=(), dtype=int32) Tensor(b'a', shape=(), dtype=string)
        Tensor(2, shape=(), dtype=int32) Tensor(b'b', shape=(), dtype=string)
        """
        leaves, rebuild = structure_of(tensors)
        columns = [rows_of(leaf) for leaf in leaves]
        counts = {len(column) for column in columns}
        if len(counts) != 1:
            raise ShapeMismatch(
                f"from_tensor_slices: expected tensors with the same number of rows, got {sorted(counts)}."
            )
        (count,) = counts
        return cls(lambda: (rebuild([column[i] for column in columns]) for i in _builtin_range(count)), count)

    @classmethod
    def from_tensors(cls, tensors: object, name: str | None = None) -> Dataset:
        """Create a dataset with a single element, the tensors themselves."""
        leaves, rebuild = structure_of(tensors)
        element = rebuild([wrap(kept(leaf, "dataset")) for leaf in leaves])
        return cls(lambda: iter([element]), 1)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[object]],
        output_types: object = None,
        output_shapes: object = None,
        args: tuple[object, ...] = (),
        output_signature: object = None,
        name: str | None = None,
    ) -> Dataset:
        """Create a dataset from a generator function, which is called again for each iteration.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> [float(x) for x in lab.data.Dataset.from_generator(lambda: iter([1, 2]), output_types=lab.float32)]
        [1.0, 2.0]
        """
        types = output_types if output_signature is None else _dtypes_of(output_signature)
        wanted = None if types is None else structure_of(types)[0]
        return cls(lambda: (as_element(item, wanted) for item in generator(*args)))

    @classmethod
    def range(cls, *args: int, output_type: DTypeLike = "int64", name: str | None = None) -> Dataset:
        """Create a dataset of integers, as Python's `range` does; int64 by default."""
        numbers, dtype = _builtin_range(*[int(convert(a)._array) for a in args]), as_dtype(output_type).dtype
        return cls(lambda: (wrap(dtype.type(i)) for i in numbers), len(numbers))

    @staticmethod
    def zip(*datasets: object, name: str | None = None) -> Dataset:
        """Combine several datasets into one of tuples, until the shortest ends.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> numbers = lab.data.Dataset.range(2)
        >>> [(int(a), int(b)) for a, b in lab.data.Dataset.zip(numbers, numbers.skip(1))]
        [(0, 1)]
        """
        parts: Any = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], (tuple, list)) else datasets
        sizes = [d._cardinality for d in parts]
        known = [s for s in sizes if s >= 0]
        size = UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in sizes else min(known, default=INFINITE_CARDINALITY)
        return Dataset(lambda: iter(_zip([d._make() for d in parts])), size)

    # --- elements ----------------------------------------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., object],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Apply a function to each element; the parts of a tuple are passed as separate arguments."""
        return Dataset(lambda: (as_element(call(map_func, x)) for x in self._make()), self._cardinality)

    def filter(self, predicate: Callable[..., TensorLike], name: str | None = None) -> Dataset:
        """Keep the elements for which a function returns True."""
        return Dataset(lambda: (x for x in self._make() if bool(call(predicate, x))))

    def flat_map(self, map_func: Callable[..., Dataset], name: str | None = None) -> Dataset:
        """Apply a function that returns a dataset to each element, and chain the datasets."""
        return Dataset(lambda: (y for x in self._make() for y in call(map_func, x)._make()))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pair each element with its position, counted from `start`."""
        return Dataset(
            lambda: ((wrap(np.int64(i)), x) for i, x in _builtin_enumerate(self._make(), start)), self._cardinality
        )

    def reduce(self, initial_state: object, reduce_func: Callable[..., object], name: str | None = None) -> Any:
        """Reduce the dataset to one state, updated with one element after another.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> total = lab.data.Dataset.range(5).reduce(lab.constant(0, lab.int64), lambda state, x: state + x)
        >>> print(total)
        Tensor(10, shape=(), dtype=int64)
        """
        state = initial_state
        with scoped(name):
            for element in self:
                state = reduce_func(state, element)
        return state

    # --- which and how many ------------------------------------------------------------------------------------------

    def take(self, count: int, name: str | None = None) -> Dataset:
        """Keep the first `count` elements, or all with -1."""
        n = int(count)

        def make() -> Iterator[Any]:
            for left, element in _builtin_enumerate(self._make() if n else ()):
                yield element
                if left + 1 == n:
                    return

        size = self._cardinality
        return Dataset(make, size if n < 0 else n if size == INFINITE_CARDINALITY else min(n, size))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """Drop the first `count` elements, or all with -1."""
        n, size = int(count), self._cardinality
        return Dataset(
            lambda: (x for i, x in _builtin_enumerate(self._make()) if 0 <= n <= i),
            0 if n < 0 else max(size - n, 0) if size >= 0 else size,
        )

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Repeat the dataset `count` times, or indefinitely."""
        n, size = -1 if count is None else int(count), self._cardinality

        def make() -> Iterator[Any]:
            rounds, empty = 0, False
            while rounds != n and not empty:
                rounds, empty = rounds + 1, True
                for element in self._make():
                    empty = False
                    yield element

        whole = INFINITE_CARDINALITY if n < 0 and size != 0 else size * max(n, 0) if size >= 0 else size
        return Dataset(make, whole)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Append the elements of another dataset."""
        sizes = (self._cardinality, dataset._cardinality)
        return Dataset(
            lambda: (x for part in (self, dataset) for x in part._make()), sum(sizes) if min(sizes) >= 0 else min(sizes)
        )

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True, name: str | None = None
    ) -> Dataset:
        """Shuffle: draw each element at random from a buffer of `buffer_size`; reproducible with a seed."""
        if int(buffer_size) < 1:
            raise InvalidArgumentError(f"shuffle: buffer_size must be at least 1, got {buffer_size}.")
        first = seed_of(seed)
        generators = iter(lambda: np.random.default_rng(first), None)
        shared = np.random.default_rng(first)

        def make() -> Iterator[Any]:
            generator = shared if reshuffle_each_iteration else next(generators)
            buffer: list[Any] = []
            for element in self._make():
                buffer.append(element)
                if len(buffer) == buffer_size:
                    yield _drawn(buffer, generator)
            while buffer:
                yield _drawn(buffer, generator)

        return Dataset(make, self._cardinality)

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Stack `batch_size` elements at a time along a new first axis.

        Raises
        ------
        ShapeMismatch
            During iteration, if elements differ in shape.
        """
        n = _positive(batch_size, "batch")
        return Dataset(lambda: batched(self._make(), n, drop_remainder), _batches(self._cardinality, n, drop_remainder))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: object = None,
        padding_values: object = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batch like `batch`, after padding elements with 0 or `padding_values` to the longest of their batch."""
        n = _positive(batch_size, "padded_batch")
        return Dataset(
            lambda: batched(self._make(), n, drop_remainder, padded_batch(padded_shapes, padding_values)),
            _batches(self._cardinality, n, drop_remainder),
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """Split each element into its rows."""
        return self.flat_map(lambda *element: Dataset.from_tensor_slices(element[0] if len(element) == 1 else element))

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Keep the elements in memory after the first complete iteration."""
        memory: list[Any] = []

        def make() -> Iterator[Any]:
            if memory:
                yield from memory
                return
            seen: list[Any] = []
            for element in self._make():
                seen.append(element)
                yield element
            memory[:] = seen

        return Dataset(make, self._cardinality)

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """Return the dataset unchanged: elements are created on demand."""
        return self

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return the result of a function of the dataset."""
        return transformation_func(self)

    # --- iterating ---------------------------------------------------------------------------------------------------

    def cardinality(self) -> Tensor:
        """Return the number of elements, int64: -1 if infinite, -2 if unknown."""
        return wrap(np.int64(self._cardinality))

    def __len__(self) -> int:
        if self._cardinality < 0:
            why = "is infinite" if self._cardinality == INFINITE_CARDINALITY else "is unknown until it is iterated over"
            raise TypeError(f"The length of this dataset {why}. Try take(n), or count in a loop.")
        return self._cardinality

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self._make())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Yield the elements as NumPy arrays."""
        for element in self:
            leaves, rebuild = structure_of(element)
            yield rebuild([leaf.numpy() for leaf in leaves])

    def __repr__(self) -> str:
        size = {INFINITE_CARDINALITY: "of infinite length", UNKNOWN_CARDINALITY: "of unknown length"}
        return f"<Dataset {size.get(self._cardinality, f'of {self._cardinality} elements')}>"


class DatasetIterator:
    """An iterator over a dataset.  Its elements have no history, so gradients stop."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        outer = sinks_now()
        SINKS.set(())
        try:
            element = next(self._elements)
        finally:
            SINKS.set(outer)
        for tensor in structure_of(element)[0] if outer else ():
            for sink in outer if isinstance(tensor, Tensor) else ():
                sink.note(TensorMet, tensor, "converted")
        return element

    def get_next(self) -> Any:
        """Return the next element, or raise `OutOfRangeError` after the last."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("The dataset has no more elements.") from None


def _dtypes_of(signature: Any) -> Any:
    leaves, rebuild = structure_of(signature)
    return rebuild([leaf.dtype for leaf in leaves])


def _zip(iterators: list[Iterator[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*iterators, strict=False)


def _drawn(buffer: list[Any], generator: np.random.Generator) -> Any:
    at = int(generator.integers(len(buffer)))
    buffer[at], buffer[-1] = buffer[-1], buffer[at]
    return buffer.pop()


def _positive(size: Any, what: str) -> int:
    if int(size) < 1:
        raise InvalidArgumentError(f"{what}: batch_size must be at least 1, got {size}.")
    return int(size)


def _batches(elements: int, size: int, drop: bool) -> int:
    return elements if elements < 0 else elements // size if drop else -(-elements // size)
