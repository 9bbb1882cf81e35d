"""Compare many seeds, in separate processes: a peer that crashes costs one seed.

``python -m tests.peers.programs.run 0 10000`` prints what differs and is not explained.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.peers.programs.compare import EPSILON, differences, expectation
from tests.peers.programs.draw import Pool, Program, program
from tests.peers.programs.explained import explanation
from tests.peers.programs.peers import Answer, Peer
from tests.peers.programs.statements import TABLE
from tests.peers.programs.values import Call, Ref

BATCH = 250
TRIES = 12


def table() -> list[Any]:
    """Return all makers of statements."""
    for part in ("arrays", "linear"):
        importlib.import_module(f"tests.peers.programs.statements_{part}")
    return TABLE


def arguments(call: Call, pool: Pool) -> dict[int, np.ndarray]:
    """Return the values a statement reads, by number."""
    return {at: pool[Ref(at)] for at in call.refs()}


def program_of(seed: int, peer: Peer) -> tuple[Program, list[tuple[Call, dict[int, np.ndarray], Answer]]]:
    """Return the program of a seed, with what each statement read and the peer's answers."""
    asked: list[tuple[Call, dict[int, np.ndarray], Answer]] = []

    def run(call: Call, pool: Pool) -> list[np.ndarray] | None:
        arrays = arguments(call, pool)
        answer = peer.ask(call, arrays)
        asked.append((call, arrays, answer))
        return answer.values

    return program(seed, table(), run), asked


def neighbours(arrays: dict[int, np.ndarray]) -> Iterator[dict[int, np.ndarray]]:
    """Yield the arguments with floating numbers that are a little off, ``TRIES`` times.

    Numbers a few roundings away would not do: their errors in a result are often the same one.
    """
    draw = np.random.default_rng(0)
    for _ in range(TRIES):
        moved = dict(arrays)
        for at, array in arrays.items():
            if array.dtype.name in EPSILON:
                width = max(1e-3, 4.0 * EPSILON[array.dtype.name])
                moved[at] = (array * (1.0 + draw.uniform(-width, width, array.shape))).astype(array.dtype)
        yield moved


def compared(
    seed: int, ours: Peer, peer: Peer, documented: tuple[type, ...], counts: Counter[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield each difference of a seed: the statement, its arguments, what differs, and the row that explains it.

    What the peer answered, and so what is compared, is added to `counts`; a gradient that is None counts.
    """
    for call, arrays, theirs in program_of(seed, peer)[1]:
        counts["statements"] += 1
        counts["refused by the peer"] += theirs.values is None
        counts["values"] += len(theirs.values or ())
        counts["gradients"] += len(theirs.first or ())
        counts["second gradients"] += len(theirs.second or ())
        wide = peer.ask(call, arrays, wide=True) if theirs.values is not None else None
        mine = ours.ask(call, arrays)
        found = differences(mine, expectation(theirs, wide), documented)
        if any(difference.rounding for difference in found):
            near = [(peer.ask(call, moved), peer.ask(call, moved, wide=True)) for moved in neighbours(arrays)]
            found = differences(mine, expectation(theirs, wide, near), documented)
        for difference in found:
            row = explanation(call, arrays, difference)
            shown = (f"v{at} = {array.tolist()} {array.dtype.name}{list(array.shape)}" for at, array in arrays.items())
            yield str(call), "; ".join(shown), f"{difference.what}: {difference.words}", row


def _work(first: int, last: int) -> None:
    import autodiff_lab as lab

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    ours, peer = Peer(lab), Peer(importlib.import_module("tensorflow"))
    documented = (lab.errors.LabError, NotImplementedError)
    for seed in range(first, last):
        print(json.dumps({"seed": seed}), flush=True)
        counts: Counter[str] = Counter()
        for call, shown, words, row in compared(seed, ours, peer, documented, counts):
            print(json.dumps({"seed": seed, "call": call, "over": shown, "differs": words, "row": row}), flush=True)
        print(json.dumps({"seed": seed, "counts": counts}), flush=True)


def found(first: int, last: int) -> Iterator[dict[str, Any]]:
    """Yield differences of the seeds from `first` up to `last`, what was compared, and seeds that crashed the peer."""
    while first < last:
        end = min(first + BATCH, last)
        at = first
        command = [sys.executable, "-m", "tests.peers.programs.run", "--work", str(first), str(end)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                row = json.loads(line)
                at = row["seed"]
                if len(row) > 1:
                    yield row
        if child.returncode > 0:
            raise RuntimeError(
                f"the comparison of seed {at} failed: `python {' '.join(command[1:4])} {at} {at + 1}` says why"
            )
        if child.returncode:  # a signal: the peer crashed
            yield {"seed": at, "crash": child.returncode}
            first = at + 1
        else:
            first = end


def main() -> int:
    """Print what differs, and how much was compared; return 1 if anything differs without a row that explains it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="store_true")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    chosen = parser.parse_args()
    if chosen.work:
        _work(chosen.first, chosen.last)
        return 0
    counts: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for row in found(chosen.first, chosen.last):
        if "counts" in row:
            counts.update({"programs": 1, **row["counts"]})
        elif "crash" in row:
            counts["crashes of the peer"] += 1
            print(f"seed {row['seed']}: crash {row['crash']}", flush=True)
        elif row["row"]:
            explained[row["row"]] += 1
        else:
            wrong[row["call"].partition("(")[0]] += 1
            print(f"seed {row['seed']}: {row['call']}", f"over {row['over'][:400]}", row["differs"][:500],
                  sep="\n    ", flush=True)  # fmt: skip
    print(json.dumps({"compared": counts, "explained": explained, "unexplained": wrong}, indent=1))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
