"""The columns of the table: which library, in which mode, in which environment.

The modules here import a library only when it is created, so that each can be listed where it is not installed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.libraries.autodiff_lab import Lab
from tests.benchmarks.libraries.autograd import Autograd
from tests.benchmarks.libraries.jax import Jax
from tests.benchmarks.libraries.library import Library, Micrograd, Numpy
from tests.benchmarks.libraries.tensorflow import TensorFlow
from tests.benchmarks.libraries.torch import Torch


@dataclass(frozen=True)
class Peer:
    """A library in one mode.

    Attributes
    ----------
    name : str
        What the command line and the results call it.
    title : str
        What the table calls it.
    kind : type
        How it is called.
    environment : str
        Whose environment it runs in; an empty string is the one of the project.
    compiled : bool
        Whether the whole step is compiled.
    apart : frozenset of str
        Cases that are left out, because they would take minutes or be those of another mode.
    """

    name: str
    title: str
    kind: type[Library]
    environment: str = ""
    compiled: bool = False
    apart: frozenset[str] = frozenset()

    @property
    def ours(self) -> bool:
        """Whether it is this project."""
        return self.kind is Lab

    @property
    def rated(self) -> bool:
        """Whether it may lead a row: by hand is not a library."""
        return self.kind is not Numpy

    @property
    def packages(self) -> tuple[str, ...]:
        """What its environment needs."""
        return (self.kind.distribution or self.kind.package, "numpy")

    def library(self) -> Library:
        """Import it."""
        return self.kind(compiled=self.compiled)


SECOND_MODE = EMPTY_PACKAGE = frozenset({"import"})
TOO_LONG = frozenset({"scalar_chain", "gather_sparse", "checkpoint_off", "checkpoint_on"})
"""Minutes of compilation, sparse gradients that it does not take, and cases that its eager mode tells as well."""

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("lab", "lab", Lab),
        Peer("lab-function", "lab.function", Lab, compiled=True, apart=SECOND_MODE),
        Peer("torch", "PyTorch", Torch, "torch"),
        Peer("torch-compile", "torch.compile", Torch, "torch", compiled=True, apart=SECOND_MODE | TOO_LONG),
        Peer("jax", "jax.jit", Jax, "jax", compiled=True),
        Peer("tf-function", "tf.function", TensorFlow, "tf", compiled=True, apart=SECOND_MODE),
        Peer("autograd", "autograd", Autograd, "autograd"),
        Peer("micrograd", "micrograd", Micrograd, "micrograd", apart=EMPTY_PACKAGE),
        Peer("numpy", "NumPy by hand", Numpy),
    )
}
