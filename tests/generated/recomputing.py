"""Which public functions a page computes again: their op has a twin, or all ops that their examples run have one."""

import contextlib
import doctest
import io
import warnings
from typing import Any

import autodiff_lab as lab
from autodiff_lab.draw.running import has_twin
from autodiff_lab.engine.op import Op
from tests.generated.public import Function

PARAMS: dict[str, dict[str, Any]] = {"leaky_relu": {"alpha": 0.1}, "power_grad": {"order": 1}}
"""Parameters of ops whose formula depends on them."""


def recomputes(function: Function, ops: list[Op]) -> str:
    """Return "yes", "no", or "in part" where it depends on the arguments.

    Nothing for a function that runs no op, such as one that makes constants.
    """
    names = {op.name for op in ops} or run_by_examples(function)
    if not names:
        return ""
    found = {has_twin(name, PARAMS.get(name)) for name in names}
    return "in part" if len(found) == 2 else "yes" if found == {True} else "no"


def run_by_examples(function: Function) -> set[str]:
    """Return the ops that the examples in a docstring run."""
    seen: set[str] = set()

    def keep(event: Any) -> None:
        if isinstance(event, lab.events.OpApplied):
            seen.add(event.op)

    scope: dict[str, Any] = {"lab": lab}
    parts = doctest.DocTestParser().get_examples(function.text)
    quiet = (contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings())
    with quiet[0], quiet[1], lab.events.observing(keep):
        warnings.simplefilter("ignore")
        for example in parts:
            try:
                exec(compile(example.source, "<example>", "single"), scope)
            except Exception:  # noqa: BLE001 - some examples show an error
                continue
    return seen
