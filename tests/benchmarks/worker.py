"""One library and one row in a separate process: ``python -m tests.benchmarks.worker PEER ROW``.

It prints one JSON object when it is ready, then one for each line that it reads: a number of seconds to sample for.
With ``--cold`` it stops after the first call, with ``--memory`` it measures peak memory and nothing else.  Results are
compared with ``--reference FILE``, which ``--write-reference FILE`` makes; the cases bring their own by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO


def pin(core: int | None) -> bool:
    """Keep to one processor core, where the system lets us choose."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {core})
    return True


def move(core: int) -> None:
    """Let all threads of this process go on at another core."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def own_output() -> TextIO:
    """Standard output for us alone: what libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return out


def first_call(peer: str, case: str, *, checked: bool, reference: Path | None) -> tuple[dict[str, Any], Any]:
    """Import, prepare and call once; the call may compile."""
    from tests.benchmarks import check, clock
    from tests.benchmarks.catalog import ROWS
    from tests.benchmarks.libraries import PEERS

    program, library = ROWS[case], PEERS[peer].library()
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
        if reference or program.offered_by("numpy"):
            wanted = check.kept(reference) if reference else check.oracle(program, data)
            row["error"] = check.error(program, library, run, wanted)  # of what is timed
        if program.sparse:
            row["sparse"] = library.is_sparse(run()[1])
        if library.fallbacks() is not None:
            row["fallbacks"] = library.fallbacks()
    return row, run


def peak_memory(peer: str, case: str) -> dict[str, Any]:
    """Bytes that calls need above their inputs, and bytes of their results."""
    from tests.benchmarks import check, clock
    from tests.benchmarks.catalog import ROWS
    from tests.benchmarks.libraries import PEERS

    program, library = ROWS[case], PEERS[peer].library()
    most = clock.peak(lambda: check.prepare(program, library, program.data()))
    results = library.outputs(check.prepare(program, library, program.data())())
    return {"peak": most, "results": sum(result.nbytes for result in results)}


def write_reference(peer: str, case: str, path: Path) -> dict[str, Any]:
    """Write what a library computes: in float64, but for this project, whose layers keep to their own dtype."""
    import numpy as np

    from tests.benchmarks import check
    from tests.benchmarks.catalog import ROWS
    from tests.benchmarks.libraries import PEERS

    program, library = ROWS[case], PEERS[peer].library()
    np.savez(path, **check.oracle(program, program.data(), library, doubled=not PEERS[peer].ours))
    return {"reference": path.name}


def main() -> None:
    """Prepare, answer, and stop when the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("case")
    parser.add_argument("--core", type=int)
    parser.add_argument("--start-core", type=int, help="where to import and compile, before moving to --core")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--write-reference", type=Path)
    args = parser.parse_args()
    os.environ["AUTODIFF_LAB_COMPILE"] = "wait"  # what is timed is the program
    pinned = pin(args.start_core if args.start_core is not None else args.core)  # before anything counts processors
    out = own_output()
    from tests.benchmarks import clock

    if args.write_reference:
        print(json.dumps(write_reference(args.peer, args.case, args.write_reference)), file=out)
        return
    if args.memory:
        print(json.dumps(peak_memory(args.peer, args.case)), file=out)
        return
    row, run = first_call(args.peer, args.case, checked=not args.cold, reference=args.reference)
    if pinned and args.start_core is not None:
        move(args.core)
    print(json.dumps({**row, "pinned": pinned}), file=out)
    if args.cold:
        return
    for line in sys.stdin:
        print(json.dumps({"sample": clock.least(run, float(line))}), file=out)


if __name__ == "__main__":
    main()
