"""``python -m tests.benchmarks.calls``: measure single calls of this project and of PyTorch, and print them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

from tests.benchmarks import machine
from tests.benchmarks.calls import CALLS, UNLIKE
from tests.benchmarks.environments import FOLDER, interpreter, variables
from tests.benchmarks.libraries import PEERS
from tests.tree import ROOT

NEAR = 1e-3
"""How far sums of results may be apart, relative to the sum of absolute values."""


def measured(name: str) -> tuple[list[list[float | None]], list[list[list[float]]]]:
    """Return the times of all calls in a library, and the sums of their results."""
    python = interpreter(PEERS[name])
    core = machine.last_core() or 0
    command = [str(python), "-m", "tests.benchmarks.calls.worker", name, str(core), str(FOLDER)]
    done = subprocess.run(command, cwd=ROOT, env=variables(FOLDER / "caches" / "calls"), stdout=subprocess.PIPE,
                          text=True, check=True)  # fmt: skip
    sums = json.loads((FOLDER / f"calls-{name}.json").read_text(encoding="utf-8"))
    return [json.loads(line) for line in done.stdout.splitlines()], sums


def disagreements(ours: list[list[list[float]]], theirs: list[list[list[float]]]) -> list[str]:
    """Return the calls whose results or gradients differ."""
    found = []
    for (text, _), mine, other in zip(CALLS, ours, theirs, strict=True):
        if not any(part in text for part in UNLIKE):
            pairs = zip(mine, other, strict=False)
            apart = [max(abs(a - c), abs(b - d)) > NEAR * max(b, d, 1e-2) for (a, b), (c, d) in pairs]
            if any(apart) or len(mine) != len(other):
                found.append(text)
    return found


def mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def report(ours: list[list[float | None]], theirs: list[list[float | None]]) -> list[str]:
    """Return the lines to print: calls, by how many microseconds they are behind, and what all come to."""
    rows = []
    for (text, _), mine, other in zip(CALLS, ours, theirs, strict=True):
        a, b = (times[1] if None not in (mine[1], other[1]) else times[0] for times in (mine, other))
        rows.append(((a or 0) - (b or 0), text, mine, other, (a or 1e-9) / (b or 1e-9)))
    lines = [f"{'behind':>7} {'alone':>15} {'with gradients':>15}  in µs, this project and PyTorch"]
    for behind, text, mine, other, _ in sorted(rows, reverse=True):
        pairs = [f"{(x or 0) * 1e6:6.1f} / {(y or 0) * 1e6:6.1f}" for x, y in zip(mine, other, strict=True)]
        lines.append(f"{behind * 1e6:7.1f} {pairs[0]:>15} {pairs[1]:>15}  {text}")
    ratios = [ratio for *_, ratio in rows]
    level = sum(ratio <= 1 for ratio in ratios)
    lines.append(f"{level} of {len(ratios)} calls take at most PyTorch's time, geometric mean {mean(ratios):.2f}")
    return lines


def main() -> int:
    """Measure and print; fail where results differ."""
    FOLDER.mkdir(exist_ok=True)
    (ours, our_sums), (theirs, their_sums) = measured("lab"), measured("torch")
    print("\n".join(report(ours, theirs)))
    wrong = disagreements(our_sums, their_sums)
    print("\n".join(f"Results differ: {text}" for text in wrong))
    Path(FOLDER / "calls.json").write_text(json.dumps([ours, theirs]), encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
