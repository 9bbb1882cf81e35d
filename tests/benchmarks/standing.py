"""Where this project stands: each row's distance from its peers, shares of rows, and what has moved since last time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.benchmarks.figures import Figures, measured, ratio
from tests.benchmarks.libraries import PEERS
from tests.benchmarks.programs import PROGRAMS
from tests.benchmarks.programs.program import SCALES

Row = dict[str, dict[str, Any]]
LIMITS = (1.0, 1.5)
MOVED = 1.1
"""From which change on a ratio counts as moved; less is the noise of two runs."""


def rival(row: Row) -> str | None:
    """The fastest compiled library that is not ours."""
    found = {peer: cpu for peer, cpu in measured(row).items() if PEERS[peer].compiled and not PEERS[peer].ours}
    return min(found, key=found.__getitem__, default=None)


def compiled(row: Row) -> float | None:
    """The time of lab.function as a multiple of that library's."""
    other, found = rival(row), measured(row)
    return found["lab-function"] / found[other] if other and "lab-function" in found else None


def eager(row: Row) -> float | None:
    """The time of lab, op by op, as a multiple of PyTorch's."""
    found = measured(row)
    return found["lab"] / found["torch"] if {"lab", "torch"} <= found.keys() else None


RATIOS: dict[str, Callable[[Row], float | None]] = {"lab.function": compiled, "lab": eager}


def ordered(figures: Figures) -> list[str]:
    """The rows, furthest behind first; those that no other library compiles come last, by their eager ratio."""

    def place(name: str) -> tuple[bool, float]:
        row = figures["rows"][name]
        other = compiled(row)
        return other is None, -(other or eager(row) or 0.0)

    return sorted((name for name, row in figures["rows"].items() if measured(row)), key=place)


def groups(figures: Figures) -> dict[str, list[str]]:
    """All rows, and those of each size."""
    names = ordered(figures)
    sized = {scale: [name for name in names if name in PROGRAMS and PROGRAMS[name].scale == scale] for scale in SCALES}
    fixed = [name for name in names if name not in PROGRAMS]
    return {"all rows": names, **{f"{scale} programs": rows for scale, rows in sized.items()}, "single cases": fixed}


def share(ratios: list[float], limit: float) -> str:
    """How many are within a limit; two runs differ by more than the last half per cent."""
    within = sum(one <= limit + 0.005 for one in ratios)
    return f"{within} of {len(ratios)}"


def mean(ratios: list[float]) -> str:
    """The geometric mean."""
    return ratio(math.exp(sum(map(math.log, ratios)) / len(ratios))) if ratios else "–"


def shares(figures: Figures) -> list[list[str]]:
    """A line for each group: for both ratios, how many rows are within each limit, and the geometric mean."""
    lines = []
    for title, names in groups(figures).items():
        line = [title]
        for of in RATIOS.values():
            found = [one for one in (of(figures["rows"][name]) for name in names) if one is not None]
            line += [share(found, limit) for limit in LIMITS] + [mean(found)]
        if names:
            lines.append(line)
    return lines


def moved(old: Figures, new: Figures) -> list[str]:
    """Which rows are nearer to their peers than they were, or further behind."""
    lines = []
    for name, row in new["rows"].items():
        before = old.get("rows", {}).get(name)
        for title, of in RATIOS.items():
            then, now = (of(before) if before else None), of(row)
            if then and now and max(then / now, now / then) >= MOVED:
                word = "nearer" if now < then else "further behind"
                lines.append(f"{name:28} {title:12} {ratio(then)} -> {ratio(now)}, {word}")
    return lines or ["No row has moved by a tenth."]


def left_out(figures: Figures) -> list[str]:
    """The figures that are missing, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, row in figures["rows"].items():
        for peer, found in row.items():
            if "missing" in found:
                reasons.setdefault((PEERS[peer].title, found["missing"]), []).append(f"`{name}`")
    return [f"- {title} in {', '.join(names)}: {why}" for (title, why), names in reasons.items()]
