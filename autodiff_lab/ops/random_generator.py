"""Generators: sources of random tensors that carry a state of their own, and can be split."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import placed
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, looked_at, named, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import trace_now
from autodiff_lab.ops import random_drawing as draw
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.random_state import checked_seed, drawn_from

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike


def _refuse_in_trace(reason: str, source: np.random.Generator | None = None) -> None:
    """Have a trace refuse, and note a source that is about to be drawn from."""
    trace = trace_now()
    if trace is not None:
        trace.refuse(reason)
        if source is not None:
            trace.before.note_source(source)


class Generator:
    """A source of random tensors; made by `from_seed` and its sisters.

    Parameters
    ----------
    copy_from : Generator, optional
        One in whose state this one begins.
    state : Tensor, optional
        The `state` of another, to begin in.
    alg : optional
        Without effect: there is one algorithm, Philox.

    Raises
    ------
    InvalidArgumentError
        If neither is given, or both are.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> a = lab.random.Generator.from_seed(1).normal((2,))
    >>> b = lab.random.Generator.from_seed(1).normal((2,))
    >>> bool(lab.reduce_all(a == b))
    True
    """

    __slots__ = ("__weakref__", "_bits", "_source")
    _guarded = ()  # programs draw from the source in every call

    def __init__(self, copy_from: Generator | None = None, state: TensorLike | None = None,
                 alg: str | int | None = None) -> None:
        if (copy_from is None) == (state is None):
            raise InvalidArgumentError("Generator: expected either copy_from or state. Try Generator.from_seed(1).")
        self.reset(state if copy_from is None else copy_from)  # type: ignore[arg-type]

    @classmethod
    def _of(cls, bits: np.random.Philox) -> Self:
        made = cls.__new__(cls)
        made._begin(bits)
        return made

    def _begin(self, bits: np.random.Philox) -> None:
        _refuse_in_trace("a generator of random numbers is made or reset")
        self._bits = bits
        self._source = np.random.Generator(bits)

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: str | int | None = None) -> Generator:
        """Return a generator that an integer determines.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.random.Generator.from_seed(7).uniform((2,)).shape
        TensorShape([2])
        """
        return cls._of(np.random.Philox(checked_seed(seed, "Generator.from_seed")))

    @classmethod
    def from_non_deterministic_state(cls, alg: str | int | None = None) -> Generator:
        """Return a generator that starts in a different state each time.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.random.Generator.from_non_deterministic_state().normal((2,)).shape
        TensorShape([2])
        """
        return cls._of(np.random.Philox())

    @classmethod
    def from_state(cls, state: TensorLike, alg: str | int | None = None) -> Generator:
        """Return a generator in the state of another one, or in a given `state`.

        Raises
        ------
        InvalidArgumentError
            If it is not the state of a generator.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> first = lab.random.Generator.from_seed(1)
        >>> second = lab.random.Generator.from_state(first)
        >>> float(first.normal(())) == float(second.normal(()))
        True
        """
        made = cls._of(np.random.Philox(0))
        made.reset(state)
        return made

    @property
    def state(self) -> Tensor:
        """The state of the generator: 13 words, uint64.

        A counter (4) and a key (2), what was drawn and not given out yet (4), and how much of it is left (3).
        """
        _refuse_in_trace("the state of a generator of random numbers is read")
        state: Any = self._bits.state
        last = [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
        parts = [state["state"]["counter"], state["state"]["key"], state["buffer"], np.array(last, np.uint64)]
        return wrap(np.concatenate(parts))

    def __repr__(self) -> str:
        return "<Generator Philox>"

    def reset(self, state: TensorLike) -> None:
        """Continue from the state of another generator."""
        array = np.asarray(state.state._array if isinstance(state, Generator) else getattr(state, "_array", state))
        if array.shape != (13,) or array.dtype.kind not in "iu":
            raise InvalidArgumentError(f"Generator: state must be 13 integers, got shape {array.shape}. Try the state "
                                       "of another generator.")
        counter, key, buffer, last = np.split(array.astype(np.uint64), [4, 6, 10])
        if int(last[0]) > 4:
            raise InvalidArgumentError("Generator: state is not that of a generator. Try the state of another "
                                       "generator.")
        bits = np.random.Philox(0)
        bits.state = {"bit_generator": "Philox", "state": {"counter": counter, "key": key}, "buffer": buffer,
                      "buffer_pos": int(last[0]), "has_uint32": int(last[1]), "uinteger": int(last[2])}
        self._begin(bits)

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Start again from a seed."""
        self._begin(np.random.Philox(checked_seed(seed, "Generator.reset_from_seed")))

    def skip(self, delta: int) -> None:
        """Skip blocks of numbers."""
        _refuse_in_trace("a generator of random numbers skips some")
        self._bits.advance(int(delta))

    def split(self, count: int = 1) -> list[Generator]:
        """Return new, independent generators.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> len(lab.random.Generator.from_seed(1).split(3))
        3
        """
        _refuse_in_trace("a generator of random numbers is split", self._source)
        many, = as_shape(count)
        return [Generator._of(np.random.Philox(key=self._source.integers(0, 2**64, 2, np.uint64))) for _ in range(many)]

    def make_seeds(self, count: int = 1) -> Tensor:
        """Return seeds for the stateless functions: (2, count), int64."""
        _refuse_in_trace("a generator of random numbers makes seeds", self._source)
        many, = as_shape(count)
        return wrap(self._source.integers(-2**63, 2**63 - 1, (2, many), np.int64))

    def _drawn(self, draws: Callable[..., Tensor], shape: Any, *given: Any) -> Tensor:
        """Draw numbers; a program draws again in every call."""
        lengths = as_shape(shape)
        return drawn_from(self._found, lambda source: draws(source, lengths, *given), lengths, *given)

    def _found(self) -> np.random.Generator:
        _refuse_in_trace("a generator of random numbers draws", self._source)
        return self._source

    def normal(self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = "float32",
               name: str | None = None) -> Tensor:
        """Draw normally distributed numbers: shape s -> (*s)."""
        return named(self._drawn(draw.draw_normal, shape, mean, stddev, dtype, "Generator.normal"), name)

    def truncated_normal(self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
                         dtype: DTypeLike = "float32",
                         name: str | None = None) -> Tensor:
        """Draw normally distributed numbers within two standard deviations: shape s -> (*s)."""
        return named(self._drawn(draw.draw_truncated, shape, mean, stddev, dtype, "Generator.truncated_normal"), name)

    def uniform(self, shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike | None = None,
                dtype: DTypeLike = "float32",
                name: str | None = None) -> Tensor:
        """Draw uniformly distributed numbers from `minval` up to, and without, `maxval`: shape s -> (*s)."""
        return named(self._drawn(draw.draw_uniform, shape, minval, maxval, dtype, "Generator.uniform"), name)

    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = "uint64", name: str | None = None) -> Tensor:
        """Draw integers anywhere in the range of the dtype: shape s -> (*s)."""
        wanted = as_dtype(dtype)
        if not wanted.is_integer:
            raise InvalidArgumentError("Generator.uniform_full_int: dtype must be an integer dtype, got "
                                       f"{wanted.name}.")
        limits = np.iinfo(wanted.dtype)

        def draws(source: np.random.Generator, shape: Any) -> Tensor:
            drawn = source.integers(limits.min, limits.max, shape, wanted.dtype, endpoint=True)
            return wrap(placed(np.asarray(drawn)[()]))

        return named(self._drawn(draws, shape), name)

    def binomial(self, shape: ShapeLike, counts: TensorLike, probs: TensorLike, dtype: DTypeLike = "int32",
                 name: str | None = None) -> Tensor:
        """Draw the number of successes in `counts` trials of probability `probs`: shape s -> (*s)."""
        given = [convert(v) for v in (counts, probs)]
        n, p = (np.asarray(looked_at(v, how="parameter")) for v in given)
        if np.any(n < 0) or np.any(~((p >= 0) & (p <= 1))):
            raise InvalidArgumentError("Generator.binomial: counts must not be negative, and probs must be between 0 "
                                       "and 1.")
        drawn = self._found().binomial(n.astype(np.int64), p.astype(np.float64), as_shape(shape))
        return named(draw.of_parameters(drawn, dtype, *given), name)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the generator that all callers share; it is made at the first call.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.get_global_generator() is lab.random.get_global_generator()
    True
    """
    _refuse_in_trace("the generator that all callers share may be replaced. Try lab.random.normal and its kin")
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Replace the generator that all callers share.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.set_global_generator(lab.random.Generator.from_seed(1))
    """
    _global[:] = [generator]
