"""The tables of the page, as Markdown made from the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.benchmarks import standing
from tests.benchmarks.cases import IMPORT
from tests.benchmarks.catalog import ROWS
from tests.benchmarks.figures import Figures, best, measured, megabytes, ratio, seconds
from tests.benchmarks.libraries import PEERS
from tests.benchmarks.probes import PROBES
from tests.benchmarks.programs import PROGRAMS

NONE = "–"
COMPARED = {"torch", "torch-compile", "jax", "tf-function"}
"""The libraries that programs are written for."""
Row = dict[str, dict[str, Any]]


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    names = list(header)
    lines = [names, ["---", *["---:"] * (len(names) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cases(figures: Figures) -> Figures:
    """The figures of the single cases alone, which have more than a time."""
    return {**figures, "rows": {name: row for name, row in figures["rows"].items() if name not in PROGRAMS}}


def all_rows(figures: Figures) -> str:
    """Every row, furthest behind first: both ratios, and the times they are made of."""
    peers = [peer for peer in columns(figures) if PEERS[peer].ours or PEERS[peer].name in COMPARED]
    header = ["", "lab.function / best compiled", "lab / PyTorch", *(PEERS[peer].title for peer in peers)]
    body = []
    for name in standing.ordered(figures):
        row = figures["rows"][name]
        other, both = standing.rival(row), (standing.compiled(row), standing.eager(row))
        cells = [f"{ratio(one)}" if one else NONE for one in both]
        if other and both[0]:
            cells[0] += f" ({PEERS[other].title})"
        body.append([title(name, sized=True), *cells, *(seconds(measured(row).get(peer)) for peer in peers)])
    return markdown(header, body)


def shares(figures: Figures) -> str:
    """Counts of rows within the limits, for each size."""
    words = [f"at most {limit}" for limit in standing.LIMITS] + ["geometric mean"]
    header = ["", *(f"lab.function / best compiled: {word}" for word in words),
              *(f"lab / PyTorch: {word}" for word in words)]  # fmt: skip
    return markdown(header, standing.shares(figures))


def columns(figures: Figures) -> list[str]:
    """The libraries that have any figure."""
    return [peer for peer in PEERS if any(peer in measured(row) for row in figures["rows"].values())]


def title(case: str, *, sized: bool = False) -> str:
    """A case's name, and its size if wanted."""
    size = ROWS[case].size if case != IMPORT else "in a fresh process"
    return f"`{case}` {size}" if sized else f"`{case}`"


def table(
    figures: Figures, cell: Callable[[Row, str], str], peers: list[str] | None = None, *, sized: bool = False
) -> str:
    """A row a case and a column a library."""
    peers = peers or columns(figures)
    body = [
        [title(case, sized=sized), *(cell(row, peer) for peer in peers)]
        for case, row in figures["rows"].items()
        if measured(row)
    ]
    return markdown(["", *(PEERS[peer].title for peer in peers)], body)


def ratio_cell(row: Row, peer: str) -> str:
    """The CPU time as a multiple of the leader's, which is bold."""
    found = measured(row)
    if peer not in found:
        return NONE
    leader, least = best(row)
    text = ratio(found[peer] / least)
    return f"**{text}**" if peer == leader else text


def time_cell(row: Row, peer: str) -> str:
    """The CPU time."""
    found = measured(row)
    leader, _ = best(row)
    text = seconds(found.get(peer))
    return f"**{text}**" if peer == leader else text


def wall_cell(row: Row, peer: str) -> str:
    """The wall time."""
    return seconds(measured(row, "wall").get(peer))


def first_cell(row: Row, peer: str) -> str:
    """Wall time of the first call, with empty caches and, where a library keeps some, with filled ones."""
    found = row.get(peer, {})
    if "first" not in found or "missing" in found:
        return NONE
    cold = seconds(found["first"][1])
    return f"{cold}, then {seconds(found['again'][1])}" if "again" in found and PEERS[peer].compiled else cold


def first_calls(figures: Figures) -> str:
    """What the first call takes."""
    peers = [peer for peer in columns(figures) if PEERS[peer].rated and peer not in {"autograd", "micrograd"}]
    programs = {**figures, "rows": {name: row for name, row in figures["rows"].items() if name != IMPORT}}
    return table(programs, first_cell, peers)


def memory(figures: Figures) -> str:
    """Peak memory above the inputs, and without the results that every library returns."""
    rows = {case: row for case, row in figures["rows"].items() if any("peak" in one for one in row.values())}
    peers = [peer for peer in columns(figures) if any(row.get(peer, {}).get("peak") for row in rows.values())]

    def cell(row: Row, peer: str) -> str:
        found = row.get(peer, {})
        if found.get("peak") is None:
            return NONE
        return f"{megabytes(found['peak'])} ({megabytes(max(0, found['peak'] - found['results']))})"

    return table({"rows": rows}, cell, peers) if rows else "Nothing measured."


def fallbacks(figures: Figures) -> str:
    """One line: which compiled cases ran op by op."""
    counts = {case: row["lab-function"]["fallbacks"] for case, row in figures["rows"].items()
              if "fallbacks" in row.get("lab-function", {})}  # fmt: skip
    wrong = [f"`{case}` fallbacks={count}" for case, count in counts.items() if count]
    if wrong:
        return f"These partly ran op by op: {', '.join(wrong)}; the others of the {len(counts)} ran fully compiled."
    return f"All {len(counts)} compiled cases ran fully compiled (fallbacks=0)."


def dense_instead(figures: Figures) -> str:
    """Who answers with a dense gradient where a sparse one is asked for."""
    found = [f"In `{case}`, {' and '.join(names)} return a dense gradient, as they have no sparse one."
             for case, row in figures["rows"].items()
             if (names := [PEERS[peer].title for peer, one in row.items() if one.get("sparse") is False])]  # fmt: skip
    return "".join(f" {sentence}" for sentence in found)


def misses(figures: Figures) -> str:
    """Where this project is behind, said as plainly as where it leads."""
    lines = []
    for case, row in figures["rows"].items():
        found = measured(row)
        ours = {peer: value for peer, value in found.items() if PEERS[peer].ours}
        others = {peer: value for peer, value in found.items() if not PEERS[peer].ours and PEERS[peer].rated}
        if not ours or not others:
            continue
        mine, theirs = min(ours, key=ours.__getitem__), min(others, key=others.__getitem__)
        if ours[mine] > others[theirs]:
            lines.append(f"- `{case}`: {PEERS[mine].title} takes {ratio(ours[mine] / others[theirs])} times as long as "
                         f"{PEERS[theirs].title}.")  # fmt: skip
    return "\n".join(lines) or "In no case."


def eager_misses(figures: Figures) -> str:
    """Where the eager mode is behind that of PyTorch."""
    pairs = {case: (row["lab"]["cpu"], row["torch"]["cpu"]) for case, row in figures["rows"].items()
             if {"lab", "torch"} <= measured(row).keys()}  # fmt: skip
    slower = [f"`{case}` ({ratio(ours / theirs)})" for case, (ours, theirs) in pairs.items() if ours > theirs]
    faster = len(pairs) - len(slower)
    behind = f" and slower in {', '.join(slower)}" if slower else ""
    return f"Op by op, lab is faster than PyTorch in {faster} of {len(pairs)} cases{behind}."


def probe(name: str, found: dict[str, dict[str, float]]) -> str:
    """The figures of a probe."""
    runs = list(found)
    words = list(dict.fromkeys(word for figures in found.values() for word in figures))
    if not words:
        return "Nothing measured."
    header = [PROBES[name], *(f"wall time, {run}" if run else "CPU time" for run in runs)]
    return markdown(header, [[word, *(seconds(found[run].get(word)) for run in runs)] for word in words])


def versions(figures: Figures) -> str:
    """Which versions were measured."""
    known: dict[str, str] = {}
    for peer, version in figures["peers"].items():
        if PEERS[peer].rated:
            known[PEERS[peer].kind.package] = version
    known["NumPy"], known["Numba"] = figures["machine"]["numpy"], figures["machine"]["numba"]
    known["Python"] = figures["machine"]["python"]
    return ", ".join(f"{name} {version}" for name, version in known.items())
