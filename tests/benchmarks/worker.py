"""One library and one case in a separate process: ``python -m tests.benchmarks.worker PEER CASE``.

It prints one JSON object when it is ready, then one for each line that it reads: a number of seconds to sample for.
With ``--cold`` it stops after the first call, with ``--memory`` it measures peak memory and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, TextIO


def pin(core: int | None) -> bool:
    """Keep to one processor core, where the system lets us choose."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {core})
    return True


def own_output() -> TextIO:
    """Standard output for us alone: what libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return out


def first_call(peer: str, case: str, *, checked: bool) -> tuple[dict[str, Any], Any]:
    """Import, prepare and call once; the call may compile."""
    from tests.benchmarks import check, clock
    from tests.benchmarks.cases import CASES
    from tests.benchmarks.libraries import PEERS

    program, library = CASES[case], PEERS[peer].library()
    data = program.data()
    made: list[Any] = []

    def begin() -> None:  # tracing may start when the call is made, so that counts as well
        made.append(check.prepare(program, library, data))
        made[0]()

    cpu, wall = clock.once(begin)
    run = made[0]
    row: dict[str, Any] = {"version": library.version(), "first": [cpu, wall]}
    if checked:
        clock.settle(run)
        row["error"] = check.error(program, library, run, check.oracle(program, data))  # of what is timed
        if program.sparse:
            row["sparse"] = library.is_sparse(run()[1])
        if library.fallbacks() is not None:
            row["fallbacks"] = library.fallbacks()
    return row, run


def peak_memory(peer: str, case: str) -> dict[str, Any]:
    """Bytes that calls need above their inputs, and bytes of their results."""
    from tests.benchmarks import check, clock
    from tests.benchmarks.cases import CASES
    from tests.benchmarks.libraries import PEERS

    program, library = CASES[case], PEERS[peer].library()
    most = clock.peak(lambda: check.prepare(program, library, program.data()))
    results = library.outputs(check.prepare(program, library, program.data())())
    return {"peak": most, "results": sum(result.nbytes for result in results)}


def main() -> None:
    """Prepare, answer, and stop when the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("case")
    parser.add_argument("--core", type=int)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    pinned = pin(args.core)  # before anything counts processors
    out = own_output()
    from tests.benchmarks import clock

    if args.memory:
        print(json.dumps(peak_memory(args.peer, args.case)), file=out)
        return
    row, run = first_call(args.peer, args.case, checked=not args.cold)
    print(json.dumps({**row, "pinned": pinned}), file=out)
    if args.cold:
        return
    for line in sys.stdin:
        print(json.dumps({"sample": clock.least(run, float(line))}), file=out)


if __name__ == "__main__":
    main()
