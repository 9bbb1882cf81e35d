"""Programs of other frameworks as recordings: the public way in, and adapters for PyTorch and JAX.

`Emitter` turns what any framework did into a `Recording`. ``autodiff_lab.adapters.torch`` and
``autodiff_lab.adapters.jax`` use it; each is imported by name, so this package needs neither framework.
"""

from autodiff_lab.adapters.emitter import Emitter
from autodiff_lab.adapters.held import HeldSum, HeldValue
from autodiff_lab.adapters.ops import OpTable

__all__ = ["Emitter", "HeldSum", "HeldValue", "OpTable"]
