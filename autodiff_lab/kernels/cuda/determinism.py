"""Whether sums on a GPU are made in the same order at every run.

They are, unless it is said otherwise here: the same program gives the same bits.  What would be quicker without an
order asks `required`; so far that is scattering, where shares of one place are put in order before they are added up.

TensorFlow has it the other way round, and there `tf.config.experimental.enable_op_determinism()` asks for an order.
"""

from __future__ import annotations

_state = {"required": True}


def required() -> bool:
    """Whether sums must be made in the same order at every run.

    Examples
    --------
    >>> from autodiff_lab.kernels.cuda import determinism
    >>> determinism.required()
    True
    """
    return _state["required"]


def require(enabled: bool = True) -> bool:
    """Say whether sums must be made in the same order at every run, for all threads; return what was said before.

    Examples
    --------
    >>> from autodiff_lab.kernels.cuda import determinism
    >>> before = determinism.require(False)
    >>> determinism.required()
    False
    >>> determinism.require(before)
    False
    """
    before, _state["required"] = _state["required"], bool(enabled)
    return before
