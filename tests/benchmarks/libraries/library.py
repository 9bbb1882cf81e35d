"""The interface of every library: a value with its gradients, a computation, and the results as NumPy arrays.

A library is imported when it is created, in the process that measures it; the environments of other libraries need not
have it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tests.benchmarks.cases.case import Rows, Run


class Library:
    """One column of the table."""

    package: ClassVar[str]
    """What is imported, and the distribution whose version counts."""
    distribution: ClassVar[str] = ""
    """What is installed, where it has another name."""
    family: ClassVar[str]
    """The method of a case that speaks to it."""

    def __init__(self, *, compiled: bool = False) -> None:
        self.module = importlib.import_module(self.package)
        self.compiled = compiled

    def version(self) -> str:
        """The version of the distribution."""
        return importlib.metadata.version(self.package)

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        """A call that returns ``forward(*leaves, *constants)`` and its gradient with respect to each leaf."""
        raise NotImplementedError

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        """A call that returns a tuple of the one result of ``function(*arguments)``."""
        raise NotImplementedError

    def array(self, result: Any) -> Any:
        """One result as a NumPy array."""
        return np.asarray(result)

    def is_sparse(self, result: Any) -> bool:
        """Whether a gradient holds only the rows that were used."""
        return isinstance(result, Rows)

    def outputs(self, results: Any) -> list[np.ndarray]:
        """The results of a call as NumPy arrays; lists of arrays are stacked."""
        return [
            np.stack([self._dense(one) for one in result]) if isinstance(result, (list, tuple)) else self._dense(result)
            for result in results
        ]

    def _dense(self, result: Any) -> np.ndarray:
        return result.dense() if isinstance(result, Rows) else np.asarray(self.array(result))

    def fallbacks(self) -> int | None:
        """How many calls of a compiled function ran op by op instead; None for a library that cannot tell."""
        return None


class Numpy(Library):
    """The programs by hand, forward and backward."""

    package = family = "numpy"


class Micrograd(Library):
    """Single numbers only."""

    package = family = "micrograd"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.number = importlib.import_module("micrograd.engine").Value
