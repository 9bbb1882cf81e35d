"""What backward passes made and the program used later: gradients, and parts of them, as leaves of a picture.

A picture shows no ops of a backward pass, unless an outer tape recorded them. Results of such ops would appear from
nowhere; a `Delivery` says whose adjoint one is and when it arrived, so that it is not mistaken for a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autodiff_lab.explain.expressions import formula

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autodiff_lab.recording.model import Application, Sweep
    from autodiff_lab.recording.recording import Recording

SHORT = 8
"""The longest names of target and source that are written as ``∂y/∂x``."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A tensor that a backward pass made.

    `kind` is 'gradient' (the whole adjoint of tensor `of`), 'part' (of an adjoint), 'seed' (that of a target) or 'rule'
    (an inner number of the derivative rule of application `by`).  It exists after `moment`.
    """

    kind: str
    moment: int
    sweep: int | None = None
    of: int | None = None
    by: int | None = None


def deliveries(
    recording: Recording, visited: Mapping[tuple[int, int], int], ran: Mapping[int, int]
) -> dict[int, Delivery]:
    """Return what backward passes made, by tensor id, except values that a shown op made or that a user named.

    Parameters
    ----------
    recording : Recording
        With any number of backward passes.
    visited : mapping
        Moments of the steps, by sweep and step.
    ran : mapping
        Moments of the ops that the stepper visits as forward ones.
    """
    found: dict[int, Delivery] = {}
    for sweep in recording.sweeps:
        _of_sweep(sweep, visited, found)
    _of_rules(recording, visited, found)
    made = {
        key: delivery
        for key, delivery in found.items()
        if key in recording.tensors and _is_leaf(recording, key, delivery, ran)
    }
    for application in recording.applications:
        if application.index not in ran:
            continue
        at = ran[application.index]
        for key in application.inputs:
            if key in made and made[key].moment > at:
                made[key] = replace(made[key], moment=at)
    return made


def _of_sweep(sweep: Sweep, visited: Mapping[tuple[int, int], int], found: dict[int, Delivery]) -> None:
    moments = [visited[sweep.index, step.index] for step in sweep.steps if (sweep.index, step.index) in visited]
    if not moments:
        return
    for step in sweep.steps:
        at = visited.get((sweep.index, step.index), moments[-1])
        for flow in step.flows:
            whole = "gradient" if flow.arrived == flow.expected else "part"
            found.setdefault(flow.total, Delivery(whole, at, sweep.index, flow.input, step.application))
            found.setdefault(flow.outgoing, Delivery("part", at, sweep.index, flow.input, step.application))
    for target, seed in zip(sweep.targets, sweep.seeds, strict=False):
        found[seed] = Delivery("seed", moments[0], sweep.index, target)
    for source, result in zip(sweep.sources, sweep.results, strict=False):
        if result is not None and (result not in found or found[result].kind != "seed"):
            at = found[result].moment if result in found else moments[-1]
            found[result] = Delivery("gradient", at, sweep.index, source)


def _of_rules(recording: Recording, visited: Mapping[tuple[int, int], int], found: dict[int, Delivery]) -> None:
    last: dict[int, tuple[int, int]] = {}
    for sweep in recording.sweeps:
        for step in sweep.steps:
            last.setdefault(step.application, (sweep.index, visited.get((sweep.index, step.index), 0)))
    for application in recording.applications:
        if application.cause is not None:
            sweep, at = last.get(application.cause, (None, 0))
            for key in application.outputs:
                found.setdefault(key, Delivery("rule", at, sweep, None, application.cause))


def _is_leaf(recording: Recording, key: int, delivery: Delivery, ran: Mapping[int, int]) -> bool:
    record = recording.tensors[key]
    if record.application is None:  # a constant of the user's may serve as a seed
        return record.kind != "variable" and (not record.name or delivery.kind == "gradient")
    return recording.applications[record.application].cause is not None and record.application not in ran


def words(recording: Recording, delivery: Delivery) -> str:
    """Return a delivered tensor's label: ``"∂y/∂x"``, ``"gradient of weights"``, ``"part of ∂y/∂x"``, ``"seed"``."""
    if delivery.kind == "seed":
        return "seed"
    if delivery.of is None or delivery.of not in recording.tensors:
        op = root_cause(recording, delivery.by)
        return f"from the derivative of {op.op}" if op is not None else "gradient"
    slope = slope_words(recording, delivery.sweep, delivery.of)
    return f"part of {slope}" if delivery.kind == "part" else slope


def slope_words(recording: Recording, sweep: int | None, source: int) -> str:
    """Return ``"∂y/∂x"`` if both names are short, otherwise ``"gradient of weights"``."""
    name = formula(recording, source) or ""
    targets = () if sweep is None else recording.sweeps[sweep].targets
    above = recording.tensors[targets[0]].name if len(targets) == 1 and targets[0] in recording.tensors else None
    if above and name.isidentifier() and max(len(above), len(name)) <= SHORT and above.isidentifier():
        return f"∂{above}/∂{name}"
    return f"gradient of {name}" if name else "gradient"


def root_cause(recording: Recording, index: int | None) -> Application | None:
    """Return the op on the user's own lines whose rule (or whose rule's rule) ran; None for an op on those lines."""
    found = None
    while index is not None:
        found = recording.applications[index]
        index = found.cause
    return found
