"""Placeholders: tensors with a shape and a dtype and no value, in a graph that only names them.

Operations run at once here, so a placeholder cannot go through one.  It is for code that asks of a tensor what it will
be: its shape, its dtype, and whether `convert_to_tensor` takes it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.errors import NoGraph, NotOneTensor

_DEFAULT: ContextVar[Graph | None] = ContextVar("autodiff_lab_graph", default=None)


class Graph:
    """A set of placeholders with different names.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.Graph().as_default() as graph:
    ...     x = lab.placeholder(lab.float32, shape=[None, 3], name="x")
    >>> print(x, len(graph.placeholders))
    Tensor("x:0", shape=(None, 3), dtype=float32) 1
    """

    def __init__(self) -> None:
        self._placeholders: list[SymbolicTensor] = []
        self._uses: dict[str, int] = {}

    @property
    def placeholders(self) -> tuple[SymbolicTensor, ...]:
        """The placeholders made so far, in order."""
        return tuple(self._placeholders)

    @contextmanager
    def as_default(self) -> Generator[Graph]:
        """Make this the graph of the placeholders that a block makes."""
        token = _DEFAULT.set(self)
        try:
            yield self
        finally:
            _DEFAULT.reset(token)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return the name, with a number behind it if it is taken; it is taken from now on, if asked."""
        used = self._uses.get(name, 0)
        if mark_as_used:
            self._uses[name] = used + 1
        return f"{name}_{used}" if used else name

    def add(self, tensor: SymbolicTensor) -> None:
        """Take in a placeholder."""
        self._placeholders.append(tensor)


class SymbolicTensor:
    """A tensor without a value; made by `placeholder`."""

    __slots__ = ("__weakref__", "_dtype", "_graph", "_name", "_shape")
    CURE = "Try a function of a tensor in place of a graph with placeholders."

    def __init__(self, graph: Graph, name: str, shape: TensorShape, dtype: DType) -> None:
        self._graph, self._name, self._shape, self._dtype = graph, name, shape, dtype

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self._graph

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._name

    @property
    def shape(self) -> TensorShape:
        """Length of each axis; None for one that is not known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._dtype

    def get_shape(self) -> TensorShape:
        """Length of each axis, as a method."""
        return self._shape

    @property
    def WHY(self) -> str:
        """What is said where an op is asked for a value."""
        return f"{self} is symbolic: it has a shape and a dtype and no value, and operations run at once here."

    def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> SymbolicTensor:
        """Refuse everything but to be a tensor already."""
        if op.__name__ == "convert_to_tensor":
            return self
        raise NotOneTensor(self)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'SymbolicTensor' object has no attribute {name!r}: a placeholder has no value.")

    def __bool__(self) -> bool:
        raise TypeError("A placeholder has no value, so it is neither true nor false.")

    def __repr__(self) -> str:
        return f'Tensor("{self._name}", shape={self._shape}, dtype={self._dtype.name})'


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SymbolicTensor:
    """Return a tensor without a value, in the graph of the block around.

    Parameters
    ----------
    dtype : DType
        The element type it stands for.
    shape : sequence of int or None, optional
        Length of each axis, None where it is not known; nothing at all if even the rank is not.
    name : str, optional
        ``"Placeholder"`` if it is not given; a taken name gets a number.

    Raises
    ------
    NoGraph
        A `RuntimeError`: outside a graph.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.Graph().as_default():
    ...     print(lab.placeholder(lab.int32, shape=[None, 2]))
    Tensor("Placeholder:0", shape=(None, 2), dtype=int32)
    """
    graph = _DEFAULT.get()
    if graph is None:
        raise NoGraph(
            "placeholder: operations run at once here, and a placeholder has no value to run them on. "
            "Try a function of a tensor, or `with lab.Graph().as_default():` around this line."
        )
    tensor = SymbolicTensor(graph, f"{graph.unique_name(name or 'Placeholder')}:0", TensorShape(shape), as_dtype(dtype))
    graph.add(tensor)
    return tensor
