"""What one can ask of a tape: gradients, Jacobians, a sweep step by step, and why a gradient is what it is.

`GradientTape` adds the recording; see `tape`. It is the only class with this base, which checkers do not know.
"""
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from autodiff_lab.engine import nest
from autodiff_lab.engine.backward import (
    DEFAULT,
    Sweep,
    UnconnectedGradients,
    asks_for_zeros,
    at_once,
    cotangents,
    zeros_of,
)
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.knowledge import known
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, TapeSpent, cell_of

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import MaybeNone, TensorLike
    from autodiff_lab.engine.sweep import Engine
    from autodiff_lab.explain import Explanation

_NONE = UnconnectedGradients.NONE
_Key = TypeVar("_Key")
_Source = TypeVar("_Source", Tensor, Variable, Tensor | Variable)


class Differentiating:
    """The part of `GradientTape` that is used after its block."""

    _id: int
    _entries: list[Any] | None
    _used_at: Any
    reads: dict[Any, Tensor]

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read inside the block; a tape does."""

    @overload
    def gradient(self, target: TensorLike, sources: Tensor | Variable, output_gradients: Any = None,
                 unconnected_gradients: UnconnectedGradients | str = ..., *,
                 engine: Engine | None = None) -> Tensor | MaybeNone: ...  # fmt: skip
    @overload
    def gradient(self, target: TensorLike, sources: list[_Source], output_gradients: Any = None,
                 unconnected_gradients: UnconnectedGradients | str = ..., *,
                 engine: Engine | None = None) -> list[Tensor | MaybeNone]: ...  # fmt: skip
    @overload
    def gradient(self, target: TensorLike, sources: tuple[_Source, ...], output_gradients: Any = None,
                 unconnected_gradients: UnconnectedGradients | str = ..., *,
                 engine: Engine | None = None) -> tuple[Tensor | MaybeNone, ...]: ...  # fmt: skip
    @overload
    def gradient(self, target: TensorLike, sources: dict[_Key, _Source], output_gradients: Any = None,
                 unconnected_gradients: UnconnectedGradients | str = ..., *,
                 engine: Engine | None = None) -> dict[_Key, Tensor | MaybeNone]: ...  # fmt: skip
    @overload
    def gradient(self, target: object, sources: object, output_gradients: Any = None,
                 unconnected_gradients: UnconnectedGradients | str = ..., *,
                 engine: Engine | None = None) -> Any: ...  # fmt: skip
    def gradient(
        self,
        target: object,
        sources: object,
        output_gradients: object = None,
        unconnected_gradients: UnconnectedGradients | str = _NONE,
        *,
        engine: Engine | None = None,
    ) -> Any:
        """Return the derivative of the sum of the target's elements with respect to each source.

        Parameters
        ----------
        target : Tensor, Variable, or a nested structure of them
            What to differentiate; several targets are added.
        sources : Tensor, Variable, or a nested structure of them
            What to differentiate with respect to; intermediate results may be sources.
        output_gradients : like `target`, optional
            Cotangents of the target, ones if not given.
        unconnected_gradients : UnconnectedGradients
            What to give for a source that no path reaches.
        engine : Engine, optional
            Another set of operations, rules or accumulation, for lessons.

        Returns
        -------
        Tensor, `IndexedSlices`, None, or a structure of them like `sources`
            Each has the shape and dtype of its source; slices if only `gather` reads the source, by rows.

        Raises
        ------
        TapeSpent
            A `RuntimeError`: a one-shot tape was used a second time.
        LookupError
            An op on the path has no derivative rule.
        ValueError
            If `unconnected_gradients` is unknown.
        ShapeMismatch
            If a cotangent does not have its target's shape.
        """
        zero = unconnected_gradients is not _NONE and asks_for_zeros(unconnected_gradients)
        leaves, rebuild = nest.flatten(sources)
        targets = self._targets(target)
        plain = output_gradients is None and engine is None and len(targets) == 1
        results = at_once(self, targets[0], leaves) if plain else None  # pyright: ignore[reportArgumentType]
        if results is None:
            run = self._begin(targets, leaves, cotangents(targets, output_gradients), engine=engine, rows=True)
            run.finish()
            results = run.results()
        if zero:
            results = [zeros_of(s) if r is None else r for r, s in zip(results, leaves, strict=True)]
        return rebuild(results)

    def steps(self, target: object, sources: object = (), *, engine: Engine | None = None) -> Sweep:
        """Return the sweep as an iterator: one entry of the tape at a time, for stepping in plain Python.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant(3.0)
        >>> with lab.GradientTape(persistent=True) as tape:
        ...     tape.watch(x)
        ...     y = x * x
        ...     z = y * y
        >>> steps = tape.steps(z, [x, y])
        >>> next(steps), print(steps.adjoint(y))
        Tensor(18.0, shape=(), dtype=float32)
        (1, None)
        >>> next(steps), print(steps.adjoint(x))
        Tensor(108.0, shape=(), dtype=float32)
        (0, None)
        """
        targets = self._targets(target)
        return self._begin(targets, nest.flatten(sources)[0], cotangents(targets, None), engine=engine, pause=True)

    def jacobian(
        self,
        target: Tensor | Variable,
        sources: object,
        unconnected_gradients: UnconnectedGradients | str = _NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivative of each element of the target with respect to each element of each source.

        One sweep carries a stack of unit cotangents back, or, where the target has many more elements than the sources,
        a stack of unit tangents forward; see `autodiff_lab.transforms.jacobians`.
        Shapes: target (*t), source (*s) -> (*t, *s).

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.constant([1.0, 2.0])
        >>> with lab.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.jacobian(y, x))
        Tensor([[2. 0.]
         [0. 4.]], shape=(2, 2), dtype=float32)
        """
        from autodiff_lab.transforms.jacobians import jacobian

        return jacobian(self, target, sources, unconnected_gradients)

    def batch_jacobian(
        self,
        target: Tensor | Variable,
        source: Tensor | Variable,
        unconnected_gradients: UnconnectedGradients | str = _NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Return the Jacobian of each row of the target with respect to the same row of the source; rows must not mix.

        Shapes: target (b, *t), source (b, *s) -> (b, *t, *s); zeros if there is no path.  ShapeMismatch is raised if
        the first axes differ, or *t or *s is empty.
        """
        from autodiff_lab.transforms.jacobians import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients)

    def explain(self, target: object, source: object) -> Explanation:
        """Say why a gradient is None, zero or a number: by op and line if recorded, else by what the tape knows.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0, trainable=False, name="x")
        >>> with lab.GradientTape() as tape:
        ...     y = x * 2.0
        >>> tape.explain(y, x).cause
        'not_trainable'
        """
        from autodiff_lab.explain.live import of_tape

        return of_tape(self._id, target, source, known(self, target, source))

    def _targets(self, target: object) -> list[Tensor]:
        """Targets as tensors; a variable stands for its present read."""
        if target.__class__ is Tensor:
            return [target]  # pyright: ignore[reportReturnType]
        return [
            convert(leaf) if not isinstance(leaf, Variable) else self._read_inside(leaf)
            for leaf in nest.flatten(target)[0]
        ]

    def _read_inside(self, variable: Variable) -> Tensor:
        tensor = self.reads.get(variable)
        if tensor is None or tensor._held is not variable._held:
            tensor = variable.read()
            self.note_read(variable, tensor)
        return tensor

    def _begin(
        self,
        targets: list[Tensor],
        sources: list[Any],
        seeds: list[Tensor | None],
        *,
        lead: int = 0,
        engine: Engine | None = None,
        pause: bool = False,
        rows: bool = False,
    ) -> Sweep:
        """Prepare a sweep; a one-shot tape is spent by it."""
        if self._entries is None:
            used = self._used_at
            where = f" It was used up at {cell_of(used[0]) or used[0]}, line {used[1]}." if used else ""
            raise TapeSpent(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)."
                f"{where} Try GradientTape(persistent=True), or compute all gradients in one call."
            )
        for source in sources:
            if not isinstance(source, (Tensor, Variable)):
                raise ConversionError(
                    f"gradient: expected a tensor or a variable as source, got {type(source).__name__}. "
                    "Differentiate with respect to the tensor that the ops used."
                )
        return Sweep(self, targets, sources, seeds, lead, engine or DEFAULT, pause, rows)
