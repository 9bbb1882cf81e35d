"""The part of docs/performance.md on GPUs, made from tests/benchmarks/gpu_figures.json, or how to measure them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import megabytes, ratio, seconds
from tests.benchmarks.gpu.engines import PEERS
from tests.benchmarks.gpu.listed import PROGRAMS
from tests.benchmarks.gpu.targets import SHARE, TARGETS, Target, share
from tests.benchmarks.gpu.targets import seconds as taken

NOT_YET = """The CUDA kernels have not been timed on a GPU yet: they are compared with their references in a CUDA
simulator, and compiled for three GPU architectures ([compiler report](cuda_kernels.md)). On a machine with an NVIDIA
GPU, these commands measure them, in less than nine minutes in total:

```sh
make test-gpu PYTHON=python3
make bench-gpu PYTHON=python3
python3 -m tests.benchmarks.gpu --keep
```

The first compares the kernels with their references on the GPU; the second benchmarks them against PyTorch and JAX, if
installed, on the same card. Both write `build/gpu.json`, and install nothing: `python3` must have NumPy,
numba-cuda, CuPy and pytest. The last puts the figures of that file into this page. Without `PYTHON` they run in the
environment that `make env` creates. Without a GPU each prints a message and exits with status 3."""
METHOD = """Measured with `make bench-gpu`. Every program was compared with this project on the CPU in float64 before it
was timed. PyTorch and JAX compute in float32 throughout, as this project does, without the reduced precision of tensor
cores. Times are GPU times, measured with events in its stream, for JAX by waiting for its results: the median of up to
25 samples, warm. *Bandwidth* is the minimum memory traffic of a program divided by its time, as a fraction of the
bandwidth of a copy on this card, {bandwidth:,.0f} GB/s read and written."""


def text(path: Path) -> str:
    """What the page says."""
    return told(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else f"{_one_line(NOT_YET)}\n\n{aims()}"


def _one_line(words: str) -> str:
    """Paragraphs on one line each, as the page has them; what is fenced stays."""
    parts = words.split("\n\n")
    return "\n\n".join(part if part.startswith("```") else part.replace("\n", " ") for part in parts)


def aims() -> str:
    """The targets, without figures."""
    rows = "\n".join(f"| {_aim(target)} |" for target in TARGETS)
    return f"Targets on an H200, warm:\n\n| program | target |\n| --- | ---: |\n{rows}"


def _aim(target: Target) -> str:
    bound = "at least" if target.kind == SHARE else "at most"
    limit = f"{target.limit:.0%}" if target.kind == SHARE else f"{target.limit:g}"
    return f"`{target.case}` {PROGRAMS[target.case].heading} | {bound} {limit} {target.kind}"


def told(figures: dict[str, Any]) -> str:
    """What a run found."""
    machine, bench, tests = figures["machine"], figures["bench"], figures.get("tests")
    rows = bench["rows"]
    peers = [peer for peer in PEERS if any(taken(row.get(peer)) is not None for row in rows.values())]
    head = ["", *(PEERS[peer] for peer in peers), "bandwidth", "peak memory"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *(_row(case, rows[case], peers, bench) for case in rows)]
    parts = [
        f"Measured on one {machine['card']}, driver {machine.get('driver', 'unknown')}.",
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        "\n".join(["| target | reached | |", "| --- | ---: | --- |", *map(_verdict, bench["targets"])]),
        _one_line(METHOD).format(bandwidth=bench.get("bandwidth", 0) / 1e9),
    ]
    if bench["left_out"]:
        parts.append(" ".join(f"{PEERS[peer]} is left out: {why}." for peer, why in bench["left_out"].items()))
    if tests:
        skipped = sum(tests["skipped"].values())
        parts.append(
            f"On the same card {tests['passed']:,} tests passed, {tests['failed']} failed and {skipped} were skipped."
        )
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cuda = machine.get("CUDA of the driver", "unknown")
    return "\n\n".join([*parts, f"Versions: CUDA of the driver {cuda}, Python {machine['python']}, {versions}."])


def _row(case: str, row: dict[str, Any], peers: list[str], bench: dict[str, Any]) -> list[str]:
    """Times, our best share of the bandwidth, and our memory and PyTorch's."""
    times = {peer: taken(row.get(peer)) for peer in peers}
    known = {peer: value for peer, value in times.items() if value is not None}
    ours = [value for peer, value in known.items() if peer.startswith("lab")]
    part = share(case, min(ours), bench["bandwidth"]) if ours and bench.get("bandwidth") else None
    leader = min(known, key=known.__getitem__) if known else ""
    peaks = [megabytes(peak) for peer in ("lab", "torch") if (peak := row.get(peer, {}).get("peak")) is not None]
    cells = [f"**{seconds(value)}**" if peer == leader else seconds(value) for peer, value in times.items()]
    words = f"`{case}` {PROGRAMS[case].heading}"
    return [words, *cells, "–" if part is None else f"{part:.0%}", " against ".join(peaks) or "–"]


def _verdict(verdict: dict[str, Any]) -> str:
    target = Target(verdict["case"], verdict["kind"], verdict["limit"])
    bound = "at least" if target.kind == SHARE else "at most"
    if verdict["value"] is None:
        return f"| `{target.case}`: {bound} {target.limit:g} {target.kind} | – | not measured |"
    word = "met" if verdict["met"] else "**missed**"
    return f"| `{target.case}`: {bound} {target.limit:g} {target.kind} | {ratio(verdict['value'])} | {word} |"
