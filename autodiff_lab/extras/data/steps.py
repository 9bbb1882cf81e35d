"""Less common steps of a dataset: windows, groups, interleaving, scans."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.tensor import wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.data.batching import as_element, batched, call, padded_batch, ragged_stacked
from autodiff_lab.extras.data.sources import Sources
from autodiff_lab.extras.ragged.partition import integer, integer_vector
from autodiff_lab.extras.state import structure_of

if TYPE_CHECKING:
    from autodiff_lab.extras.data.dataset import Dataset

_UNKNOWN = -2


class Options:
    """Settings for TensorFlow's pipelines; they are stored but have no effect.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> options = lab.data.Options()
    >>> options.autotune.enabled = True
    >>> lab.data.Dataset.range(2).with_options(options).options().autotune.enabled
    True
    """

    def __getattr__(self, name: str) -> Options:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self.__dict__[name] = Options()
        return made


class Steps(Sources):
    """Further methods of `Dataset`."""

    _make: Callable[[], Iterator[Any]]
    _cardinality: int
    _options: Options | None = None

    def _new(self, make: Callable[[], Iterator[Any]], cardinality: int = _UNKNOWN) -> Any:
        return type(self)(make, cardinality)

    # --- which -------------------------------------------------------------------------------------------------------

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keep the elements before the first for which a function returns False."""

        def make() -> Iterator[Any]:
            for element in self._make():
                if not bool(call(predicate, element)):
                    return
                yield element

        return self._new(make)

    def unique(self, name: str | None = None) -> Dataset:
        """Drop elements that occurred before."""

        def make() -> Iterator[Any]:
            seen: set[Any] = set()
            for element in self._make():
                arrays = [np.asarray(leaf.numpy()) for leaf in structure_of(element)[0]]
                key = tuple((a.shape, repr(a.tolist()) if a.dtype.kind == "O" else a.tobytes()) for a in arrays)
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._new(make)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Keep every `num_shards`-th element, starting at `index`."""
        parts, at = integer(num_shards, "shard: num_shards"), integer(index, "shard: index")
        if not 0 <= at < parts:
            raise InvalidArgumentError(f"shard: index must be in [0, {parts}), got {at}.")
        size = self._cardinality
        left = size if size < 0 else max(0, -(-(size - at) // parts))
        return self._new(lambda: islice(self._make(), at, None, parts), left)

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element.

        Raises
        ------
        InvalidArgumentError
            If there is none, or more than one.
        """
        found = list(islice(self._make(), 2))
        if len(found) != 1:
            raise InvalidArgumentError(
                f"get_single_element: expected one element, got {'none' if not found else 'several'}."
            )
        return found[0]

    # --- together ----------------------------------------------------------------------------------------------------

    def scan(self, initial_state: Any, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Dataset:
        """Apply a function of a state and each element, which returns the next state and the new element.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> sums = lab.data.Dataset.range(4).scan(lab.constant(0, lab.int64), lambda s, x: (s + x, s + x))
        >>> [int(x) for x in sums]
        [0, 1, 3, 6]
        """

        def make() -> Iterator[Any]:
            state = as_element(initial_state)
            for element in self._make():
                state, given = scan_func(state, element)
                yield as_element(given)

        return self._new(make, self._cardinality)

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Rearrange batches into batches of another size, or of several sizes in turn."""
        sizes = integer_vector(np.atleast_1d(np.asarray(batch_size)), "rebatch").tolist()
        if not sizes or min(sizes) < 1:
            raise InvalidArgumentError(f"rebatch: expected batch sizes of at least 1, got {batch_size!r}.")
        rows: Any = self.unbatch()  # type: ignore[attr-defined]

        def make() -> Iterator[Any]:
            elements, turn = rows._make(), 0
            while True:
                size = sizes[turn % len(sizes)]
                part = list(islice(elements, size))
                if not part or (len(part) < size and drop_remainder):
                    return
                yield next(batched(iter(part), len(part), False))
                turn += 1

        return self._new(make)

    def ragged_batch(
        self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = "int64", name: str | None = None
    ) -> Dataset:
        """Batch like `batch`, but elements may differ in length and become the rows of ragged tensors."""
        n = _at_least_one(batch_size, "ragged_batch: batch_size")
        stack = ragged_stacked(row_splits_dtype)
        return self._new(lambda: batched(self._make(), n, drop_remainder, stack))

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Group neighbouring elements into datasets, each starting `shift` elements after the previous one.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> [[int(x) for x in part] for part in lab.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        n, step = _at_least_one(size, "window: size"), _at_least_one(stride, "window: stride")
        on = n if shift is None else _at_least_one(shift, "window: shift")

        def make() -> Iterator[Any]:
            elements, held, gone = self._make(), deque[Any](), 0
            while True:
                held.extend(islice(elements, max(0, (n - 1) * step + 1 - len(held))))
                part = list(islice(held, 0, (n - 1) * step + 1, step))
                if not part or (len(part) < n and drop_remainder):
                    return
                yield self._windowed(part)
                gone = min(on, len(held))
                for _ in range(gone):
                    held.popleft()
                if len(list(islice(elements, on - gone))) < on - gone:
                    return

        return self._new(make)

    def _windowed(self, part: list[Any]) -> Any:
        columns = zip(*(structure_of(element)[0] for element in part), strict=True)
        made = [self._new(lambda column=list(column): iter(column), len(part)) for column in columns]
        return structure_of(part[0])[1](made)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Group elements by key, and chain the datasets that a function returns for each group of window size."""
        if (window_size is None) == (window_size_func is None):
            raise InvalidArgumentError(
                "group_by_window: expected either window_size or window_size_func, got both or neither."
            )

        def limit(key: Any) -> int:
            size = window_size if window_size_func is None else window_size_func(key)
            return _at_least_one(size, "group_by_window: window_size")

        def reduced(key: Any, group: list[Any]) -> Iterator[Any]:
            return reduce_func(key, self._new(lambda: iter(group), len(group)))._make()

        def make() -> Iterator[Any]:
            groups: dict[int, tuple[Any, list[Any]]] = {}
            for element in self._make():
                key = as_element(call(key_func, element))
                _, group = groups.setdefault(int(key), (key, []))
                group.append(element)
                if len(group) == limit(key):
                    del groups[int(key)]
                    yield from reduced(key, group)
            for _, (key, group) in sorted(groups.items()):
                yield from reduced(key, group)

        return self._new(make)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batch elements of similar length, padded to the longest of their batch or to the bucket boundary."""
        edges = integer_vector(bucket_boundaries, "bucket_boundaries")
        sizes = integer_vector(bucket_batch_sizes, "bucket_batch_sizes")
        if len(sizes) != len(edges) + 1:
            raise InvalidArgumentError(
                f"bucket_by_sequence_length: expected {len(edges) + 1} batch sizes for {len(edges)} boundaries, got "
                f"{len(sizes)}."
            )

        def bucket(*element: Any) -> Any:
            return wrap(np.int64(np.searchsorted(edges, int(element_length_func(*element)), side="right")))

        def together(key: Any, group: Any) -> Any:
            number = int(key)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                if number == len(edges):
                    raise InvalidArgumentError(
                        "bucket_by_sequence_length: an element is longer than the last boundary."
                    )
                first = structure_of(next(group._make()))[0]
                shapes = tuple([int(edges[number]) - 1] * leaf.ndim for leaf in first)
                shapes = shapes[0] if len(shapes) == 1 else shapes
            n = int(sizes[number])
            if no_padding:
                return group.batch(n, drop_remainder)
            return self._new(lambda: batched(group._make(), n, drop_remainder, padded_batch(shapes, padding_values)))

        return self.group_by_window(bucket, together, window_size_func=lambda key: int(sizes[int(key)]))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Apply a function that returns a dataset to each element, and take elements from several datasets in turn.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> made = lab.data.Dataset.range(1, 4).interleave(
        ...     lambda x: lab.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in made]
        [1, 2, 1, 2, 3, 3]
        """
        is_chosen = cycle_length not in (None, -1)
        width = _at_least_one(cycle_length, "interleave: cycle_length") if is_chosen else os.cpu_count() or 1
        block = 1 if block_length is None else _at_least_one(block_length, "interleave: block_length")

        def make() -> Iterator[Any]:
            sources, more = self._make(), True
            slots: list[Iterator[Any] | None] = [None] * width
            at = 0
            while more or any(slot is not None for slot in slots):
                slot = slots[at]
                if slot is None and more:
                    found = next(sources, self)
                    more = found is not self
                    slots[at] = slot = call(map_func, found)._make() if more else None
                given = 0
                for element in islice(slot or (), block):
                    given += 1
                    yield element
                if given < block:
                    slots[at] = None
                at = (at + 1) % width

        return self._new(make)

    # --- settings ----------------------------------------------------------------------------------------------------

    def options(self) -> Options:
        """Return the stored settings."""
        return self._options or Options()

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Return the same dataset with other settings, which have no effect."""
        made = self._new(self._make, self._cardinality)
        made._options = options
        return made


def _at_least_one(value: Any, what: str) -> int:
    number = integer(value, what)
    if number < 1:
        raise InvalidArgumentError(f"{what} must be at least 1, got {number}.")
    return number
