"""``python -m tests.benchmarks.gpu``, or `make bench-gpu`: check, measure, and write one JSON.

Every case is computed at a small size first and compared with this project on the CPU; a library that is wrong there is
not timed.  ``--small``, or AUTODIFF_LAB_GPU_SMALL=1, uses tiny sizes throughout, which the CUDA simulator can run.
The status is 0 if everything is measured and correct, 1 if part of this project is wrong or fails, 3 without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.gpu.listed import NAMES, PROGRAMS

DEFAULT = Path("build") / "gpu.json"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    from tests.benchmarks.gpu.engines import PEERS

    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.gpu", description=(__doc__ or "").split("\n\n")[1]
    )
    parser.add_argument("--cases", nargs="*", choices=NAMES, metavar="CASE", help=f"some of: {' '.join(NAMES)}")
    parser.add_argument("--peers", nargs="*", choices=PEERS, metavar="PEER", help=f"some of: {' '.join(PEERS)}")
    parser.add_argument("--json", type=Path, default=DEFAULT, help=f"where the figures go ({DEFAULT})")
    parser.add_argument("--seconds", type=float, default=220, help="after which nothing new is begun (220)")
    parser.add_argument("--each", type=float, default=0.6, help="seconds of sampling for a case and library (0.6)")
    parser.add_argument("--small", action="store_true", help="tiny sizes, for the simulator")
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured, and whether it can be")
    parser.add_argument("--keep", action="store_true", help="keep the figures of --json, and write the page from them")
    found = parser.parse_args(given)
    found.small = found.small or os.environ.get("AUTODIFF_LAB_GPU_SMALL") == "1"
    found.cases, found.peers = found.cases or list(NAMES), found.peers or list(PEERS)
    return found


def dry_run(cases: list[str]) -> None:
    """Say what would be measured."""
    from tests.benchmarks.gpu.targets import TARGETS, words

    for name in cases:
        program = PROGRAMS[name]
        least = program.least(*program.sizes["full"])
        print(f"{name:14} {program.heading}" + (f"; {least / 2**20:,.0f} MiB at least" if least else ""))
    for target in TARGETS:
        if target.case in cases:
            print(f"to reach: {words(target)}")


def keep(path: Path) -> None:
    """Make a run's figures those of the page."""
    from tests.benchmarks import page

    shutil.copy(path, page.GPU_FIGURES)
    kept = json.loads((page.GPU_FIGURES.parent / "figures.json").read_text(encoding="utf-8"))
    page.PAGE.write_text(page.performance(kept), encoding="utf-8")
    print(f"The figures are in {page.GPU_FIGURES.name}, and on the page {page.PAGE.name}.")


def main(given: list[str] | None = None) -> int:
    """Do what the command line says, and return the status."""
    from tests.benchmarks.gpu import machine

    args = arguments(given)
    if args.keep:
        keep(args.json)
        return 0
    if args.dry_run:
        dry_run(args.cases)
    why = machine.why_none()
    if why:
        print(f"Nothing is measured: {why}")
        return machine.NO_GPU
    if machine.lacking():
        print(machine.lacking(), flush=True)
    if args.dry_run:
        print(f"All of this can be measured here: {machine.about()['card']}.")
        return 0
    from tests.benchmarks.gpu.running import measure_all

    begin = time.perf_counter()
    bench = measure_all(
        args.cases, args.peers, small=args.small, seconds=args.seconds, each=0.05 if args.small else args.each
    )
    bench["seconds"] = round(time.perf_counter() - begin, 1)
    about = machine.about()
    about["versions"].update(bench.pop("versions"))
    merge(args.json, {"machine": about, "bench": bench})
    print(f"{bench['seconds']:.0f} s in all; the figures are in {args.json}")
    return int(bool(bench["wrong"]))


def merge(path: Path, new: dict[str, Any]) -> None:
    """Put figures into a JSON file beside what other commands left there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    from tests.benchmarks.figures import as_json

    path.write_text(as_json({**kept, **new}), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
