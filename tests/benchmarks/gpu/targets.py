"""The performance targets on a GPU, and whether they were reached."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.benchmarks.gpu.engines import PEERS
from tests.benchmarks.gpu.listed import PROGRAMS
from tests.benchmarks.gpu.programs import FUNCTION, LAB


class Target(NamedTuple):
    """One target: a minimum fraction of copy bandwidth, or a maximum multiple of PyTorch's time."""

    case: str
    kind: str
    limit: float
    modes: tuple[str, ...] = (LAB, FUNCTION)


SHARE, TIMES = "of copy bandwidth", "× PyTorch's time"
TARGETS = (
    Target("elementwise", SHARE, 0.8, (FUNCTION,)),
    Target("elementwise", TIMES, 0.5, (FUNCTION,)),
    Target("softmax_xent", TIMES, 0.8),
    Target("conv_forward", TIMES, 3.0),
    Target("conv_input", TIMES, 3.0),
    Target("conv_filters", TIMES, 3.0),
    Target("mlp_step", TIMES, 1.1),
    *(Target(case, SHARE, 0.7) for case in ("sum_all", "sum_rows", "sum_columns", "gather", "scatter")),
)


def seconds(row: dict[str, Any] | None) -> float | None:
    """The time of a call: by events, where a library has them."""
    found = (row or {}).get("device") or (row or {}).get("wall")
    return None if found is None or "missing" in (row or {}) else found["median"]


def share(case: str, taken: float, bandwidth: float) -> float | None:
    """Which part of the copy bandwidth the least traffic of a case makes; None where arithmetic is the limit."""
    program = PROGRAMS[case]
    least = program.least(*program.sizes["full"])
    return least / taken / bandwidth if least else None


def verdicts(bench: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target with what the better of our modes reached, and whether it is met; None where that is unknown."""
    found: list[dict[str, Any]] = []
    for target in TARGETS:
        row = bench["rows"].get(target.case, {})
        times = {mode: taken for mode in target.modes if (taken := seconds(row.get(mode))) is not None}
        verdict: dict[str, Any] = {**target._asdict(), "modes": list(target.modes), "value": None, "met": None}
        if times:
            mode = min(times, key=times.__getitem__)
            verdict["mode"] = mode
            if target.kind == SHARE and bench.get("bandwidth"):
                verdict["value"] = share(target.case, times[mode], bench["bandwidth"])
                verdict["met"] = verdict["value"] >= target.limit
            torch = seconds(row.get("torch"))
            if target.kind == TIMES and torch is not None:
                verdict["value"] = times[mode] / torch
                verdict["met"] = verdict["value"] <= target.limit
        found.append(verdict)
    return found


def words(target: Target) -> str:
    """A target for people: ``elementwise: at least 0.8 of copy bandwidth``."""
    bound = "at least" if target.kind == SHARE else "at most"
    return f"{target.case}: {bound} {target.limit:g} {target.kind}"


def sentence(verdict: dict[str, Any]) -> str:
    """A verdict for people: ``met      elementwise: at least 0.8 of copy bandwidth; 0.84 by lab.function``."""
    target = Target(verdict["case"], verdict["kind"], verdict["limit"])
    state = {None: "unknown", True: "met", False: "missed"}[verdict["met"]]
    value = "not measured" if verdict["value"] is None else f"{verdict['value']:.2f} by {PEERS[verdict['mode']]}"
    return f"{state:8} {words(target)}; {value}"
