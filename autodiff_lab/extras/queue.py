"""FIFOQueue: a first-in, first-out queue; its elements have no history, so gradients stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, OutOfRangeError, QueueBlocked, ShapeMismatch
from autodiff_lab.extras.state import given, kept

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


class FIFOQueue:
    """A queue of elements: first in, first out.

    Parameters
    ----------
    capacity : int
        The largest number of elements.
    dtypes : sequence of DType
        The dtype of each part of an element.
    shapes : sequence of shapes, optional
        The shape of each part; without it, parts may have any shape, but elements cannot be dequeued in batches.
    names : sequence of str, optional
        If given, elements are dicts with these keys.

    Raises
    ------
    QueueBlocked
        If an element is added to a full queue or taken from an empty one, which would block forever; a
        `RuntimeError`.
    OutOfRangeError
        If more elements are taken from a closed queue than it holds.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> queue = lab.queue.FIFOQueue(3, [lab.float32], shapes=[()])
    >>> queue.enqueue(4.0)
    >>> print(queue.size(), queue.dequeue())
    Tensor(1, shape=(), dtype=int32) Tensor(4.0, shape=(), dtype=float32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: object = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        self.name = name
        self._capacity = int(capacity)
        several: Any = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
        self._dtypes = [as_dtype(d) for d in several]
        self._shapes = None if shapes is None else self._as_shapes(shapes)
        self._names = None if names is None else list(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise InvalidArgumentError(
                f"FIFOQueue: expected one name for each dtype, got {len(self._names)} for {len(self._dtypes)}."
            )
        self._elements: deque[tuple[Any, ...]] = deque()
        self._closed = False

    def _as_shapes(self, shapes: Any) -> list[TensorShape]:
        one = len(self._dtypes) == 1
        if isinstance(shapes, TensorShape) or (
            one and not (isinstance(shapes, (list, tuple)) and shapes and not isinstance(shapes[0], (int, type(None))))
        ):
            shapes = [shapes]
        found = [TensorShape(s) for s in shapes]
        if len(found) != len(self._dtypes):
            raise InvalidArgumentError(
                f"FIFOQueue: expected one shape for each dtype, got {len(found)} for {len(self._dtypes)}."
            )
        return found

    @property
    def dtypes(self) -> list[DType]:
        """The dtype of each part of an element."""
        return list(self._dtypes)

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each part of an element, unknown if none was given."""
        return list(self._shapes) if self._shapes is not None else [TensorShape(None) for _ in self._dtypes]

    @property
    def names(self) -> list[str] | None:
        """The keys of an element, if elements are dicts."""
        return None if self._names is None else list(self._names)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, int32."""
        return named(wrap(np.int32(len(self._elements))), name)

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return whether the queue is closed, bool."""
        return named(wrap(np.bool_(self._closed)), name)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Close the queue: no more elements can be added, the remaining ones can still be taken."""
        self._closed = True

    def enqueue(self, vals: TensorLike, name: str | None = None) -> None:
        """Add one element at the end."""
        parts = self._parts(vals)
        for part, shape in zip(parts, self.shapes, strict=True):
            if not shape.is_compatible_with(part._held.shape):
                raise ShapeMismatch(f"{self.name}: expected an element of shape {shape}, got {part._held.shape}.")
        self._make_room(1)
        self._elements.append(tuple(kept(part, "queue") for part in parts))

    def enqueue_many(self, vals: TensorLike, name: str | None = None) -> None:
        """Add elements at the end, one for each row."""
        parts = self._parts(vals)
        lengths = {part._held.shape[:1] for part in parts}
        if len(lengths) != 1 or lengths == {()}:
            raise ShapeMismatch(
                f"{self.name}: expected parts with the same number of rows, got shapes "
                f"{[tuple(part.shape) for part in parts]}."
            )
        (count,) = next(iter(lengths))
        self._make_room(count)
        arrays = [kept(part, "queue") for part in parts]
        self._elements.extend(tuple(array[i] for array in arrays) for i in range(count))

    def dequeue(self, name: str | None = None) -> Any:
        """Remove and return the first element."""
        self._demand(1)
        return named(self._shown([given(array) for array in self._elements.popleft()]), name)

    def dequeue_many(self, n: int, name: str | None = None) -> Any:
        """Remove the first `n` elements and return them stacked along a new first axis."""
        self._demand(int(n))
        return named(self._batch(int(n)), name)

    def dequeue_up_to(self, n: int, name: str | None = None) -> Any:
        """Remove and return the first `n` elements, or as many as are left in a closed queue."""
        self._demand(1 if self._closed else int(n))
        return named(self._batch(min(int(n), len(self._elements))), name)

    def _parts(self, vals: Any) -> list[Tensor]:
        if self._names is not None:
            if not isinstance(vals, dict) or set(vals) != set(self._names):
                raise InvalidArgumentError(f"{self.name}: expected a dict with the keys {self._names} as element.")
            vals = [vals[key] for key in self._names]
        elif not isinstance(vals, (list, tuple)) or len(self._dtypes) == 1 != len(vals):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise InvalidArgumentError(
                f"{self.name}: expected an element of {len(self._dtypes)} parts, got {len(vals)}."
            )
        found: list[Tensor] = []
        for value, dtype in zip(vals, self._dtypes, strict=True):
            tensor = convert(value) if hasattr(value, "_held") else convert_to_tensor(value, dtype)
            if tensor.dtype != dtype:
                raise DtypeMismatch(f"{self.name}: expected dtype {dtype.name}, got {tensor.dtype.name}. Try lab.cast.")
            found.append(tensor)
        return found

    def _make_room(self, count: int) -> None:
        if self._closed:
            raise QueueBlocked(f"{self.name} is closed, so no elements can be added.")
        if len(self._elements) + count > self._capacity:
            raise QueueBlocked(
                f"{self.name} is full: it holds {len(self._elements)} of {self._capacity} elements, and "
                f"adding {count} more would block forever. Try dequeue first, or a larger capacity."
            )

    def _demand(self, count: int) -> None:
        if len(self._elements) >= count:
            return
        text = f"{self.name} has {len(self._elements)} elements, but {count} were requested"
        if self._closed:
            raise OutOfRangeError(f"{text}, and it is closed.")
        raise QueueBlocked(f"{text}, which would block forever. Try enqueue first.")

    def _batch(self, count: int) -> Any:
        if self._shapes is None or not all(shape.is_fully_defined() for shape in self._shapes):
            raise InvalidArgumentError(
                f"{self.name}: elements can be dequeued in batches only if all shapes are given. Try shapes=."
            )
        rows = [self._elements.popleft() for _ in range(count)]
        arrays = [
            np.stack(column) if rows else np.zeros((0, *(n or 0 for n in shape)), dtype.dtype)
            for column, shape, dtype in zip(
                zip(*rows, strict=True) if rows else [()] * len(self._dtypes), self._shapes, self._dtypes, strict=True
            )
        ]
        return self._shown([given(array) for array in arrays])

    def _shown(self, parts: list[Tensor]) -> Any:
        if self._names is not None:
            return dict(zip(self._names, parts, strict=True))
        return parts[0] if len(parts) == 1 else parts
