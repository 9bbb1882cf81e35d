"""What a tape itself knows of a question about a gradient, as plain data, for explanations where nothing was recorded.

A tape keeps entries, what it tracked and which variables it watched; it keeps no lines, and a spent one keeps only the
variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.variable import Variable

if TYPE_CHECKING:
    from autodiff_lab.engine.tape import GradientTape


def known(tape: GradientTape, target: Any, source: Any) -> dict[str, Any]:
    """Return facts about a target and a source: names, dtypes, whether they are watched, tracked and connected."""
    is_variable = isinstance(source, Variable)
    watched = any(v is source for v in tape.watched_variables()) if is_variable else None
    spent = tape._entries is None
    facts: dict[str, Any] = {
        "target": _name(target, "the target"),
        "source": _name(source, "the source"),
        "variable": is_variable,
        "trainable": not is_variable or source.trainable,
        "automatic": tape._automatic,
        "watched": watched,
        "spent": spent,
        "dtype": getattr(getattr(source, "dtype", None), "name", ""),
        "floating": not hasattr(source, "_held") or source._held.dtype in DIFFERENTIABLE,
    }
    if not spent:
        keys = set(tape._watched.get(source, ())) if is_variable else {getattr(source, "_id", None)}
        facts["source_tracked"] = any(key in tape.tracked for key in keys)
        facts["target_tracked"] = _target_id(tape, target) in tape.tracked
        facts["connected"] = _connected(tape, _target_id(tape, target), keys)
    return facts


def _target_id(tape: GradientTape, target: Any) -> int | None:
    read = tape.reads.get(target) if isinstance(target, Variable) else target
    return getattr(read, "_id", None)


def _connected(tape: GradientTape, target: int | None, sources: set[Any]) -> bool:
    reached = {target}
    for _, out, ins, _, need in reversed(tape._entries or []):
        if any(t._id in reached for t in (out if out.__class__ is tuple else (out,))):
            reached.update(ins[i]._id for i in need)
    return not reached.isdisjoint(sources)


def _name(who: Any, otherwise: str) -> str:
    name = (getattr(who, "name", None) or "").removesuffix(":0")
    return otherwise if name in ("", "Variable") else name
