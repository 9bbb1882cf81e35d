"""Public functions that hand themselves to a ragged or sparse argument.

The functions that a training loop calls often catch `NotOneTensor` themselves, which costs nothing until it is raised;
all others carry a decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from autodiff_lab.engine.convert import handed
from autodiff_lab.errors import NotOneTensor


def structured(call: str) -> Callable[[Any], Any]:
    """Hand a function's arguments to the ragged or sparse one among them, as the call of this name.

    Arguments arrive in the order of the signature, without `name`; for ``"elementwise"`` and ``"on_values"`` the
    function itself is the first.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.upper(lab.ragged.constant([["a"], ["b", "c"]]))
    <RaggedTensor [[b'A'], [b'B', b'C']]>
    """

    def decorate(function: Any) -> Any:
        @wraps(function)
        def run(*arguments: Any, **settings: Any) -> Any:
            try:
                return function(*arguments, **settings)
            except NotOneTensor as met:
                bound = signature(function).bind(*arguments, **settings)
                bound.apply_defaults()
                bound.arguments.pop("name", None)
                itself = (function,) if call in ("elementwise", "on_values") else ()
                return handed(met, "__called__", call, *itself, *bound.arguments.values())

        return run

    return decorate
