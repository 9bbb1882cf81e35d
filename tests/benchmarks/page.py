"""docs/performance.md and the table of the README, made from the figures and from template.md."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Any

from tests.benchmarks import standing, tables
from tests.benchmarks.figures import Figures, best, measured, megabytes, seconds
from tests.benchmarks.gpu import section
from tests.benchmarks.libraries import PEERS
from tests.benchmarks.probes import PROBES
from tests.tree import ROOT

PAGE, README = ROOT / "docs" / "performance.md", ROOT / "README.md"
TEMPLATE = Path(__file__).with_name("template.md")
GPU_FIGURES = Path(__file__).parent / "gpu_figures.json"
PART = re.compile(r"(?<=<!-- performance: written by `make bench` -->\n).*(?=<!-- performance: end -->)", re.DOTALL)
SHORT = ["lab", "lab-function", "torch", "torch-compile", "jax"]


def line(case: str, peer: str, row: dict[str, Any]) -> str:
    """One figure for the terminal."""
    head = f"{case:20} {PEERS[peer].title:14}"
    if "missing" in row or "cpu" not in row:
        return f"{head} left out: {row.get('missing', 'nothing measured')}"
    first = f"  first {seconds(row['first'][1]):>8}" if "first" in row else ""
    again = f", then {seconds(row['again'][1])}" if "again" in row else ""
    more = f"  fallbacks={row['fallbacks']}" if "fallbacks" in row else ""
    peak = f"  peak {megabytes(row['peak'])}" if "peak" in row else ""
    return f"{head} {seconds(row['cpu']):>9} CPU {seconds(row['wall']):>9} wall{first}{again}{peak}{more}"


def probe_lines(name: str, found: dict[str, dict[str, float]]) -> list[str]:
    """The figures of a probe for the terminal."""
    return [
        f"{name:20} {word:32} {seconds(value):>9} {run}" for run, one in found.items() for word, value in one.items()
    ]


def pages(figures: Figures) -> dict[Path, str]:
    """What the files say, by path."""
    return {PAGE: performance(figures), README: PART.sub(lambda _: readme(figures), README.read_text(encoding="utf-8"))}


def readme(figures: Figures) -> str:
    """The short table: ratios of the modes that most people compare."""
    cases = tables.cases(figures)
    leads = [case for case, row in cases["rows"].items() if measured(row) and PEERS[best(row)[0]].ours]
    shown = tables.table(cases, tables.ratio_cell, [peer for peer in SHORT if peer in tables.columns(cases)])
    return (
        f"\n{standings(figures)} [All rows, method, memory, first calls](docs/performance.md).\n\n"
        f"Of the single cases, autodiff_lab is the fastest in {len(leads)} of {len(cases['rows'])}; the figures are "
        f"multiples of the fastest library's time, on one thread:\n\n{shown}\n\n"
    )


def standings(figures: Figures) -> str:
    """The shares of all rows as a sentence."""
    _, ahead, near, _, eager_ahead, eager_near, _ = standing.shares(figures)[0]
    return (
        f"In {ahead} rows, each a program at one size, `lab.function` is as fast as the best other compiled library "
        f"that was measured ({_compiled(figures)}), and in {near} it takes at most 1.5 times as long. Op by op, "
        f"autodiff_lab is as fast as PyTorch in {eager_ahead} and takes at most 1.5 times as long in {eager_near}."
    )


def _compiled(figures: Figures) -> str:
    """The other compiled libraries, and in how many rows each has a figure."""
    rows = [measured(row) for row in figures["rows"].values()]
    others = [name for name, peer in PEERS.items() if peer.compiled and not peer.ours]
    counts = {name: sum(name in row and "lab-function" in row for row in rows) for name in others}
    return ", ".join(f"{PEERS[name].title} in {count} of them" for name, count in counts.items() if count)


def performance(figures: Figures) -> str:
    """The page: template.md with the tables."""
    method, machine = figures["method"], figures["machine"]
    probes = [tables.probe(name, figures["probes"][name]) for name in PROBES if name in figures["probes"]]
    cases = tables.cases(figures)
    text = TEMPLATE.read_text(encoding="utf-8").partition("\n\n")[2]  # its first paragraph says what it is
    return Template(text).substitute(
        standings=standings(figures),
        shares=tables.shares(figures),
        rows=tables.all_rows(figures),
        left_out="\n".join(standing.left_out(figures)) or "Nothing.",
        ratios=tables.table(cases, tables.ratio_cell, sized=True),
        times=tables.table(cases, tables.time_cell),
        first_calls=tables.first_calls(cases),
        memory=tables.memory(cases),
        fallbacks=tables.fallbacks(figures) + tables.dense_instead(cases),
        eager=tables.eager_misses(cases),
        misses=tables.misses(cases),
        probes="\n\n".join(probes),
        gpu=section.text(GPU_FIGURES),
        notes="[performance notes](performance_notes.md)",
        rounds=method["rounds"],
        seconds=method["seconds"],
        program_seconds=f"{method['seconds'] / 2:g}",
        longest=f"{method.get('longest', 75):.0f}",
        pinned=", all on one and the same processor core" if method["pinned"] else "",
        processor=machine["processor"],
        system=machine["system"],
        remark=f"*{method['remark']}*\n\n" if method.get("remark") else "",
        versions=tables.versions(figures),
    )
