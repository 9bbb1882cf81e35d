"""Placeholders: tensors with a shape and a dtype but no value, in a graph that only names them.

Operations run eagerly, so they do not accept a placeholder.  It is for code that inspects a tensor: its shape, its
dtype, and whether `convert_to_tensor` accepts it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.errors import NoGraph, NotOneTensor

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike

_DEFAULT: ContextVar[Graph | None] = ContextVar("autodiff_lab_graph", default=None)


class Graph:
    """A collection of placeholders with unique names.

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

    def __repr__(self) -> str:
        return f"<Graph of {len(self._placeholders)} placeholders>"

    @property
    def placeholders(self) -> tuple[SymbolicTensor, ...]:
        """The placeholders created so far, in order."""
        return tuple(self._placeholders)

    @contextmanager
    def as_default(self) -> Generator[Graph]:
        """Make this the graph of the placeholders that are created in a block."""
        token = _DEFAULT.set(self)
        try:
            yield self
        finally:
            _DEFAULT.reset(token)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return the name, with a number appended if it is already used, and mark it as used by default."""
        used = self._uses.get(name, 0)
        if mark_as_used:
            self._uses[name] = used + 1
        return f"{name}_{used}" if used else name

    def add(self, tensor: SymbolicTensor) -> None:
        """Add a placeholder."""
        self._placeholders.append(tensor)


class SymbolicTensor:
    """A tensor without a value, created by `placeholder`."""

    __slots__ = ("__weakref__", "_dtype", "_graph", "_name", "_shape")
    CURE = "Try a function of a tensor instead of a graph with placeholders."

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
        """Length of each axis; None if unknown."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._dtype

    def get_shape(self) -> TensorShape:
        """Return the length of each axis."""
        return self._shape

    @property
    def WHY(self) -> str:
        """The reason given when an op needs a value."""
        return f"{self} is symbolic: it has a shape and a dtype but no value, and operations run eagerly."

    def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> SymbolicTensor:
        """Accept `convert_to_tensor` only."""
        if op.__name__ == "convert_to_tensor":
            return self
        raise NotOneTensor(self)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'SymbolicTensor' object has no attribute {name!r}: a placeholder has no value.")

    def __bool__(self) -> bool:
        raise TypeError("A placeholder has no value, so it has no truth value.")

    def __repr__(self) -> str:
        return f'Tensor("{self._name}", shape={self._shape}, dtype={self._dtype.name})'


def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> SymbolicTensor:
    """Create a tensor without a value, in the graph of the enclosing block.

    Parameters
    ----------
    dtype : DType
        The element type.
    shape : sequence of int or None, optional
        Length of each axis, None if unknown; without it, the rank is unknown too.
    name : str, optional
        ``"Placeholder"`` by default; a number is appended to a name that is already used.

    Raises
    ------
    NoGraph
        If there is no enclosing graph; a `RuntimeError`.

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
            "placeholder: operations run eagerly, and a placeholder has no value to run them on. "
            "Try a function of a tensor, or put this line in a `with lab.Graph().as_default():` block."
        )
    tensor = SymbolicTensor(graph, f"{graph.unique_name(name or 'Placeholder')}:0", TensorShape(shape), as_dtype(dtype))
    graph.add(tensor)
    return tensor
