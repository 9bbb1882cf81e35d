"""The summary of a model: its layers, the shapes of their outputs, and the number of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autodiff_lab.engine import nest

HEADINGS = ("Layer", "Output shape", "Parameters")


class Summary:
    """A table with one row for each layer.

    Parameters
    ----------
    model : Model
    show_trainable : bool
        Whether a column says which layers are trained.
    expand_nested : bool
        Whether the layers of inner models have rows of their own.
    layer_range : pair of str, optional
        Names of the first and the last layer with a row.
    """

    def __init__(
        self,
        model: Any,
        show_trainable: bool = False,
        expand_nested: bool = False,
        layer_range: Sequence[str] | None = None,
    ) -> None:
        self.model = model
        self._shown = [model.layers.index(model.get_layer(name)) for name in layer_range or ()]
        self.headings = [*HEADINGS, *(["Trainable"] if show_trainable else [])]
        graph = getattr(model, "_graph", None)
        self._sources = {} if graph is None else {id(call.function): call.inputs for call in graph.calls}
        if self._sources:
            self.headings.append("Connected to")
        self.rows = [row[: len(self.headings)] for row in self._rows(model, show_trainable, expand_nested, "")]

    def _rows(self, model: Any, show_trainable: bool, expand: bool, indent: str) -> Iterator[list[str]]:
        shapes = _shapes_in(model)
        first, last = self._shown if self._shown and not indent else (0, len(model.layers))
        for layer in model.layers[first : last + 1]:
            name = getattr(layer, "name", None) or getattr(layer, "__name__", type(layer).__name__)
            shape = shapes.get(id(layer)) or getattr(layer, "result_shape", None) or "?"
            row = [f"{indent}{name} ({type(layer).__name__})", shape, f"{_count(layer):,}" if _is_built(layer) else "?"]
            if show_trainable:
                row.append("yes" if getattr(layer, "trainable", True) else "no")
            yield [*row, ", ".join(dict.fromkeys(x.name for x in self._sources.get(id(layer), ())))]
            if expand and getattr(layer, "layers", None):
                yield from self._rows(layer, show_trainable, expand, indent + "  ")

    def totals(self) -> str:
        """Return the line below the table."""
        trained = sum(int(v._held.size) for v in self.model.trainable_variables)
        every = self.model.variables
        size = sum(int(v._held.nbytes) for v in every)
        total = self.model.count_params()
        return f"Parameters: {total:,} ({_bytes(size)}); trainable: {trained:,}; not trainable: {total - trained:,}"

    def to_text(self) -> str:
        """Return the table as text, in columns."""
        lines = [f"Model: {self.model.name}"]
        if self.rows:
            table = [self.headings, *self.rows]
            widths = [max(len(row[i]) for row in table) for i in range(len(self.headings))]
            numbers = self.headings.index("Parameters")
            for n, row in enumerate(table):
                cells = [
                    cell.rjust(width) if i == numbers and n else cell.ljust(width)
                    for i, (cell, width) in enumerate(zip(row, widths, strict=True))
                ]
                lines.append("  ".join(cells).rstrip())
                if not n:
                    lines.append("  ".join("-" * width for width in widths))
        waiting = [layer for layer in self.model.layers if not _is_built(layer)]
        if waiting:
            few = "1 layer is" if len(waiting) == 1 else f"{len(waiting)} layers are"
            lines.append(f"{few} not built and not counted. Try model.build((None, features)), or call the model once.")
        return "\n".join([*lines, self.totals()])


def _is_built(layer: Any) -> bool:
    """Return whether a layer has made its weights; what has no `built`, such as a function, has none to make."""
    return bool(getattr(layer, "built", True))


def _count(layer: Any) -> int:
    return sum(int(v._held.size) for v in getattr(layer, "variables", ()))


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GB"


def _shapes_in(model: Any) -> dict[int, str]:
    """Return the shapes of the outputs of a model's layers, by identity, where they are known."""
    try:
        model.output  # noqa: B018 - a Sequential makes its symbols when it is asked
    except AttributeError:
        return {}
    graph = getattr(model, "_graph", None)
    found = {} if graph is None else {id(call.function): _text(call.outputs) for call in graph.calls}
    for layer in model.layers:
        symbols = getattr(layer, "symbols", None)
        if symbols is not None:
            found.setdefault(id(layer), _text(symbols[1]))
    return found


def shape_of(result: Any, inputs: Any) -> str:
    """Return the shape of a layer's result as text; a first length that is that of the inputs is the batch, None.

    Examples
    --------
    >>> import numpy as np
    >>> shape_of([np.ones((5, 2)), np.ones((3, 2))], np.ones((5, 4)))
    '(None, 2), (3, 2)'
    """
    shapes = [getattr(leaf, "shape", None) for leaf in nest.flatten(result)[0]]
    batch = next((tuple(x.shape)[:1] for x in nest.flatten(inputs)[0] if getattr(x, "shape", ())), ())
    known = [tuple(shape) for shape in shapes if shape is not None]
    return ", ".join(str((None, *shape[1:]) if shape and shape[:1] == batch else shape) for shape in known) or "?"


def _text(symbols: Any) -> str:
    if isinstance(symbols, (list, tuple)):
        return ", ".join(_text(item) for item in symbols)
    if isinstance(symbols, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in symbols.items())
    return str(getattr(symbols, "shape", symbols))
